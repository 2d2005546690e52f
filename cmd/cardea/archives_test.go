package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/rogpeppe/go-internal/testscript"
)

// https serves a folder: https DIR. $SERVER is its address, which the script's programs trust.
func https(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: https DIR")
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(ts.MkAbs(args[0]))))
	mux.Handle("/moved/", http.RedirectHandler("/acme.tar.gz", http.StatusFound))
	mux.Handle("/plain/", http.RedirectHandler("http://127.0.0.1:1/acme.tar.gz", http.StatusFound))
	server := httptest.NewTLSServer(mux)
	ts.Defer(server.Close)
	cert := ts.MkAbs("server.pem")
	ts.Check(os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	ts.Setenv("SSL_CERT_FILE", cert)
	ts.Setenv("SERVER", server.URL)
}

// keypair writes an ECDSA key and its public half: keypair PRIVATE PUBLIC.
func keypair(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: keypair PRIVATE PUBLIC")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	private, err := x509.MarshalECPrivateKey(key)
	ts.Check(err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o600))
}

// sign signs the files of a folder as "opa sign --bundle" does: sign PRIVATE DIR.
func sign(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sign PRIVATE DIR")
	}
	hash, err := bundle.NewSignatureHasher(bundle.SHA256)
	ts.Check(err)
	var files []bundle.FileInfo
	for name, data := range filesIn(ts, args[1]) {
		if name == ".signatures.json" {
			continue
		}
		var value any = data
		if bundle.IsStructuredDoc(name) {
			ts.Check(json.Unmarshal(data, &value))
		}
		sum, err := hash.HashFile(value)
		ts.Check(err)
		files = append(files, bundle.NewFile(name, hex.EncodeToString(sum), "SHA-256"))
	}
	token, err := bundle.GenerateSignedToken(files, bundle.NewSigningConfig(ts.MkAbs(args[0]), "ES256", ""), "acme")
	ts.Check(err)
	text, err := json.Marshal(bundle.SignaturesConfig{Signatures: []string{token}})
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[1]), ".signatures.json"), text, 0o600))
}

// archive packs a folder: archive FILE.tar.gz DIR.
func archive(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: archive FILE.tar.gz DIR")
	}
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	for name, data := range filesIn(ts, args[1]) {
		ts.Check(w.WriteHeader(&tar.Header{Name: "/" + name, Mode: 0o644, Size: int64(len(data))}))
		_, err := w.Write(data)
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(packed.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o600))
}

func filesIn(ts *testscript.TestScript, dir string) map[string][]byte {
	out := map[string][]byte{}
	root := ts.MkAbs(dir)
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		out[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	}))
	return out
}
