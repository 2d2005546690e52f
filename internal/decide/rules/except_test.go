package rules_test

import (
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/decide/rules"
)

// TestEnvAndUnless tests conditions on variables and options, and words that an agent would
// write to evade the rule.
func TestEnvAndUnless(t *testing.T) {
	for _, c := range []struct {
		match   string
		yes, no []string
	}{
		{"env: LD_PRELOAD",
			[]string{
				"LD_PRELOAD=/x ls",
				"env LD_PRELOAD=/x ls",
				"A=b LD_PRELOAD=/x ls",
				"export LD_PRELOAD=/x; ls",
				"timeout 5 env LD_PRELOAD= ls",
				"bash -c 'LD_PRELOAD=/x ls'",
			},
			[]string{
				"ls",
				"LD_PRELOADED=/x ls",
				"echo LD_PRELOAD=/x",
				"ls LD_PRELOAD=/x",
				"ld_preload=/x ls",
			},
		},
		{"env: [HUSKY, 'GIT_CONFIG_*'], command: git",
			[]string{"HUSKY=0 git commit", "GIT_CONFIG_KEY_0=a git status"},
			[]string{"HUSKY=0 npm test", "GIT_CONFIG=x git status", "git status"}},
		{"command: kubectl delete, unless: {flags: [--help, --dry-run, --dry-run=client]}",
			[]string{"kubectl delete pod x", "kubectl delete pod x --dry-run=none", "kubectl delete pod x --dry-run --dry-run=none",
				"kubectl delete pod x --dry-run=client --dry-run=none", "kubectl delete pod x --help=false", "kubectl delete pod x --hel",
				"kubectl delete pod x -- --help", "kubectl delete pod x -n --help", "kubectl delete pod x --field-manager --help",
				"kubectl delete pod x --dry-run $MORE", "kubectl delete pod $POD --dry-run", "kubectl delete pod x* --dry-run",
				"echo --dry-run=none | xargs kubectl delete pod x --dry-run", "kubectl delete pod x --dry-run --no-dry-run",
				"kubectl delete pod x --dry-run && kubectl delete pod x", "KUBECONFIG=/x kubectl delete pod x --dry-run"},
			[]string{"kubectl delete --help", "kubectl delete pod x --dry-run", "kubectl delete pod x --dry-run=client -n prod", "kubectl get pods"}},
		{"command: codex, unless: {flags: [--sandbox=read-only]}",
			[]string{"codex x", "codex --sandbox workspace-write x", "codex --sandbox read-only --sandbox danger-full-access", "codex --frob --sandbox read-only",
				"codex --sandbox $M", "codex x -- --sandbox read-only", "codex --sandbox read-only $x", "codex --sandbox"},
			[]string{"codex --sandbox read-only x", "codex --sandbox=read-only x"}},
		{"command: codex, flags: ['--sandbox!=read-only|workspace-write']",
			[]string{
				"codex --sandbox danger-full-access",
				"codex --sandbox=x",
				"codex --sandbox $M",
				"codex --sandbox",
				"codex --sandbox read-only --sandbox x",
			},
			[]string{"codex x", "codex --sandbox read-only x", "codex --sandbox=workspace-write x"}},
		{"command: [fdisk, sort], unless: {reads: true}",
			[]string{
				"fdisk /dev/sda",
				"fdisk -l -w never /dev/sda",
				"fdisk -l $x",
				"echo -w | xargs fdisk -l",
				"sort -o x y",
				"sort $x",
			},
			[]string{"fdisk -l /dev/sda", "sudo fdisk -l /dev/sda", "fdisk -l /dev/sda > x", "sort x"}},
	} {
		r := one(t, "effect: deny, match: {"+c.match+"}")
		for _, line := range c.yes {
			if !speaks(t, bash(line), r) {
				t.Errorf("%s says nothing about %q", c.match, line)
			}
		}
		for _, line := range c.no {
			if speaks(t, bash(line), r) {
				t.Errorf("%s speaks about %q", c.match, line)
			}
		}
	}
}

// TestAllowHasNoExceptions tests that these conditions are mistakes in a rule that allows,
// also in an alternative, since they would seem to widen or narrow it.
func TestAllowHasNoExceptions(t *testing.T) {
	for _, match := range []string{
		"command: git push, unless: {flags: [--force]}",
		"command: git push, env: CI",
		"command: git push, any: [{env: CI}]",
		"command: git push, unless: {}",
		"access: read, holds: private-key",
		"access: read, unless: {files: templates}",
		"access: read, unless: {metadata: true}",
		"access: read, unless: {search: true}",
		"command: ls, unless: {reads: true}",
		"command: git push, unless: {flags: [help]}",
		"command: git push, unless: {flags: [--help], args: x}",
		"command: git push, env: ''",
	} {
		list, problems := rules.Parse("f.yaml", []byte("rules: [{id: r, effect: allow, match: {"+match+"}}]"), rules.Origin{Scope: cardea.ScopeUser})
		if len(list) > 0 || len(problems) == 0 {
			t.Errorf("%s is read without a word: %v", match, problems)
		}
		for _, p := range problems {
			if p.Line == 0 || strings.TrimSpace(p.Hint) == "" {
				t.Errorf("%s: %v has no place or no hint", match, p)
			}
		}
	}
	// A table may hold such a rule, unlike a file: it still allows nothing.
	r := one(t, "effect: allow, match: {command: ls}")
	for _, m := range []rules.Match{{Command: r.Match.Command, Env: []string{"*"}}, {Command: r.Match.Command, Unless: []string{"--help"}}} {
		r.Match = m
		if speaks(t, bash("CI=1 ls"), r) {
			t.Errorf("%+v allows", m)
		}
	}
}

// An exception for accesses is about the same access as the condition.
func TestExceptionsForAccesses(t *testing.T) {
	for _, c := range []struct {
		match     string
		yes, none []string
	}{
		{"access: read, path: '/**/x*.json', unless: {search: true}",
			[]string{
				"cat x1.json",
				"cat d/x*.json",
				"cat *x1*.json",
				"grep -r a x1.json",
				"cat < x1.json",
			},
			[]string{"cat *.json", "cat *", "grep -r a ."},
		},
		{"access: [write, delete], path: '/**/d/**', unless: {search: true}",
			[]string{"rm -r d/a", "tee d/*", "rm -r d/a*"}, []string{"rm -rf ../project", "find . -delete"}},
		{"access: read, path: '~/x/y', unless: {search: true}", []string{"cat ~/x/y", "cat ~/x/y*"}, []string{"grep -r a ~", "grep -r a /"}},
		{"access: read, path: '/**/*.kt', unless: {search: true}", []string{"cat *.kt", "cat a.kt"}, []string{"cat a*", "cat *.k*"}},
		{"access: read, path: '/**/x', unless: {metadata: true}", []string{"cat x", "ls -l x; cat x"}, []string{"ls -l x", "stat x"}},
		{"access: read, path: '/**/x*', unless: {files: templates}", []string{"cat x", "cat x.sample y; cat x1"}, []string{"cat x.sample", "cat x.example"}},
	} {
		r := one(t, "effect: ask, match: {"+c.match+"}")
		for _, line := range c.yes {
			if !speaks(t, bash(line), r) {
				t.Errorf("%s is silent about %q", c.match, line)
			}
		}
		for _, line := range c.none {
			if speaks(t, bash(line), r) {
				t.Errorf("%s speaks about %q", c.match, line)
			}
		}
	}
}

// An exception for accesses needs a condition on them, and true values.
func TestExceptionsThatMeanNothing(t *testing.T) {
	for _, match := range []string{"command: ls, unless: {search: true}", "command: ls, unless: {files: templates}", "access: read, unless: {metadata: false}",
		"access: read, unless: {files: nothing}", "access: read, unless: {}", "access: read, holds: public-key"} {
		if _, problems := rules.Parse("f.yaml", []byte("rules: [{id: r, effect: ask, match: {"+match+"}}]"), rules.Origin{}); len(problems) == 0 {
			t.Errorf("%s is read without a word", match)
		}
	}
}
