package redact

import (
	"encoding/base64"
	"encoding/json"
	"math/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"cardea.dev/internal/testing/sharedtest"
	"cardea.dev/internal/testing/testrun"
)

func TestShow(t *testing.T) {
	r := New()
	in := "PASSWORD='pässwört1' x"
	got := r.Show(in)
	if want := "PASSWORD='<REDACTED password, 9 characters>' x"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	if again := r.Show(got); again != got {
		t.Errorf("shown again: %q", again)
	}
	if again := r.Text(got).String(); again != got {
		t.Errorf("a label is redacted: %q", again)
	}
}

// TestForgedLabels checks that a label with an unknown kind hides nothing.
func TestForgedLabels(t *testing.T) {
	secret := rev("j9i8h7g6f5e4d3c2b1a0j9i8h7g6f5e4d3c2_phg")
	for _, in := range []string{
		"<REDACTED " + secret + ", 20 characters>",
		"<REDACTED password, " + secret + " characters>",
		"<REDACTED" + secret + ">",
		"<REDACTED><REDACTED>" + secret,
		"<REDACTED password, 20 characters" + secret,
	} {
		if out := New().Text(in).String(); strings.Contains(out, secret) {
			t.Errorf("%q stays", out)
		}
	}
}

func TestFindSaysWhere(t *testing.T) {
	s := `curl -H "Authorization: Bearer abcdef0123456789" x; PASSWORD=hunter2`
	found := New().Find(s)
	if len(found) != 2 {
		t.Fatalf("%+v", found)
	}
	if f := found[0]; s[f.Start:f.End] != "abcdef0123456789" || !f.Placed {
		t.Errorf("%+v", f)
	}
	if f := found[1]; f.Kind != "password" || s[f.Start:f.End] != "hunter2" || f.Placed {
		t.Errorf("%+v", f)
	}
}

func TestTextInJSON(t *testing.T) {
	type record struct{ Command Text }
	var raw record
	if err := json.Unmarshal([]byte(`{"Command":"PASSWORD=\u0068unter2 x"}`), &raw); err != nil {
		t.Fatal(err)
	}
	if got := raw.Command.String(); got != "PASSWORD=<REDACTED> x" {
		t.Errorf("a file smuggles a secret in: %q", got)
	}
	data, err := json.Marshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	var back record
	if err := json.Unmarshal(data, &back); err != nil || back != raw {
		t.Errorf("%s becomes %+v, %v", data, back, err)
	}
	if err := json.Unmarshal([]byte(`{"Command":7}`), &back); err == nil {
		t.Error("a number is no text")
	}
	if (Text{}).String() != "" {
		t.Error("the zero Text is not empty")
	}
	plain, err := New().Text("PASSWORD=hunter2").MarshalJSON()
	if err != nil || string(plain) != `"PASSWORD=<REDACTED>"` {
		t.Errorf("%s, %v", plain, err)
	}
}

// TestConcurrent checks that one Redactor serves many goroutines.
func TestConcurrent(t *testing.T) {
	r := New()
	all := readPlanted(t)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range all {
				p := all[(i+g*100)%len(all)]
				if strings.Contains(r.Text(p.text).String(), p.secret) {
					t.Errorf("%s stays", p.rule)
				}
			}
		})
	}
	wg.Wait()
}

func TestIdempotent(t *testing.T) {
	r := New()
	for _, p := range readPlanted(t) {
		once := r.Text(p.text).String()
		if twice := r.Text(once).String(); twice != once {
			t.Errorf("%q becomes %q", once, twice)
		}
	}
}

// everyday returns lines as agents write them, without secrets.
func everyday() []string {
	return []string{
		`git log --format=%H%n%an -n 5 3f786850e387550fdab836ed7e6dc881de23001b`,
		`docker run --rm -e NODE_ENV=production -p 8080:80 -v "$PWD:/work" node:22.11.0-alpine3.20 npm ci`,
		`kubectl get secret my-app-tls -n default -o yaml`,
		`grep -rn "password" src/ --include='*.go' | head -20`,
		`npm install --save-dev @types/node@22.9.0 eslint-plugin-import@^2.31.0`,
		`curl -fsSL https://raw.githubusercontent.com/org/repo/v1.2.3/install.sh -o /tmp/install.sh`,
		`sed -i 's/token_limit: 4096/token_limit: 8192/' config.yaml`,
		`python -c 'import secrets; print(secrets.token_hex(16))'`,
		`go test ./internal/command/redact -run 'TestEveryRule/jwt' -count=1`,
		`rg 'Authorization|Bearer|X-Api-Key' --type ts`,
		`aws s3 cp s3://bucket-name/path/to/key.json . --profile dev-account`,
		`cargo build --release --features "serde,tokio-rustls,key-exchange"`,
		`git commit -m "auth: refresh tokens before they expire (closes #1234)"`,
		`terraform plan -var-file=environments/production.tfvars -out=/tmp/plan.bin`,
		`pip install torch==2.5.1+cu121 --index-url https://download.pytorch.org/whl/cu121`,
		`ssh -i ~/.ssh/id_ed25519 deploy@host.example.com 'systemctl status app'`,
		`docker pull alpine@sha256:beefdbd8a1da6d2915566fde36db9db0b524eb737fc57cd1367effd16dc0d06d`,
		`export PATH="$HOME/.local/bin:/usr/local/go/bin:$PATH"`,
		`jq -r '.data["tls.crt"]' secret.json | base64 -d`,
		`gh pr create --title "Don't log the API key" --body "See docs/security.md"`,
	}
}

func TestEverydayLinesStay(t *testing.T) {
	r := New()
	for _, line := range everyday() {
		if got := r.Show(line); got != line {
			t.Errorf("%s\nbecomes\n%s", line, got)
		}
	}
}

// TestFalseAlarms checks that at most one everyday line in a hundred is changed.
func TestFalseAlarms(t *testing.T) {
	r, changed, all := New(), 0, 0
	for _, line := range sharedtest.Corpus(t, "dippy-half.tsv", 3000) {
		all++
		if got := r.Show(line.Command); got != line.Command {
			changed++
			t.Log(got)
		}
	}
	if changed*100 > all {
		t.Errorf("%d of %d lines are changed", changed, all)
	}
}

// TestHostile checks that text over a limit is removed without a search, and that hostile texts
// end in time. The time limit catches hangs: it is ten times the normal time.
func TestHostile(t *testing.T) {
	size := testrun.Pick(1<<18, 1<<20)
	secret := rev("j9i8h7g6f5e4d3c2b1a0j9i8h7g6f5e4d3c2_phg")
	r := New()
	rnd := rand.New(rand.NewSource(1))
	noise := make([]byte, size*3/4)
	rnd.Read(noise)
	everyWord := ""
	for _, w := range words {
		everyWord += w.text + "=x "
	}
	for name, piece := range map[string]string{
		"words": "git commit and more ", "keys": "key=", "names": "password=", "urls": "://", "asana": "asana=a1b2",
		"prefixes": rev("_phg"), "jwt": "eyJabc.eyJ", "base64": base64.StdEncoding.EncodeToString(noise[:300]), "percent": "%70", "escapes": `\u0070`,
		"quotes": `a"'"b`, "begin": "-----BEGIN PRIVATE KEY-----", "keywords": everyWord, "curl": "curl -u ", "kind": "kind: secret data: ",
		"marks": "<REDACTED>", "labels": "<REDACTED password, 3 characters>", "distinct": "password=%x ", "nested": "%2525252525", "backslash": `\`,
		"cookie": "cookie: a=", "same head": "token=abcdefgh%x ", "noise": string(noise[:1000]), "equals": "=", "colons": ":",
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i := 0; b.Len() < size-100; i++ {
				b.WriteString(strings.ReplaceAll(piece, "%x", base64.RawURLEncoding.EncodeToString([]byte{byte(i >> 16), byte(i >> 8), byte(i), 1, 2, 3})))
			}
			begin := time.Now()
			out := r.Text(b.String() + " " + secret).String()
			took := time.Since(begin)
			t.Log(took, len(out))
			if strings.Contains(out, secret) {
				t.Error("the secret stays")
			}
			if took > 40*time.Second {
				t.Errorf("took %v", took)
			}
			if again := r.Text(out).String(); again != out {
				t.Error("redacting again changes it")
			}
		})
	}
}

func TestOverLong(t *testing.T) {
	in := strings.Repeat("word ", maxText/5) + "PASSWORD=hunter2hunter2 tail"
	out := New().Text(in).String()
	if !strings.HasSuffix(out, " "+Mark) || strings.Contains(out, "tail") || !strings.HasPrefix(out, "word word ") {
		t.Errorf("%q", out[len(out)-40:])
	}
	if out := New().Text(strings.Repeat("w", maxText+1)).String(); out != Mark {
		t.Errorf("%d bytes stay", len(out))
	}
}
