// Command gen turns packs/commands/*.yaml, which people write, into the table
// of programs that the analysis links. Run it with go generate ./internal/bash.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"
)

type program struct {
	Name        string            `yaml:"name"`
	Values      words             `yaml:"values"`
	Globals     words             `yaml:"globals"`
	Single      bool              `yaml:"single"`
	Depth       int               `yaml:"depth"`
	Operands    string            `yaml:"operands"`
	First       string            `yaml:"first"`
	Last        string            `yaml:"last"`
	FirstUnless words             `yaml:"first_unless"`
	Recursive   words             `yaml:"recursive"`
	Options     map[string]string `yaml:"options"`
	Access      words             `yaml:"access"`
	When        []when            `yaml:"when"`
	PathsFirst  bool              `yaml:"paths_first"`
	Stops       int               `yaml:"stops"`
	Ends        string            `yaml:"ends"`
	Attached    words             `yaml:"attached"`
	Bundle      bool              `yaml:"bundle"`
	Pairs       map[string]string `yaml:"pairs"`
	Remote      bool              `yaml:"remote"`
	Members     bool              `yaml:"members"`
	Into        words             `yaml:"into"`
	Spreads     words             `yaml:"spreads"`
	SpreadsNot  words             `yaml:"spreads_unless"`
	Saves       words             `yaml:"saves"`
	SavesNot    words             `yaml:"saves_unless"`
	Double      words             `yaml:"double"`
	Permutes    bool              `yaml:"permutes"`
	Alone       words             `yaml:"alone"`
	Help        words             `yaml:"help"`
	Persistent  words             `yaml:"persistent"`
	Else        words             `yaml:"else"`
	Hidden      words             `yaml:"hidden"`
	Suffixes    words             `yaml:"suffixes"`
	Same        string            `yaml:"same"`
	Equal       map[string]string `yaml:"equal"`
	Certain     *certainty        `yaml:"certain"`
	Subs        []program         `yaml:"subs"`
}

type certainty struct {
	Any        bool   `yaml:"any"`
	Flags      words  `yaml:"flags"`
	Numeric    bool   `yaml:"numeric"`
	Most       *int   `yaml:"most"`
	Prefix     words  `yaml:"prefix"`
	MostUnless words  `yaml:"most_unless"`
	Bare       bool   `yaml:"bare"`
	Configs    words  `yaml:"configs"`
	Words      words  `yaml:"words"`
	Among      words  `yaml:"among"`
	Without    words  `yaml:"without"`
	Needs      words  `yaml:"needs"`
	Look       string `yaml:"look"`
	Scripts    words  `yaml:"scripts"`
	Apart      bool   `yaml:"apart"`
	Files      bool   `yaml:"files"`
}

// words is a list of words; lists in it, which YAML's aliases make, are taken
// apart, and a single word is a list of one.
type words []string

// UnmarshalYAML reads a list, or one word.
func (w *words) UnmarshalYAML(n *yaml.Node) error {
	switch n.Kind {
	case yaml.AliasNode:
		return w.UnmarshalYAML(n.Alias)
	case yaml.SequenceNode:
		for _, c := range n.Content {
			if err := w.UnmarshalYAML(c); err != nil {
				return err
			}
		}
		return nil
	case yaml.ScalarNode:
		*w = append(*w, n.Value)
		return nil
	}
	return fmt.Errorf("line %d: a list of words is expected", n.Line)
}

// tests are lines that the file vouches for: read-only ones, and such that
// must never be. They are checked by the packs' tests.
type tests struct {
	Readonly words `yaml:"readonly"`
	Not      words `yaml:"not"`
}

type when struct {
	Flags     words             `yaml:"flags"`
	Operands  string            `yaml:"operands"`
	Last      string            `yaml:"last"`
	Recursive bool              `yaml:"recursive"`
	Options   map[string]string `yaml:"options"`
}

// source is one file, as the table names it.
type source struct {
	file, manual string
	variables    words
}

func main() {
	out := "programs_gen.go"
	if len(os.Args) > 1 {
		out = os.Args[1]
	}
	src, err := generate("../../packs/commands")
	if err == nil {
		err = os.WriteFile(out, src, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate reads a folder of YAML files and writes the table's Go source.
func generate(dir string) ([]byte, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var all []program
	var origins []int
	var sources []source
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		var doc struct {
			Manual    string    `yaml:"manual"`
			Variables words     `yaml:"variables"`
			Lists     yaml.Node `yaml:"lists"`
			Programs  []program `yaml:"programs"`
			Tests     tests     `yaml:"tests"`
		}
		dec := yaml.NewDecoder(bytes.NewReader(data))
		dec.KnownFields(true)
		if err := dec.Decode(&doc); err != nil {
			return nil, fmt.Errorf("read %s: %w", f, err)
		}
		for range doc.Programs {
			origins = append(origins, len(sources))
		}
		sources = append(sources, source{"packs/commands/" + filepath.Base(f), doc.Manual, doc.Variables})
		all = append(all, doc.Programs...)
	}
	for i := range all {
		all[i].inherit()
	}
	index := map[string]int{}
	var b bytes.Buffer
	b.WriteString("// Code generated by go generate from packs/commands/*.yaml; DO NOT EDIT.\n\npackage bash\n\nimport \"cardea.dev\"\n\n")
	b.WriteString("var programs = [...]program{\n")
	for i, p := range all {
		for _, n := range strings.Split(p.Name, "|") {
			if _, taken := index[n]; taken {
				return nil, fmt.Errorf("program %s is described twice", n)
			}
			index[n] = i
		}
		p.write(&b)
	}
	b.WriteString("}\n\nvar programIndex = [...]indexed{\n")
	names := make([]string, 0, len(index))
	for n := range index {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		fmt.Fprintf(&b, "{%q, %d},\n", n, index[n])
	}
	b.WriteString("}\n\nvar sources = [...]source{\n")
	for _, s := range sources {
		fmt.Fprintf(&b, "{%q, %q, %#v},\n", s.file, s.manual, []string(s.variables))
	}
	b.WriteString("}\n\n// origins are the files of the programs, by place in sources.\nvar origins = [...]uint8{")
	for _, o := range origins {
		fmt.Fprintf(&b, "%d,", o)
	}
	b.WriteString("}\n")
	return format.Source(b.Bytes())
}

var kinds = map[string]string{"read": "cardea.Read", "write": "cardea.Write", "delete": "cardea.Delete", "execute": "cardea.Execute", "network": "cardea.Network", "unknown": "cardea.Unknown", "none": "none", "edit": "edit",
	"names": "names", "revision": "revision", "configured": "configured", "repository": "repository"}

func kind(s string) string {
	k, ok := kinds[s]
	if !ok {
		panic(fmt.Sprintf("unknown access %q", s))
	}
	return k
}

func (p program) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "{Name: %q,", p.Name)
	list(b, "Values", p.Values)
	list(b, "Globals", p.Globals)
	for _, f := range []struct {
		name string
		set  bool
	}{{"Single", p.Single}, {"PathsFirst", p.PathsFirst}, {"Bundle", p.Bundle}, {"Remote", p.Remote}, {"Members", p.Members}, {"Permutes", p.Permutes}} {
		if f.set {
			fmt.Fprintf(b, "%s: true,", f.name)
		}
	}
	if p.Ends != "" {
		fmt.Fprintf(b, "Ends: %q,", p.Ends)
	}
	if p.Stops > 0 {
		fmt.Fprintf(b, "Stops: %d,", p.Stops)
	}
	list(b, "Attached", p.Attached)
	list(b, "Into", p.Into)
	list(b, "Spreads", p.Spreads)
	list(b, "SpreadsUnless", p.SpreadsNot)
	list(b, "Saves", p.Saves)
	list(b, "SavesUnless", p.SavesNot)
	list(b, "Double", p.Double)
	list(b, "Alone", p.Alone)
	list(b, "Help", p.Help)
	list(b, "Persistent", p.Persistent)
	list(b, "Hidden", p.Hidden)
	list(b, "Suffixes", p.Suffixes)
	list(b, "Same", strings.Fields(p.Same))
	equal(b, p.Equal)
	accesses(b, "Pairs", p.Pairs)
	if p.Depth > 0 {
		fmt.Fprintf(b, "Depth: %d,", p.Depth)
	}
	for _, f := range []struct{ name, kind string }{{"Operands", p.Operands}, {"First", p.First}, {"Last", p.Last}} {
		if f.kind != "" {
			fmt.Fprintf(b, "%s: %s,", f.name, kind(f.kind))
		}
	}
	list(b, "FirstUnless", p.FirstUnless)
	list(b, "Recursive", p.Recursive)
	accesses(b, "Options", p.Options)
	doing(b, "Access", p.Access)
	doing(b, "Else", p.Else)
	if len(p.When) > 0 {
		b.WriteString("When: []when{")
		for _, c := range p.When {
			b.WriteString("{")
			list(b, "Flags", c.Flags)
			for _, f := range []struct{ name, kind string }{{"Operands", c.Operands}, {"Last", c.Last}} {
				if f.kind != "" {
					fmt.Fprintf(b, "%s: %s,", f.name, kind(f.kind))
				}
			}
			if c.Recursive {
				b.WriteString("Recursive: true,")
			}
			accesses(b, "Options", c.Options)
			b.WriteString("},")
		}
		b.WriteString("},")
	}
	if c := p.Certain; c != nil {
		b.WriteString("Certain: &certainty{")
		for _, f := range []struct {
			name string
			set  bool
		}{{"Any", c.Any}, {"Numeric", c.Numeric}, {"Limited", c.Most != nil}, {"Bare", c.Bare}} {
			if f.set {
				fmt.Fprintf(b, "%s: true,", f.name)
			}
		}
		if c.Most != nil {
			fmt.Fprintf(b, "Most: %d,", *c.Most)
		}
		list(b, "MostUnless", c.MostUnless)
		list(b, "Configs", c.Configs)
		list(b, "Prefix", c.Prefix)
		if c.Look != "" {
			fmt.Fprintf(b, "Look: %q,", c.Look)
		}
		list(b, "Flags", c.Flags)
		list(b, "Words", c.Words)
		list(b, "Among", c.Among)
		list(b, "Without", c.Without)
		list(b, "Needs", c.Needs)
		list(b, "Scripts", c.Scripts)
		if c.Apart {
			b.WriteString("Apart: true,")
		}
		if c.Files {
			b.WriteString("Files: true,")
		}
		b.WriteString("},")
	}
	if len(p.Subs) > 0 {
		b.WriteString("Subs: []program{\n")
		for _, s := range p.Subs {
			s.write(b)
		}
		b.WriteString("},")
	}
	b.WriteString("},\n")
}

// inherit hands the options that ask for help down to subcommands that have
// subcommands.
func (p *program) inherit() {
	for i := range p.Subs {
		if s := &p.Subs[i]; len(s.Subs) > 0 {
			if s.Help == nil {
				s.Help = p.Help
			}
			s.inherit()
		}
	}
}

// doing writes kinds of access.
func doing(b *bytes.Buffer, field string, list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "%s: []cardea.AccessKind{", field)
	for _, a := range list {
		b.WriteString(kind(a) + ",")
	}
	b.WriteString("},")
}

// equal writes the subcommands that have another name, in the order of names.
func equal(b *bytes.Buffer, names map[string]string) {
	if len(names) == 0 {
		return
	}
	b.WriteString("Equal: []equal{")
	for _, n := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(b, "{%#v, %#v},", strings.Fields(n), strings.Fields(names[n]))
	}
	b.WriteString("},")
}

// accesses writes what is done to the values of options, in the order of names.
func accesses(b *bytes.Buffer, field string, kinds map[string]string) {
	if len(kinds) == 0 {
		return
	}
	names := make([]string, 0, len(kinds))
	for n := range kinds {
		names = append(names, n)
	}
	sort.Strings(names)
	fmt.Fprintf(b, "%s: []optionAccess{", field)
	for _, n := range names {
		fmt.Fprintf(b, "{%q, %s},", n, kind(kinds[n]))
	}
	b.WriteString("},")
}

func list(b *bytes.Buffer, name string, items []string) {
	if len(items) > 0 {
		fmt.Fprintf(b, "%s: %#v,", name, items)
	}
}
