package knowledge

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge/form"
)

// doubt returns why the effects of the program with these words are not fully known, or
// "" if they are.
func (r *reader) doubt() string {
	c, name := r.spec.Complete, strings.Join(r.out.Command, " ")
	switch {
	case r.spec.SubcommandWords > 0 && len(r.spec.Subcommands) > 0 && !r.sureWithoutSubcommand():
		return "nothing certain is known of " + name
	case c == nil:
		return name + " may do more than read"
	case c.EndsStarted && r.endsStarted():
		return ""
	}
	if !c.AnyWords {
		for _, o := range r.out.Options {
			if r.unsureOption(o) {
				return "with " + o.Name + ", " + name + " may do more than read"
			}
		}
	}
	if _, document := r.document(); c.LimitsOperands && !document && len(r.operands) > c.MaxOperands && !r.given(c.MaxOperandsUnless, true) {
		return "with these operands, " + name + " may do more than read"
	}
	if why := cmp.Or(r.unsureOperands(name), r.late(), r.swallowed()); why != "" {
		return why
	}
	if why := r.unsureWord(); why != "" {
		return why
	}
	for _, i := range r.operands {
		begins := func(p string) bool { return strings.HasPrefix(r.argv[i].Text, p) }
		if len(c.OperandPrefixes) > 0 && !slices.ContainsFunc(c.OperandPrefixes, begins) {
			return r.argv[i].Text + " does not begin with " + strings.Join(c.OperandPrefixes, ", ")
		}
	}
	if ports := r.words(form.AsksThisMachine); len(ports) > 0 {
		for _, f := range r.argv {
			// A control character may begin another request.
			if !f.Static && !ofThisMachine(f, ports) || strings.ContainsFunc(f.Text, unicode.IsControl) {
				return name + " with " + f.Text + " is no plain request to this machine"
			}
		}
		for _, a := range r.addresses() {
			if !ofThisMachine(a, ports) {
				return name + " of " + a.Text + " is no plain request to this machine"
			}
		}
	}
	if c.ScriptLanguage != "" && !r.sureScripts() {
		return "its script may do more than compute and print"
	}
	return ""
}

// endsStarted reports whether the program ends only processes that the line has started.
func (r *reader) endsStarted() bool {
	for i, f := range r.argv[1:] {
		text, dash := strings.CutPrefix(f.Text, "-")
		value := i == 1 && (r.argv[1].Text == "-s" || r.argv[1].Text == "-n")
		// One signal may be first: any other number is a process or a group.
		signal := f.Static && (i == 0 && dash || value && !dash) && strings.Trim(text, alphanumeric) == ""
		if !signal && !f.Started {
			return false
		}
	}
	return r.argv[len(r.argv)-1].Started
}

// editsFiles reports whether the program, with these words, reads and writes the files
// of its accesses and does nothing else.
func (r *reader) editsFiles() bool {
	if r.spec.Edits == nil || len(r.above) > 0 {
		return false
	}
	edits := *r
	spec := *r.spec
	spec.Complete, edits.spec = spec.Edits, &spec
	// A value given to an option that takes none may name another file.
	another := func(o cardea.Option) bool {
		return o.Value != "" && !slices.Contains(r.values(), o.Name) && !r.isBackupSuffix(o)
	}
	return !slices.ContainsFunc(r.out.Options, another) && edits.doubt() == ""
}

// sureWithoutSubcommand reports whether the description covers the program without a
// subcommand, and no word may be one. Programs differ on whether "--" makes a
// subcommand's name an operand.
func (r *reader) sureWithoutSubcommand() bool {
	c := r.spec.Complete
	if c == nil || !c.WithoutSubcommand || !r.named() {
		return false
	}
	return len(r.operands) == 0 || r.spec.OperandsWithoutSubcommand && !r.mayBeSubcommand(r.argv[r.operands[0]])
}

// unsureOperands returns why the operands do not meet the conditions of the description,
// or "" if they do.
func (r *reader) unsureOperands(name string) string {
	c := r.spec.Complete
	if _, document := r.document(); len(c.RequiredOptions) > 0 && !document && !r.given(c.RequiredOptions, r.spec.SingleDashOptions || !r.spec.OptionsAfterOperands && r.spec.FirstOperand == cardea.Read) {
		return "without one of " + strings.Join(c.RequiredOptions, ", ") + ", " + name + " may do more than read"
	}
	if i := slices.IndexFunc(c.RequiredTogether, func(o string) bool { return !r.given([]string{o}, true) }); i >= 0 {
		return "without " + c.RequiredTogether[i] + ", " + name + " may do more than read"
	}
	if len(c.FirstOperands) > 0 {
		first := Word{Word: cardea.Word{Static: true}}
		if len(r.operands) > 0 {
			first = r.argv[r.operands[0]]
		}
		if !first.Static || !slices.Contains(c.FirstOperands, first.Text) {
			return name + " with " + first.Text + " may do more than read"
		}
	}
	if c.NoInput && r.inv.Fed {
		return name + " may do more than read with what it reads"
	}
	other := func(i int) bool { return !r.argv[i].Static || !slices.Contains(c.LaterOperands, r.argv[i].Text) }
	if len(c.LaterOperands) > 0 && (len(r.operands) < 2 || slices.ContainsFunc(r.operands[1:], other)) {
		return name + " with these operands may do more than read"
	}
	if len(c.ResourceTypes) > 0 && !r.among(c.ResourceTypes) {
		return name + " with these operands may do more than read"
	}
	for _, o := range r.out.Options {
		if f := r.argv[o.Word]; c.NoClusteredValues && len(f.Text) > 2 && f.Text[1] != '-' && slices.Contains(r.values(), o.Name) && o.Name != f.Text {
			return "with " + f.Text + ", " + name + " may do more than read"
		}
	}
	if c.PlainOperands && slices.ContainsFunc(r.operands, r.unusual) {
		return name + " may run what an operand names"
	}
	if c.NoFolders && slices.ContainsFunc(r.operands, r.folder) {
		return name + " of a folder may do more than read"
	}
	for _, f := range r.argv[1:] {
		if c.NoSecretWords && (!f.Static || SaysSecret(f.Text) && !slices.Contains(c.FirstOperands, f.Text)) {
			return name + " with " + f.Text + " may show a secret"
		}
		for _, pattern := range c.ForbiddenWords {
			if !f.Static && !literalHead(f, pattern) || f.Static && fits(f.Text, pattern) {
				return name + " with " + f.Text + " may do more than read" + unlessStatic(f, pattern)
			}
		}
	}
	return ""
}

// unlessStatic returns ": it may be PATTERN" for a word that is only known when the line
// runs, else "".
func unlessStatic(f Word, pattern string) string {
	if f.Static {
		return ""
	}
	return ": it may be " + pattern
}

// unusual reports whether the operand at i is not a plain name that the line gives.
func (r *reader) unusual(i int) bool {
	return !r.argv[i].Static || strings.Trim(r.argv[i].Text, alphanumeric+"._-/") != ""
}

// folder reports whether the operand at i may be a folder.
func (r *reader) folder(i int) bool {
	f := r.argv[i]
	at := Absolute(r.paths.Dir, f.Text)
	return !f.Static || at == "" || r.system.IsDir == nil || r.system.IsDir(at)
}

// among reports whether all operands are in list.
func (r *reader) among(list []string) bool {
	slashes := false
	for n, i := range r.operands {
		f := r.argv[i]
		if n > 0 && !slashes && !(f.Static && strings.Contains(f.Text, "/")) {
			continue // a name
		}
		slashes = slashes || strings.Contains(f.Text, "/")
		for _, word := range strings.Split(f.Text, ",") {
			kind, _, _ := strings.Cut(word, "/")
			if !f.Static || !slices.Contains(list, kind) {
				return false
			}
		}
	}
	return len(r.operands) > 0
}

// given reports whether one of the options is given under its full name. If front is
// set, it must be before the operands: programs whose long options have one dash mostly
// stop at the first operand. A switch must have no value: -check=false takes it back.
// Before a subcommand, * means before that word (brew --prefix python).
func (r *reader) given(names []string, front bool) bool {
	end := len(r.argv)
	if anySubcommand(r.spec) {
		end = r.levels[len(r.levels)-1]
	} else if front && len(r.operands) > 0 {
		end = r.operands[0]
	}
	return slices.ContainsFunc(r.out.Options, func(o cardea.Option) bool {
		valued := o.Value == "" || slices.Contains(r.values(), o.Name) || slices.Contains(r.spec.AttachedValueOptions, o.Name) || r.isBackupSuffix(o)
		return valued && slices.Contains(names, o.Name) && o.Word < end
	})
}

// otherwise returns the accesses of the program beyond its words where its description
// is not complete.
func (r *reader) otherwise() []cardea.AccessKind {
	out := r.spec.AccessesIfIncomplete
	for i := len(r.above) - 1; i >= 0 && out == nil && r.spec.Complete != nil; i-- {
		out = r.above[i].AccessesIfIncomplete
	}
	return out
}

// named reports whether all words of the command are described.
func (r *reader) named() bool { return len(r.out.Command) == r.first+len(r.above) }

// help reports whether the line only asks for help: after a known command comes only one
// of the program's help options.
func (r *reader) help() bool {
	top, n := r.spec, len(r.out.Command)
	if len(r.above) > 0 {
		top = r.above[len(r.above)-1]
	}
	last := r.argv[len(r.argv)-1]
	return last.Static && r.named() && !anySubcommand(r.spec) && len(r.argv) == n-r.first+2 && slices.Contains(top.HelpOptions, last.Text)
}

// fits reports whether word matches pattern, which may begin and end with a star.
func fits(word, pattern string) bool {
	middle, any := strings.CutSuffix(pattern, "*")
	middle, anyBefore := strings.CutPrefix(middle, "*")
	switch {
	case any && anyBefore:
		return strings.Contains(word, middle)
	case any:
		return strings.HasPrefix(word, middle)
	case anyBefore:
		return strings.HasSuffix(word, middle)
	}
	return word == middle
}

// literalHead reports whether the uncertain word f begins with a letter of its own that
// differs from the first letter of pattern.
func literalHead(f Word, pattern string) bool {
	return pattern != "" && pattern[0] != '*' && f.Text != "" && isLetter(f.Text[0]) && f.Text[0] != pattern[0]
}

// unsureOption reports whether o may be harmful. An option before a subcommand does not
// belong to the subcommand: docker -H is not an option of docker history.
func (r *reader) unsureOption(o cardea.Option) bool {
	if r.spec.Complete.NumericOptions && len(o.Name) == 2 && '0' <= o.Name[1] && o.Name[1] <= '9' {
		// head -9c reads what follows as another option, not as its value.
		return strings.Trim(r.argv[o.Word].Text[1:], "0123456789") != ""
	}
	for k, p := range append(r.above[:len(r.above):len(r.above)], r.spec) {
		if r.harmless(p, k, o) {
			return false
		}
	}
	return true
}

// harmless reports whether o, after the k-th word of the command, is among the harmless
// options of p. There it is alone or with its value, which may end in a star.
func (r *reader) harmless(p *form.Program, k int, o cardea.Option) bool {
	if p.Complete == nil || k > 0 && o.Word < r.levels[k-1] {
		return false
	}
	whole := o.Name + "=" + strings.TrimPrefix(o.Value, "=")
	return slices.ContainsFunc(p.Complete.Options, func(f string) bool {
		return f == o.Name || o.Static && strings.Contains(f, "=") && fits(whole, f)
	})
}

// unsureWord returns why a word that is only known when the line runs may be an option,
// or another operand than it seems. It returns "" if each word is certain.
func (r *reader) unsureWord() string {
	s := r.spec
	for k, f := range r.argv[1:] {
		if r.sureFind(k + 1) {
			continue
		}
		if f.Static || s.Complete.AnyWords && (s.Operands == form.None || s.Operands == "") {
			continue
		}
		begins := strings.HasPrefix(f.Head, "-") || strings.HasPrefix(f.Text, "-")
		if begins && !slices.ContainsFunc(r.out.Options, func(o cardea.Option) bool { return o.Word == k+1 }) {
			return f.Text + " is an option, and not known which"
		}
		if staysOption(f) {
			continue
		}
		first := s.FirstOperand != "" && len(r.operands) > 0 && r.operands[0] == k+1
		switch {
		case f.MayBeOption && !s.Complete.AnyWords && !r.noOption(k+1):
			return f.Text + " may become an option"
		case f.MaySplit && !f.Glob, f.Glob && first:
			return f.Text + " may become several words, or none"
		}
	}
	return ""
}

// noOption reports whether the word at i cannot be an option: it is after the end of the
// options, or the value of one.
func (r *reader) noOption(i int) bool { return r.ended > 0 && i >= r.ended || r.isValue(i) }

// sureScripts reports whether the scripts in the program's words are harmless: those in
// its options, else the first operand.
func (r *reader) sureScripts() bool {
	c, found := r.spec.Complete, false
	for _, o := range r.out.Options {
		if r.meansOne(o, c.ScriptOptions) {
			if !o.Static || found && c.ScriptLanguage == "perl" || !harmless(c.ScriptLanguage, o.Value) { // Perl joins several
				return false
			}
			found = true
		}
	}
	at := 0
	if c.ScriptLanguage == "sqlite" {
		at = 1
	} else if document, ok := r.document(); ok {
		return document != ""
	} else if found || r.spec.FirstOperand == "" || r.spec.FirstOperand == cardea.Execute {
		return true // a program in a file is covered by the options
	}
	if len(r.operands) <= at {
		return false
	}
	f := r.argv[r.operands[at]]
	return f.Static && harmless(c.ScriptLanguage, f.Text)
}

// document returns the here-document of the invocation, and whether the program runs it
// as a script that only reads and prints. A first line may declare an encoding
// (docs.python.org/3/reference/lexical_analysis.html).
func (r *reader) document() (string, bool) {
	text := r.inv.Document
	reads := r.spec.Complete != nil && r.spec.Complete.ReadsDocument && text != "" && !r.has(r.spec.FirstOperandUnless) && !strings.Contains(text, "coding") &&
		(len(r.operands) == 0 || r.argv[r.operands[0]].Static && r.argv[r.operands[0]].Text == "-")
	if reads && r.documentReads == nil {
		only := harmless(r.spec.Complete.ScriptLanguage, text)
		r.documentReads = &only
	}
	return text, reads && *r.documentReads
}

// scripts adds the files that the scripts in the program's words open and the commands
// that they run.
func (r *reader) scripts() {
	c := r.spec.Complete
	if c == nil || c.ScriptLanguage == "" {
		return
	}
	for _, o := range r.out.Options {
		if r.meansOne(o, c.ScriptOptions) {
			r.script(r.value(o))
		} else if c.ScriptLanguage == sedLanguage && r.meansOne(o, r.spec.FirstOperandUnless) {
			r.out.Script = r.argv[o.Word].Text // it is in a file
		}
	}
	if document, ok := r.document(); ok {
		r.script(Literal(document))
	}
	if r.spec.FirstOperand == form.None && !r.has(r.spec.FirstOperandUnless) && len(r.operands) > 0 {
		first := r.argv[r.operands[0]]
		r.script(first)
		// In BSD sed the word after -i is a suffix. No script begins like one.
		if first.Static && len(r.operands) > 1 && r.has(r.spec.BackupSuffixOptions) && (first.Text == "" || strings.ContainsAny(first.Text[:1], "._~-")) {
			r.script(r.argv[r.operands[1]])
		}
	}
}

// script adds the files and commands of the script in f, if its language can be read.
func (r *reader) script(f Word) {
	texts, isSed := []string{f.Text}, r.spec.Complete.ScriptLanguage == sedLanguage
	if f.Listed && !f.MaySplit && len(f.May) > 0 {
		texts = f.May
	} else if !f.Static && (isSed || f.Glob) {
		r.out.Script = f.Text
	}
	if f.Static {
		r.uses(f.Text)
	}
	if !isSed {
		return
	}
	for _, text := range texts {
		acts, all := actsOfSed(text)
		if len(acts) > 0 || !all {
			r.out.Script = f.Text
		}
		for _, a := range acts {
			if a.Kind != cardea.Execute {
				r.touch(a.Kind, Literal(a.Path), false)
			} else if a.Path != "" {
				r.out.Potential.Run = append(r.out.Potential.Run, a.Path)
			}
		}
	}
}

// ProjectEnvironment is an entry in the Configs of a part that expands variables from outside
// the line. A variable that a file of the project sets may be a secret, whatever its name.
const ProjectEnvironment = "environment of the project"

// ProgramsOf is the prefix of an entry in the Configs of each part of a line that activates a
// virtual environment. The folder of its programs follows, which are found before others.
const ProgramsOf = "programs of "

// OwnedBySystem is the prefix of an entry in the Configs of a part that runs files of a
// folder. The system must own that folder.
const OwnedBySystem = "files of "

// PythonModules is an entry in the Configs of a part whose script imports Python's own modules.
// The interpreter must be the system's, and nothing in its folder may shadow the modules.
const PythonModules = "modules of Python"

// uses adds the files that a script reads, if it only reads.
func (r *reader) uses(script string) {
	use, ok := readInline(r.spec.Complete.ScriptLanguage, script)
	if !ok {
		return
	}
	for _, path := range use.Read {
		r.touch(cardea.Read, Literal(path), false)
	}
	for _, path := range use.Listed {
		r.touch(form.Metadata, Literal(path), false)
	}
	for _, path := range use.Required { // a folder of that name has a script
		// Node tries x.json.js if there is no x.json, and uses the extension of a symlink's target.
		at := Absolute(r.paths.Dir, path)
		if json := at != "" && r.system.Resolve != nil && strings.HasSuffix(r.system.Resolve(at), ".json"); !json || r.system.IsDir == nil || r.system.IsDir(at) || r.system.IsNew == nil || r.system.IsNew(at) {
			r.touch(cardea.Execute, Literal(path), false)
		}
	}
	r.importsModules = r.spec.Complete.ScriptLanguage == "python" && !pythonPrints.MatchString(script) // also for codecs, and for an error
}

// value returns the word that holds the value of an option.
func (r *reader) value(o cardea.Option) Word {
	const farthest = 8
	for i := o.Word + 1; i < min(o.Word+farthest, len(r.argv)); i++ {
		if f := r.argv[i]; f.Text == o.Value && f.Static == o.Static {
			return f
		}
	}
	return Word{Word: cardea.Word{Text: o.Value, Static: o.Static}, Glob: r.argv[o.Word].Glob}
}

// anySubcommand reports whether p describes every word that names no other subcommand.
// That word has no access: the reader of command knowledge refuses a complete
// description with operands there.
func anySubcommand(p *form.Program) bool { return len(p.Name) == 1 && p.Name[0] == "*" }

// executed reports whether f names a program of the project, in a folder bin or .bin,
// that certainly runs. The line does not write it then, but errors may show lines of it
// if it is not code.
func (r *reader) executed(f Word) bool {
	at := Absolute(r.paths.Dir, f.Text)
	folder := filepath.Base(filepath.Dir(at))
	runs := f.Static && strings.Trim(f.Text, alphanumeric+"._-/") == "" && (folder == "bin" || folder == ".bin") && paths.Below(r.paths.Dir, at) && slices.ContainsFunc(r.out.Access, func(a cardea.Access) bool {
		return a.Kind == cardea.Execute && !a.Glob && (at == a.Path || at == a.Spelled)
	})
	if runs {
		r.out.Potential.Touch = append(r.out.Potential.Touch, r.paths.OpenWord(cardea.Read, f)...)
	}
	return runs
}
