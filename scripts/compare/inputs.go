package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"cardea.dev/internal/command/bash/generate"
	"cardea.dev/internal/testing/sharedtest"
	"cardea.dev/internal/testing/testrun"
)

// toolCall is a tool and its input as JSON, for a dumper.
type toolCall struct {
	Tool  string
	Input json.RawMessage
}

// testInput is a call with its source and its text for people.
type testInput struct {
	toolCall
	source, text string
}

// corpus is a file of ../shared/corpus with columns. line is the column of the input, tool
// that of the tool, -1 if all are shell lines.
type corpus struct {
	name       string
	line, tool int
}

func corpora() []corpus {
	return []corpus{{"real-lines.tsv", 1, -1}, {"real-lines-labelled.tsv", 1, -1}, {"tricky.tsv", 0, -1}, {"dippy-half.tsv", 0, -1}, {"attacks.tsv", 2, -1},
		{"wrong-answers.tsv", 3, 2}, {"near.tsv", 0, -1}, {"near.tsv", 1, -1}, {"incidents.tsv", 0, -1}, {"originals-cases.tsv", 5, 4}}
}

// collection gathers inputs, each once per source.
type collection struct {
	options
	all  []testInput
	seen map[string]bool
}

// add adds an input, unless it is a duplicate or its source is not wanted.
func (c *collection) add(source, tool, text string) {
	if !c.wanted(source) || strings.TrimSpace(text) == "" || c.seen[source+"\x00"+tool+"\x00"+text] {
		return
	}
	c.seen[source+"\x00"+tool+"\x00"+text] = true
	fields := json.RawMessage(text)
	if tool == "Bash" && (!json.Valid(fields) || text[0] != '{') {
		fields, _ = json.Marshal(map[string]string{"command": text})
	}
	if json.Valid(fields) {
		c.all = append(c.all, testInput{toolCall{tool, fields}, source, text})
	}
}

// readInputs reads all inputs of a work tree.
func readInputs(root string, o options) ([]testInput, error) {
	c := &collection{options: o, seen: map[string]bool{}}
	shared := filepath.Join(root, "..", "shared")
	if dir := os.Getenv("CARDEA_SHARED"); dir != "" && dir != "require" {
		shared = dir
	}
	err := errors.Join(c.goTests(root), c.tables(root), c.holes(filepath.Join(root, "testdata", "holes")), c.walls(filepath.Join(root, "testdata", "walls")))
	for _, file := range corpora() {
		err = errors.Join(err, c.corpus(shared, file))
	}
	g := generate.New(o.seed)
	for range o.generated {
		line, _ := g.Line()
		c.add(fmt.Sprintf("generated, seed %d", o.seed), "Bash", line)
	}
	if err == nil && len(c.all) == 0 {
		err = errors.New("there are no inputs")
	}
	return c.all, err
}

// analysers are the packages that analyse lines, in internal/.
var analysers = []string{"command/bash", "harness/call", "command/mention"}

// goTests adds the texts in the Go tests of the packages that analyse lines. Some are not
// lines, which does no harm.
func (c *collection) goTests(root string) error {
	for _, pkg := range analysers {
		files, err := filepath.Glob(filepath.Join(root, "internal", pkg, "*_test.go"))
		if err != nil {
			return err
		}
		for _, file := range files {
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				return fmt.Errorf("read %s: %w", file, err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil && len(text) < 10_000 {
						c.add("Go tests of internal/"+pkg, "Bash", text)
					}
				}
				return true
			})
		}
	}
	return nil
}

// tables adds the columns of the tables in testdata of the same packages.
func (c *collection) tables(root string) error {
	for _, pkg := range analysers {
		err := filepath.WalkDir(filepath.Join(root, "internal", pkg, "testdata"), func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil || d.IsDir() || filepath.Ext(path) != ".txt":
				return err
			}
			return c.cases("tables of internal/"+pkg, path)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// cases adds the columns of a table.
func (c *collection) cases(source, path string) error {
	all, err := testrun.ReadCases(path)
	for _, one := range all {
		for _, column := range one.Columns {
			c.add(source, "Bash", column)
		}
	}
	return err
}

// holes adds the rows of TestHoles, and what the generator of TestGeneratedDenies can write
// with one line around each.
func (c *collection) holes(dir string) error {
	rows, err := os.ReadFile(filepath.Join(dir, "rows.tsv"))
	everyday, err2 := os.ReadFile(filepath.Join(dir, "everyday.tsv"))
	if err = errors.Join(err, err2); err != nil {
		return fmt.Errorf("read the holes: %w", err)
	}
	for row := range strings.Lines(string(rows) + string(everyday)) {
		if cols := strings.Split(strings.TrimSuffix(row, "\n"), "\t"); !strings.HasPrefix(row, "#") && len(cols) == 5 {
			if cols[2] == "Bash" {
				cols[3] = sharedtest.Unescape(cols[3])
			}
			c.add("rows of TestHoles", cols[2], cols[3])
		}
	}
	var lists [3][]testrun.Case
	for i, name := range []string{"places", "names", "around"} {
		if lists[i], err = testrun.ReadCases(filepath.Join(dir, name+".txt")); err != nil {
			return err
		}
	}
	const source = "generators of TestHoles"
	for _, around := range lists[2] {
		for _, name := range lists[1] {
			c.add(source, "Bash", strings.ReplaceAll(around.Text(), "{L}", name.Text()))
		}
		for _, place := range lists[0] {
			for _, command := range []string{"git push", "rm -rf x", "cat ./.env", "ls; git push", "git status"} {
				for _, expands := range []string{"$(" + command + ")", "`" + command + "`"} {
					line := strings.NewReplacer("{P}", expands, "{C}", command).Replace(place.Text())
					c.add(source, "Bash", strings.ReplaceAll(around.Text(), "{L}", line))
				}
			}
		}
	}
	return nil
}

// walls adds the lines of testdata/walls, and their harmless twins.
func (c *collection) walls(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return err
	}
	names := strings.NewReplacer("{G}", ".claude/settings.json", "{D}", ".claude", "{A}", "~/.config", "{C}", "git push origin main", "{Q}", "git push origin main")
	for _, file := range files {
		all, err := testrun.ReadCases(file)
		if err != nil {
			return err
		}
		for _, one := range all {
			for line := range strings.SplitSeq(strings.ReplaceAll(strings.Join(one.Columns, " ⇒ "), " → ", " ⇒ "), " ⇒ ") {
				c.add("walls", "Bash", names.Replace(line))
			}
		}
	}
	return nil
}

// corpus adds a file of the shared test data. A missing file is skipped.
func (c *collection) corpus(shared string, f corpus) error {
	data, err := os.ReadFile(filepath.Join(shared, "corpus", f.name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintln(os.Stderr, "compare: without", f.name, "of the shared test data")
		return nil
	case err != nil:
		return fmt.Errorf("read the corpus: %w", err)
	}
	for row := range strings.Lines(string(data)) {
		cols := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if strings.HasPrefix(row, "# ") || strings.HasPrefix(row, "project\tsuite\t") || len(cols) <= f.line {
			continue
		}
		tool := "Bash"
		if f.tool >= 0 {
			tool = cols[f.tool]
		}
		text := cols[f.line]
		if tool == "Bash" || f.name == "originals-cases.tsv" {
			text = sharedtest.Unescape(text)
		}
		source := f.name
		if f.name == "real-lines.tsv" {
			source += ", " + cols[0]
		}
		c.add(source, tool, text)
	}
	return nil
}
