package source

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	_ "cardea.dev/internal/base/document/yamltext" // reads YAML
	"cardea.dev/internal/command/knowledge/files/filelists"
	"cardea.dev/internal/command/knowledge/form"
)

// accesses are the valid words for accesses, by the kind of the key.
var accesses = map[string][]string{
	"operand": {"read", "metadata", "revision", "repository", "write", "edit", "delete", "execute", "network", "none", "unknown"},
	"besides": {"metadata", "write", "execute", "network", "configured", "unknown"},
}

// optionWords are words with a special meaning in a list of options.
var optionWords = []string{"always", "none"}

// minNotReadOnly is the minimum number of lines of a file that must never be read-only.
const minNotReadOnly = 5

// ReadFolder reads all files of a folder. The diagnostics are all mistakes of all files,
// and programs that are described twice.
func ReadFolder(dir string) ([]File, []diagnostic.Diagnostic, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, nil, err
	}
	var files []File
	var problems []diagnostic.Diagnostic
	first := map[string]string{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		f, found := read(document.Read(filepath.ToSlash(name), data), filepath.ToSlash(name), first)
		f.Path = "packs/commands/" + filepath.Base(name)
		files, problems = append(files, f), append(problems, found...)
	}
	return files, problems, nil
}

// Read reads one file and reports all of its mistakes.
func Read(name string, data []byte) (File, []diagnostic.Diagnostic) {
	return ReadDocument(name, document.Read(name, data))
}

// ReadDocument is like Read for a parsed document.
func ReadDocument(name string, r *document.Reader) (File, []diagnostic.Diagnostic) {
	return read(r, name, map[string]string{})
}

// read reads a file. first maps each program of the files so far to the place of its
// description.
func read(r *document.Reader, name string, first map[string]string) (File, []diagnostic.Diagnostic) {
	var out File
	r.KeysIn("docs/command-knowledge.md")
	fill(r.Top(), &out)
	if v := r.Top().Map().Map("tests").Get("not_read_only"); v.Present() && len(out.Tests.NotReadOnly) < minNotReadOnly {
		v.Problem(diagnostic.CodeBadValue, "add lines that come close to read-only ones", "%d lines in \"not_read_only\", at least %d are needed", len(out.Tests.NotReadOnly), minNotReadOnly)
	}
	for _, key := range []string{"programs", "wrappers"} {
		if list := r.Top().Map().Get(key); list.IsList() {
			heldOnce(list.List(), "", name+":", first)
			if key == "programs" {
				describedOnce(list.List(), name+":", first)
			}
		}
	}
	for i := range out.Programs {
		inherit(&out.Programs[i])
	}
	return out, slices.Compact(r.Problems())
}

// inherit copies the options that ask for help to subcommands that have subcommands.
func inherit(p *form.Program) {
	for i := range p.Subcommands {
		if s := &p.Subcommands[i]; len(s.Subcommands) > 0 {
			if s.HelpOptions == nil {
				s.HelpOptions = p.HelpOptions
			}
			inherit(s)
		}
	}
}

// heldOnce reports properties of commands that another entry also has. above are the words
// before the names. first maps each property so far to its place, a line of the file at.
func heldOnce(entries []document.Value, above, at string, first map[string]string) {
	for _, e := range entries {
		if !e.IsMap() {
			continue
		}
		m := e.Map()
		has := held(m)
		for _, name := range items(m.Get("name")) {
			command := above + name.Text()
			for _, property := range has {
				v, key := m.Get(property), property+" of "+command
				if first[key] != "" {
					v.ReportKey(diagnostic.CodeDuplicate, "remove one of them", "%s is already said at %s", key, first[key])
				} else {
					first[key] = at + strconv.Itoa(v.KeyLine())
				}
			}
			if s := m.Get("subcommands"); s.IsList() {
				heldOnce(s.List(), command+" ", at, first)
			}
		}
	}
}

// describedOnce reports programs that another entry also describes. first maps each
// program so far to its place, a line of the file at.
func describedOnce(programs []document.Value, at string, first map[string]string) {
	for _, p := range programs {
		if !p.IsMap() || !p.Map().Has("operands") {
			continue
		}
		for _, name := range items(p.Map().Get("name")) {
			if text := name.Text(); first[text] != "" {
				name.Problem(diagnostic.CodeDuplicate, "merge the two entries", "program %q is already described at %s", text, first[text])
			} else {
				first[text] = at + strconv.Itoa(name.Line())
			}
		}
	}
}

// fill reads a map of a document into a struct.
func fill(v document.Value, out any) {
	m := v.Map()
	to := reflect.ValueOf(out).Elem()
	for i := range to.NumField() {
		f := to.Type().Field(i)
		key, flags, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if key == "-" {
			continue
		}
		at := m.Get(key)
		if flags == "required" && v.IsMap() {
			at = m.Need(key)
		}
		if at.Present() {
			value(at, to.Field(i), f.Tag)
		}
	}
	switch out := out.(type) {
	case *form.Program:
		out.Properties = properties(m)
		if m.Only(); v.IsMap() && (len(out.Properties) == 0 || len(m.Keys()) != len(out.Properties)+1) {
			m.Need("operands")
		}
		checkProgram(m, out)
		if out.SubcommandWords == 0 && len(out.Subcommands) > 0 {
			out.SubcommandWords = 1
		}
	case *form.Wrapper:
		out.Properties = properties(m)
	case *form.Similar:
		checkSimilar(m, out)
	case *form.Complete:
		out.LimitsOperands = m.Has("max_operands")
		checkComplete(m, out)
	}
	m.Only()
}

// value reads one value of a struct.
func value(v document.Value, to reflect.Value, tag reflect.StructTag) {
	switch out := to.Addr().Interface().(type) {
	case *any: // a place for anchors
	case *bool:
		if *out = v.Bool(); v.Text() == "false" {
			v.Problem(diagnostic.CodeNoEffect, "remove the key", "false is the default")
		}
	case *int:
		*out = v.Int(0, limit(tag))
	case *string:
		switch words := tag.Get("words"); words {
		case "":
			*out = v.Text()
		case "options":
			*out = v.Text()
			option(v, *out, words)
		default:
			*out = v.Word(strings.Split(words, ",")...)
		}
	case *cardea.AccessKind:
		*out = access(v, tag)
	case *[]cardea.AccessKind:
		for _, k := range words(v, "") {
			*out = append(*out, access(k, tag))
		}
	case *[]string:
		if tag.Get("words") == "command" {
			*out = strings.Fields(v.Text())
			return
		}
		for _, w := range words(v, tag.Get("words")) {
			*out = append(*out, w.Text())
		}
		noEffect(*out == nil, v, "remove the key", "the list is empty")
	case *[]form.NamedAccess:
		*out = named(v, tag, func(k string, at document.Value) form.NamedAccess {
			return form.NamedAccess{Name: k, Access: access(at, tag)}
		})
		slices.SortFunc(*out, func(a, b form.NamedAccess) int { return strings.Compare(a.Name, b.Name) })
	case *[]form.Alias:
		m := v.Map()
		for _, k := range slices.Sorted(slices.Values(m.Keys())) {
			*out = append(*out, form.Alias{Words: strings.Fields(k), Means: strings.Fields(m.Text(k))})
		}
	case **form.Complete:
		*out = &form.Complete{}
		fill(v, *out)
	case *Tests:
		fill(v, out)
	case *[]int:
		for _, e := range v.List() {
			*out = append(*out, e.Int(1, limit(tag)))
		}
	case *[]form.NamedText:
		*out = named(v, tag, func(k string, at document.Value) form.NamedText { return form.NamedText{Name: k, Text: at.Text()} })
	case *[]form.OptionValues:
		*out = named(v, tag, func(k string, at document.Value) form.OptionValues {
			return form.OptionValues{Name: k, Values: at.Texts()}
		})
	case *[]Credentials:
		*out = credentials(v.Map())
	case *[]Example:
		*out = named(v, tag, func(k string, at document.Value) Example {
			return Example{Line: k, Finds: at.Texts(), At: at.KeyLine()}
		})
	default: // a list of maps
		for _, e := range v.List() {
			one := reflect.New(to.Type().Elem())
			fill(e, one.Interface())
			to.Set(reflect.Append(to, one.Elem()))
		}
	}
}

// named reads a map and returns one entry per key.
func named[T any](v document.Value, tag reflect.StructTag, entry func(key string, at document.Value) T) []T {
	var out []T
	m := v.Map()
	for _, k := range m.Keys() {
		out = append(out, entry(k, m.Get(k)))
		option(m.Get(k), k, tag.Get("words"))
	}
	return out
}

func access(v document.Value, tag reflect.StructTag) cardea.AccessKind {
	return cardea.AccessKind(v.Word(accesses[tag.Get("kind")]...))
}

// properties reads the properties of an entry. The value is `true`, or a list of words.
func properties(m document.Map) []form.Held {
	var out []form.Held
	for _, key := range held(m) {
		h, v := form.Held{Property: form.Property(key)}, m.Get(key)
		if v.IsList() {
			for _, w := range words(v, "") {
				h.Words = append(h.Words, w.Text())
			}
			noEffect(h.Words == nil, v, "write true, or remove the key", "the list is empty")
		} else if !v.Bool() {
			noEffect(v.Text() == "false", v, "remove the key", "false is the default")
		}
		out = append(out, h)
	}
	if len(m.Unknown()) > 0 {
		for _, p := range form.Properties {
			m.Know(string(p)) // for the hint of an unknown key
		}
	}
	return out
}

// held returns the keys of an entry that are properties and not read yet.
func held(m document.Map) []string {
	return slices.DeleteFunc(m.Unknown(), func(key string) bool { return !slices.Contains(form.Properties, form.Property(key)) })
}

// credentials reads the credential files of programs, and reports an entry that repeats
// another.
func credentials(m document.Map) []Credentials {
	var out []Credentials
	seen := map[string]bool{}
	for _, program := range m.Keys() {
		c := Credentials{Program: program}
		for _, e := range m.Get(program).List() {
			f := filelists.ReadFile(e)
			if seen[f.Glob] {
				e.Problem(diagnostic.CodeDuplicate, "remove one of them", "%q is listed twice", f.Glob)
			}
			seen[f.Glob] = true
			c.Files = append(c.Files, f)
		}
		out = append(out, c)
	}
	return out
}

// limit returns the largest number that a field accepts.
func limit(tag reflect.StructTag) int {
	n, err := strconv.Atoi(tag.Get("max"))
	if err != nil {
		panic("field without a limit: " + string(tag))
	}
	return n
}

// items returns the entries of a list, and of lists in it.
func items(v document.Value) []document.Value {
	var out []document.Value
	for _, e := range v.Items() {
		if e.IsList() {
			out = append(out, items(e)...)
		} else {
			out = append(out, e)
		}
	}
	return out
}

// words returns the entries of a list of words. may is "" for any words, else "options"
// with the other words that are allowed.
func words(v document.Value, may string) []document.Value {
	var out []document.Value
	seen := map[string]bool{}
	for _, e := range items(v) {
		text := e.Text()
		if seen[text] {
			e.Problem(diagnostic.CodeDuplicate, "remove one of them", "%q is listed twice", text)
		}
		seen[text] = true
		option(e, text, may)
		out = append(out, e)
	}
	return out
}

// option reports a word that is not an option in a list of options.
func option(v document.Value, text, may string) {
	if may == "" || strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") || slices.Contains(strings.Split(may, ",")[1:], text) {
		return
	}
	hint := "write it with its dash"
	if slices.Contains(optionWords, text) {
		hint = "remove it"
	}
	v.Problem(diagnostic.CodeBadValue, hint, "%q is no option", text)
}

// noEffect reports a value without effect if is holds.
func noEffect(is bool, v document.Value, hint, format string, args ...any) {
	if is {
		v.Problem(diagnostic.CodeNoEffect, hint, format, args...)
	}
}

// needs reports a key that has no effect without another key.
func needs(m document.Map, key, other string) {
	noEffect(m.Has(key) && !m.Has(other), m.Get(key), "add "+other+", or remove it", "%q has no effect without %q", key, other)
}

// checkProgram reports keys that have no effect without another one.
func checkProgram(m document.Map, p *form.Program) {
	for _, s := range m.List("subcommands") {
		s.Map().Need("operands")
	}
	blank := slices.ContainsFunc(p.Name, func(name string) bool { return strings.Contains(name, " ") })
	noEffect(p.Described() && blank, m.Get("name"), "describe it among subcommands", "no program has a blank in its name")
	needs(m, "first_operand_unless", "first_operand")
	needs(m, "writes_unnamed_files_unless", "writes_unnamed_files")
	needs(m, "saves_under_url_name_unless", "saves_under_url_name")
	needs(m, "end_of_options", "subcommands")
	needs(m, "operands_without_subcommand", "subcommands")
	noEffect(p.SubcommandWords == 1 && m.Has("subcommands"), m.Get("subcommand_words"), "remove the key", "1 is the default beside \"subcommands\"")
	noEffect(p.OperandsWithoutSubcommand && m.Has("global_value_options"), m.Get("global_value_options"), "write them to value_options", "\"global_value_options\" has no meaning beside \"operands_without_subcommand\"")
	never := p.Complete == nil || len(p.Subcommands) > 0 && !p.Complete.WithoutSubcommand
	noEffect(p.Complete == nil && len(p.Subcommands) == 0 && m.Has("accesses_if_incomplete"), m.Get("accesses_if_incomplete"), "write them to accesses", "without \"complete\", they always apply")
	repeats(m, "accesses", p.AccessesIfIncomplete, never, "\"accesses_if_incomplete\" has it, which always applies here")
	repeats(m, "information_words", p.HelpOptions, true, "it is one of the \"help_options\"")
	repeats(m, "value_options", p.PersistentValueOptions, true, "it is one of the \"persistent_value_options\"")
	repeats(m, "global_value_options", p.PersistentValueOptions, true, "it is one of the \"persistent_value_options\"")
	if s := m.Get("subcommands"); s.IsList() {
		describedOnce(s.List(), "line ", map[string]string{})
	}
	anyWord := slices.Contains(p.Name, "*")
	noEffect(anyWord && len(p.Name) > 1, m.Get("name"), "give it an entry of its own", "\"*\" stands for every other word")
	noEffect(anyWord && p.Complete != nil && (p.Operands != form.None || p.FirstOperand != "" || p.LastOperand != ""), m.Get("complete"), "use operands_without_subcommand of the program above, or operands: none", "the word that \"*\" stands for is no operand, so the description is not complete")
	if !p.SingleDashOptions {
		oneLetter(m, "global_value_options", p.GlobalValueOptions)
		oneLetter(m, "value_options", p.ValueOptions)
		oneLetter(m, "attached_value_options", p.AttachedValueOptions)
		oneLetter(m, "first_operand_unless", p.FirstOperandUnless)
		if p.Complete != nil {
			oneLetter(m.Map("complete"), "options", p.Complete.Options)
		}
		if p.Edits != nil {
			oneLetter(m.Map("edits"), "options", p.Edits.Options)
		}
	}
	for _, o := range p.OptionAccesses {
		noEffect(o.Access == form.None, m.Get("option_accesses"), "remove it", "the access of %s is none", o.Name)
	}
}

// repeats reports words of a list that another list of the program holds.
func repeats[T ~string](m document.Map, key string, other []T, always bool, why string) {
	for _, w := range items(m.Get(key)) {
		noEffect(always && slices.Contains(other, T(w.Text())), w, "remove it", "%q has no effect: %s", w.Text(), why)
	}
}

// oneLetter reports options of several letters after one dash, which are read as one
// option for each letter.
func oneLetter(m document.Map, key string, options []string) {
	for _, o := range options {
		if name, _, _ := strings.Cut(o, "="); len(name) > 2 && name[1] != '-' {
			m.Get(key).Problem(diagnostic.CodeNoEffect, "add single_dash_options, or remove it", "%q is read as one option for each letter", o)
		}
	}
}

// checkComplete reports conditions that contradict each other or have no effect.
func checkComplete(m document.Map, c *form.Complete) {
	noEffect(c.AnyWords && m.Has("options"), m.Get("options"), "remove one of them", "\"options\" has no effect beside \"any_words\"")
	needs(m, "max_operands_unless", "max_operands")
	needs(m, "script_options", "script_language")
}

// checkSimilar reports invalid values, and keys that have no effect.
func checkSimilar(m document.Map, s *form.Similar) {
	for _, v := range s.Values {
		m.Map("values").Get(v.Name).Word(form.SimilarValues...)
	}
	runs := m.Has("runs_operand") || m.Has("runs_option")
	noEffect(m.Has("runs_operand") && m.Has("runs_option"), m.Get("runs_option"), "remove one of them", "\"runs_option\" has no effect beside \"runs_operand\"")
	for _, key := range []string{"operands", "first_operand", "last_operand", "first_operands", "operand_prefixes", "values"} {
		noEffect(runs && m.Has(key), m.Get(key), "remove it", "%q has no effect: what may differ is said of the program that runs", key)
	}
	differs := m.Has("operands") || m.Has("first_operand") || m.Has("last_operand")
	noEffect(!runs && !differs && !m.Has("values"), m.Get("commands"), "add operands or values", "nothing may differ")
	noEffect(m.Has("first_operand") && m.Has("first_operands"), m.Get("first_operand"), "remove it", "\"first_operands\" says what the first operand is")
	noEffect(m.Has("operand_prefixes") && !differs, m.Get("operand_prefixes"), "add operands, or remove it", "\"operand_prefixes\" has no effect without operands that may differ")
}
