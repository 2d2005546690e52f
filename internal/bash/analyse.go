package bash

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/bash/grammar"
	"cardea.dev/internal/bash/shell"
	"cardea.dev/internal/bash/unknown"
	"cardea.dev/internal/knowledge"
)

// Env is the world in which a line would run.
type Env struct {
	// Cwd is the folder it starts in, absolute; "" makes relative paths
	// unknown.
	Cwd string
	knowledge.World
	// Fresh reports whether output to a file overwrites nothing and creates nothing
	// that anything executes by its name. Nil: none is.
	Fresh func(path string) bool

	// Name is $0; "" where it is not known.
	Name string

	// likely are the folders in which the line may start where Cwd is not known.
	likely []string
	// depth is how many possible commands lie around the line, looked how many of all were
	// looked at; nil where none lies around.
	depth  int
	looked *int
}

// Analysis is what is known of a line.
type Analysis struct {
	// Parts are the simple commands, and redirections that stand by
	// themselves, in the order in which they were found.
	Parts []cardea.Part
	// Opaque are spots that concern the whole line.
	Opaque []cardea.Opaque
	// Pipes say which parts input which.
	Pipes []Pipe
	// SelfCalls are what functions and scripts do until they call themselves: the
	// last part of each is the call.
	SelfCalls []Again
	// Endless are the loops whose condition never changes.
	Endless []Again
	// Conditional are the parts that run only where a condition holds, or a limited
	// number of times: ranges, half open.
	Conditional [][2]int
	// Written are the texts that the line writes to files, as far as it says them.
	Written []Written
	// misread is set where the parser refused a text that bash may run.
	misread bool
	// Inputs are the texts that the line gives to its parts to read, as far as it says
	// them.
	Inputs []Input
}

// Analyse looks at a command line. It never fails: what it cannot see through
// is opaque. Text without any command yields no part; text that is not blank
// and yields no part yields one opaque part.
func Analyse(text string, env Env) Analysis {
	out, first := analyse(text, env, creations{})
	if out.beyondLimit() || env.depth == 0 && out.misread {
		out.lookBeyond(text, env)
		return out
	}
	if first.matters() {
		looks, all := first.looks()
		for _, links := range looks {
			seen := env
			seen.Resolve = over(links, env.Resolve)
			again, _ := analyse(text, seen, first)
			out.join(again, text, all)
		}
	}
	return out
}

// analyse is one look at a line, with what another look found that it makes.
func analyse(text string, env Env, created creations) (Analysis, creations) {
	w := &walker{env: env, cur: shell.New(env.Cwd, env.Home, env.Name), begun: map[*shell.Function]running{}}
	w.files.creates = creations{inside: map[string]string{}, beside: map[string]string{}, leads: map[string][]string{}, folders: map[string]int{}}
	w.files.created, w.files.visited, w.files.entered = created, []string{env.Cwd}, env.likely
	switch {
	case strings.Trim(text, " \t\n") == "":
		return Analysis{}, creations{}
	case grammar.Limit(text) != 0:
		w.unknown(grammar.Limit(text), text)
	default:
		w.script(text)
		w.uncalled()
		w.lateFolders()
	}
	w.files.creates.note(w.out.Parts)
	out := w.finish()
	if len(out.Parts) == 0 && (len(out.Opaque) > 0 || !w.onlyComments) {
		spot := unknown.NoCommand.Spot(text)
		if len(out.Opaque) > 0 {
			spot = out.Opaque[0]
		}
		part := cardea.Part{Text: unknown.Shorten(text), Opaque: []cardea.Opaque{spot}, Start: -1, Access: []cardea.Access{{Kind: cardea.Unknown}}}
		if len(text) <= grammar.MaxText {
			may := knowledge.NewInput(w.paths())
			may.Text(text)
			part.MayTouch = may.Touch
		}
		out.Parts = []cardea.Part{part}
	}
	return out, w.files.creates
}

// walker is one analysis under way. It walks the parser's tree as bash runs it.
type walker struct {
	env Env

	src  string // the script being walked
	base int    // its offset in the command, -1 inside another script
	at   int    // offset of the last command seen in the line itself

	cur    *shell.State   // what the shell knows here
	exits  []*shell.State // what was known where a jump left its place
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
	failing        bool           // the expression that is looked at may fail
	late           []lateSpot     // spots of parts that were walked before
	shows          string         // a variable from outside that the line expands
	usesFoundNames bool           // names that a search finds were found plain
	lateCode       []lateCode
	unseen         []unseenOptions
	onlyComments   bool
}

// command is the command being built.
type command struct {
	spots   *[]cardea.Opaque // nil outside of a command
	stdin   input            // what it reads
	reads   *string          // about what the <(…) in its words give to read; nil outside of a program
	pending []feed           // what flows into it through its words and descriptors
	appends bool             // a redirection leaves what the file holds
}

// lineFiles is what the line does to files.
type lineFiles struct {
	changed bool      // a command may have changed files
	entered []string  // where the last cd may lead
	visited []string  // where a shell may have been
	created creations // what the line creates, as another look found
	creates creations // and this one
}

// used counts against the limits.
type used struct {
	scripts    int  // depth of scripts within scripts
	evaluating int  // depth of values within values, in arithmetic
	words      int  // words looked at so far
	possible   int  // possible commands looked at so far
	printed    int  // bytes that commands print, as far as the line says them
	overLimit  bool // a limit was hit
}

// script parses and walks a text as bash would run it.
func (w *walker) script(text string) {
	if w.used.scripts >= maxScripts {
		w.unknown(unknown.TooDeepScripts, text)
		return
	}
	if ends := strings.ReplaceAll(text, "\\\r\n", "\n"); ends != text {
		w.runLater("\\", ends) // the backslash quotes the carriage return alone: the line ends
	}
	s := grammar.Parse(text, w.cur.POSIX)
	outer, outerBase := w.src, w.base
	w.src = s.Text
	if w.used.scripts > 0 {
		w.base = -1
	}
	w.used.scripts++
	defer func() { w.src, w.base = outer, outerBase; w.used.scripts-- }()

	for _, doubt := range s.Doubts {
		w.opaqueLine(doubt)
	}
	w.out.misread = w.out.misread || s.Misread
	w.cur.Closes = w.cur.Closes || s.Closes
	w.cur.IgnoresCase = w.cur.IgnoresCase || s.IgnoresCase
	w.cur.FindsHiddenNames = w.cur.FindsHiddenNames || s.FindsHidden
	w.onlyComments = s.Empty
	w.collectTraits(s)
	w.collectFunctions(s)
	w.lines(s)
}

// unknown records why something in a text is not known, as far as the reason reaches.
// Names fill the reason's message.
func (w *walker) unknown(r unknown.Reason, text string, names ...any) {
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
		w.evaluates(text)
	}
}

// opaqueLine records a spot that concerns the whole line: the first one of each code.
func (w *walker) opaqueLine(spot cardea.Opaque) {
	if !slices.ContainsFunc(w.out.Opaque, func(o cardea.Opaque) bool { return o.Code == spot.Code }) {
		w.out.Opaque = append(w.out.Opaque, spot)
	}
}

// source is the text of a node as written.
func (w *walker) source(n syntax.Node) string { return grammar.Source(w.src, n) }
