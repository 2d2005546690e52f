package knowledge_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
	"cardea.dev/internal/command/knowledge/source"
	"cardea.dev/internal/decide/noeffect"
	"cardea.dev/internal/decide/opaque"
	"cardea.dev/internal/decide/readonly"
	"cardea.dev/internal/harness/call"
)

// reading is a project whose lines only the built-in deciders judge: a git repository
// with a few files.
type reading struct {
	project string
	system  knowledge.System
	gate    *cardea.Gate
}

func newReading(t testing.TB) reading {
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

// only reports whether line is allowed because it only reads.
func (r reading) only(line string) bool {
	return r.gate.Decide(context.Background(), call.Analyse(r.event(line), r.system)).Effect == cardea.Allow
}

func (r reading) event(line string) *cardea.Event {
	return &cardea.Event{Kind: cardea.PreToolUse, Harness: "claude-code", Cwd: r.project, Project: r.project, Mode: cardea.ModeDefault,
		Call: &cardea.Call{Tool: "Bash", Name: "Bash", Known: true, Input: map[string]any{"command": line}}}
}

// folder is the folder of command knowledge.
const folder = "../../../packs/commands"

// TestExamples checks the examples of each file of command knowledge: lines that are
// read-only, lines that must never be, and lines with their accesses.
func TestExamples(t *testing.T) {
	files, problems, err := source.ReadFolder(folder)
	if err != nil || len(files) == 0 || len(problems) > 0 {
		t.Fatal(len(files), problems, err)
	}
	r := newReading(t)
	for i := range files {
		t.Run(filepath.Base(files[i].Path), func(t *testing.T) { r.holds(t, &files[i]) })
	}
}

// holds checks the examples of a file.
func (r reading) holds(t *testing.T, file *source.File) {
	t.Helper()
	for _, line := range file.Tests.ReadOnly {
		if !r.only(line) {
			t.Errorf("not read-only: %q", line)
		}
	}
	for _, line := range file.Tests.NotReadOnly {
		if r.only(line) {
			t.Errorf("read-only: %q", line)
		}
	}
	for _, e := range file.Tests.Accesses {
		if got := r.finds(e.Line, e.Finds); !slices.Equal(got, e.Finds) {
			t.Errorf("%s:%d: %s\n got [%s]\nwant [%s]", file.Path, e.At, e.Line, strings.Join(got, ", "), strings.Join(e.Finds, ", "))
		}
	}
}

// TestEveryProgramHasAnExample checks that each program and subcommand has an example
// with its accesses.
func TestEveryProgramHasAnExample(t *testing.T) {
	files, _, err := source.ReadFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		coversAll(t, &files[i])
	}
}

// coversAll checks that each program and subcommand of a file has an example with its
// accesses.
func coversAll(t *testing.T, file *source.File) {
	t.Helper()
	var check func(p *form.Program, above string)
	check = func(p *form.Program, above string) {
		command := strings.TrimSpace(above + " " + strings.ReplaceAll(p.Name[0], "*", "x"))
		if !slices.ContainsFunc(file.Tests.Accesses, func(e source.Example) bool { return e.Line == command || strings.HasPrefix(e.Line, command+" ") }) {
			t.Errorf("%s: no line with the accesses of %q in its tests", file.Path, command)
		}
		for i := range p.Subcommands {
			check(&p.Subcommands[i], command)
		}
	}
	for i := range file.Programs {
		if file.Programs[i].Described() {
			check(&file.Programs[i], "")
		}
	}
}

// TestExampleOfThePage checks that the file in docs/command-knowledge.md has no mistakes, and
// that its examples hold.
func TestExampleOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/command-knowledge.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, ok := strings.Cut(text, "```\n")
	if !ok {
		t.Fatal("the page has no example")
	}
	file, problems := source.Read("frobctl.yaml", []byte(text))
	for _, p := range problems {
		t.Error(p)
	}
	if len(file.Programs) != 1 || len(file.Tests.ReadOnly) == 0 {
		t.Fatalf("the example describes %d programs", len(file.Programs))
	}
	p := &file.Programs[0]
	p.Source = &form.Source{File: "packs/commands/frobctl.yaml", Manual: file.Manual, Variables: file.Variables}
	defer knowledge.Insert(p.Name[0], p)()
	newReading(t).holds(t, &file)
	coversAll(t, &file)
}

// finds returns what the analysis finds in line: accesses with paths relative to the
// project, options with a value, usual names of commands, files of the project that
// matter, and what is opaque. A command that may do more adds "incomplete". The words of
// the command are listed only if expected has some.
func (r reading) finds(line string, expected []string) []string {
	commands := slices.ContainsFunc(expected, func(e string) bool { return strings.HasPrefix(e, "command ") })
	ev := call.Analyse(r.event(line), r.system)
	out := []string{}
	add := func(kind string, words ...string) {
		if text := strings.TrimSpace(kind + " " + strings.Join(words, " ")); !slices.Contains(out, text) || kind == "incomplete" {
			out = append(out, text)
		}
	}
	for _, p := range ev.Call.Parts {
		if commands {
			add("command", p.Command...)
		}
		for _, a := range p.Access {
			kind, at := string(a.Kind), a.Path
			switch {
			case a.Configured:
				kind = "configured"
			case a.MetadataOnly:
				kind = "metadata"
			}
			if a.Glob {
				at = a.Pattern
			}
			at = strings.TrimPrefix(strings.Replace(at, r.project, ".", 1), "./")
			if a.Recursive {
				at += "/**"
			}
			add(kind, at, a.Host)
			if a.SkipsHidden {
				add("skips hidden files")
			}
		}
		var valued []string
		for _, o := range p.Options {
			if o.Value != "" {
				valued = append(valued, o.Name)
			}
		}
		if len(valued) > 0 {
			add("values", valued...)
		}
		if len(p.UsualCommand) > 0 {
			add("same as", p.UsualCommand...)
		}
		for _, c := range p.Configs {
			add("unless", c)
		}
		for _, o := range p.Opaque {
			add("opaque", o.Text)
		}
		if p.Knowledge != cardea.Complete && !p.NoEffect {
			add("incomplete")
		}
	}
	return out
}
