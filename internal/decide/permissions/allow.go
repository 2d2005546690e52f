package permissions

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/command/knowledge/form"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/permissionlist"
)

// Refusal explains why the lists do not allow a part.
type Refusal struct {
	// Why holds the reasons, in the order in which they were found. It is empty if the
	// lists allow the part, or it needs no entry.
	Why []string
	// Needs are the narrowest further entries that would allow it, in the harness's words.
	// It may be empty.
	Needs []string
}

func (r *Refusal) stop(format string, args ...any) {
	r.Why = append(r.Why, fmt.Sprintf(format, args...))
}

func (r *Refusal) need(entry string) {
	if entry != "" && !slices.Contains(r.Needs, entry) {
		r.Needs = append(r.Needs, entry)
	}
}

// Refusal returns the reasons why the lists do not allow part i of a call.
func (d *Decider) Refusal(ev *cardea.Event, i int) Refusal {
	if ev.Call == nil || i < 0 || i >= len(ev.Call.Parts) || ev.Call.Parts[i].NoEffect {
		return Refusal{}
	}
	_, r := d.call(ev).judge(i)
	return r
}

// allow adds an allow for part i if the lists allow it.
func (c *evaluation) allow(i int) {
	if !c.about.Expand || c.ev.Call.Parts[i].NoEffect {
		return
	}
	by, r := c.judge(i)
	text := shorten(c.ev.Call.Parts[i].Text)
	if len(r.Why) > 0 {
		c.trace("permissions: part %d: %s is not allowed: %s", i+1, text, strings.Join(r.Why, "; "))
		return
	}
	o := cardea.Opinion{Decider: "permissions", Effect: cardea.Allow, Part: i, Scope: cardea.ScopeUser,
		Reason: "what it writes is plain output, or may be written"}
	if by != nil {
		o.Rule, o.Scope, o.Source = by.Text, by.From.Scope, by.Source()
		o.Reason = fmt.Sprintf("the list of %s allows %s", by.From.Harness, by.Text)
	}
	c.trace("permissions: part %d: %s is allowed by %s (%s)", i+1, text, o.Rule, o.Source)
	c.out = append(c.out, o)
}

// judge returns the entry that allows part i, or the reasons why none does. The entry is
// nil for a part that has only redirections.
func (c *evaluation) judge(i int) (*permissionlist.Entry, Refusal) {
	var r Refusal
	p := &c.ev.Call.Parts[i]
	if !c.about.Expand {
		r.stop("permissions.expand is off")
	}
	c.seeThrough(p, &r)
	var by *permissionlist.Entry
	switch {
	case c.ev.Call.Tool == "Bash" && len(p.Argv) == 0 && redirectsOnly(p):
		if len(c.ev.Call.Parts) == 1 {
			r.stop("no entry names what is only a redirection")
		}
	case c.ev.Call.Tool == "Bash" && knowledge.Has(form.WritesAsShell, p.Program()) && len(p.Argv) > 0:
		var unnamed Refusal
		if by = c.command(p, &unnamed); by == nil && !prints(p) {
			r.Why, r.Needs = append(r.Why, unnamed.Why...), append(r.Needs, unnamed.Needs...)
		}
	case c.ev.Call.Tool == "Bash" && prints(p):
		// The text that it prints goes to a file that the shell writes.
	case c.ev.Call.Tool == "Bash":
		by = c.commandOrFiles(p, &r)
	case c.ev.Call.Tool == "PowerShell" || c.ev.Call.Tool == "Monitor":
		r.stop("what %s runs is allowed by no entry", c.ev.Call.Tool)
	default:
		by = c.otherTool(p, &r)
	}
	c.accesses(p, &r, by != nil && knowledge.Has(form.WritesAsShell, p.Program()))
	return by, r
}

// commandOrFiles returns the entry that names a command, or one that covers the files that
// are all it touches. Otherwise it adds the reasons to r.
func (c *evaluation) commandOrFiles(p *cardea.Part, r *Refusal) *permissionlist.Entry {
	var unnamed Refusal
	if by := c.command(p, &unnamed); by != nil {
		return by
	}
	if by, ok := c.onFiles(p); ok {
		return by
	}
	if needs := c.readsNeeded(p); len(needs) > 0 {
		unnamed.Needs = needs
	}
	r.Why, r.Needs = append(r.Why, unnamed.Why...), append(r.Needs, unnamed.Needs...)
	return nil
}

// maxLine is the length, in characters, above which Claude Code asks about every command
// (permissions, "Read-only commands").
const maxLine = 10_000

// seeThrough stops a part if it is not certain what runs.
func (c *evaluation) seeThrough(p *cardea.Part, r *Refusal) {
	named := c.namesVariables(p)
	for _, config := range p.Configs {
		if bin, is := strings.CutPrefix(config, knowledge.ProgramsOf); is && len(p.Argv) > 0 {
			if file := disk.InEnvironment(c.ev.Call.Parts, p, bin, true); file != "" {
				r.stop("it may start a program of the virtual environment: %s", file)
			}
		}
	}
	switch {
	case len(c.ev.Faults)+len(c.ev.Call.Opaque) > 0, len(p.Opaque) > 0 && !named:
		spots := slices.Concat(p.Opaque, c.ev.Call.Opaque, c.ev.Faults)
		r.stop("it cannot be seen through: %s (%s)", shorten(spots[0].Text), spots[0].Reason)
	case p.Coverage != cardea.Complete && !named:
		r.stop("it may start programs that the analysis does not see")
	}
	if line, _ := c.ev.Call.Input["command"].(string); utf8.RuneCountInString(line) > maxLine {
		r.stop("the command has more than %d characters, which the harness always asks about", maxLine)
	}
	if c.ev.Call.Unsandboxed {
		r.stop("the call asks to run outside of the sandbox")
	}
	if harness.AsksPerson(c.ev.Call) {
		r.stop("it is a question to the person")
	}
}

func redirectsOnly(p *cardea.Part) bool {
	return len(p.Access) > 0 && !slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return !a.Redirect })
}

// prints reports whether a command only prints its words into a file. That is an edit of
// the file, and needs the same approval.
func prints(p *cardea.Part) bool {
	return p.Knowledge == cardea.Complete && len(p.Assigns) == 0 && redirectsOnly(p) &&
		slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Write && !a.Nowhere() }) && knowledge.Has(form.PrintsText, base(p.Argv))
}

// level is one form of a part: the command itself, or an outer command around it. Words
// that are not static are masked.
type level struct {
	text string
	argv []cardea.Word
	// at is the index of the outer command in Outer; for the part itself it is the length
	// of Outer.
	at int
	// assigns is set if the text begins with the part's variables.
	assigns bool
}

// mask replaces a word that is not static. No valid entry contains it, so only a wildcard
// matches it.
const mask = "\x00"

// levels returns all forms of a part that an entry may match, the command itself first.
func (c *evaluation) levels(p *cardea.Part) []level {
	n := len(p.Outer)
	inner := level{text: c.wordForm(p.Argv, mask), argv: p.Argv, at: n}
	out := []level{inner}
	if own := assigned(p); own != "" {
		out = append(out, level{text: own + " " + inner.text, argv: p.Argv, at: n, assigns: true})
	}
	if usual := c.usual(p); usual != nil {
		out = append(out, level{text: c.wordForm(usual, mask), argv: usual, at: n})
	}
	if len(p.Wrappers) > 0 && p.Wrappers[len(p.Wrappers)-1] == "time" {
		out = append(out, level{text: "time " + inner.text, argv: p.Argv, at: n})
	}
	for k := n - 1; k >= 0; k-- {
		o := p.Outer[k]
		out = append(out, level{text: c.wordForm(o.Argv, mask), argv: o.Argv, at: k})
	}
	return out
}

// command returns the entry that allows a part of a command line, or nil. With nil it adds
// the reason to r.
func (c *evaluation) command(p *cardea.Part, r *Refusal) *permissionlist.Entry {
	forms := c.levels(p)
	texts := lists.Of(forms, func(l level) string { return l.text })
	var idle *permissionlist.Entry // would allow, if its file applied
	var stopped string
	for _, k := range c.allowing(texts) {
		e := &c.entries[k]
		for _, l := range forms {
			if !c.words(k).CommandIs(l.text) {
				continue
			}
			why := c.held(c.words(k), l, p)
			if why == "" {
				why = c.mayBe(p)
			}
			switch {
			case !e.Counts(c.ev.Harness):
				idle = e
			case why != "":
				stopped = fmt.Sprintf("%s does not reach it: %s", e.Text, why)
			case l.assigns && !spellsVariables(c.words(k), p) && slices.ContainsFunc(p.Assigns, func(a cardea.Assign) bool { return a.Class == cardea.EnvDangerous }):
				stopped = "it sets a variable that changes what it does, and " + e.Text + " does not spell it"
			case c.environment(p) != "" && !(l.assigns && spellsVariables(c.words(k), p)):
				stopped = c.environment(p)
			default:
				return e
			}
		}
	}
	c.unnamed(p, idle, stopped, r)
	return nil
}

// unnamed adds the reasons why no entry allows a part, and the entry that would.
func (c *evaluation) unnamed(p *cardea.Part, idle *permissionlist.Entry, stopped string, r *Refusal) {
	switch {
	case stopped != "":
		r.stop("%s", stopped)
	case idle != nil && idle.From.Harness != c.ev.Harness:
		r.stop("%s (%s) is the list of %s and allows nothing for %s", idle.Text, idle.Source(), idle.From.Harness, c.ev.Harness)
	case idle != nil:
		r.stop("%s (%s) does not count: %s", idle.Text, idle.Source(), idle.From.Why)
	default:
		r.stop("no entry names it")
	}
	entry, why := c.entryFor(p)
	if with := c.environment(p); with != "" {
		if with != stopped {
			r.stop("%s", with)
		}
		own := ""
		for _, a := range p.Assigns {
			own += a.Name + "=" + cardea.QuoteWord(a.Value) + " "
		}
		if assigned(p) == "" || len(p.Outer) > 0 || len(p.Opaque) > 0 && !setsOnly(p) {
			return // no entry helps
		}
		entry = strings.Replace(entry, "(", "("+own, 1)
	}
	r.need(entry)
	if why != "" && !strings.Contains(stopped, why) {
		r.stop("%s", why)
	}
}

// allowing returns the indices of the entries that may allow one of some texts.
func (c *evaluation) allowing(texts []string) []int {
	out := candidates(c.index.allowCommands, texts)
	for _, k := range c.index.others {
		if e := &c.entries[k]; e.Form == permissionlist.Whole && e.Tool == "Bash" {
			out = append(out, k)
		}
	}
	return out
}

// words returns the form of entry k that commands are compared with.
func (c *evaluation) words(k int) *permissionlist.Rule {
	if r, ok := c.index.inWords[k]; ok {
		return &r
	}
	return &c.entries[k].Rule
}

// held returns the reason why an entry that matches a form of a part does not allow the
// part, or "".
func (c *evaluation) held(e *permissionlist.Rule, l level, p *cardea.Part) string {
	if e.Tool != "Bash" {
		return "it is not about Bash"
	}
	program, named := e.Program()
	if l.at < len(p.Outer) && (!named || program != l.argv[0].Text) && e.Form != permissionlist.Whole {
		// A wildcard that happens to match a wrapper does not name it.
		return base(l.argv) + " must be named by the entry itself"
	}
	for k, o := range p.Outer {
		if o.Elevated {
			if l.at > k {
				return base(o.Argv) + " runs it as another user, or elsewhere"
			}
			if !named || l.at < k && e.Wild() {
				return base(o.Argv) + " must be named by the entry itself"
			}
		}
		if l.at > k && knowledge.StartsOnInput(base(o.Argv)) && len(o.Argv) > 1 && (!o.Argv[1].Static || strings.HasPrefix(o.Argv[1].Text, "-")) {
			return "xargs is given options"
		}
	}
	if (p.Elevated || p.Remote) && !slices.ContainsFunc(p.Outer, func(o cardea.Outer) bool { return o.Elevated }) {
		return "it runs as another user, or elsewhere"
	}
	if e.Wild() && c.deletesByOption(p) {
		return "an entry with a wildcard does not approve an option that deletes a folder"
	}
	if e.Wild() && p.Copies {
		return "an entry with a wildcard does not approve code that may copy what is not known"
	}
	if e.Wild() && needsExact(l.argv) {
		return "an entry with a wildcard does not approve " + base(l.argv) + " with a command or a deletion of its own"
	}
	if e.Wild() && e.Form != permissionlist.Whole && p.UnseenOption() && !(l.at < len(p.Outer) && knowledge.StartsOnInput(base(l.argv))) {
		return "a word may become an option of " + base(p.Argv) + " that the line does not show: begin it with ./, or put -- in front of it"
	}
	if e.Wild() && e.Form != permissionlist.Whole && p.Script != "" {
		return "an entry with a wildcard does not approve " + shorten(p.Script) + ", by which " + base(p.Argv) + " may run commands or open files"
	}
	if option := namedOption(p, e); option != "" && e.Form != permissionlist.Whole {
		return "an entry with a wildcard approves " + option + " of " + base(p.Argv) + " only where it names it with its value"
	}
	for _, w := range l.argv {
		if (e.Wild() || e.Form == permissionlist.Whole) && paths.NamesProcess(w.Text) {
			return "where " + shorten(w.Text) + " leads is known only when it runs"
		}
		if w.Static || !w.MaySplit {
			continue
		}
		expands := strings.ContainsAny(w.Text, "$`")
		switch {
		case expands && !c.about.Loose && !(w.MayVanish && e.Trailing()):
			return splits(w)
		case (expands || w.Text == "{}") && !e.Trailing():
			return "the word " + shorten(w.Text) + " may become several, or none, and the entry's last wildcard is not its only one"
		}
	}
	return ""
}

// mayBe describes a denying or asking entry that may match once the unknown words of a part
// are known, or returns "".
func (c *evaluation) mayBe(p *cardea.Part) string {
	if !slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return !w.Static }) {
		return ""
	}
	for _, n := range c.index.strictCommands {
		e := &c.entries[n.entry]
		if words, ok := e.Words(); ok && !e.Excepts() && mayBeginWith(p, words) {
			return "its words may become what " + e.Text + " " + permissionlist.Verb(e.Effect)
		}
	}
	return ""
}

// mayBeginWith reports whether a part begins with some words only if an unknown word of it
// has the right value.
func mayBeginWith(p *cardea.Part, words []string) bool {
	if len(words) < 2 || words[0] != base(p.Argv) {
		return false
	}
	at := 1
	for _, want := range words[1:] {
		for ; at < len(p.Argv) && p.Argv[at].Static && p.Argv[at].Text != want; at++ {
			if !strings.HasPrefix(p.Argv[at].Text, "-") && !strings.HasPrefix(p.Argv[at-1].Text, "-") {
				return false // another subcommand, and not the value of an option
			}
		}
		if at == len(p.Argv) {
			return false
		}
		if !p.Argv[at].Static {
			return true
		}
		at++
	}
	return false
}

// deletesByOption reports whether an option makes a part delete a folder.
func (c *evaluation) deletesByOption(p *cardea.Part) bool {
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		return a.Kind == cardea.Delete && a.Recursive && (c.inWork(&a) || !paths.WithinAny(files.Temporary(), a.Path)) && slices.ContainsFunc(p.Options, func(o cardea.Option) bool {
			return o.Value != "" && knowledge.Absolute(p.Dir, o.Value) == cmp.Or(a.Spelled, a.Path)
		})
	})
}

// needsExact reports whether the options of a command start programs or delete, so that
// only an exact entry approves it (permissions, "Wrappers").
func needsExact(argv []cardea.Word) bool {
	program := base(argv)
	if letters, ok := knowledge.WordsOf(form.NeedsExactLetters, program); ok {
		return slices.ContainsFunc(argv[1:], func(w cardea.Word) bool {
			return hidesOption(w) || slices.ContainsFunc(letters, func(letter string) bool { return inOption(letter, w.Text) })
		})
	}
	options, ok := knowledge.WordsOf(form.NeedsExactEntry, program)
	return ok && (len(options) == 0 || slices.ContainsFunc(argv[1:], func(w cardea.Word) bool { return hidesOption(w) || slices.Contains(options, w.Text) }))
}

// namedOption returns an option or subcommand by which the program runs another one, and
// that the entry does not spell out, or "".
func namedOption(p *cardea.Part, e *permissionlist.Rule) string {
	named, _ := knowledge.WordsOf(form.NamedOptions, p.Program())
	spelled, _ := e.Words()
	for _, o := range p.Options {
		if at := o.Word; e.Wild() && (slices.Contains(named, o.Name) || knowledge.NamesByValue(p, o)) {
			end := at + 1
			if end < len(p.Argv) && o.Value == p.Argv[end].Text && !slices.Contains(p.Operands, end) {
				end++
			}
			if slices.ContainsFunc(p.Argv[at:end], func(w cardea.Word) bool { return !w.Static || !slices.Contains(spelled, w.Text) }) {
				return o.Name
			}
		}
	}
	for _, w := range named {
		if w[0] != '-' && e.Wild() && runsOperands(p, strings.Fields(w)) {
			return w
		}
	}
	return ""
}

// runsOperands reports whether a part is the subcommand that some words name, and has
// operands. The last of the words may follow unknown values of options.
func runsOperands(p *cardea.Part, words []string) bool {
	usual, known, found := p.UsualCommand, 1, 0
	for i := 1; i < len(p.Argv)-1; i++ {
		text := p.Argv[i].Text
		_, operand := slices.BinarySearch(p.Operands, i)
		switch {
		case known < len(p.Command) && text == p.Command[known]:
			if known < len(usual) {
				text = usual[known]
			}
			known++
		case !operand:
			continue
		}
		if text == words[found] || operand && !p.Argv[i].Static {
			if found++; found == len(words) {
				return true
			}
		} else if before := p.Argv[i-1].Text; before == "--" || !strings.HasPrefix(before, "-") {
			return false
		}
	}
	return false
}

// inOption reports whether a word contains an option: "-x" as a letter of a cluster, "--ex"
// as the start of a long one.
func inOption(option, word string) bool {
	if strings.HasPrefix(option, "--") {
		return strings.HasPrefix(word, option)
	}
	return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, option[1:])
}

// hidesOption reports whether a word may become an option.
func hidesOption(w cardea.Word) bool {
	return !w.Static && (w.MayBeOption || w.MaySplit || strings.HasPrefix(w.Text, "-"))
}

func base(argv []cardea.Word) string {
	if len(argv) == 0 {
		return ""
	}
	return path.Base(argv[0].Text)
}

// setsOnly reports whether the effects of its variables are all that is unknown of a part.
func setsOnly(p *cardea.Part) bool {
	return !slices.ContainsFunc(p.Opaque, func(o cardea.Opaque) bool {
		return o.Code != cardea.OpaqueVariable || !slices.ContainsFunc(p.Assigns, func(a cardea.Assign) bool { return a.Name == o.Text && a.Static })
	})
}

// spellsVariables reports whether the literal text of an entry begins with all variables of
// a part and their values.
func spellsVariables(e *permissionlist.Rule, p *cardea.Part) bool {
	own := assigned(p)
	return own != "" && strings.HasPrefix(e.Prefix(), own+" ")
}

// namesVariables reports whether the effects of its variables are all that is unknown of a
// part, and an entry allows the part together with them.
func (c *evaluation) namesVariables(p *cardea.Part) bool {
	own := assigned(p)
	if c.onlyProjectPath(p) {
		return true
	}
	if !c.about.Expand || own == "" || len(p.Opaque) == 0 || !setsOnly(p) {
		return false
	}
	l := level{text: own + " " + c.wordForm(p.Argv, mask), argv: p.Argv, at: len(p.Outer), assigns: true}
	return slices.ContainsFunc(c.allowing([]string{l.text}), func(k int) bool {
		e := &c.entries[k]
		r := c.words(k)
		return e.Counts(c.ev.Harness) && spellsVariables(r, p) && r.CommandIs(l.text) && c.held(r, l, p) == ""
	})
}

// NamesVariables reports whether the lists allow part i of a call by an entry that names
// its variables. The effects of the variables must be all that is unknown of the part.
func (d *Decider) NamesVariables(ev *cardea.Event, i int) bool {
	return d.call(ev).namesVariables(&ev.Call.Parts[i])
}

// environment returns the reason why the variables of a part stop an expansion, or "".
func (c *evaluation) environment(p *cardea.Part) string {
	for _, a := range p.Assigns {
		switch {
		case c.onProjectPath(p, &a):
		case a.Class == cardea.EnvDangerous:
			return "setting " + a.Name + " changes what it does"
		case a.Class == cardea.EnvSafe:
		case c.about.KnownSafe:
			return a.Name + " is not known to be harmless (permissions.env: known-safe)"
		case !a.Static:
			return "the value of " + a.Name + " is known only when it runs"
		case knowledge.IsCode(a.Value):
			return a.Name + " may say what is run, going by its value"
		case claims(base(p.Argv), a.Name):
			return a.Name + " may be a setting of " + base(p.Argv) + ", going by its name"
		case steers(a.Name):
			return a.Name + " may say what is run, going by its name"
		}
	}
	return ""
}

// steers reports whether an unknown variable has a suffix typical of options, plugins,
// configuration or programs. Such a variable reaches the programs that the command starts
// (PYTEST_ADDOPTS and make).
func steers(name string) bool {
	name = strings.ToUpper(name)
	ends := []string{"FLAGS", "_ARGS", "OPTS", "_CONFIG", "_CONF", "_RC", "_PLUGIN", "_PLUGINS", "_PATH", "_HOME", "_BIN", "_EXEC", "_EXECUTABLE", "_CMD", "_SHELL", "INIT", "RCFILE", "LIB", "_LAUNCHER", "_PREFIX", "_MODULE", "_MODULES", "_LIBRARY", "_BINARY", "REPORT", "PROFILER", "_HOOK", "_HOOKS", "_INIT", "_REQUIRE", "_LOADER"}
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

// claims reports whether the name of a variable begins with the program's name, so that it
// may be a setting of the program: PYTEST_ADDOPTS and pytest.
func claims(program, name string) bool {
	own := strings.Map(func(r rune) rune {
		if r == '-' || r == '.' {
			return '_'
		}
		return r
	}, strings.ToUpper(program))
	name = strings.ToUpper(name)
	return own != "" && (name == own || strings.HasPrefix(name, own+"_") || len(own) > 3 && strings.HasPrefix(name, own))
}

// entryFor returns the narrowest entry that names a part, or the reason why no entry can.
func (c *evaluation) entryFor(p *cardea.Part) (entry, why string) {
	argv := p.Argv
	for k := range p.Outer {
		o := &p.Outer[k]
		if o.Elevated || knowledge.StartsOnInput(base(o.Argv)) && len(o.Argv) > 1 && strings.HasPrefix(o.Argv[1].Text, "-") {
			argv = o.Argv
			break
		}
	}
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = cardea.QuoteWord(w.Text)
		plain := !strings.ContainsFunc(words[i], func(r rune) bool { return r < ' ' || r == 0x7f })
		switch {
		case w.Static && plain:
			continue
		case i == 0:
			return "", "the program is not known"
		case p.UnseenOption():
			return "", "the word " + shorten(w.Text) + " may become an option"
		case needsExact(argv):
			return "", "only an exact entry would approve it, and the word " + shorten(w.Text) + " is known only when it runs"
		}
		for _, rest := range argv[i:] {
			if !c.about.Loose && rest.MaySplit && !rest.MayVanish && strings.ContainsAny(rest.Text, "$`") {
				return "", splits(rest)
			}
		}
		return "Bash(" + strings.Join(words[:i], " ") + ":*)", ""
	}
	if len(words) == 0 {
		return "", ""
	}
	return "Bash(" + strings.Join(words, " ") + ")", ""
}

func splits(w cardea.Word) string {
	return "the word " + shorten(w.Text) + " may become several, or none: quote it (permissions.strict)"
}
