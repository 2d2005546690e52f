package bash_test

import (
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/knowledge"
)

// TestUnseenOptions checks which words may become an option. The part then has the
// accesses of the program's options on unknown files: roles defer such a part, and no
// rule by accesses allows it.
func TestUnseenOptions(t *testing.T) {
	names := map[string][]string{"/p": {"a.txt", "src"}, "/p/dash": {"-o.envrc"}}
	env := bash.Env{Cwd: "/p", System: knowledge.System{Home: "/home/u", Names: func(folder string) ([]string, bool) { n, ok := names[folder]; return n, ok }}}
	for line, want := range map[string]string{
		"sort *":                         "",
		"sort *.txt -o a.txt":            "",
		"sort -*":                        "-* execute write",
		"mkdir ./-x; sort *":             "* execute write",
		"sort * | touch -- -x":           "* execute write",
		"ln -s dash src; sort *":         "* execute write",
		"mkdir x; sort *":                "",
		"sort - *; echo x > ./-o":        "* execute write",
		"xargs sort < a.txt":             "{} execute write",
		"xargs sort -- < a.txt":          "",
		"xargs -a a.txt git log":         "{} unknown write",
		"xargs cat < a.txt":              "",
		"xargs python3 x.py < a.txt":     "",
		"sort \"$OUTSIDE\"":              "",
		"read x; sort \"$x\"":            "\"$x\" execute write",
		"read x; unknown-program \"$x\"": "",
	} {
		var got []string
		for _, p := range bash.Analyse(line, env).Parts {
			if p.Program() == "mkdir" || p.Program() == "touch" || p.Program() == "ln" {
				continue
			}
			for _, w := range p.Argv {
				if w.UnseenOption {
					got = append(got, w.Text)
				}
			}
			for _, a := range p.Access {
				if p.UnseenOption() && a.Path+a.Spelled == "" && !a.Redirect && !a.Glob && !slices.Contains(got, string(a.Kind)) && a.Kind != cardea.Read {
					got = append(got, string(a.Kind))
				}
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q, want %q", line, text, want)
		}
	}
}
