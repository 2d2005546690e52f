package permissions_test

import (
	"path"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/decide/permissions"
)

// programsOfList are the programs that the tests of options allow with any words.
var programsOfList = []string{
	"Bash(git status:*)",
	"Bash(git diff:*)",
	"Bash(git log:*)",
	"Bash(git add:*)",
	"Bash(git show:*)",
	"Bash(npm test:*)",
	"Bash(npm run:*)",
	"Bash(go test:*)",
	"Bash(go build:*)",
	"Bash(cargo test:*)",
	"Bash(ls:*)",
	"Bash(cat:*)",
	"Bash(cp:*)",
	"Bash(grep:*)",
	"Bash(rg:*)",
	"Bash(find:*)",
	"Bash(make test:*)",
	"Bash(kubectl get:*)",
	"Bash(kubectl logs:*)",
	"Bash(sort:*)",
	"Bash(echo:*)",
	"Bash(mkdir:*)",
	"Bash(touch:*)",
	"Bash(xargs -n1 sort:*)",
	"Bash(bad)",
}

// inFolders has lines in a project with plain names, and one in the folder dash.
func inFolders() stand {
	s := stand{allow: programsOfList}
	s.system.Names = func(folder string) ([]string, bool) {
		names, ok := map[string][]string{project: {"a.go", "args.txt", "src", "dash", ".env"}, project + "/src": {"a.go"}, project + "/dash": {"a", "-o.envrc"}}[folder]
		return names, ok
	}
	s.system.PlainNames = func(folder string, _ bool) bool { return folder == project }
	s.system.IsDir = func(folder string) bool { return path.Ext(folder) == "" && !strings.HasSuffix(folder, "/new") }
	return s
}

// A word that is unknown before the line runs may become an option. Then no entry with a
// wildcard allows the line.
func TestWordsMayBecomeOptions(t *testing.T) {
	s := inFolders()
	for line, want := range map[string]bool{
		// The folder of the pattern has no such name, or the word cannot be an option.
		"sort *": true, "rg x *": true, "git add *": true, "git diff *.go": true, "make test *": true, "cat src/*.go": true, "rg x src/*": true,
		"sort ./*": true, "sort -- -*": true, "rg x -- *": true, "cd src && sort *": true, "sort [!-]*": true, "touch a.txt && sort *": true,
		"for f in *.go; do sort \"$f\"; done": true, "for f in a b; do sort $f; done": true, "sort --key *": true, "grep -e \"$(bad)\" a.go": true,
		// The folder has such a name, or the line may make one.
		"sort -*": false, "sort -*/*": false, "cd dash && sort *": false, "cd new && sort *": false, "cd \"$X\" && sort *": false,
		"mkdir ./-x; sort *": false, "mkdir -p ./-o.claude/x; sort *": false, "touch -- --pre=sh; rg x *": false, "cp a.go ./-r; sort ?*": false,
		"sort * & mkdir ./-x": false, "echo x > ./-o.envrc; sort *": false, "mkdir -p ./--eval=x; make test -*": false,
		"mkdir ./-x; for f in *; do sort \"$f\"; done": false, "git stash; sort *": false, "cp -r dash src; cd src; sort *": false,
		"mkdir -p ./'-o.envrc'; echo '{}' | sort -*/*": false, "mkdir -p ./'-uo.envrc'; echo '{}' | sort ./-*/*": false, "mkdir -p ./-o.envrc; echo ./x | sort -*": false,
		"mkdir -p ./'-o.envrc'; echo '{}' | sort -*/*.json": false, "mkdir -p ./'-o.claude/settings.json'; echo '{}' | sort -*/settings.json": false,
		"mkdir -p ./--eval='$(shell .'/'x)'; make test -*/*": false, "mkdir ./-x; timeout 5 sort *": false, "mkdir ./-x; bash -c 'sort *'": false,
		"bash -c 'sort \"$1\"' _ \"$(cat args.txt)\"": false, "f() { sort \"$1\"; }; f \"$(cat args.txt)\"": false, "git log --outp*": false,
		// Words from input.
		"xargs git log < args.txt": false, "cat args.txt | xargs git log": false, "cat args.txt | xargs -n1 sort": false, "xargs -I{} git log {} < args.txt": false,
		"echo '-r ./x.js' | xargs grep": false, "git log \"$(cat args.txt)\"": false, "read X < args.txt; sort \"$X\"": false,
		"while read -r f; do git log \"$f\"; done < args.txt": false, "mapfile -t a < args.txt; git log \"${a[@]}\"": false,
		"cat args.txt | xargs git log --": true, "echo a.go src | xargs sort": true, "cat args.txt | xargs cat": true, "xargs sort": true,
		"while read -r f; do cat \"$f\"; done < args.txt": true, "sort \"$FROM_OUTSIDE\"": true, "echo \"$(bad)\"": true,
		// The line shows which option it is.
		"git log --author=\"$(bad)\"": true, "sort -k\"$(bad)\" a.go": true, "sort -\"$(bad)\" a.go": false,
		// A name that begins with a dash is an option for the next pattern.
		"mkdir ./-uo.envrc": false, "mkdir -p ./-a/b": false, "mkdir a-b": true,
	} {
		v := s.verdict(t, s.bash(line))
		if got := v.Effect == cardea.Allow; got != want {
			t.Errorf("%s: %s (%s), want allowed: %v", line, v.Effect, why(s, line), want)
		}
	}
}

// If a program runs another one by an option, only an entry with that option allows it, in
// any spelling.
func TestSpellingsOfOptions(t *testing.T) {
	s := inFolders()
	for line, want := range map[string]bool{
		"sort --compress-program=./x f": false, "sort --compress-program ./x f": false, "sort --co=./x f": false, "sort -S1b --comp ./x f": false,
		"sort f --compress=\"$X\"": false, "go build -toolexec=../x .": false, "go build --toolexec=../x .": false, "go test --exec ./x ./...": false,
		"go test ./... -exec=./x": false, "npm run build --script-shell=./x": false, "npm run build -script-shell ./x": false,
		"npm run build ---script-shell ./x": false, "npm run build --script-sh=./x": false, "npm test -userconfig ./rc": false, "npm test --userc=./rc": false,
		"npm test --no-no-script-shell ./x": false, "npm run env -- ./x": false, "npm run env ./x": false, "npm run -- env ./x": false,
		"npm run --silent env ./x": false, "kubectl get pods --kubeconfig=./kc": false, "kubectl logs x --kubeconfig ./kc": false,
		"kubectl get pods -shttps://h": false, "cargo test --config ./c.toml": false, "rg --pre=./x y": false, "make test --eva='$(shell ./x)'": false,
		"git show --ext-d": false, "timeout 5 kubectl get pods --kubeconfig ./kc": false,
		"sort --key=2 f": true, "sort --rev f": true, "go test -run X ./...": true, "go test --run=X ./...": true, "go build -o x .": true, "npm run build": true,
		"npm run env": true, "npm run build -- --watch": true, "npm run build -s": true, "npm test -- --coverage": true, "kubectl get pods -n x -o wide": true,
		"kubectl logs -f x --tail=5": true, "rg --pretty x src": true, "cargo test --all-features": true, "make test V=1": true, "git diff --stat": true,
	} {
		v := s.verdict(t, s.bash(line))
		if got := v.Effect == cardea.Allow; got != want {
			t.Errorf("%s: %s (%s), want allowed: %v", line, v.Effect, why(s, line), want)
		}
	}
	for entry, line := range map[string]string{
		"Bash(kubectl --kubeconfig prod get:*)":         "kubectl --kubeconfig prod get pods",
		"Bash(go test -exec sudo:*)":                    "go test -exec sudo ./...",
		"Bash(sort --compress-program gzip f)":          "sort --compress-program gzip f",
		"Bash(npm run env -- printenv)":                 "npm run env -- printenv",
		"Bash(rg --pre pdftotext:*)":                    "rg --pre pdftotext x",
		"Bash":                                          "kubectl get pods --kubeconfig ./kc",
		"Bash(kubectl get pods --kubeconfig ./kc -o *)": "kubectl get pods --kubeconfig ./kc -o wide",
	} {
		s := stand{allow: []string{entry}}
		if v := s.verdict(t, s.bash(line)); v.Effect != cardea.Allow {
			t.Errorf("%s with %s: %s (%s)", line, entry, v.Effect, why(s, line))
		}
	}
	denies := stand{deny: []string{"Bash(go test -exec:*)", "Bash(sort --compress-program:*)"}, about: permissions.Options{}}
	for _, line := range []string{"go test --exec ./x", "go test ./... -exec=x", "sort --co=./x f"} {
		if v := denies.verdict(t, denies.bash(line)); v.Effect != cardea.Deny {
			t.Errorf("%s: %s", line, v.Effect)
		}
	}
}

func why(s stand, line string) (out string) {
	ev := s.bash(line)
	for i := range ev.Call.Parts {
		out += strings.Join(s.decider().Refusal(ev, i).Why, "; ") + " | "
	}
	return out
}
