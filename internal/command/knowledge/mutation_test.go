package knowledge_test

import (
	"hash/fnv"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/document/yamltext"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
	"cardea.dev/internal/command/knowledge/source"
)

// minScore is the percentage of changes to the data that the examples must notice. sampled is
// the reciprocal of the share of changes that a run without CARDEA_MUTATIONS=all tries.
const (
	minScore = 97
	sampled  = 40
)

// weaker lists the accesses that replace each access.
var weaker = map[string][]string{
	"read": {"none", "metadata"}, "metadata": {"none", "read"}, "revision": {"none", "read"}, "repository": {"none"}, "write": {"none", "read"}, "edit": {"read", "write"},
	"delete": {"none", "write"}, "execute": {"none", "read"}, "network": {"none"}, "none": {"read"}, "unknown": {"none"}, "configured": {"network"},
}

// mutation is one change to the data of a file.
type mutation struct {
	what        string
	apply, undo func()
}

// TestMutations changes the data, one leaf at a time, and counts the changes that the examples
// of the file notice. It removes each leaf: a word of a list, a key with its value, a
// subcommand. It replaces each access by weaker ones, each number and each script language.
//
// It tries a sample. With CARDEA_MUTATIONS=all it tries all changes, and writes those that no
// example notices to testdata/survivors.txt. With a pattern of file names, such as
// CARDEA_MUTATIONS=git.yaml, it tries all changes to these files.
func TestMutations(t *testing.T) {
	wanted := os.Getenv("CARDEA_MUTATIONS")
	all, pattern := wanted == "all", "*.yaml"
	if wanted != "" && !all {
		pattern = wanted
	}
	names, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	r := newReading(t)
	var survivors []string
	total := 0
	for _, name := range names {
		m := newMutator(t, r, name)
		tried, missed := 0, []string{}
		for _, x := range m.mutations() {
			if wanted == "" && !inSample(x.what) {
				continue
			}
			tried++
			x.apply()
			if !m.noticed() {
				missed = append(missed, filepath.Base(name)+":"+x.what)
			}
			x.undo()
		}
		t.Logf("%-24s %5d changes, %5.1f %% noticed", filepath.Base(name), tried, score(tried, len(missed)))
		total, survivors = total+tried, append(survivors, missed...)
	}
	t.Logf("%d changes, %.1f %% noticed, %d not:\n%s", total, score(total, len(survivors)), len(survivors), strings.Join(survivors, "\n"))
	if got := score(total, len(survivors)); got < minScore {
		t.Errorf("the examples notice %.1f %% of the changes, less than %d %%", got, minScore)
	}
	if all {
		if err := os.WriteFile("testdata/survivors.txt", []byte(strings.Join(survivors, "\n")+"\n"), 0o644); err != nil {
			t.Error(err)
		}
	}
}

func score(total, missed int) float64 { return 100 * float64(total-missed) / float64(max(total, 1)) }

func inSample(what string) bool {
	h := fnv.New32a()
	h.Write([]byte(what))
	return h.Sum32()%sampled == 0
}

// mutator changes the data of one file.
type mutator struct {
	t         *testing.T
	r         reading
	name      string
	top       *yaml.Node
	programs  []form.Program
	variables []string
	// lines are the examples by program.
	lines map[string][]example
}

// example is a line with its expected result: its accesses, or whether it is read-only.
type example struct {
	line     string
	finds    []string
	verdict  bool
	readOnly bool
}

func newMutator(t *testing.T, r reading, name string) *mutator {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	m := &mutator{t: t, r: r, name: name, top: doc.Content[0], lines: map[string][]example{}}
	file, _ := m.read()
	m.programs, m.variables = file.Programs, file.Variables
	for _, e := range file.Tests.Accesses {
		m.add(example{line: e.Line, finds: e.Finds})
	}
	for _, line := range file.Tests.ReadOnly {
		m.add(example{line: line, verdict: true, readOnly: true})
	}
	for _, line := range file.Tests.NotReadOnly {
		m.add(example{line: line, verdict: true})
	}
	return m
}

// add stores an example for each program of its line.
func (m *mutator) add(e example) {
	seen := map[string]bool{}
	for word := range strings.FieldsSeq(strings.NewReplacer(";", " ", "|", " ", "(", " ", ")", " ").Replace(e.line)) {
		if !seen[word] {
			seen[word] = true
			m.lines[word] = append(m.lines[word], e)
		}
	}
}

func (m *mutator) read() (source.File, []diagnostic.Diagnostic) {
	return source.ReadDocument(m.name, document.ReadNode(m.name, yamltext.Node(m.top)))
}

// noticed reports whether the reader finds a mistake, or an example of a program
// that has changed gives another result.
func (m *mutator) noticed() bool {
	changed, mistake, restore := m.install()
	defer restore()
	if mistake {
		return true
	}
	tried := map[string]bool{}
	for _, verdict := range []bool{false, true} {
		for _, n := range changed {
			for _, e := range m.lines[n] {
				if e.verdict != verdict || tried[e.line] {
					continue
				}
				tried[e.line] = true
				if verdict && m.r.only(e.line) != e.readOnly || !verdict && !slices.Equal(m.r.finds(e.line, e.finds), e.finds) {
					return true
				}
			}
		}
	}
	return false
}

// install puts the programs that have changed into the table, and returns their names and a
// function that restores the table. mistake is set if the reader reports the change.
func (m *mutator) install() (changed []string, mistake bool, restore func()) {
	file, problems := m.read()
	if len(problems) > 0 {
		return nil, true, func() {}
	}
	from := &form.Source{File: "packs/commands/" + filepath.Base(m.name), Manual: file.Manual, Variables: file.Variables}
	now := map[string]*form.Program{}
	for i := range file.Programs {
		p := &file.Programs[i]
		if !p.Described() {
			continue
		}
		p.Source = from
		for _, n := range p.Name {
			now[n] = p
		}
	}
	var undo []func()
	for _, p := range m.programs {
		if !p.Described() {
			continue
		}
		for _, n := range p.Name {
			if q := now[n]; q == nil || !same(p, *q) || !slices.Equal(file.Variables, m.variables) {
				changed = append(changed, n)
				undo = append(undo, knowledge.Replace(n, q))
			}
		}
	}
	return changed, false, func() {
		for _, f := range undo {
			f()
		}
	}
}

func same(a, b form.Program) bool {
	a.Name, b.Name, a.Source, b.Source = nil, nil, nil, nil
	return reflect.DeepEqual(a, b)
}

// mutations returns all changes to the programs, the lists that they share, and the variables.
func (m *mutator) mutations() []mutation {
	var out []mutation
	for i := 0; i < len(m.top.Content); i += 2 {
		key, value := m.top.Content[i], m.top.Content[i+1]
		switch key.Value {
		case "lists":
			for k := 1; k < len(value.Content); k += 2 {
				out = append(out, changes(value.Content[k-1], value.Content[k])...)
			}
		case "programs":
			out = append(out, changes(key, value)...)
		case "variables":
			out = append(out, m.unclaimed(key, value)...)
		}
	}
	return out
}

// unclaimed returns the changes to a list of variables. A variable that is dangerous for every
// program is listed only for readers of "cardea knowledge". No verdict depends on it.
func (m *mutator) unclaimed(key, value *yaml.Node) []mutation {
	out := changes(key, value)
	for i := len(value.Content) - 1; i >= 0; i-- {
		if knowledge.VariableClass(strings.Replace(value.Content[i].Value, "*", "X", 1)) == cardea.EnvDangerous {
			out = slices.Delete(out, i, i+1)
		}
	}
	return out
}

// changes returns the changes to the value of a key.
func changes(key, value *yaml.Node) []mutation {
	var out []mutation
	step := 1
	switch value.Kind {
	case yaml.MappingNode:
		step = 2
	case yaml.ScalarNode:
		return replacements(key, value)
	case yaml.AliasNode:
		return nil
	}
	before := value.Content
	for i := 0; i < len(before); i += step {
		if step == 2 && slices.Contains(form.Properties, form.Property(before[i].Value)) || step == 1 && key.Value == "programs" && !describes(before[i]) {
			continue // only deciders use it, which the examples do not test
		}
		out = append(out, mutation{
			what:  place(before[i]) + " without " + text(before[i]),
			apply: func() { value.Content = slices.Delete(slices.Clone(before), i, i+step) },
			undo:  func() { value.Content = before },
		})
		if step == 2 {
			key = before[i]
		}
		out = append(out, changes(key, before[i+step-1])...)
	}
	return out
}

// describes reports whether entry has more than properties.
func describes(entry *yaml.Node) bool {
	return slices.ContainsFunc(entry.Content, func(n *yaml.Node) bool { return n.Value == "operands" || n.Value == "<<" })
}

// replacements returns other values for a word of a fixed set, or for a number.
func replacements(key, value *yaml.Node) []mutation {
	var others []string
	switch n, err := strconv.Atoi(value.Value); {
	case err == nil && (key.Value == "max_operands" || key.Value == "subcommand_words" || key.Value == "options_end_after_operands"):
		others = append(others, strconv.Itoa(n+1))
	case key.Value == "script_language":
		others = []string{"jq", "sed"}
	case key.Value == "operands" || strings.HasPrefix(key.Value, "accesses") || strings.HasSuffix(key.Value, "_operand") || strings.HasPrefix(key.Value, "-"):
		others = weaker[value.Value]
	}
	var out []mutation
	for _, other := range others {
		if before := value.Value; other != before {
			out = append(out, mutation{
				what:  place(value) + " " + key.Value + ": " + other + " instead of " + before,
				apply: func() { value.Value = other },
				undo:  func() { value.Value = before },
			})
		}
	}
	return out
}

func place(n *yaml.Node) string { return strconv.Itoa(n.Line) + ":" + strconv.Itoa(n.Column) }

// text returns the beginning of a value.
func text(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.AliasNode:
		return "*" + n.Value
	case n.Kind == yaml.MappingNode && len(n.Content) > 1:
		return "{" + n.Content[0].Value + ": " + text(n.Content[1]) + ", …}"
	case n.Kind == yaml.SequenceNode && len(n.Content) > 0:
		return "[" + text(n.Content[0]) + ", …]"
	}
	return n.Value
}
