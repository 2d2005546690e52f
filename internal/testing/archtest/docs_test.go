package archtest

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"cardea.dev"
)

var update = flag.Bool("update", false, "write the generated parts of the documentation")

// sources returns the text files of the repository by path, relative to its root.
func sources(t *testing.T) map[string]string {
	t.Helper()
	root := "../../.."
	out := map[string]string{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || d.Name() == ".git" {
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
			return nil
		}
		rel, err := filepath.Rel(root, p)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestNoReferenceOutsideTheRepository checks that a clone has everything to which its texts
// refer. Tests may name outside material as a quoted file name, since they work without it.
func TestNoReferenceOutsideTheRepository(t *testing.T) {
	outside := regexp.MustCompile(`\b(DESIGN\.md|HARNESSES(\.md)?|FIELD-NOTES(\.md)?|STYLE\.md|LIBRARIES\.md|ORIGINALS(\.md)?|DESIGN section)\b|\bDESIGN (has|calls|leaves|says)\b|\bthe seeds?('s)?\b`)
	named := regexp.MustCompile(`"FIELD-NOTES\.md"`)
	honest := regexp.MustCompile(`\b(fixed|day's|the seed of|its) seed`)
	for file, text := range sources(t) {
		if strings.HasPrefix(file, "internal/testing/archtest/") {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			if strings.HasSuffix(file, "_test.go") {
				line = named.ReplaceAllString(line, "")
			}
			line = honest.ReplaceAllString(line, "")
			if found := outside.FindString(line); found != "" {
				t.Errorf("%s:%d refers to %q, which a clone does not have", file, i+1, found)
			}
		}
	}
}

// fenced matches the blocks of code in a page, which hold no links.
var fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```|`[^`\n]*`")

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
)

// anchors returns the names by which links reach the headings of a page, as GitHub builds them.
func anchors(page string) map[string]bool {
	out := map[string]bool{}
	page = regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(page, "")
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, m[1])
		for n, base := 1, name; out[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		out[name] = true
	}
	return out
}

func TestLinksResolve(t *testing.T) {
	files := sources(t)
	n := 0
	for file, text := range files {
		if !strings.HasSuffix(file, ".md") {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			n++
			at := file
			if target != "" {
				at = filepath.ToSlash(filepath.Join(filepath.Dir(file), target))
			}
			if _, err := os.Stat(filepath.Join("../../..", at)); err != nil {
				t.Errorf("%s links to %s, which is not there", file, m[1])
				continue
			}
			if anchor != "" && strings.HasSuffix(at, ".md") && !anchors(files[at])[anchor] {
				t.Errorf("%s links to %s, and %s has no such heading", file, m[1], at)
			}
		}
	}
	if n < 100 {
		t.Errorf("found only %d links", n)
	}
}

// TestDecisionsHaveOneForm checks that every decision is in the index, and that every
// page has the four sections.
func TestDecisionsHaveOneForm(t *testing.T) {
	files := sources(t)
	index := files["docs/decisions/README.md"]
	for file, text := range files {
		name, ok := strings.CutPrefix(file, "docs/decisions/")
		if !ok || name == "README.md" {
			continue
		}
		if !strings.Contains(index, "("+name+")") {
			t.Errorf("%s is not in the index", file)
		}
		for _, want := range []string{"\nStatus: ", "\n## Context\n", "\n## Decision\n", "\n## Consequence\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q", file, strings.TrimSpace(want))
			}
		}
		if n := len(strings.Fields(text)); n > 900 {
			t.Errorf("%s has %d words, at most 900: cut what is not in force, or split the topic", file, n)
		}
	}
}

// diagramNode matches a node of the diagram in docs/architecture.md, with the functions and the
// file that it names, or the folder that holds the nodes after it.
var diagramNode = regexp.MustCompile(`(?m)^ +(?:subgraph \w+ \["(\S+)"\]|\w+\["(.+)<br>(\S+\.go)"\](:::walk)?)$`)

// TestDiagramIsTrue checks that the diagram in docs/architecture.md names functions that are in
// the files that it names, that the walk from main to the answer has at most six files, and
// that the page is short.
func TestDiagramIsTrue(t *testing.T) {
	page := sources(t)["docs/architecture.md"]
	functions := map[string]bool{}
	for _, p := range tree(t) {
		for _, f := range p.Functions() {
			functions[f.File+" "+f.Name] = true
		}
	}
	_, diagram, _ := strings.Cut(page, "```mermaid\n")
	diagram, _, _ = strings.Cut(diagram, "```\n")
	folder, nodes, walk := "", 0, 0
	for _, m := range diagramNode.FindAllStringSubmatch(diagram, -1) {
		if m[1] != "" {
			folder = strings.Replace(m[1], module, "cardea", 1) + "/"
			continue
		}
		nodes++
		walk += len(m[4]) / len(":::walk")
		for name := range strings.SplitSeq(m[2], ", ") {
			local := strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz")
			if !strings.HasPrefix(local, ".") {
				local = name
			}
			if at := folder + m[3] + " " + strings.TrimPrefix(local, "."); !functions[at] {
				t.Errorf("docs/architecture.md names %s in %s%s, which has no such function", name, folder, m[3])
			}
		}
	}
	if nodes < 10 || walk > 6 {
		t.Errorf("the diagram has %d functions in files, and its walk has %d", nodes, walk)
	}
	before, table, _ := strings.Cut(page, tableBegin)
	_, after, _ := strings.Cut(table, tableEnd)
	if n := len(strings.Fields(before + after)); n > 1050 {
		t.Errorf("docs/architecture.md has %d words beside its table, at most 1050: a newcomer reads it first", n)
	}
}

// failureRows returns the table of failures as the page has it.
func failureRows() string {
	var b strings.Builder
	b.WriteString("| failure | `on_error: defer` (default) | `on_error: deny` | `on_error: allow` |\n|---|---|---|---|\n")
	for f := cardea.NoFailure + 1; ; f++ {
		row, ok := failureRow(f)
		if !ok {
			return b.String()
		}
		b.WriteString(row)
	}
}

// failureRow returns one row of the table, or false after the last failure, where the
// table ends.
func failureRow(f cardea.Failure) (row string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	row = "| " + f.String()
	for _, on := range []cardea.OnError{cardea.OnErrorDefer, cardea.OnErrorDeny, cardea.OnErrorAllow} {
		word := func(e cardea.Effect) string {
			if e == cardea.Abstain {
				return "nothing"
			}
			return e.String()
		}
		attended, unattended := word(f.Effect(on, true)), word(f.Effect(on, false))
		row += " | " + attended
		if unattended != attended {
			row += "; " + unattended + " where unattended"
		}
	}
	return row + " |\n", true
}

func TestFailureTableIsCurrent(t *testing.T) {
	const page = "../../../docs/design.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	marks := regexp.MustCompile(`(?s)(<!-- failures: [^\n]*-->\n).*?(<!-- /failures -->)`)
	if !marks.Match(data) {
		t.Fatalf("%s has no place for the table of failures", page)
	}
	want := marks.ReplaceAll(data, []byte("${1}"+failureRows()+"${2}"))
	if bytes.Equal(want, data) {
		return
	}
	if !*update {
		t.Fatalf("the table of failures in docs/design.md is out of date: go test ./internal/testing/archtest -run TestFailureTable -update")
	}
	if err := os.WriteFile(page, want, 0o644); err != nil {
		t.Fatal(err)
	}
}
