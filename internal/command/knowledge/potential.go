package knowledge

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge/form"
	"cardea.dev/internal/command/mention"
)

// This file derives the potential effects of an invocation, of which all or one option
// is not described. It may touch the files that its words name, and run the commands in
// them (docs/design.md#may-touch-may-run).

// Potential holds the potential effects of a part beyond the known ones.
type Potential struct {
	// Touch are accesses. Of kind [cardea.Unknown], each file may be read, written or
	// deleted. Of kind [cardea.Read], it may only be read.
	Touch []cardea.Access
	// Run are shell lines that may run.
	Run []string
	// TooMany is set if the words name more than the analysis examines.
	TooMany bool
	// Copies is set if code may copy or unpack unknown files.
	Copies bool
}

// Add adds the effects of more to p.
func (p *Potential) Add(more Potential) {
	p.Touch, p.Run, p.TooMany = append(p.Touch, more.Touch...), append(p.Run, more.Run...), p.TooMany || more.TooMany
	p.Copies = p.Copies || more.Copies
}

// potential adds the potential effects of the words.
func (r *reader) potential() {
	m := r.out
	r.opensUnnamed()
	r.otherNames()
	if m.Knowledge == cardea.Complete {
		return
	}
	c := r.spec.Complete
	unsure := c != nil && (!c.AnyWords && slices.ContainsFunc(m.Options, r.unsureOption) || c.ScriptLanguage != "" && !r.sureScripts())
	p := possibility{paths: r.paths, found: &m.Potential, seen: map[string]bool{}}
	if r.system != nil {
		p.roots = r.system.Roots
	}
	known := r.described(unsure)
	r.becoming(&p, known)
	for i := 1; i < len(r.argv); i++ {
		f := r.argv[i]
		f.Text = r.withoutTexts(i, f.Text)
		switch {
		case known[i] == aText || f.Found != nil && len(f.May) == 0 || f.Process || r.bundled(i) || r.executed(f):
			continue
		case known[i] != aFile || f.Static && strings.ContainsAny(f.Text, " ('\""):
			if p.word(f) && f.Static && strings.Contains(f.Text, " ") && !strings.Contains(f.Text, "\n") {
				p.list(strings.Fields(f.Text)) // after a client's own command: platform shell git push
			}
		case !r.spec.HostPathOperands:
			p.behind(asFiles(f))
		}
		if !f.Static && r.inv.MayBecome != nil && (i <= maxUncertain || len(f.May) > 0) {
			for _, b := range r.inv.MayBecome(f) {
				switch {
				case b.Pattern != "" && !p.paths.SaysHidden(b.Pattern, p.roots):
				case b.Pattern != "":
					p.found.Touch = append(p.found.Touch, cardea.Access{Kind: cardea.Unknown, Path: b.Path, Glob: true, Pattern: b.Pattern})
				case !b.Entries: // its entries, not the folder
					p.touch(cardea.Unknown, b.Path)
				}
			}
		}
	}
	r.metadata()
	r.commands(&p)
	r.unpacked(&p)
	r.patterns(&p)
	r.trees(&p)
	p.text(r.withoutTexts(0, r.inv.Input))
	if m.Potential.Copies = m.Potential.Copies && IsInterpreter(path.Base(r.argv[0].Text)); m.Potential.Copies && r.system != nil && r.system.Names != nil {
		names, _ := r.system.Names(r.paths.Dir)
		for _, name := range names[:min(len(names), mostListed)] {
			there, _ := r.system.Names(Absolute(r.paths.Dir, name))
			if slices.ContainsFunc(there, func(n string) bool { return n[0] == '.' }) && name[0] != '.' { // settings for agents
				p.run("cp -r -- " + quote(name+"/.") + " .")
			}
		}
	}
}

// metadata adds the files and folders whose mode or owner the program changes, with
// everything below, or that it replaces.
func (r *reader) metadata() {
	if len(r.out.Command) == 0 || !Has(form.ChangesMetadata, r.out.Command[0]) {
		return
	}
	for _, f := range r.argv[1:] {
		if f.Static && strings.HasPrefix(f.Text, "-") {
			continue
		}
		for _, a := range r.paths.OpenWord(cardea.Unknown, f) {
			a.Recursive = a.Path != ""
			r.out.Potential.Touch = append(r.out.Potential.Touch, a)
		}
	}
}

// mostNames is the number of programs with matching names that are examined. A pattern
// that matches more has one known letter at most, and no normal line has such a name.
const mostNames = 256

// fitting adds the commands of all described programs whose names match the name of the
// invocation, if that is a pattern.
func (r *reader) fitting(p *possibility) {
	if r.argv[0].Static || r.argv[0].Pattern == "" {
		return
	}
	pattern := strings.ToLower(path.Base(r.argv[0].Pattern))
	if strings.Trim(pattern, "*") == "" {
		return // the name is unknown
	}
	words, n := r.chosen(0), 0
	add := func(name string) {
		if !paths.MatchName(pattern, name) {
			return
		}
		if n++; n > mostNames {
			p.found.TooMany = true
			return
		}
		words[0] = quote(name)
		p.run(strings.Join(words, " "))
	}
	for i := range programs {
		add(programs[i].name)
	}
	for i := range wrappers {
		for _, name := range wrappers[i].Name {
			add(name)
		}
	}
}

// chosen returns the words as shell text. A word that is not certain becomes its n-th
// possible text, or its last.
func (r *reader) chosen(n int) []string {
	words := make([]string, 0, len(r.argv))
	for i, f := range r.argv {
		text := f.Text
		if len(f.May) > 0 && !f.Static {
			text = f.May[min(n, len(f.May)-1)]
		}
		// A list holds the matches of a pattern: quotes around an item change nothing.
		found := i == 0 && paths.IsPattern(text)
		if f.Static || len(f.May) > 0 && !f.MaySplit && !found {
			text = quote(text)
		}
		words = append(words, text)
	}
	return words
}

// becoming adds the files that uncertain words may name, and the commands that they may
// form: with the first text of each, the second, and so on.
func (r *reader) becoming(p *possibility, known []wordUse) {
	most := 0
	for i, f := range r.argv {
		if known[i] == aText {
			continue
		}
		most = max(most, len(f.May))
		for _, text := range f.May {
			if i > 0 {
				p.word(Word{Word: cardea.Word{Text: text, Static: !strings.ContainsAny(text, "*?[")}, Glob: true})
			}
		}
	}
	r.fitting(p)
	for n := range most {
		words := r.chosen(n)
		line := strings.Join(words, " ")
		first, _, _ := strings.Cut(line, " ")
		startsKnown := Known(first) && r.mayChoose(n)
		if !r.argv[0].Static {
			startsKnown = Known(first) || paths.IsPattern(first) // it may match one
		}
		if startsKnown {
			p.run(line)
			continue
		}
		if p.runWords += len(words); p.runWords > mostRunWords {
			p.found.TooMany = true
			return
		}
		list := strings.Fields(line)
		if r.known {
			continue
		}
		for i := 1; i < len(list); i++ {
			if Known(strings.Trim(list[i], "'")) && len(list) > i+1 {
				p.run(strings.Join(list[i:], " "))
			}
		}
	}
}

// mayChoose reports whether the n-th text of a word may be a subcommand.
func (r *reader) mayChoose(n int) bool {
	return slices.ContainsFunc(r.argv, func(f Word) bool {
		return n < len(f.May) && f.May[n] != "" && isLetter(f.May[n][0]) && !strings.ContainsAny(f.May[n], "/.\n")
	})
}

// commands adds the commands in the words.
func (r *reader) commands(p *possibility) {
	if r.elsewhere() {
		return // the command is a separate part
	}
	from, least := 1, 1
	if r.known {
		least = 2                  // the name of a program alone is a package, a target or a branch
		words := r.out.Command[1:] // git rm does not run rm
		if slices.ContainsFunc(r.out.Access, func(a cardea.Access) bool { return a.Kind == cardea.Execute && a.Path == "" }) {
			words = words[:min(len(words), len(r.levels))] // of a runner, only words that are known subcommands
		}
		for _, name := range words {
			for from < len(r.argv) && r.argv[from-1].Text != name {
				from++
			}
		}
	}
	if n := r.spec.OptionsEndAfterOperands; n > 0 && len(r.operands) >= n {
		from, least = r.operands[n-1], 1
	}
	p.runs(from, len(r.argv)-least+1, len(r.argv), func(i int) (string, bool) { return r.argv[i].Text, r.argv[i].Static })
	if !r.known && !r.inv.Potential && !Has(form.TakesText, path.Base(r.argv[0].Text)) {
		r.mayName(p)
	}
}

// mostNamed is the number of words of an unknown program that are treated as unknown
// programs: a rule or an entry may name them.
const mostNamed = 3

// mayName adds the first plain words as programs with the words after them.
func (r *reader) mayName(p *possibility) {
	for i, left := 1, mostNamed; i < len(r.argv) && left > 0; i++ {
		if f := r.argv[i]; !f.Static || !plainName(f.Text) || Known(f.Text) || Has(form.AlsoAWord, f.Text) {
			continue
		}
		left--
		p.run(strings.Join(spelled(r.argv[i:]), " "))
	}
}

// spelled returns words as shell text.
func spelled(words []Word) []string {
	out := make([]string, len(words))
	for i, f := range words {
		if out[i] = f.Text; f.Static {
			out[i] = quote(f.Text)
		}
	}
	return out
}

// plainName reports whether word may name a program: a letter, then letters, digits,
// hyphens and underscores.
func plainName(word string) bool {
	return word != "" && isLetter(word[0]) && strings.Trim(word, alphanumeric+"-_") == ""
}

// alphanumeric are the letters and digits of ASCII.
const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// elsewhere reports whether the program passes its operands to a command on another
// machine or in a container.
func (r *reader) elsewhere() bool { return r.known && Has(form.RunsElsewhere, r.out.Command...) }

// hasProperty reports whether the program has a property, with the given subcommand if
// the property lists some.
func (r *reader) hasProperty(p form.Property) bool {
	if !r.known {
		return false
	}
	with, ok := WordsOf(p, r.out.Command[0])
	return ok && (len(with) == 0 || len(r.out.Command) > 1 && slices.Contains(with, r.out.Command[1]))
}

// PathsInValue returns writes of the folders or files that the value of a variable
// names, as those of GOBIN and DESTDIR do.
func PathsInValue(value string, at Paths) []cardea.Access {
	var out Potential
	p := possibility{paths: at, found: &out, seen: map[string]bool{}}
	for _, name := range mention.Word(value).Paths {
		p.touch(cardea.Write, name)
	}
	return out.Touch
}

// ToolInput collects the potential effects of the input of a tool of unknown behavior.
type ToolInput struct {
	Potential
	p possibility
}

// NewInput returns an empty Input. at resolves its paths.
func NewInput(at Paths) *ToolInput {
	in := &ToolInput{}
	in.p = possibility{paths: at, found: &in.Potential, seen: map[string]bool{}}
	return in
}

// Text adds the files and commands that the text of a field names.
func (in *ToolInput) Text(text string) {
	in.p.word(Literal(text))
	in.p.line(text)
}

// Key adds the file or command that the name of a field names.
func (in *ToolInput) Key(name string) {
	if strings.ContainsAny(name, "/.~ ") {
		in.Text(name)
	}
}

// Code adds the files and commands that code names.
func (in *ToolInput) Code(text string) { in.p.text(text) }

// Limits of a list of words: their number and length, and the number of segments that
// are joined to a path.
const (
	mostListed    = 64
	longestListed = 4096
	mostSegments  = 6
)

// List adds what several fields name together: a program with its arguments, or a path
// in segments.
func (in *ToolInput) List(words []string) {
	words = in.Command(words)
	for i := range words {
		joined := words[i]
		for k := i + 1; k < min(i+mostSegments, len(words)) && !strings.ContainsAny(joined, " \n") && joined[:min(1, len(joined))] != "-" && !strings.HasPrefix(words[k], "/"); k++ {
			joined = strings.TrimSuffix(joined, "/") + "/" + words[k]
			for _, name := range mention.Word(joined).Paths {
				in.p.touch(cardea.Unknown, name)
			}
		}
	}
}

// Command adds the programs that several fields may start together, and returns the
// words that it examined.
func (in *ToolInput) Command(words []string) []string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return len(w) > longestListed })
	words = words[:min(len(words), mostListed)]
	in.p.list(words)
	if len(words) > 1 && programIn(words[0]) != "" { // its arguments may be one text
		in.p.line(programIn(words[0]) + " " + strings.Join(words[1:], " "))
	}
	return words
}

// Folder adds a folder that is moved or deleted with all its contents, even the working
// folder or one above it.
func (in *ToolInput) Folder(name string) {
	if file, ok := FileURL(name); ok {
		name = file
	}
	if rest, ok := strings.CutPrefix(name, "~"); ok {
		name = in.p.paths.Home + rest
	}
	for _, a := range in.p.paths.Open(cardea.Unknown, name, false) {
		a.Recursive = a.Path != ""
		in.Touch = append(in.Touch, a)
	}
}

// possibility collects potential effects, each file once.
type possibility struct {
	paths Paths
	roots []string
	found *Potential
	seen  map[string]bool
	// last is the last shell line that was found.
	last string
	// live is set while the word has command substitutions. Their commands are parts already.
	live bool
	// runWords and runBytes count the words and bytes of the commands.
	runWords, runBytes int
}

// word adds the effects that one word of a program may have, and reports whether it may
// do more than read.
func (p *possibility) word(f Word) (acts bool) {
	if !f.Static && f.Glob && simpleGlob(f.Text) {
		if !p.paths.SaysHidden(f.Text, p.roots) {
			return false // it matches no hidden file
		}
		p.found.Touch = append(p.found.Touch, p.paths.OpenWord(cardea.Unknown, f)...)
		return false
	}
	m := mention.Word(f.Text)
	m.OnlyReads = m.OnlyReads && f.Static // only the shell reads another word as code
	p.live = !f.Static
	p.add(m)
	p.live = false
	return !m.OnlyReads
}

// asFiles returns the text of a word that names files, with the character classes of a
// pattern replaced: they are not lists.
func asFiles(f Word) string {
	if f.Static || !f.Glob || !simpleGlob(f.Text) {
		return f.Text
	}
	if plain := paths.WithoutClasses(f.Text); strings.Count(plain, "/") == strings.Count(f.Text, "/") {
		return plain
	}
	return f.Text // a class has no slash, so this is not one
}

// behind adds the files named in a word after a delimiter.
func (p *possibility) behind(word string) {
	if mention.Plain(word) {
		return
	}
	for _, name := range mention.Word(word).Paths {
		if name != word {
			p.touch(cardea.Unknown, name)
		}
	}
}

// text adds the effects of a text that a program reads.
func (p *possibility) text(text string) {
	if strings.TrimSpace(text) != "" {
		p.add(mention.Text(text))
	}
}

// add adds the paths, hosts and commands of m. If m only reads, its paths are only read
// and nothing runs.
func (p *possibility) add(m mention.Found) {
	kind := cardea.Unknown
	if m.OnlyReads {
		kind = cardea.Read
	}
	for _, name := range m.Paths {
		p.touch(kind, name)
		if i := strings.Index(name, p.paths.Home+"/"); i > 0 && p.paths.Home != "" {
			p.touch(kind, name[i:]) // after a root of the program's own
		}
	}
	for _, address := range m.Addresses {
		for _, h := range Hosts(address) {
			p.found.Touch = append(p.found.Touch, cardea.Access{Kind: cardea.Network, Host: h})
		}
	}
	if m.OnlyReads {
		return // it runs nothing
	}
	for _, line := range m.Lines {
		p.line(line)
	}
	for _, list := range m.Lists {
		p.list(list)
	}
	p.found.TooMany, p.found.Copies = p.found.TooMany || m.TooMany, p.found.Copies || m.Copies
}

// touch adds accesses to a file, once, and sets TooMany at the limit. A name under ~ is
// skipped if the home folder is unknown.
func (p *possibility) touch(kind cardea.AccessKind, name string) {
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || rest[0] == '/') {
		if p.paths.Home == "" {
			return
		}
		name = p.paths.Home + rest
	}
	if n, ok := strings.CutPrefix(name, "/dev/fd/"); p.seen[name] || ok && strings.Trim(n, "0123456789") == "" {
		return // an open file of the program is not one of this process
	}
	if len(p.found.Touch) >= mostTouched {
		p.found.TooMany = true
		return
	}
	p.seen[name] = true
	if strings.ContainsAny(name, "*?[") && strings.Trim(name, ".*?+") != "" && simpleGlob(name) && p.paths.SaysHidden(name, p.roots) { // .* is any text
		p.found.Touch = append(p.found.Touch, p.paths.OpenWord(kind, pattern(name))...)
	}
	for _, a := range p.paths.Open(kind, name, false) {
		// Normal words name the working folder and those above it all the time.
		a.Recursive = a.Path != "" && kind == cardea.Unknown && !paths.Within(a.Path, p.paths.Dir) && !paths.Within(a.Path, p.paths.Home)
		p.found.Touch = append(p.found.Touch, a)
	}
}

// The limits of one invocation: files, commands, and the words and bytes of all
// commands. No normal line names as many.
const (
	mostTouched  = 4096
	mostRuns     = 512
	mostRunWords = 20_000
	mostRunBytes = 1 << 18
)

// runs adds each list of words that starts with a known program between from and last,
// up to word number to.
func (p *possibility) runs(from, last, to int, word func(int) (text string, static bool)) {
	for i := from; i < last; i++ {
		text, static := word(i)
		program := programIn(text)
		if !static || program == "" {
			continue
		}
		if p.runWords += to - i; p.runWords > mostRunWords {
			p.found.TooMany = true
			return
		}
		var words []string
		for k := i; k < to; k++ {
			text, static := word(k)
			switch {
			case k == i:
				text = quote(program)
			case k == i+1 && text == "--": // nix run nixpkgs#git -- push
				continue
			case static:
				text = quote(text)
			}
			words = append(words, text)
		}
		p.run(strings.Join(words, " "))
	}
}

// list adds the commands that a list of words may start.
func (p *possibility) list(words []string) {
	p.runs(0, len(words), len(words), func(i int) (string, bool) { return words[i], true })
}

// programIn returns the known program that a word names: alone, as the value of an
// option, or as a package with registry and version (--run=git, nixpkgs#git, x/git@1).
// It returns "" if there is no such program.
func programIn(word string) string {
	if Known(word) {
		return word
	}
	if !strings.ContainsAny(word, "=#@:") {
		return ""
	}
	for i, piece := range strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("=#@", r) }) {
		name, value, _ := strings.Cut(piece, ":")
		switch {
		case strings.HasPrefix(value, "//") || i == 0 && account.MatchString(word):
			// an address: http://x, git@x.example
		case Known(name):
			return name
		case word[0] == '-' && Known(value):
			return value
		}
	}
	return ""
}

// account matches an account on a host, not a package with its version after the @.
const account = lazyRegexp(`^[\w.+-]+@[A-Za-z][\w-]*(\.[\w-]+)*\.[A-Za-z]+(:|$)`)

// line adds a shell line that starts a known program.
func (p *possibility) line(line string) {
	line = strings.Trim(line, " \t\n|") // perl and ruby open "|cmd" and "cmd|"
	said := line
	if p.live {
		said = substitutions.ReplaceAllString(line, "")
	}
	if strings.ContainsAny(said, " \t;&|(`\n") && startsKnown(said) && (p.last == "" || !strings.HasSuffix(p.last, line)) {
		p.last = line
		p.run(line)
	}
}

// substitutions matches command substitutions.
var substitutions = lazyRegexp("\\$\\([^()]*\\)|`[^`]*`")

// startsKnown reports whether a shell would start a known program in line.
func startsKnown(line string) bool {
	for _, command := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";&|(){}`\n", r) }) {
		for _, word := range strings.Fields(command) {
			word = withoutQuotes.Replace(word)
			if Known(word) && !strings.Contains(word, "://") {
				return true
			}
			if _, _, assigned := strings.Cut(word, "="); !assigned && !slices.Contains(reserved, word) {
				break
			}
		}
	}
	return false
}

// reserved are the words of the shell after which a command begins.
var reserved = []string{"!", "if", "then", "elif", "else", "while", "until", "do"}

// withoutQuotes removes the characters that bash removes from a word.
var withoutQuotes = strings.NewReplacer(`\`, "", "'", "", `"`, "", "$", "")

func (p *possibility) run(line string) {
	switch {
	case slices.Contains(p.found.Run, line):
	case len(p.found.Run) >= mostRuns, p.runBytes+len(line) > mostRunBytes && len(p.found.Run) > 0:
		p.found.TooMany = true
	default:
		p.runBytes += len(line)
		p.found.Run = append(p.found.Run, line)
	}
}

// quote returns s quoted so that bash reads it as one word.
func quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("./_-+=:@,%~", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Known reports whether anything is known of a program, by the name or path with
// which it is started.
func Known(name string) bool {
	if name == "" || strings.ContainsAny(name, " \t\n'\"") {
		return false
	}
	base := path.Base(name)
	return programOf(base) != nil || WrapperOf(base) != nil
}
