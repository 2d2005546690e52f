package call

import (
	"io/fs"
	"slices"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
)

// mayRunIn returns the lines that the parts of a line may run.
func mayRunIn(line string) []string {
	system := knowledge.System{Home: "/home/u", ReadFile: func(string, int64) ([]byte, error) { return nil, fs.ErrNotExist }}
	ev := &cardea.Event{Kind: cardea.PreToolUse, Cwd: "/p", Call: &cardea.Call{Tool: "Bash", Input: map[string]any{"command": line}}}
	var out []string
	var add func(parts []cardea.Part)
	add = func(parts []cardea.Part) {
		for _, p := range parts {
			out = append(out, p.Text)
			add(p.MayRun)
		}
	}
	for _, p := range Analyse(ev, system).Call.Parts {
		add(p.MayRun)
	}
	return out
}

// What a part is given to read is a file whose text is known.
func TestInputsRun(t *testing.T) {
	for line, want := range map[string]string{
		"bash <(echo 'x=git; $x push')":                                    "git push",
		"bash -x <(printf '%s\n' x=git '$x push')":                         "git push",
		"bash <(cat <<'E'\nx=git\n$x push\nE\n)":                           "git push",
		"bash <(cat <(echo 'x=git; $x push'))":                             "git push",
		"source <(echo 'x=git; $x push')":                                  "git push",
		". /dev/stdin <<< 'x=git; $x push'":                                "git push",
		"f=<(echo 'x=git; $x push'); bash $f":                              "git push",
		"f() { bash \"$1\"; }; f <(echo 'x=git; $x push')":                 "git push",
		"for f in <(echo 'x=git; $x push'); do bash $f; done":              "git push",
		"exec 3<<<'x=git; $x push'; bash <&3":                              "git push",
		"exec 3<<<'x=git; $x push'; true | bash /dev/fd/3":                 "git push",
		"bash /dev/fd/3 3<<<'x=git; $x push' <<< y":                        "git push",
		"bash /dev/stdin <<< 'x=git; $x push'":                             "git push",
		"sudo bash <(echo 'x=git; $x push')":                               "git push",
		"make -f <(printf 'a:\n\tx=git; $$x push\n')":                      "git push",
		"make --file=<(echo 'a:;git push')":                                "git push",
		"python3 <(echo 'import os; os.remove(\"/p/\" + \"x\")')":          "rm -f -- /p/x",
		"echo 'import os; os.remove(\"/p/\" + \"x\")' | python3":           "rm -f -- /p/x",
		"python3 - <<< 'import os; os.remove(\"/p/\" + \"x\")'":            "rm -f -- /p/x",
		"node <(echo 'require(\"fs\").rmSync(\"/p/\" + \"x\")')":           "rm -rf -- /p/x",
		"tclsh <(echo 'exec git push')":                                    "git push",
		"sort <<< 'x=git; $x push' > f; bash f":                            "git push",
		"echo 'x=git; $x push' | sort -o f; bash f":                        "git push",
		"echo '1e git push' > f; sed -f f y":                               "git push",
		"echo push | parallel git":                                         "git push",
		"diff <(echo 'x=git; $x push') y":                                  "",
		"cat <(echo 'git push') y":                                         "",
		"diff <(echo 'git push') y; unheard z":                             "",
		"unheard > >(echo 'git push')":                                     "",
		"python3 x.py <<< 'import os; os.remove(\"/p/\" + \"x\")'":         "",
		"while read -r x; do echo \"$x\"; done < <(echo 'x=git; $x push')": "",
	} {
		if got := mayRunIn(line); want == "" && (slices.Contains(got, "git push") || slices.Contains(got, "rm -f -- /p/x")) || want != "" && !slices.Contains(got, want) {
			t.Errorf("%s: may run %q, want %q", line, got, want)
		}
	}
}

// xargs reads what -a names.
func TestArgumentFiles(t *testing.T) {
	for _, line := range []string{"xargs -a <(echo /etc/x) rm", "xargs --arg-file <(echo /etc/x) rm", "xargs --arg-file=<(echo /etc/x) rm", "echo /etc/x > f; xargs -a f rm"} {
		system := knowledge.System{Home: "/home/u"}
		ev := &cardea.Event{Kind: cardea.PreToolUse, Cwd: "/p", Call: &cardea.Call{Tool: "Bash", Input: map[string]any{"command": line}}}
		parts := Analyse(ev, system).Call.Parts
		if last := parts[len(parts)-1]; !slices.ContainsFunc(last.Access, func(a cardea.Access) bool { return a.Kind == cardea.Delete && a.Spelled == "/etc/x" }) {
			t.Errorf("%s: %v", line, last.Access)
		}
	}
}
