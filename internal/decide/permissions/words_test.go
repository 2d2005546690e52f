package permissions_test

import (
	"testing"

	"cardea.dev"
)

// TestEntriesAreWords compares entries whose words contain characters that a canonical text
// quotes, or that have another spelling in the line.
func TestEntriesAreWords(t *testing.T) {
	const home = "/Users/alice"
	for entry, lines := range map[string]struct{ yes, no []string }{
		"Bash(kubectl --context=prod:*)": {
			[]string{
				"kubectl --context=prod get pods",
				`kubectl "--context=prod" get`,
				`C=--context=prod; kubectl $C get`,
				"timeout 5 kubectl --context=prod",
				"sh -c 'kubectl --context=prod get'",
			},
			[]string{"kubectl --context=dev get pods", "kubectl '--context=prod x'"},
		},
		"Bash(aws * --profile=prod*)":              {[]string{"aws s3 ls --profile=prod", "aws s3 ls --profile=production x"}, []string{"aws s3 ls --profile=dev"}},
		"Bash(git push --force*)":                  {[]string{"git push --force-with-lease=main:abc", "git push --force origin"}, []string{"git push origin"}},
		"Bash(git rebase HEAD~3:*)":                {[]string{"git rebase HEAD~3", "git rebase 'HEAD~3' -x y"}, []string{"git rebase HEAD~2", "git rebase HEAD~"}},
		"Bash(git reset @{u}:*)":                   {[]string{"git reset @{u}", "git reset '@{u}' x"}, []string{"git reset @"}},
		"Bash(make ENV=prod:*)":                    {[]string{"make ENV=prod deploy", "E=prod; make ENV=$E"}, []string{"make ENV=dev deploy"}},
		"Bash(nix run .#x:*)":                      {[]string{"nix run .#x"}, []string{"nix run .#y"}},
		"Bash(git show HEAD^{tree})":               {[]string{"git show HEAD^{tree}", "git show 'HEAD^{tree}'"}, []string{"git show HEAD^"}},
		`Bash(git commit -m "a b")`:                {[]string{"git commit -m 'a b'", `git commit -m a\ b`, "git  commit  -m 'a b'"}, []string{"git commit -m a b", "git commit -m 'a  b'"}},
		"Bash(npm  test)":                          {[]string{"npm test", "npm   test"}, []string{"npm test x", "'npm test'"}},
		"Bash(cat ~/notes:*)":                      {[]string{"cat ~/notes", "cat " + home + "/notes", `cat "$HOME/notes" x`, "cat ${HOME}/notes"}, []string{"cat '~/notes'", "cat x~/notes"}},
		`Bash(cat "$HOME"/notes)`:                  {[]string{"cat ~/notes", "cat $HOME/notes"}, []string{"cat '$HOME/notes'"}},
		"Bash(grep -E 'a|b':*)":                    {[]string{`grep -E "a|b" f`, `grep -E a\|b`}, []string{"grep -E a"}},
		`Bash(find . -name x -exec cat {} \;)`:     {[]string{`find . -name x -exec cat {} \;`, `find . -name x -exec cat '{}' ';'`}, []string{`find . -name y -exec cat {} \;`}},
		"Bash(FOO=a=b mytool:*)":                   {[]string{"FOO=a=b mytool x", "FOO='a=b' mytool"}, []string{"FOO=a mytool x"}},
		"Bash(mytool a,b %x +y ^z :w @v:*)":        {[]string{"mytool a,b %x +y ^z :w @v", "mytool 'a,b' %x +y ^z :w @v end"}, []string{"mytool a b"}},
		`Bash(mytool '')`:                          {[]string{`mytool ""`, "mytool ''"}, []string{"mytool", "mytool ' '"}},
		"Bash(python -m pytest x.py --tb=short:*)": {[]string{"python -m pytest x.py --tb=short"}, []string{"python -m pytest x.py --tb=long"}},
	} {
		deny := stand{deny: []string{entry}}
		allow := stand{allow: []string{entry}}
		for _, line := range lines.yes {
			if v := deny.verdict(t, deny.bash(line)); v.Effect != cardea.Deny {
				t.Errorf("%s does not deny %q: %s", entry, line, v.Effect)
			}
		}
		for _, line := range lines.no {
			if v := deny.verdict(t, deny.bash(line)); v.Effect == cardea.Deny {
				t.Errorf("%s denies %q", entry, line)
			}
			if v := allow.verdict(t, allow.bash(line)); v.Effect == cardea.Allow {
				t.Errorf("%s allows %q", entry, line)
			}
		}
	}
	for entry, lines := range map[string][]string{
		"Bash(python -m pytest x.py --tb=short)": {"python -m pytest x.py --tb=short", "python -m pytest x.py '--tb=short'"},
		"Bash(mytool --env=dev:*)":               {"timeout 30 mytool --env=dev", "mytool --env=dev x"},
		"Bash(mytool @{u} HEAD~3 .#x)":           {"mytool @{u} HEAD~3 .#x"},
		"Bash(npm  test)":                        {"npm test"},
		"Bash(mytool ~/x:*)":                     {"mytool ~/x", "mytool $HOME/x y"},
		`Bash(mytool "a b" 'c$d')`:               {"mytool 'a b' 'c$d'"},
	} {
		s := stand{allow: []string{entry}}
		for _, line := range lines {
			if v := s.verdict(t, s.bash(line)); v.Effect != cardea.Allow {
				t.Errorf("%s does not allow %q: %s", entry, line, v.Effect)
			}
		}
	}
	for entry, lines := range map[string][]string{
		"Bash(FOO=b mytool:*)": {"'FOO=b' mytool", "F=FOO=b; $F mytool"},
		"Bash(mytool $X:*)":    {`mytool '$X'`, `mytool "\$X" y`},
		`Bash(mytool \*:*)`:    {"mytool rm -rf", "mytool x"},
		"Bash(mytool a b)":     {"mytool 'a b'", "'mytool a' b"},
	} {
		s := stand{allow: []string{entry}}
		for _, line := range lines {
			if v := s.verdict(t, s.bash(line)); v.Effect == cardea.Allow {
				t.Errorf("%s allows %q", entry, line)
			}
		}
	}
}
