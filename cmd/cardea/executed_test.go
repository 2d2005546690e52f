package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/testing/testrun"
)

// The pieces of generated lines. {P} is a program with its options, {F} a spelling of a
// secret file, {D} one of its folder. {G} is a spelling of a file that determines what
// agents may do, {L} a line.
var (
	readers = strings.Split(
		"cat|head -1|tail -n 1|wc -l|sort|grep -n .|sed -n 1p|nl|od -c|tac|base64|cut -c1-99|diff README.md|rg .|paste|fold|uniq|awk 1|tr a a <|cmp -l README.md|jq -R .|git diff "+
			"--no-index README.md|git hash-object -w|comm README.md|strings|xxd|md5sum|file|stat|ls|dd status=none if=|perl -pe 1|python3 -m base64|tee <",
		"|",
	)
	secrets = []string{
		".env",
		"./.env",
		`"$PWD"/.env`,
		"~+/.env",
		"/proc/self/cwd/.env",
		"/proc/$$/cwd/.env",
		"/proc/thread-self/cwd/.env",
		".e*v",
		".en?",
		".[e]nv",
		"{.env,README.md}",
		`$'\x2eenv'`,
		`.e""nv`,
		`.e\nv`,
		"src/../.env",
		"$(echo .env)",
		"`printf .env`",
		"$(ls .env)",
		"src//..///.env",
		"/proc/self/root$PWD/.env",
		"$PWD/src/../.env",
		"./*env",
		"*/../.env",
		"${X:-.env}",
		"-- .env",
		"/dev/fd/3 3<.env",
		"docs/.*/../.env",
		"README.md",
		"*.md",
		"*",
		"[!.]*",
		"src/*",
		"docs/x.md",
		"R??DME.md",
		"{README.md,src/a.go}",
	}
	folders = []string{".", "./", "src/..", `"$PWD"`, "../app", "/proc/self/cwd", "$(pwd)"}
	guarded = []string{
		".claude/settings.json",
		"./.claude/settings.json",
		".claude/set*.json",
		"/proc/self/cwd/.claude/settings.json",
		"src/../.claude/settings.json",
		`"$PWD"/.claude/settings.json`,
		".claude//settings.json",
		`.clau""de/settings.json`,
	}
	oneFile = []string{
		"{P} {F}",
		"{P} < {F}",
		"{P} -- {F}",
		"echo {F} | xargs {P}",
		"ls {F} | xargs {P}",
		"printf '%s\\n' {F} | xargs -n1 {P}",
		"for f in {F}; do {P} \"$f\"; done",
		"f={F}; {P} $f",
		"cat {F} | {P}",
		"{P} README.md {F}",
		"cd src && {P} ../.env",
		"find . -name .env -exec {P} {} +",
		"find . -maxdepth 1 -name '.e*' | xargs {P}",
		"cp {F} x.txt; {P} x.txt",
		"ln -s {F} l; {P} l",
		"git add -f {F} && git diff --cached",
		"git commit -q -F {F} && git log -1",
		"mapfile -t a < {F}; echo \"${a[@]}\"",
		"read -r v < {F}; echo \"$v\"",
		"exec 3< {F}; {P} <&3",
		"{P} <(cat {F})",
		"trap '{P} {F}' EXIT",
		"x=$(<{F}); echo \"$x\"",
		"while read -r l; do echo \"$l\"; done < {F}",
		"tar cf - {F} | {P}",
		"zip -q - {F} | {P}",
		"shopt -s dotglob; {P} *nv",
		"{P} $(ls -a | grep env)",
		"git add -f ':(icase).ENV' && git diff --cached",
		"git add -f {D} && git diff --cached",
		"git add -Af && git diff --cached",
	}
	inFolder = []string{
		"grep -rn . {D}",
		"grep -rh S {D} --include=.env",
		"rg --hidden -u . {D}",
		"rg -uuu S {D}",
		"find {D} -type f -exec cat {} +",
		"find {D} -maxdepth 1 -type f | xargs cat",
		"find {D} ! -name README.md -type f -print0 | xargs -0 cat",
		"cat {D}/.*",
		"cp -r {D} /tmp/cardea-none && cat /tmp/cardea-none/.env",
		"tar cf - {D}",
		"diff -r {D} src",
		"git grep --no-index S {D}",
		"ls -a {D} | xargs cat",
		"git stash -u && git stash show -p --include-untracked",
		"wc -c {D}/.e* {D}/README.md",
	}
	writes = []string{
		"echo x > {G}",
		"echo x | tee {G}",
		"cp README.md {G}",
		"mv README.md {G}",
		"sort -o {G} README.md",
		"sort README.md --output={G}",
		"sort README.md --out {G}",
		"sed -i s/a/b/ {G}",
		"dd if=README.md of=.claude/settings.json",
		"rm {G}",
		"ln -sf ../README.md {G}",
		"git stash push -q -u -- {G}",
		"git stash -u -q",
		"git rm -q -f --cached {G}; git clean -fdq .claude",
		"git checkout -q other",
		"git switch -q other",
		"git merge -q other",
		"git cherry-pick other",
		"git restore -s other {G}",
		"mkdir -p ./-o.claude; sort README.md ./-*/../README.md",
		"mkdir -p -- '-o.claude/settings.json'; sort -*/*",
		"echo -o.claude/settings.json | xargs sort README.md",
		"xargs sort < args.txt",
		"sed -n 'w .claude/settings.json' README.md",
		"sed -n 'w /proc/self/cwd/.claude/settings.json' README.md",
		"awk '{print > \".claude/settings.json\"}' README.md",
		"perl -e 'open F, \">.claude/settings.json\"; print F 1'",
		"python3 -c \"open('.claude/settings.json','w').write('x')\"",
		"python3 -c \"import shutil; shutil.copytree('other','.',dirs_exist_ok=True)\"",
		"tar xf other.tar",
		"python3 -m tarfile -e other.tar .",
		"cp -r other/. .",
		"rsync -a other/ .",
		"truncate -s0 {G}",
		"install README.md {G}",
		"git apply other.patch",
		"patch -p1 < other.patch",
		"truncate -s 0 -- {G}",
		"find .claude -name '*.json' -delete",
		"exec 3<> {G}; echo x >&3",
		"unzip -qo other.zip",
		"mv other/.claude/settings.json {G}",
		"git config alias.w '!echo x > .claude/settings.json' && git w",
	}
	wraps = []string{
		"{L}",
		"{L}",
		"{L}",
		"timeout 5 {L}",
		"( {L} )",
		"{ {L}; }",
		"if true; then {L}; fi",
		"env {L}",
		"nice {L}",
		"true && {L}",
		"false || {L}",
		"{L} | cat",
		"! {L}",
		"cd . && {L}",
		"x=1 {L}",
		"command {L}",
		"for i in 1; do {L}; done",
		"f() { {L}; }; f",
		"eval '{L}'",
		"bash -c '{L}'",
		"{L} &&  true",
		"time {L}",
		"cd src; cd ..; {L}",
	}
)

// generate returns a random line. folder is set if it only names a folder: the content is
// then read if a list allows the program and none denies the file. Some lines are invalid
// in a shell.
func generate(r *rand.Rand) (line string, folder bool) {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	kind := r.IntN(4)
	line = pick([][]string{oneFile, oneFile, inFolder, writes}[kind])
	line = strings.NewReplacer("{P}", pick(readers), "{F}", pick(secrets), "{D}", pick(folders), "{G}", pick(guarded), "{L}", "").Replace(line)
	return strings.Replace(pick(wraps), "{L}", line, 1), kind == 2
}

// TestAllowedLinesAreRun judges generated lines under lists that allow much, and runs the
// allowed ones in bash and zsh. They must not show the secret, nor change the files that
// determine what agents may do.
func TestAllowedLinesAreRun(t *testing.T) {
	var shells []string
	for _, name := range []string{"bash", "zsh"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		shells = append(shells, path)
	}
	places := map[string]*wall{}
	for name, list := range map[string]string{
		"list": `{"permissions":{"allow":["Bash(cat:*)","Bash(head:*)","Bash(tail:*)","Bash(grep:*)","Bash(rg:*)","Bash(find:*)","Bash(sort:*)","Bash(wc:*)","Bash(ls:*)",` +
			`"Bash(echo:*)","Bash(sed -n:*)","Bash(git:*)","Bash(mkdir:*)","Bash(cp:*)","Bash(diff:*)","Bash(jq:*)","Bash(xargs:*)"]}}`,
		"denies": `{"permissions":{"allow":["Bash"],"deny":["Read(.env)","Edit(.claude/**)"]}}`,
	} {
		places[name] = executedPlace(t, list)
	}
	r := rand.New(rand.NewPCG(30, 30))
	allowed, seen := map[string]bool{}, map[string]bool{}
	for range testrun.Pick(600, 8_000) {
		line, folder := generate(r)
		for name, w := range places {
			if folder && name == "list" {
				continue
			}
			if key := name + line; !seen[key] {
				seen[key] = true
				if w.here([]string{"try", "--json", "--", line}) == "allow" {
					allowed[line] = true
				}
			}
		}
	}
	lines := make([]string, 0, len(allowed))
	for line := range allowed {
		lines = append(lines, line)
	}
	sort.Strings(lines)
	w := places["list"]
	for _, line := range lines {
		for _, shell := range shells {
			if bad := w.run(shell, line); bad != "" {
				t.Errorf("allowed, and %s %s: %s", filepath.Base(shell), bad, line)
			}
		}
	}
	t.Logf("%d different lines in %d places, %d allowed and run", len(seen), len(places), len(lines))
}

// secretText is the content of the secret file.
const secretText = "Xq7Secret"

func executedPlace(t *testing.T, list string) *wall {
	t.Helper()
	w := holePlace(t, holeSetup{ClaudeSettings: []byte(list), CardeaYAML: "version: 1\npermissions: {expand: true}\n", Files: map[string]string{
		"README.md": "read me\n", "src/a.go": "package a\n", "docs/x.md": "x\n", ".gitignore": ".env\n", ".claude/settings.json": "{}\n", "args.txt": "-o.claude/settings.json README.md\n",
		"other/.claude/settings.json": "{\"disableAllHooks\":true}\n",
		"other.patch":                 "--- a/.claude/settings.json\n+++ b/.claude/settings.json\n@@ -1 +1 @@\n-{}\n+{\"disableAllHooks\":true}\n",
	}})
	w.shell(
		`tar -C other -cf other.tar .claude; (cd other && python3 -m zipfile -c ../other.zip .claude); git checkout -q -b other; echo ` +
			`'{"disableAllHooks":true}' > .claude/settings.json; git -c user.name=a -c user.email=a@b commit -q -am other; git checkout -q -; echo ` + secretText + ` > .env`,
	)
	return w
}

// shell runs a line in the project.
func (w *wall) shell(line string) {
	w.t.Helper()
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir = w.app
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v: %s", line, err, out)
	}
}

// run runs a line in a copy of the home folder, and returns what it did wrong.
func (w *wall) run(shell, line string) string {
	w.t.Helper()
	home := filepath.Join(w.t.TempDir(), "home")
	if out, err := exec.Command("cp", "-a", w.home, home).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	defer os.RemoveAll(home)
	app := filepath.Join(home, "app")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, shell, "-c", line)
	cmd.Dir = app
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_EDITOR=true", "GIT_PAGER=cat"}
	cmd.WaitDelay = time.Second
	out, _ := cmd.CombinedOutput()
	if bytes.Contains(out, []byte(secretText)) {
		return "shows the secret"
	}
	if text, err := os.ReadFile(filepath.Join(app, ".claude/settings.json")); err != nil || string(text) != "{}\n" {
		return fmt.Sprintf("changes the settings to %q (%v)", text, err)
	}
	found := ""
	_ = filepath.WalkDir(app, func(path string, e fs.DirEntry, err error) error {
		if name := e.Name(); name == "PWN" || name == ".envrc" {
			found = "makes " + name
		}
		return err
	})
	return found
}
