package bash

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/unknown"
)

// line is one analysis of a line under way: where it is, what the shell knows there, and
// what was found. Each layer of the interpreter embeds the one below it.
type line struct {
	// up are the ways back up: what a lower layer starts in a higher one.
	up ways

	env Env

	src  string // the script being walked
	base int    // its offset in the command, -1 inside another script
	at   int    // offset of the last command seen in the line itself

	cur    *shell.State         // what the shell knows here
	sure   []*syntax.DeclClause // declarations of the current function that run if it is not left before
	loops  int                  // loops around whose rounds are walked as one
	rounds int                  // how often loops over known words repeat what is walked, 0 outside of them
	exits  []*shell.State       // what was known where a jump left its place
	begun  map[*shell.Function]running
	via    []string     // the constructs around
	around surroundings // what a command inherits from those around it
	cmd    command      // the command being built
	files  lineFiles    // what the line does to files
	used   used         // how much of the limits is used

	out            Analysis       // what was found so far
	prints         []printed      // what parts print
	fed            string         // what comes in through other descriptors, and from a coprocess
	running        []running      // the scripts around
	aborts         []*shell.State // what was known where bash may have given up a line
	failing        bool           // what is assigned here may not be: an expression may fail, or is not looked at
	late           []lateSpot     // spots of parts that were walked before
	shows          string         // a variable from outside that the line expands and that may hold a secret
	expands        bool           // it expands another one from outside
	usesFoundNames bool           // names that a search finds were found plain
	lateCode       []lateCode
	unseen         []unseenOptions
	onlyComments   bool
	whole          string   // its text
	outsideCode    bool     // it evaluates a variable from outside, in which there may be code
	begins         bool     // it has begun something in the background
	fronts         []string // the folders of programs that activate files have put in front
}

// ways are the entries of higher layers that lower ones need, since a word may hold
// commands and a command may run a script.
type ways interface {
	// stmts walks statements, script a text as the shell would run it.
	stmts(list []*syntax.Stmt)
	script(text string)
	// start looks at what an invocation runs.
	start(inv invocation)
	// evaluates walks the commands in a text that bash evaluates.
	evaluates(text string)
	// runLater walks a script that may run later, or never, walkLate one that may run at any
	// time.
	runLater(via, text string)
	walkLate(via, text string)
}

// command is the command being built.
type command struct {
	spots   *[]cardea.Opaque // nil outside of a command
	stdin   input            // what it reads
	reads   *string          // about what the <(…) in its words give to read; nil outside of a program
	pending []feed           // what flows into it through its words and descriptors
	appends bool             // a redirection leaves what the file holds
	expands bool             // the shell itself expands the words that are looked at, and all of them
	colon   bool             // it is the builtin that does nothing but expand its words
}

// lineFiles holds what the line does to files.
type lineFiles struct {
	changed bool      // a command may have changed files
	removed []string  // paths that a command may have removed or replaced
	remade  bool      // that may be any path
	entered []string  // where the last cd may lead
	visited []string  // where a shell may have been
	created creations // what the line creates, as another look found
	creates creations // and this one
}

// used is counted against the limits.
type used struct {
	scripts    int  // depth of scripts within scripts
	evaluating int  // depth of values within values, in arithmetic
	words      int  // words looked at so far
	possible   int  // possible commands looked at so far
	printed    int  // bytes that commands print, as far as the line says them
	split      int  // expansions that bash splits into words and zsh does not
	overLimit  bool // a limit was hit
}

// input holds what a command reads from its standard input.
type input struct {
	kind inputKind
	text string // kind literal
	may  string // about what comes in, where that is not certain
	// unseen is set for a text of the line that is only known when it runs.
	unseen bool
	// names are patterns of the names that come in.
	names []string
	from  [2]int // the parts that write it or open it, half open
	// lines is set when one command writes it, and no error of a command does.
	lines bool
	// document is set for a here-document as it stands.
	document bool
	// outer is set for what a command around this one reads.
	outer bool
}

// and returns what a command reads whose input is both, one after the other. Bash reads the
// second alone, zsh both (zshoptions(1), MULTIOS).
func (in input) and(more input) input {
	return input{kind: max(in.kind, piped), may: in.text + in.may + more.text + more.may, unseen: true,
		names: slices.Concat(in.names, more.names), from: in.from}
}

// shared returns what one of several commands reads: which of them reads what is not known.
func (in input) shared() input {
	if in.kind != literal {
		in.outer = true
		return in
	}
	return input{kind: elsewhere, may: in.text, outer: true}
}

// input is about what the current command reads, as far as the line says it: from its
// standard input, from descriptors and from the <(…) in its words.
func (w *line) input() string {
	text, more := w.cmd.stdin.text+w.cmd.stdin.may, w.fed
	if w.cmd.reads != nil {
		more += *w.cmd.reads
	}
	if text != "" && more != "" {
		text += "\n"
	}
	return text + more
}

// document is the here-document that is all that the current command reads, "" for anything else.
func (w *line) document() string {
	if in := w.cmd.stdin; in.document && in.kind == literal && w.fed == "" && (w.cmd.reads == nil || *w.cmd.reads == "") {
		return in.text
	}
	return ""
}

const (
	inherited inputKind = iota
	literal             // a here-document, or what a preceding echo prints
	piped
	elsewhere // a file, a descriptor, a substitution
)

// unknown records why something in a text is not known, as far as the reason reaches.
// Names fill the reason's message.
func (w *line) unknown(r unknown.Reason, text string, names ...any) {
	spot, reach := r.Spot(text, names...), r.Reach()
	switch {
	case reach == unknown.Later:
		w.taint(spot)
	case reach == unknown.Values:
		w.cur.Forget(r)
	case reach == unknown.Rest && w.used.overLimit:
	case reach == unknown.Command && w.cmd.spots != nil:
		*w.cmd.spots = append(*w.cmd.spots, spot)
	default:
		w.used.overLimit = w.used.overLimit || reach == unknown.Rest
		w.opaqueLine(spot)
	}
	if reach == unknown.Command && spot.Code == cardea.OpaqueEvaluated {
		w.up.evaluates(text)
	}
}

// opaqueLine records a spot that concerns the whole line: the first one of each code.
func (w *line) opaqueLine(spot cardea.Opaque) {
	if !slices.ContainsFunc(w.out.Opaque, func(o cardea.Opaque) bool { return o.Code == spot.Code }) {
		w.out.Opaque = append(w.out.Opaque, spot)
	}
}

// taint makes every later command of this shell opaque, unless one already is.
func (w *line) taint(why cardea.Opaque) {
	if why.Code == "" || w.cur.Later.Code != "" {
		return
	}
	w.cur.Later = why
	if w.cur.HasExitTrap {
		w.opaqueLine(cardea.Opaque{Code: why.Code, Text: unknown.Shorten(w.src), Reason: "a trap runs after " + why.Reason})
	}
}

// source is the text of a node as written.
func (w *line) source(n syntax.Node) string { return grammar.Source(w.src, n) }

func (w *line) offset(n syntax.Node) int {
	if w.base < 0 {
		return -1
	}
	w.at = w.base + int(n.Pos().Offset())
	return w.at
}

// inConstruct walks with one more step on the way to the parts.
func (w *line) inConstruct(via string, walk func()) {
	w.via = append(w.via, via)
	walk()
	w.via = w.via[:len(w.via)-1]
}

// inSubshell walks in a copy of the shell's state, as a subshell does.
func (w *line) inSubshell(walk func()) {
	saved, aborts := w.cur, len(w.aborts)
	w.cur = saved.Clone()
	walk()
	w.cur, w.aborts = saved, w.aborts[:min(aborts, len(w.aborts))] // giving up ends it
}

// mayRun walks what may run or not.
func (w *line) mayRun(walk func()) {
	before := w.cur.Clone()
	walk()
	w.cur.Join(before)
}

// maybe looks at words that may not be expanded: what they assign may not be assigned.
func (w *line) maybe(look func()) {
	around := w.failing
	w.failing = true
	look()
	w.failing = around
}

// unless walks what runs for certain unless something may keep it from running.
func (w *line) unless(mayFail bool, walk func()) {
	if mayFail {
		w.mayRun(walk)
	} else {
		walk()
	}
}

// spend counts what expansions give, so that a short line cannot become a huge
// one: 256 bytes as a word.
func (w *line) spend(size int) {
	if w.used.words += size / 256; w.used.words > maxWords {
		w.unknown(unknown.TooLongWords, w.src)
	}
}

// running is a function or a script that is being walked.
type running struct {
	text string // of a script
	Again
}

// begin notes that a function or a script begins here.
func (w *line) begin(text string) running {
	return running{text, Again{From: len(w.out.Parts), Depth: len(w.via)}}
}

// callsItself notes that the next part calls what is running.
func (w *line) callsItself(r running) {
	r.To = len(w.out.Parts) + 1
	w.out.SelfCalls = append(w.out.SelfCalls, r.Again)
}

// runsItself notes a script that is being walked already, and reports it.
func (w *line) runsItself(text string) bool {
	for _, r := range w.running {
		if r.text == text {
			w.callsItself(r)
			return true
		}
	}
	return false
}

// conditional walks what runs only where a condition holds.
func (w *line) conditional(constant bool, walk func()) {
	begin := len(w.out.Parts)
	walk()
	if !constant && begin < len(w.out.Parts) {
		w.out.Conditional = append(w.out.Conditional, [2]int{begin, len(w.out.Parts)})
	}
}

// repeats walks the body of a loop, of which the parts from begin on run each time.
func (w *line) repeats(endless bool, begin int, walk func()) {
	w.conditional(endless, walk)
	if endless && begin < len(w.out.Parts) {
		w.out.Endless = append(w.out.Endless, Again{begin, len(w.out.Parts), len(w.via)})
	}
}

// surroundings hold what a command inherits from the commands around it: those
// that started the script which is being walked.
type surroundings struct {
	wrappers         []string
	outer            []cardea.Outer
	elevated, remote bool
	assigns          []cardea.Assign
	spots            []cardea.Opaque // of the assigns
}

type inputKind uint8

// mayAbort notes that bash may give up here.
func (w *line) mayAbort() {
	if len(w.aborts) >= maxAborts {
		w.cur.Forget(unknown.ManyAborts)
		return
	}
	w.aborts = append(w.aborts, w.cur.Clone())
}

// goOn joins what is known with what was where bash may have given up.
func (w *line) goOn(begin int) {
	for _, s := range w.aborts[min(begin, len(w.aborts)):] {
		w.cur.Join(s)
	}
}

// recordExit records that the commands after this one may not run.
func (w *line) recordExit() {
	if len(w.exits) >= maxExits {
		w.unknown(unknown.TooManyJumps, w.src)
		return
	}
	w.exits = append(w.exits, w.cur.Clone())
}

// mergeExits joins the states in which a construct can have been left: by its end,
// not entered at all, or by a jump from its middle. The jumps stay recorded,
// since they may leave what is around the construct too.
func (w *line) mergeExits(before *shell.State, exits int) {
	if before != nil {
		w.cur.Join(before)
	}
	for _, s := range w.exits[min(exits, len(w.exits)):] {
		w.cur.Join(s)
	}
}

// maxAborts is how many places of a line are followed in which it may be given up.
const maxAborts = 500
