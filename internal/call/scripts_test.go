package call

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/knowledge"
)

// However many files run each other, and however long they are, so much is looked at.
func TestScriptsAreBounded(t *testing.T) {
	reads := 0
	world := knowledge.World{Home: "/home/u", ReadFile: func(path string, limit int64) ([]byte, error) {
		reads++
		if strings.HasSuffix(path, "missing.sh") {
			return nil, errors.New("gone")
		}
		if strings.HasSuffix(path, "program") {
			return []byte("\x7fELF\x00rm -rf ~/"), nil
		}
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, "bash %d.sh\n", i)
		}
		return []byte(b.String()), nil
	}}
	looked := func(line string) *cardea.Part {
		ev := &cardea.Event{Kind: cardea.PreToolUse, Cwd: "/p", Call: &cardea.Call{Tool: "Bash", Input: map[string]any{"command": line}}}
		return &Analyse(ev, world).Call.Parts[0]
	}
	if looked("bash 1.sh"); reads > maxScripts {
		t.Errorf("%d files were read", reads)
	}
	for line, want := range map[string]string{"bash missing.sh": "/p/missing.sh (cannot be read)", "./program": "/p/program (no text)"} {
		if p := looked(line); len(p.MayRun) > 0 || len(p.LookedInto) != 1 || p.LookedInto[0] != want {
			t.Errorf("%s: looked into %q, may run %d", line, p.LookedInto, len(p.MayRun))
		}
	}
}

func TestCodeLines(t *testing.T) {
	for code, want := range map[string]string{
		`shutil.rmtree(os.path.expanduser("~"))`:                       "rm -rf -- ~",
		`shutil.rmtree(Path.home() / "x y")`:                           "rm -rf -- ~/'x y'",
		`subprocess.run(["git", "push", "-f"])`:                        "git push -f",
		`os.system("git push")`:                                        "git push",
		`shutil.rmtree(target)`:                                        "",
		"D = 'a'\nD = 'b'\nshutil.rmtree(D)":                           "",
		"D = os.path.join('a', 'b')\nshutil.rmtree(D)":                 "rm -rf -- a/b",
		`# shutil.rmtree("x")`:                                         "",
		`print("shutil.rmtree is dangerous")`:                          "",
		`subprocess.run(["git", word])`:                                "",
		`shutil.rmtree("a" + b)`:                                       "",
		"subprocess.run(\n  [\n  'git',\n  'push',\n ], check=True)\n": "git push",
	} {
		var got []string
		for _, c := range codeLines(code, python()) {
			got = append(got, c.text)
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
	if got := codeLines(`execFileSync("rm", ["-rf", path.join(os.homedir(), "x")])`, javaScript()); len(got) != 1 || got[0].text != "rm -rf ~/x" {
		t.Errorf("%+v", got)
	}
}
