package cli

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/testing/testrun"
)

// This file tests that no line that names a guarded path is allowed, for any program,
// spelling and way of naming it.

// wall returns a registrar whose harness allows all tools, as some users' does.
func wall(t *testing.T) *fixture {
	t.Helper()
	d := newFixtureIn(t, testrun.OnDisk(t))
	d.settings("permissions: {expand: true}\n")
	d.write(filepath.Join(d.project, ".claude", "settings.json"), `{"permissions":{"allow":["Bash","Write","Edit","Read","mcp__x","mcp__files"]}}`)
	d.write(filepath.Join(d.home, ".claude", "settings.json"), `{"permissions":{"allow":["Bash","Write","Edit","Read","mcp__x","mcp__files"]}}`)
	for _, dir := range []string{".claude/hooks", "src", "docs"} {
		d.mkdir(filepath.Join(d.project, dir))
	}
	return d
}

// judged returns the verdict on a call of a tool.
func (d *fixture) judged(t *testing.T, tool, mode, input string) cardea.Verdict {
	t.Helper()
	p := d.process(strings.NewReader(""), nil, nil)
	m, err := tryFlags{tool: tool, harness: "claude-code", event: string(cardea.PreToolUse), mode: mode}.message(p, input)
	if err != nil {
		t.Fatalf("%q: %v", input, err)
	}
	return newEvaluation(p, m.event).Verdict(context.Background())
}

// guardedPaths returns files that determine what agents may do, each with a harmless twin.
func guardedPaths(d *fixture) [][2]string {
	return [][2]string{
		{".claude/settings.json", "docs/settings.json"}, {".claude/settings.local.json", "docs/local.json"}, {".claude/hooks/pre.sh", "src/pre.sh"},
		{".cardea/cardea.yaml", "docs/cardea.yaml"}, {".cardea/rules/team.yaml", "docs/rules/team.yaml"}, {".codex/config.toml", "src/config.toml"},
		{".gemini/settings.json", "src/settings.json"}, {".github/hooks/x.json", "src/x.json"},
		{d.home + "/.claude/settings.json", d.project + "/src/a.json"}, {d.home + "/.config/cardea/cardea.yaml", d.project + "/src/b.yaml"},
		{d.home + "/.claude.json", d.project + "/src/c.json"}, {d.home + "/.local/bin/cardea", d.project + "/src/d"},
	}
}

// spellings returns spellings of a path that all name the same file.
func spellings(d *fixture, p string) []string {
	abs := p
	if !strings.HasPrefix(p, "/") {
		abs = d.project + "/" + p
	}
	dir, name := filepath.Split(abs)
	out := []string{abs, dir + "./" + name, dir + "../" + filepath.Base(dir) + "/" + name, "/" + abs, strings.Replace(abs, "/", "//", 1) + ""}
	if rest, ok := strings.CutPrefix(abs, d.home+"/"); ok {
		out = append(out, "~/"+rest, "$HOME/"+rest, "${HOME}/"+rest, `"$HOME/`+rest+`"`)
	}
	if !strings.HasPrefix(p, "/") {
		out = append(out, p, "./"+p, "src/../"+p, `"`+p+`"`, `$'`+p+`'`, p[:2]+`""`+p[2:], `$PWD/`+p)
	}
	return out
}

// ways are the ways to name a path in a line. %s is the path as a shell word, %q a path
// without quotes, for code.
var ways = []string{
	"P %s",
	"P x %s",
	"P --out=%s",
	"P --out %s",
	"P -o%s",
	"P -o %s",
	"P of=%s",
	"P x:%s",
	"P @%s",
	"P -x --y %s z",
	"P a,%s",
	"P -- %s",
	"P < x %s",
	"x | P %s",
	"true && P %s",
	"timeout 9 P %s",
	"nice P --config=%s",
	"(P %s)",
	"if true; then P %s; fi",
	"for i in 1 2; do P %s; done",
	"f=%s; P $f",
	"f=%s; P --x=$f",
	"P $(echo %s)",
	"env A=b P %s",
	"sudo P %s",
	"bash -c 'P %q'",
	"xargs P %s < x",
	"find . -name x -exec P %s {} +",
	"P <<E\n%q\nE",
	"P <<'E'\nx = \"%q\"\nopen(x, 'w')\nE",
	"P --eval 'open(\"%q\", \"w\")'",
	"P -e 'fs.writeFileSync(\"%q\", \"\")'",
	"P \"write('%q')\"",
	"P '{\"file\": \"%q\"}'",
	"cd src && P ../x %s",
	"P %s &",
	"P 2>/dev/null %s",
	"! P %s",
	"P a=b:%s",
	"exec P %s",
	"command P %s",
	"P script \"w %q\"",
}

// wallPrograms are programs that may write their arguments: some known, most unknown, some
// invented.
var wallPrograms = []string{
	"frobnicate",
	"./tool",
	"node_modules/.bin/x",
	"zz9",
	"mytool",
	"python3",
	"node",
	"ruby",
	"perl",
	"php",
	"lua",
	"Rscript",
	"julia",
	"groovy",
	"ghc",
	"swift",
	"dart",
	"elixir",
	"tclsh",
	"guile",
	"make",
	"npm",
	"npx",
	"go",
	"gradle",
	"mvn",
	"bazel",
	"cmake",
	"ninja",
	"ansible-playbook",
	"terraform",
	"pulumi",
	"helm",
	"vagrant",
	"packer",
	"gs",
	"pandoc",
	"latex",
	"pdflatex",
	"gpg",
	"openssl",
	"age",
	"restic",
	"borg",
	"rclone",
	"syncthing",
	"unison",
	"svn",
	"hg",
	"fossil",
	"jj",
	"sponge",
	"micro",
	"hx",
	"kak",
	"joe",
	"dasel",
	"tomlq",
	"crudini",
	"augtool",
	"sqlite3",
	"psql",
	"mysql",
	"mongosh",
	"redis-cli",
	"duckdb",
	"tar",
	"csplit",
	"logrotate",
	"strace",
	"ltrace",
	"perf",
	"valgrind",
	"hyperfine",
	"eslint",
	"black",
	"ruff",
	"rustfmt",
	"clang-format",
	"isort",
	"jsonlint",
	"sd",
	"rpl",
	"sad",
	"comby",
	"ast-grep",
	"codemod",
	"jscodeshift",
	"objcopy",
	"ld",
	"gcc",
	"clang",
	"rustc",
	"javac",
	"protoc",
	"swagger-codegen",
	"m4",
	"envsubst",
	"gomplate",
	"jinja2",
	"cookiecutter",
	"copier",
	"yeoman",
	"plop",
	"hygen",
	"direnv",
	"mise",
	"nix",
	"docker",
	"podman",
	"gcloud",
	"xdg-open",
	"ansible",
	"salt-call",
	"puppet",
	"chef",
}

// TestNothingNamedIsAllowed tries guarded path × spelling × way × program. The same line
// with a harmless path gets no opinion, unless the program is asked about in any case.
func TestNothingNamedIsAllowed(t *testing.T) {
	d := wall(t)
	rnd := rand.New(rand.NewPCG(1, 1))
	paths := guardedPaths(d)
	for range testrun.Pick(1000, 5000) {
		pair := paths[rnd.IntN(len(paths))]
		way := strings.Replace(ways[rnd.IntN(len(ways))], "P", wallPrograms[rnd.IntN(len(wallPrograms))], 1)
		all := spellings(d, pair[0])
		line := named(d, way, all[rnd.IntN(len(all))])
		if v := d.judged(t, "Bash", "", line); v.Effect < cardea.Ask {
			t.Errorf("%s: %q", v.Effect, line)
		}
		if v := d.judged(t, "Bash", "bypassPermissions", line); v.Effect < cardea.Ask {
			t.Errorf("where permissions are bypassed, %s: %q", v.Effect, line)
		}
		plain := d.judged(t, "Bash", "", named(d, way, "x"))
		if v := d.judged(t, "Bash", "", named(d, way, pair[1])); v.Effect >= cardea.Ask && plain.Effect < cardea.Ask {
			t.Errorf("a needless question by %s: %q", v.By, named(d, way, pair[1]))
		}
	}
}

// named returns a line that names a path in one of the ways.
func named(d *fixture, way, word string) string {
	bare := strings.NewReplacer(`"`, "", `'`, "", "$PWD", d.project, "${HOME}", "~", "$HOME", "~", "$", "").Replace(word)
	return strings.NewReplacer("%s", word, "%q", bare).Replace(way)
}
