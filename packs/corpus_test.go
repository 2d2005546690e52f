package packs_test

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/packs"
)

// shared opens a file of the shared test data, or skips the test where the
// data is not there.
func shared(t *testing.T, name string) *os.File {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.Open(filepath.Join(dir, "..", "shared", name))
	if err != nil {
		if os.Getenv("CARDEA_SHARED") == "require" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// unescape reads the escapes of the corpus: \\ \n \t \r \uXXXX.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'u':
			if n, err := strconv.ParseUint(s[i+1:min(i+5, len(s))], 16, 32); err == nil {
				b.WriteRune(rune(n))
				i += 4
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// TestCorpus runs all packs over lines that fool gates, and over lines that
// gates block for no reason. None of the latter may be blocked or asked about,
// and of the former all must be, but the one that is known.
func TestCorpus(t *testing.T) {
	d := rules.New(packs.Rules(), stand().Settings)
	sc := bufio.NewScanner(shared(t, "corpus/tricky.tsv"))
	sc.Buffer(nil, 1<<20)
	// A folder that no rule can know to be important; the harness asks.
	const known = "git status && rm -rf /important/dir"
	lines, good := 0, 0
	for sc.Scan() {
		cols := strings.Split(sc.Text(), "\t")
		if len(cols) < 2 || strings.HasPrefix(cols[0], "#") {
			continue
		}
		command := unescape(cols[0])
		effect, ops := verdict(t, d, command)
		switch {
		case strings.HasPrefix(cols[1], "ALLOW"):
			good++
			if effect >= cardea.Ask {
				t.Errorf("a wrong alarm on %q: %s says %s", command, ops[0].Rule, effect)
			}
		case strings.HasPrefix(cols[1], "DENY"):
			lines++
			if effect < cardea.Ask && command != known {
				t.Errorf("nothing speaks about %.100q (%s)", command, cols[1])
			}
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	if lines == 0 || good == 0 {
		t.Errorf("the corpus has %d dangerous and %d harmless lines", lines, good)
	}
}

// shown are everyday lines of the corpus that are asked about, since they print
// a secret into the conversation (credential-print).
var shown = []string{"ansible-vault view secrets.yml", "aws sts get-session-token", "az keyvault secret show --name mysecret --vault-name myvault", "gh auth token"}

// TestEverydayLines runs all packs over what agents run all day and another
// gate lets through. None of them is denied, and of two hundred not one is
// asked about.
func TestEverydayLines(t *testing.T) {
	d := rules.New(packs.Rules(), stand().Settings)
	sc := bufio.NewScanner(shared(t, "corpus/dippy-half.tsv"))
	sc.Buffer(nil, 1<<20)
	lines, asked := 0, 0
	for sc.Scan() {
		cols := strings.Split(sc.Text(), "\t")
		if len(cols) < 2 || cols[1] != "autoallow" {
			continue
		}
		lines++
		effect, ops := verdict(t, d, unescape(cols[0]))
		switch {
		case effect == cardea.Ask && slices.Contains(shown, cols[0]):
			asked++
		case effect >= cardea.Ask:
			t.Errorf("%s says %s about %.100q", ops[0].Rule, effect, cols[0])
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	if lines == 0 || asked != len(shown) || asked*200 >= lines {
		t.Errorf("%d of %d everyday lines are asked about, %d are known", asked, lines, len(shown))
	}
}

func BenchmarkRules(b *testing.B) {
	for _, line := range []string{"npm test", "git add a.md && git commit -m 'a message' && git push", "rm -rf build"} {
		ev := bash(line)
		analyse(ev)
		b.Run("warm/"+line, func(b *testing.B) {
			d := rules.New(packs.Rules(), stand().Settings)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decide(b.Context(), ev); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("cold/"+line, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d := rules.New(packs.Rules(), stand().Settings)
				if _, err := d.Decide(b.Context(), ev); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
