package packs_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/decide/noeffect"
	"cardea.dev/internal/decide/opaque"
	"cardea.dev/internal/decide/readonly"
	"cardea.dev/internal/harness/call"
)

// reading is a project in which lines are decided without rules: a git repository with a
// few files.
type reading struct {
	project string
	system  knowledge.System
	gate    *cardea.Gate
}

func newReading(t *testing.T) reading {
	t.Helper()
	home, project := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"README.md": "x\n", "main.go": "package main\n", "a.txt": "a\n", "b.txt": "b\n", "src/x.ts": "x\n", "docs/guide.md": "x\n",
		"package.json": "{}\n", ".env": "KEY=x\n", ".env.example": "KEY=\n", "data/x.json": "{}\n", "x.tar.gz": "", "x.zip": ""} {
		full := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "init", "-q", project).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	system := knowledge.System{Home: home, Resolve: paths.Resolve, IsDir: disk.IsDir, IsNew: disk.IsNew, Exported: func(string) bool { return false }}
	return reading{project, system, &cardea.Gate{
		Placements: []cardea.Placement{{Decider: opaque.New(cardea.OnErrorDefer)}, {Decider: noeffect.New()},
			{Decider: readonly.New(readonly.Options{Home: home, Path: "/usr/local/bin:/usr/bin:/bin"})}},
	}}
}

// only reports whether a line is allowed because it only reads.
func (r reading) only(line string) bool {
	ev := &cardea.Event{Kind: cardea.PreToolUse, Harness: "claude-code", Cwd: r.project, Project: r.project, Mode: cardea.ModeDefault,
		Call: &cardea.Call{Tool: "Bash", Name: "Bash", Known: true, Input: map[string]any{"command": line}}}
	return r.gate.Decide(context.Background(), call.Analyse(ev, r.system)).Effect == cardea.Allow
}

// Grep is free if it reaches and names no secret, Glob if names are free.
func TestSearchesThatOnlyRead(t *testing.T) {
	r := newReading(t)
	for _, c := range []struct {
		tool, path, pattern string
		free                bool
	}{
		{"Grep", "src", "", true}, {"Grep", "src", "*.ts", true}, {"Grep", "docs", "**/*.{md,txt}", true}, {"Grep", "src", "!x", true},
		{"Grep", "src", ".env", false}, {"Grep", "src", "*.{ts,key}", false}, {"Grep", "src", "../.env", false}, {"Grep", "src", "/etc/*", false},
		{"Grep", "/etc", "hosts", false}, {"Grep", "~", "*.md", false}, {"Grep", ".", "", false},
		{"Glob", ".", "**/*.ts", true}, {"Glob", ".", ".env*", true}, {"Glob", "/usr", "*", true}, {"Glob", "~", "*", true},
		{"Glob", ".", "~/*", true}, {"Glob", "~/.ssh", "*", false}, {"Glob", "~", ".s*", false},
	} {
		input := map[string]any{"path": c.path, "pattern": "x"}
		if c.tool == "Glob" {
			input["pattern"] = c.pattern
		} else if c.pattern != "" {
			input["glob"] = c.pattern
		}
		ev := &cardea.Event{Kind: cardea.PreToolUse, Harness: "claude-code", Cwd: r.project, Project: r.project, Mode: cardea.ModeDefault,
			Call: &cardea.Call{Tool: c.tool, Name: c.tool, Known: true, Input: input}}
		if free := r.gate.Decide(context.Background(), call.Analyse(ev, r.system)).Effect == cardea.Allow; free != c.free {
			t.Errorf("%s in %s for %q is free: %v", c.tool, c.path, c.pattern, free)
		}
	}
}
