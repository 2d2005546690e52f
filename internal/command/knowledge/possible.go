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

// This file finds what an invocation may do whose access is not known, as a whole
// or in one option: it may touch the files that its words name, and run the commands
// in them (docs/design.md#may-touch-may-run).

// Possible is what a part may do besides what is known.
type Possible struct {
	// Touch are accesses of kind [cardea.Unknown]: each file may be read, written or
	// deleted. Of kind [cardea.Read] where it can only be read.
	Touch []cardea.Access
	// Run are lines for a shell.
	Run []string
	// TooMany is set where the words name more than is looked at.
	TooMany bool
	// Copies is set where code may copy or unpack what is not known.
	Copies bool
}

// Add adds what something else may do.
func (p *Possible) Add(more Possible) {
	p.Touch, p.Run, p.TooMany = append(p.Touch, more.Touch...), append(p.Run, more.Run...), p.TooMany || more.TooMany
	p.Copies = p.Copies || more.Copies
}

// possible adds what the words may mean.
func (r *reader) possible() {
	m := r.out
	r.opensUnnamed()
	r.otherNames()
	if m.Knowledge == cardea.Complete {
		return
	}
	c := r.spec.Complete
	unsure := c != nil && (!c.AnyWords && slices.ContainsFunc(m.Options, r.unsureOption) || c.ScriptLanguage != "" && !r.sureScripts())
	p := possibility{paths: r.paths, found: &m.Possible, seen: map[string]bool{}}
	if r.world != nil {
		p.roots = r.world.Roots
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
				p.list(strings.Fields(f.Text)) // a client's own command in front: platform shell git push
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
				case !b.Entries: // what lies in it, and not the folder
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
	if m.Possible.Copies = m.Possible.Copies && IsInterpreter(path.Base(r.argv[0].Text)); m.Possible.Copies && r.world != nil && r.world.Names != nil {
		names, _ := r.world.Names(r.paths.Dir)
		for _, name := range names[:min(len(names), mostListed)] {
			there, _ := r.world.Names(Absolute(r.paths.Dir, name))
			if slices.ContainsFunc(there, func(n string) bool { return n[0] == '.' }) && name[0] != '.' { // settings for agents
				p.run("cp -r -- " + quote(name+"/.") + " .")
			}
		}
	}
}

// metadata adds what a program names that changes the mode or owner of it and of all
// that lies in it, or puts something else in its place.
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
			r.out.Possible.Touch = append(r.out.Possible.Touch, a)
		}
	}
}

// mostNames is how many programs are looked at whose names fit a pattern. Behind more of
// them a letter alone is known, and no honest line is written so.
const mostNames = 256

// fitting adds the commands of all programs that are known whose names fit that of the
// invocation, where that is a pattern.
func (r *reader) fitting(p *possibility) {
	if r.argv[0].Static || r.argv[0].Pattern == "" {
		return
	}
	pattern := strings.ToLower(path.Base(r.argv[0].Pattern))
	if strings.Trim(pattern, "*") == "" {
		return // nothing tells of it
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

// chosen are the words as a shell would be given them, each that is not certain with
// the n-th of its texts, or its last.
func (r *reader) chosen(n int) []string {
	words := make([]string, 0, len(r.argv))
	for i, f := range r.argv {
		text := f.Text
		if len(f.May) > 0 && !f.Static {
			text = f.May[min(n, len(f.May)-1)]
		}
		// A list has what a pattern found: quotes around its item change nothing.
		found := i == 0 && paths.IsPattern(text)
		if f.Static || len(f.May) > 0 && !f.MaySplit && !found {
			text = quote(text)
		}
		words = append(words, text)
	}
	return words
}

// becoming adds what the words that are not certain may name, and the commands that they
// may make: each with the first, the second and so on of its texts.
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
			startsKnown = Known(first) || paths.IsPattern(first) // it may be one
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

// commands adds the commands that stand among the words.
func (r *reader) commands(p *possibility) {
	if r.elsewhere() {
		return // the command is a part of its own
	}
	from, least := 1, 1
	if r.known {
		least = 2                  // the name of a program alone is a package, a target or a branch
		words := r.out.Command[1:] // git rm is no rm
		if slices.ContainsFunc(r.out.Access, func(a cardea.Access) bool { return a.Kind == cardea.Execute && a.Path == "" }) {
			words = words[:min(len(words), len(r.levels))] // of a runner only what is known to be a subcommand
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
	if !r.known && !r.inv.Possible && !Has(form.TakesText, path.Base(r.argv[0].Text)) {
		r.mayName(p)
	}
}

// mostNamed is how many words of a program that nobody knows are taken for programs
// that nobody knows either: a rule or an entry may be about them.
const mostNamed = 3

// mayName adds the first plain words as programs with what stands behind them.
func (r *reader) mayName(p *possibility) {
	for i, left := 1, mostNamed; i < len(r.argv) && left > 0; i++ {
		if f := r.argv[i]; !f.Static || !plainName(f.Text) || Known(f.Text) || Has(form.AlsoAWord, f.Text) {
			continue
		}
		left--
		p.run(strings.Join(spelled(r.argv[i:]), " "))
	}
}

// spelled are words as a shell would be given them.
func spelled(words []Word) []string {
	out := make([]string, len(words))
	for i, f := range words {
		if out[i] = f.Text; f.Static {
			out[i] = quote(f.Text)
		}
	}
	return out
}

// plainName reports a word that may be the name of a program: letters, digits, hyphens
// and underscores behind a letter.
func plainName(word string) bool {
	return word != "" && isLetter(word[0]) && strings.Trim(word, alphanumeric+"-_") == ""
}

// alphanumeric are the letters and digits of ASCII.
const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// elsewhere reports a program that passes its operands to a command on another machine
// or in a container.
func (r *reader) elsewhere() bool { return r.known && Has(form.RunsElsewhere, r.out.Command...) }

// hasProperty reports whether the program has a property, with the subcommand where
// the property names some.
func (r *reader) hasProperty(p form.Property) bool {
	if !r.known {
		return false
	}
	with, ok := WordsOf(p, r.out.Command[0])
	return ok && (len(with) == 0 || len(r.out.Command) > 1 && slices.Contains(with, r.out.Command[1]))
}

// PossibleValue is what a variable may name that a program is given: a folder or file
// that it writes, as GOBIN and DESTDIR do.
func PossibleValue(value string, at Paths) []cardea.Access {
	var out Possible
	p := possibility{paths: at, found: &out, seen: map[string]bool{}}
	for _, name := range mention.Word(value).Paths {
		p.touch(cardea.Write, name)
	}
	return out.Touch
}

// Input collects what the input of a tool may name that somebody carries out, whoever
// that is.
type Input struct {
	Possible
	p possibility
}

// NewInput is an input of which nothing was read yet.
func NewInput(at Paths) *Input {
	in := &Input{}
	in.p = possibility{paths: at, found: &in.Possible, seen: map[string]bool{}}
	return in
}

// Text adds what a field names.
func (in *Input) Text(text string) {
	in.p.word(Literal(text))
	in.p.line(text)
}

// Key adds what the name of a field names: a file, or a command.
func (in *Input) Key(name string) {
	if strings.ContainsAny(name, "/.~ ") {
		in.Text(name)
	}
}

// Code adds what code names.
func (in *Input) Code(text string) { in.p.text(text) }

// Words of a list are looked at as long as a program's words and folders are; so many
// folders are joined.
const (
	mostListed    = 64
	longestListed = 4096
	mostSegments  = 6
)

// List adds what several fields name together: a program with its words, or a path in
// pieces.
func (in *Input) List(words []string) {
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

// Command adds what several fields may start together, and says which of their words
// are looked at.
func (in *Input) Command(words []string) []string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return len(w) > longestListed })
	words = words[:min(len(words), mostListed)]
	in.p.list(words)
	if len(words) > 1 && programIn(words[0]) != "" { // its arguments may be one text
		in.p.line(programIn(words[0]) + " " + strings.Join(words[1:], " "))
	}
	return words
}

// Folder adds a folder that is moved or deleted with all that lies in it, the folder of
// the work and those around it too.
func (in *Input) Folder(name string) {
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

// possibility collects what is possible, each file once.
type possibility struct {
	paths Paths
	roots []string
	found *Possible
	seen  map[string]bool
	// last is the line for a shell that was found last.
	last string
	// live is set while a word is read in which the shell puts what commands print;
	// these are parts already.
	live bool
	// runWords and runBytes count the words of the commands.
	runWords, runBytes int
}

// word adds what one word of a program may name, and reports whether it may do more
// than read.
func (p *possibility) word(f Word) (acts bool) {
	if !f.Static && f.Glob && simpleGlob(f.Text) {
		if !p.paths.SaysHidden(f.Text, p.roots) {
			return false // what is found by name there is no hidden file
		}
		p.found.Touch = append(p.found.Touch, p.paths.OpenWord(cardea.Unknown, f)...)
		return false
	}
	m := mention.Word(f.Text)
	m.OnlyReads = m.OnlyReads && f.Static // another word is no code, but the shell's
	p.live = !f.Static
	p.add(m)
	p.live = false
	return !m.OnlyReads
}

// asFiles is the text of a word that stands for files. The classes of a pattern are no lists.
func asFiles(f Word) string {
	if f.Static || !f.Glob || !simpleGlob(f.Text) {
		return f.Text
	}
	if plain := paths.WithoutClasses(f.Text); strings.Count(plain, "/") == strings.Count(f.Text, "/") {
		return plain
	}
	return f.Text // a class has no slash, so this is none
}

// behind adds what stands in a word behind a delimiter.
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

// text adds what a text that a program reads may name.
func (p *possibility) text(text string) {
	if strings.TrimSpace(text) != "" {
		p.add(mention.Text(text))
	}
}

func (p *possibility) add(m mention.Found) {
	kind := cardea.Unknown
	if m.OnlyReads {
		kind = cardea.Read
	}
	for _, name := range m.Paths {
		p.touch(kind, name)
		if i := strings.Index(name, p.paths.Home+"/"); i > 0 && p.paths.Home != "" {
			p.touch(kind, name[i:]) // behind a root of the program's own
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

func (p *possibility) touch(kind cardea.AccessKind, name string) {
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || rest[0] == '/') {
		if p.paths.Home == "" {
			return
		}
		name = p.paths.Home + rest
	}
	if n, ok := strings.CutPrefix(name, "/dev/fd/"); p.seen[name] || ok && strings.Trim(n, "0123456789") == "" {
		return // what the program has open is not looked for in the files of this process
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
		// The folder of the work and those around it are named all day.
		a.Recursive = a.Path != "" && kind == cardea.Unknown && !paths.Within(a.Path, p.paths.Dir) && !paths.Within(a.Path, p.paths.Home)
		p.found.Touch = append(p.found.Touch, a)
	}
}

// Of one invocation so many files and commands are looked at, the commands with so many
// words and bytes together. No normal line names as many.
const (
	mostTouched  = 4096
	mostRuns     = 512
	mostRunWords = 20_000
	mostRunBytes = 1 << 18
)

// runs adds the lists of words that begin with a program which is known, between from
// and last, and end at the end.
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

// list adds what a list of words may start.
func (p *possibility) list(words []string) {
	p.runs(0, len(words), len(words), func(i int) (string, bool) { return words[i], true })
}

// programIn is the program that a word names: as it is, as the value of an option, or
// as a package with its registry and version: --run=git, nixpkgs#git, x/git@1. It is
// "" where there is none that is known.
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

// account fits an account on a host, and no version of a package after the @.
const account = lazyRegexp(`^[\w.+-]+@[A-Za-z][\w-]*(\.[\w-]+)*\.[A-Za-z]+(:|$)`)

// line adds a text for a shell in which a program that is known is started.
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

// substitutions are the commands whose output the shell puts into a word.
var substitutions = lazyRegexp("\\$\\([^()]*\\)|`[^`]*`")

// startsKnown reports whether a program that is known stands where a shell would start it.
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

// reserved are the words of the shell behind which a command begins.
var reserved = []string{"!", "if", "then", "elif", "else", "while", "until", "do"}

// withoutQuotes drops what bash takes off a word.
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

// quote writes a word so that bash reads it as one.
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
