package bash

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/unknown"
)

// line is the state of one analysis of a line: the position in it, the state of the shell
// there, and the result so far. Each layer of the interpreter embeds the one below it.
type line struct {
	// up holds the entries of higher layers that a lower one needs.
	up ways

	env Env

	src  string // the script being walked
	base int    // its offset in the command, -1 inside another script
	at   int    // offset of the last command seen in the line itself

	cur       *shell.State         // the state of the shell here
	sure      []*syntax.DeclClause // declarations of the current function that run if it is not left before
	loops     int                  // enclosing loops whose rounds are walked as one
	rounds    int                  // the number of rounds in which loops over known words repeat this, 0 outside of them
	exits     []*shell.State       // the states at jumps
	begun     map[*shell.Function]running
	via       []string     // the enclosing constructs
	enclosing surroundings // what a command inherits from outer ones
	cmd       command      // the command being built
	files     lineFiles    // the changes of the line to files
	used      used         // the use of the limits

	out            Analysis       // the result so far
	prints         []printed      // the output of parts
	fed            string         // input through other descriptors, and from a coprocess
	running        []running      // the enclosing scripts
	aborts         []*shell.State // the states at which bash may have abandoned a line
	failing        bool           // an assignment here may not happen: an expression may fail, or may not be evaluated
	late           []lateSpot     // spots of parts that were walked before
	shows          string         // a variable from outside that the line expands and that may hold a secret
	expands        bool           // it expands another one from outside
	usesFoundNames bool           // it relies on plain names found by a search
	lateCode       []lateCode
	unseen         []unseenOptions
	onlyComments   bool
	whole          string   // its text
	outsideCode    bool     // it evaluates a variable from outside, which may hold code
	begins         bool     // it has started something in the background
	fronts         []string // the folders that activate files have put before others
}

// ways are the functions of higher layers that lower ones need, since a word may hold
// commands and a command may run a script.
type ways interface {
	// stmts walks statements, script a text as the shell would run it.
	stmts(list []*syntax.Stmt)
	script(text string)
	// start analyzes the program of an invocation.
	start(inv invocation)
	// evaluates walks the commands in a text that bash evaluates.
	evaluates(text string)
	// runLater walks a script that may run later, or never. walkLate walks one that may run
	// at any time.
	runLater(via, text string)
	walkLate(via, text string)
}

// command is the command being built.
type command struct {
	spots   *[]cardea.Opaque // nil outside of a command
	stdin   standardInput    // what it reads
	reads   *string          // approximate input of the <(…) in its words; nil outside of a program
	pending []pipe           // data that flows into it through its words and descriptors
	appends bool             // a redirection keeps the content of the file
	expands bool             // the shell itself expands all words that are read
	colon   bool             // it is the builtin that only expands its words
}

// lineFiles holds the changes of the line to files.
type lineFiles struct {
	changed bool      // a command may have changed files
	removed []string  // paths that a command may have removed or replaced
	remade  bool      // removed may be any path
	entered []string  // the folders to which the last cd may lead
	visited []string  // the folders in which a shell may have been
	created creations // the files that the line creates, from an earlier pass
	creates creations // the files that the line creates, from this pass
}

// used holds counters for the limits.
type used struct {
	scripts    int  // depth of scripts within scripts
	evaluating int  // depth of values within values, in arithmetic
	words      int  // words read so far
	potential  int  // possible commands read so far
	printed    int  // bytes that commands print, as far as the line shows
	split      int  // expansions that bash splits into words and zsh does not
	overLimit  bool // a limit was hit
}

// standardInput is the standard input of a command.
type standardInput struct {
	kind inputKind
	text string // kind literal
	may  string // the approximate input, if it is not certain
	// unseen is set for a text of the line that is only known when the line runs.
	unseen bool
	// names are patterns of the names in the input.
	names []string
	from  [2]int // the half-open range of parts that write it or open it
	// lines is set if one command writes it, without its error output.
	lines bool
	// document is set for a here-document without expansions.
	document bool
	// outer is set for the input of an outer command.
	outer bool
}

// and returns an input that is in followed by more. Bash reads only the second, zsh both
// (zshoptions(1), MULTIOS).
func (in standardInput) and(more standardInput) standardInput {
	return standardInput{kind: max(in.kind, piped), may: in.text + in.may + more.text + more.may, unseen: true,
		names: slices.Concat(in.names, more.names), from: in.from}
}

// shared returns the input of one of several commands that share it. Which of them reads
// it is unknown.
func (in standardInput) shared() standardInput {
	if in.kind != literal {
		in.outer = true
		return in
	}
	return standardInput{kind: elsewhere, may: in.text, outer: true}
}

// input returns the approximate input of the current command, as far as the line shows
// it: from standard input, descriptors and the <(…) in its words.
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

// document returns the here-document if it is the whole input of the current command, else "".
func (w *line) document() string {
	if in := w.cmd.stdin; in.document && in.kind == literal && w.fed == "" && (w.cmd.reads == nil || *w.cmd.reads == "") {
		return in.text
	}
	return ""
}

const (
	inherited inputKind = iota
	literal             // a here-document, or the output of a preceding echo
	piped
	elsewhere // a file, a descriptor, a substitution
)

// unknown records why something in a text is unknown, in the scope of the reason. Names
// fill the reason's message.
func (w *line) unknown(r unknown.Reason, text string, names ...any) {
	spot, reach := r.Spot(text, names...), r.Reach()
	switch {
	case reach == unknown.Later:
		w.markOpaque(spot)
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

// markOpaque makes every later command of this shell opaque, unless it is already.
func (w *line) markOpaque(why cardea.Opaque) {
	if why.Code == "" || w.cur.Later.Code != "" {
		return
	}
	w.cur.Later = why
	if w.cur.HasExitTrap {
		w.opaqueLine(cardea.Opaque{Code: why.Code, Text: unknown.Shorten(w.src), Reason: "a trap runs after " + why.Reason})
	}
}

// source returns the text of a node as written.
func (w *line) source(n syntax.Node) string { return grammar.Source(w.src, n) }

func (w *line) offset(n syntax.Node) int {
	if w.base < 0 {
		return -1
	}
	w.at = w.base + int(n.Pos().Offset())
	return w.at
}

// inConstruct walks with one more step in the Via of the parts.
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
	w.cur, w.aborts = saved, w.aborts[:min(aborts, len(w.aborts))] // an abandoned line ends only the subshell
}

// mayRun walks a construct that may or may not run.
func (w *line) mayRun(walk func()) {
	before := w.cur.Clone()
	walk()
	w.cur.Join(before)
}

// maybe evaluates words that may not be expanded, so that their assignments may not happen.
func (w *line) maybe(look func()) {
	enclosing := w.failing
	w.failing = true
	look()
	w.failing = enclosing
}

// unless walks a construct that certainly runs, unless mayFail is set.
func (w *line) unless(mayFail bool, walk func()) {
	if mayFail {
		w.mayRun(walk)
	} else {
		walk()
	}
}

// spend counts the size of expansions, so that a short line cannot become a huge one:
// one word per 256 bytes.
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

// begin returns the start of a function or a script at the current part.
func (w *line) begin(text string) running {
	return running{text, Again{From: len(w.out.Parts), Depth: len(w.via)}}
}

// callsItself records that the next part calls the running function or script.
func (w *line) callsItself(r running) {
	r.To = len(w.out.Parts) + 1
	w.out.SelfCalls = append(w.out.SelfCalls, r.Again)
}

// runsItself reports whether a script is already being walked, and records the call.
func (w *line) runsItself(text string) bool {
	for _, r := range w.running {
		if r.text == text {
			w.callsItself(r)
			return true
		}
	}
	return false
}

// conditional walks a construct that runs only if a condition holds.
func (w *line) conditional(constant bool, walk func()) {
	begin := len(w.out.Parts)
	walk()
	if !constant && begin < len(w.out.Parts) {
		w.out.Conditional = append(w.out.Conditional, [2]int{begin, len(w.out.Parts)})
	}
}

// repeats walks the body of a loop. The parts from index begin on run in each round.
func (w *line) repeats(endless bool, begin int, walk func()) {
	w.conditional(endless, walk)
	if endless && begin < len(w.out.Parts) {
		w.out.Endless = append(w.out.Endless, Again{begin, len(w.out.Parts), len(w.via)})
	}
}

// surroundings holds what a command inherits from the outer commands: those that started
// the script which is being walked.
type surroundings struct {
	wrappers         []string
	outer            []cardea.Outer
	elevated, remote bool
	assigns          []cardea.Assign
	spots            []cardea.Opaque // of the assigns
}

type inputKind uint8

// mayAbort records that bash may abandon the line here.
func (w *line) mayAbort() {
	if len(w.aborts) >= maxAborts {
		w.cur.Forget(unknown.ManyAborts)
		return
	}
	w.aborts = append(w.aborts, w.cur.Clone())
}

// goOn joins into the current state the states, recorded since begin, at which bash may
// have abandoned the line.
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

// mergeExits joins the states in which a construct can be left: at its end, without entering
// it, or by a jump. The jumps stay recorded, since they may also leave the enclosing construct.
func (w *line) mergeExits(before *shell.State, exits int) {
	if before != nil {
		w.cur.Join(before)
	}
	for _, s := range w.exits[min(exits, len(w.exits)):] {
		w.cur.Join(s)
	}
}

// maxAborts is the number of places at which a line may be abandoned that are followed.
const maxAborts = 500
