package fetch

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev/internal/config/org"
	"github.com/open-policy-agent/opa/v1/bundle"
)

// tarball packs headers; the size of a file is that of the text in its PAX record "text".
func tarball(t *testing.T, all ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	for _, h := range all {
		text := h.Uname
		h.Uname = ""
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Size = int64(len(text)); h.Mode == 0 && h.Typeflag != tar.TypeXGlobalHeader {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipball(t *testing.T, mode fs.FileMode, names ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range names {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(mode)
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write([]byte("rules: []\n"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// fetched returns the result for an archive.
func fetched(t *testing.T, data []byte, key string) (*org.Tree, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return Fetch(context.Background(), org.Request{Address: path, Key: key})
}

func file(name string) tar.Header { return tar.Header{Name: name, Uname: "rules: []\n"} }

func TestHostileArchives(t *testing.T) {
	many := make([]tar.Header, org.MaxFiles+1)
	for i := range many {
		many[i] = file("x/" + strings.Repeat("a", i%50+1) + "/" + hex.EncodeToString([]byte{byte(i >> 8), byte(i)}))
	}
	large := tar.Header{Name: "rules/a.yaml", Uname: strings.Repeat("#", org.MaxFile+1)}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"above":            {tarball(t, file("rules/a.yaml"), file("../../.bashrc")), "which is not taken"},
		"in the middle":    {tarball(t, file("rules/../../x.yaml")), "which is not taken"},
		"backslash":        {tarball(t, file(`rules\..\..\x.yaml`)), "which is not taken"},
		"drive":            {tarball(t, file("C:/x.yaml")), "which is not taken"},
		"control":          {tarball(t, file("rules/a\x1b[2J.yaml")), "which is not taken"},
		"no UTF-8":         {tarball(t, file("rules/a\xff.yaml")), "which is not taken"},
		"deep":             {tarball(t, file(strings.Repeat("a/", 20)+"x")), "which is not taken"},
		"twice":            {tarball(t, file("rules/a.yaml"), file("./rules/A.yaml")), "one name on some machines"},
		"symlink":          {tarball(t, file("cardea.yaml"), tar.Header{Name: "rules/a.yaml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), "which is a link"},
		"link":             {tarball(t, file("cardea.yaml"), tar.Header{Name: "rules/a.yaml", Typeflag: tar.TypeLink, Linkname: "cardea.yaml"}), "which is a link"},
		"pipe":             {tarball(t, file("cardea.yaml"), tar.Header{Name: "rules/a.yaml", Typeflag: tar.TypeFifo}), "neither a file nor a folder"},
		"link below a top": {tarball(t, file("top/cardea.yaml"), tar.Header{Name: "top/rules/a.yaml", Typeflag: tar.TypeSymlink, Linkname: "/x"}), "which is a link"},
		"many":             {tarball(t, many...), "more than 4096 files"},
		"large":            {tarball(t, large), "too large"},
		"nothing":          {tarball(t, file("README.md")), "holds nothing"},
		"empty":            {tarball(t), "holds nothing"},
		"cut off":          {tarball(t, file("rules/a.yaml"))[:40], "cannot be unpacked"},
		"no archive":       {[]byte("hello"), "neither .tar.gz nor .zip"},
		"zip above":        {zipball(t, 0o644, "rules/a.yaml", "../x"), "which is not taken"},
		"zip symlink":      {zipball(t, fs.ModeSymlink|0o777, "rules/a.yaml"), "which is a link"},
		"zip pipe":         {zipball(t, fs.ModeNamedPipe|0o644, "rules/a.yaml"), "neither a file nor a folder"},
		"zip cut off":      {zipball(t, 0o644, "rules/a.yaml")[:30], "cannot be unpacked"},
	} {
		if tree, err := fetched(t, c.data, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %q", name, tree, err, c.want)
		}
	}
}

// TestBomb checks that an archive that unpacks endlessly is rejected.
func TestBomb(t *testing.T) {
	zeros := strings.Repeat("\x00", org.MaxFile)
	var all []tar.Header
	for i := range org.MaxTotal/org.MaxFile + 2 {
		all = append(all, tar.Header{Name: "rules/" + strings.Repeat("a", i+1) + ".yaml", Uname: zeros})
	}
	data := tarball(t, all...)
	if len(data) > 1<<20 {
		t.Fatalf("the archive has %d bytes", len(data))
	}
	if _, err := fetched(t, data, ""); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Error(err)
	}
}

func TestArchives(t *testing.T) {
	run := tar.Header{Name: "acme-1234/signals/who", Uname: "#!/bin/sh\n", Mode: 0o755}
	plain := tar.Header{Name: "acme-1234/rules/a.yaml", Uname: "rules: []\n", Mode: 0o755}
	readme := tar.Header{Name: "acme-1234/README.md", Typeflag: tar.TypeSymlink, Linkname: "x"}
	comment := tar.Header{Name: "pax_global_header", Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "1234"}}
	for name, data := range map[string][]byte{
		"tar": tarball(t, comment, tar.Header{Name: "acme-1234/", Typeflag: tar.TypeDir, Mode: 0o755}, readme, run, plain),
		"zip": zipball(t, 0o755, "acme-1234/rules/a.yaml", "acme-1234/signals/who"),
	} {
		tree, err := fetched(t, data, "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(tree.Files) != 2 || !tree.Files["signals/who"].Program || tree.Files["rules/a.yaml"].Program || !strings.HasPrefix(tree.Form, "sha256:") || tree.Signed {
			t.Errorf("%s: %+v", name, tree)
		}
	}
}

// TestSignatures checks that a signature is valid only with the algorithm of the key.
func TestSignatures(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
	private := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	hash, err := bundle.NewSignatureHasher(bundle.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := hash.HashFile([]byte("rules: []\n"))
	if err != nil {
		t.Fatal(err)
	}
	signed := func(secret, algorithm string) []byte {
		token, err := bundle.GenerateSignedToken([]bundle.FileInfo{bundle.NewFile("rules/a.yaml", hex.EncodeToString(sum), "SHA-256")},
			bundle.NewSigningConfig(secret, algorithm, ""), "")
		if err != nil {
			t.Fatal(err)
		}
		s, err := json.Marshal(bundle.SignaturesConfig{Signatures: []string{token}})
		if err != nil {
			t.Fatal(err)
		}
		return tarball(t, file("/rules/a.yaml"), tar.Header{Name: "/.signatures.json", Uname: string(s)})
	}
	for _, algorithm := range []string{"RS256", "PS384"} {
		if tree, err := fetched(t, signed(private, algorithm), text); err != nil || !tree.Signed {
			t.Errorf("%s: %v", algorithm, err)
		}
	}
	// The public key suffices to make this one.
	if _, err := fetched(t, signed(text, "HS256"), text); err == nil || !strings.Contains(err.Error(), `its signature is "HS256"`) {
		t.Errorf("a shared secret: %v", err)
	}
	none := `{"signatures":["eyJhbGciOiJub25lIn0.eyJmaWxlcyI6W119."]}`
	for name, s := range map[string]string{"none": none, "no signature": `{"signatures":[]}`, "another kind": `{"signatures":["x"],"plugin":"p"}`, "no JSON": "x"} {
		if _, err := fetched(t, tarball(t, file("rules/a.yaml"), tar.Header{Name: ".signatures.json", Uname: s}), text); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	for _, k := range []string{"hello", private} {
		if _, err := fetched(t, signed(private, "RS256"), k); err == nil {
			t.Errorf("the key %q: it is taken", k[:5])
		}
	}
}

func TestServe(t *testing.T) {
	var out bytes.Buffer
	if err := Serve(strings.NewReader(`{"address":"/nowhere"}`), &out); err != nil || !strings.Contains(out.String(), `"error":"stat /nowhere`) {
		t.Errorf("%v %s", err, out.String())
	}
	if err := Serve(strings.NewReader(`x`), &out); err == nil {
		t.Error("a request that is none is answered")
	}
	if _, err := Fetch(context.Background(), org.Request{Address: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Error(err)
	}
}
