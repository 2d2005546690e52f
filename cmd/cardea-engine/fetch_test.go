package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The two installed programs and a server: cardea lets the engine fetch.
func TestFetchInstalled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the variable by which a program believes a certificate is Linux's")
	}
	var archive bytes.Buffer
	packed := gzip.NewWriter(&archive)
	w := tar.NewWriter(packed)
	const rules = "rules: [{id: deploy, tool: Bash, match: {command: deploy}, effect: deny}]\n"
	if err := w.WriteHeader(&tar.Header{Name: "rules/a.yaml", Mode: 0o644, Size: int64(len(rules))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(rules)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive.Bytes()) }))
	defer server.Close()
	s := install(t)
	cert := filepath.Join(s.home, "server.pem")
	s.write(cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	s.env = append(s.env, "SSL_CERT_FILE="+cert)
	if got := s.run("", "sync", "acme", "--dry-run", "--from", server.URL+"/x.tar.gz"); !strings.Contains(got, "+rules: [{id: deploy") {
		t.Errorf("got %s", got)
	}
	if got := s.run("", "sync", "acme", "--from", server.URL+"/x.tar.gz"); !strings.Contains(got, "only a person may do this") {
		t.Errorf("without a person: %s", got)
	}
	if err := os.Remove(s.exe("cardea-engine")); err != nil {
		t.Fatal(err)
	}
	if got := s.run("", "sync", "acme", "--dry-run", "--from", server.URL+"/x.tar.gz"); !strings.Contains(got, "cardea-engine is missing beside cardea") {
		t.Errorf("without the engine: %s", got)
	}
}
