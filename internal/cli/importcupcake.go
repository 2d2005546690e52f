package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/importer"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/config/signals"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/policy/engine"
	"github.com/spf13/cobra"
)

// importCupcakeCommand returns the command "import cupcake".
func importCupcakeCommand(p Process) *cobra.Command {
	var user bool
	c := importLeaf(p, &cobra.Command{
		Use:   "cupcake [folder] [--user] [--write] [--json]",
		Short: "import the policies, signals and built-in policies of Cupcake",
		Long: `Import a .cupcake folder, by default the one in the current folder.

Policies for Claude Code, libraries, and scripts of signals and actions are copied
as they are: policies to policies/cupcake in the project's folder of settings, or
with --user in your own. rulebook.yml becomes settings; what Cupcake has built in
becomes settings, rules and policies.` + tableHelp,
	}, func(args []string) (*importing, error) { return importCupcake(p, args, user) })
	c.Flags().BoolVar(&user, "user", false, "for all projects, not only this one")
	return c
}

// importCupcake reads a .cupcake folder, the one in args or in the working folder.
func importCupcake(p Process, args []string, user bool) (*importing, error) {
	i, from, err := importFolder(p, args, ".cupcake", user)
	if err != nil {
		return nil, err
	}
	i.tool, i.next = "Cupcake", "next: run \"cardea policy validate\" and \"cardea policy inspect\""
	m := move{engine: p.Engines.Own, from: from, to: i.dir, importing: i}
	if l, _, err := gather(p, nil); err == nil && l.Settings.Judge.Enabled {
		m.judged, m.known = true, []string{signals.Watchdog}
	}
	for _, step := range []func() error{m.policies, m.others, func() error { return m.scripts("signals") }, func() error { return m.scripts("actions") }, m.rulebook, m.references, m.unreadFields} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// move is the import of a .cupcake folder.
type move struct {
	*importing
	engine   engine.Engine
	from, to string
	// has holds the packages that are copied. refers maps each reference of a policy to a file
	// that has it.
	has    []string
	refers map[string]string
	// signals maps the signals that policies require to a file. known holds the existing signals.
	signals map[string]string
	known   []string
	// decides holds the decisions of the copied policies, by package.
	decides map[string]decided
	// builtins maps the builtins in rulebook.yml to whether it switches them on. own holds
	// those whose policies are copied.
	builtins map[string]bool
	own      []string
	// judged is set if the settings ask a judge, which answers the signal watchdog.
	judged bool
}

// leave adds a row for a file that is left out.
func (m *move) leave(path string, protects bool, why string) {
	m.Table = append(m.Table, importer.Row{What: m.name(path), File: path, Outcome: importer.LeftOut, Protected: protects, How: why})
}

// name returns the name of a file in the table.
func (m *move) name(path string) string {
	rel, err := filepath.Rel(m.from, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// others adds rows for the files in the folder that are not imported.
func (m *move) others() error {
	entries, err := state.Entries(m.from, project.MaxEntries)
	if err != nil {
		return fmt.Errorf("read %s: %w", m.from, bare(err))
	}
	for _, e := range entries {
		known := []string{"signals", "actions", "rulebook.yml", "rulebook.yaml"}
		if !e.IsDir() && !strings.HasSuffix(e.Name(), ".rego") && !slices.Contains(known, e.Name()) {
			m.leave(filepath.Join(m.from, e.Name()), false, "it is not known what it is for")
		}
	}
	return nil
}

// policies imports every policy and library in the folder, except those of other harnesses.
func (m *move) policies() error {
	m.refers, m.signals, m.decides, m.builtins = map[string]string{}, map[string]string{}, map[string]decided{}, map[string]bool{}
	if err := m.rulebooks(func(path string, data []byte) { maps.Copy(m.builtins, importer.BuiltinSwitches(path, data)) }); err != nil {
		return err
	}
	var others []string
	err := filepath.WalkDir(m.from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("read policies: %w", err)
		}
		rel, _ := filepath.Rel(m.from, path)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			switch harness := strings.TrimPrefix(rel, "policies/"); {
			case harness == "cursor" || harness == "opencode" || harness == "factory" || harness == "copilot":
				others = append(others, path)
				return fs.SkipDir
			case rel == "trust":
				m.leave(path, false, "what you trust is kept in Cardea's own state: look at it with \"cardea trust\"")
				return fs.SkipDir
			case rel == "signals" || rel == "actions" || rel == "watchdog":
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".rego") {
			return nil
		}
		return m.policy(path, strings.TrimPrefix(strings.TrimPrefix(rel, "policies/"), "claude/"))
	})
	for _, path := range others { // after all others, since they are compared with all copied policies
		if err == nil {
			err = m.otherHarness(path)
		}
	}
	return err
}

// parse reads and parses a policy. ok is false for a policy that is left out, with a row
// for it.
func (m *move) parse(file string) (text string, facts engine.Facts, ok bool, err error) {
	data, err := m.read(file)
	if data == nil {
		return "", facts, false, err
	}
	all, err := m.engine.Parse(context.Background(), []engine.Source{{Path: file, Text: string(data)}})
	if err != nil {
		return "", facts, false, fmt.Errorf("read %s: %w", file, err)
	}
	if problems := all[0].Problems; len(problems) > 0 {
		m.leave(file, true, "it is broken: "+problems.Error())
		return "", facts, false, nil
	}
	return string(data), all[0].Facts, true, nil
}

// policy imports one file.
func (m *move) policy(file, rel string) error {
	text, facts, ok, err := m.parse(file)
	if !ok {
		return err
	}
	if facts.Package == engine.SystemPackage || facts.Package == "cupcake.global.system" {
		m.leave(file, false, "Cardea gathers the verbs by itself")
		return nil
	}
	if name, is := builtinName(rel); is && m.builtin(file, name, text, &facts) {
		return nil
	}
	to := m.place(file, rel, text)
	if to == "" {
		return nil
	}
	how, outcome := either(path.Base(to) != path.Base(rel), "copied to "+to, "copied as it is"), importer.TakenOver
	if policy.Misplaced(rel, &facts) {
		to = strings.TrimSuffix(to, policy.TestSuffix) + "_policy.rego"
		how, outcome = "copied to "+to+", because a file whose name ends in _test.rego holds tests, and a policy in it is never asked", importer.Changed
	} else if facts.Policy() && len(facts.Verbs) > 0 && len(facts.Events) == 0 && !strings.HasSuffix(rel, policy.TestSuffix) {
		m.leave(file, true, "its METADATA has no routing with required_events, so it is never asked, in Cupcake neither")
	}
	if lost := importer.Unrouted(text, facts.Events, facts.Tools); facts.Policy() && len(lost) > 0 {
		m.leave(file, true, "it has rules about "+strings.Join(lost, ", ")+", which its METADATA does not name: Cupcake asks them where another policy is routed there, Cardea never; add the names to required_tools or required_events")
	}
	m.note(file, text, &facts)
	m.Table = append(m.Table, importer.Row{What: m.name(file), File: file, Outcome: outcome, How: how})
	m.Files = append(m.Files, importer.File{Path: to, Text: text, From: file, Protects: true})
	if len(facts.Verbs) > 0 {
		m.Calls = append(m.Calls, importer.LiteralCalls(text, facts.Tools)...)
	}
	return nil
}

// note records the package of a file, its decisions, and what it needs.
func (m *move) note(file, text string, facts *engine.Facts) {
	m.has = append(m.has, facts.Package)
	m.decides[facts.Package] = m.decides[facts.Package].and(decisions(text, facts))
	for _, ref := range facts.Refs {
		m.refers[ref] = file
	}
	for _, s := range facts.Signals {
		m.signals[s] = file
	}
}

// place returns the path to which a policy is copied, or "" if the same text is copied already.
func (m *move) place(file, rel, text string) string {
	to := path.Join("policies", "cupcake", rel)
	for base, n := strings.TrimSuffix(to, ".rego"), 2; ; n++ {
		at := slices.IndexFunc(m.Files, func(f importer.File) bool { return f.Path == to })
		switch {
		case at < 0:
			return to
		case m.Files[at].Text == text:
			m.leave(file, false, "it is the same as "+m.name(m.Files[at].From))
			return ""
		}
		to = fmt.Sprintf("%s_%d.rego", base, n)
	}
}

// references adds rows for missing libraries and signals. A policy that needs one says nothing.
func (m *move) references() error {
	for _, ref := range slices.Sorted(maps.Keys(m.refers)) {
		found := slices.ContainsFunc(m.has, func(pkg string) bool {
			return pkg == ref || strings.HasPrefix(ref, pkg+".") || strings.HasPrefix(pkg, ref+".")
		})
		if !found && strings.HasPrefix(ref, "cupcake.") {
			m.leave(m.refers[ref], true, "it refers to data."+ref+", which is nowhere in the folder, so the rules that use it never speak")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.signals)) {
		if !slices.Contains(m.known, name) {
			m.leave(m.signals[name], true, "it requires the signal "+name+", which is nowhere in the folder; until there is one, a person is asked")
		}
	}
	return nil
}

// unreadFields adds rows for fields that policies read and no event has, such as those of
// input.builtin_config. A rule that needs one says nothing.
func (m *move) unreadFields() error {
	s := policy.Sources{Texts: map[string]string{}}
	checkedBy(&s, m.engine)
	for _, f := range m.Files {
		if f.From != "" && strings.HasSuffix(f.From, ".rego") && !strings.HasSuffix(f.Path, policy.TestSuffix) {
			s.Paths = append(s.Paths, f.From)
			s.Texts[f.From] = f.Text
		}
	}
	found, err := s.NoFields(context.Background())
	if err != nil {
		return fmt.Errorf("check the fields of policies: %w", err)
	}
	for _, d := range found {
		m.Table = append(m.Table, importer.Row{What: m.name(d.File), File: d.File, Line: d.Line, Outcome: importer.LeftOut, Protected: true,
			How: d.Text + ", so the rules that need it never speak"})
	}
	return nil
}

// scripts imports the scripts of a folder.
func (m *move) scripts(name string) error {
	entries, err := state.Entries(filepath.Join(m.from, name), project.MaxEntries)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, bare(err))
	}
	for _, e := range entries {
		path := filepath.Join(m.from, name, e.Name())
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		data, err := m.read(path)
		if err != nil {
			return err
		}
		if data == nil {
			continue
		}
		row := importer.Row{What: m.name(path), File: path, Outcome: importer.TakenOver, How: "copied as it is"}
		if name == "actions" {
			row.How += "; it runs if actions in cardea.yaml name it"
		} else {
			m.known = append(m.known, strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())))
		}
		m.Table = append(m.Table, row)
		m.Files = append(m.Files, importer.File{Path: name + "/" + e.Name(), Text: string(data), From: path, Program: true, Protects: name == "signals"})
	}
	return nil
}

// read reads a file of the folder. For a link out of the folder it returns nil and adds a row.
func (m *move) read(path string) ([]byte, error) {
	if !paths.Within(paths.Real(m.from), paths.Real(path)) {
		m.leave(path, true, "it is a link out of the folder")
		return nil, nil
	}
	data, err := readSmall(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return append([]byte{}, data...), nil
}

// rulebook imports the settings in the rulebook.
func (m *move) rulebook() error {
	return m.rulebooks(func(path string, data []byte) {
		got := importer.Cupcake(path, data, importer.CupcakeOptions{Moved: m.moved, Judged: m.judged, Own: m.own})
		for _, s := range got.Settings {
			if s.Path[0] == "signals" {
				m.known = append(m.known, s.Path[1])
			}
		}
		m.Table, m.Files = append(m.Table, got.Table...), append(m.Files, got.Files...)
		m.Settings, m.Calls = append(m.Settings, got.Settings...), append(m.Calls, got.Calls...)
		m.Problems = append(m.Problems, got.Problems...)
	})
}

// rulebooks passes each existing rulebook to a function.
func (m *move) rulebooks(each func(path string, data []byte)) error {
	for _, name := range []string{"rulebook.yml", "rulebook.yaml"} {
		path := filepath.Join(m.from, name)
		data, err := readSmall(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		each(path, data)
	}
	return nil
}

// moved returns a command with the new paths of the scripts.
func (m *move) moved(command string) string {
	to := filepath.ToSlash(m.to)
	if filepath.Base(to) == ".cardea" {
		to = ".cardea" // commands run in the project's folder
	}
	for _, name := range []string{"signals", "actions"} {
		command = strings.ReplaceAll(command, ".cupcake/"+name+"/", to+"/"+name+"/")
	}
	return command
}
