package cardea

import (
	"slices"
	"strings"
)

// Kind is the canonical name of a hook event. It is an open set: harnesses add
// events without notice, and an unknown one is passed, never an error.
type Kind string

// The kinds that the gate answers. On every other kind a call cannot be held
// back any more, or there is none; see [Gate.Decide].
const (
	PreToolUse        Kind = "PreToolUse"
	PermissionRequest Kind = "PermissionRequest"
	// PreSkillShellCommand is about a shell command in the file of a skill or of a slash
	// command, which runs when the file is loaded. The harness asks nobody about it.
	PreSkillShellCommand Kind = "PreSkillShellCommand"
)

// Answered reports whether the gate gives verdicts on events of this kind.
func (k Kind) Answered() bool { return k.Begins() || k == PermissionRequest }

// Begins reports whether events of this kind are the first about their call.
func (k Kind) Begins() bool { return k == PreToolUse || k == PreSkillShellCommand }

// Mode is the harness's permission mode, in Claude Code's words, which the
// adapters of other harnesses translate into. It is an open set.
type Mode string

// The modes (docs/design.md#attended-and-unattended). ModeUnknown ("") is what a harness that does
// not send one has.
const (
	ModeUnknown     Mode = ""
	ModeDefault     Mode = "default"
	ModePlan        Mode = "plan"
	ModeAcceptEdits Mode = "acceptEdits"
	ModeAuto        Mode = "auto"
	ModeDontAsk     Mode = "dontAsk"
	ModeBypass      Mode = "bypassPermissions"
)

// Modes are the modes that are known.
func Modes() []Mode {
	return []Mode{ModeDefault, ModePlan, ModeAcceptEdits, ModeAuto, ModeDontAsk, ModeBypass}
}

// Message is a hook message as it came.
type Message interface {
	// Fields are its top-level fields, in the types of [Call].Input. They are
	// made anew at every call.
	Fields() map[string]any
}

// Event is one hook message in canonical form. It is built once: nobody changes
// an event, its call or a part that somebody else may hold. What is learned of it
// later makes a new one, with [Event.WithCall] and the like.
type Event struct {
	// Kind is the canonical event, Wire the name as the harness sent it.
	Kind Kind
	Wire string
	// Harness is who sent the message, by adapter name ("claude-code").
	Harness string
	// Session, Agent and AgentType are the harness's ids, as sent. They are
	// never used as file names.
	Session, Agent, AgentType string
	// Cwd is the folder in which the call would run, absolute, or "" where
	// the harness did not say.
	Cwd string
	// Project is the folder of the session, absolute, or "".
	Project string
	// Home is the home folder of the person, absolute, or "".
	Home string
	// Roots are further folders that belong to the work: the harness's
	// additional directories.
	Roots []string
	// Mode is the permission mode.
	Mode Mode
	// Attendance is what is said about the person in front of the agent.
	Attendance Attendance
	// NativeAsk is set when the harness's own lists may hold an ask for this
	// call, which an allow on PermissionRequest would answer in the person's
	// place.
	NativeAsk bool
	// Reviewed is set when a model answers the harness's requests for permission, in whose
	// place an allow would decide.
	Reviewed bool
	// Unreadable are the patterns of files that the harness's own lists keep
	// from being read, or ask about, in the harness's words.
	Unreadable []string
	// Role is the role of the agent, or "".
	Role string
	// Call is the tool call, nil for events that are about none. CallID is the harness's id
	// of it, as sent.
	Call   *Call
	CallID string
	// Review is the decision of another reviewer that the event reports, nil for none.
	Review *Review
	// Sent is the message as it came, nil where nobody sent one.
	Sent Message
	// Faults are what was wrong with the message, its tool input included:
	// duplicate keys, wrong types, text that had to be replaced.
	Faults []Opaque
}

// Review describes a decision about a call by another reviewer than Cardea, as the harness reports it.
type Review struct {
	// By is [ByList] or another of these words, "" where the harness does not say. Reason is
	// the reviewer's text. A model may have written it.
	By, Reason string
	// Effect is Allow or Deny, Ask where a person is being asked, and Abstain where the
	// harness does not say.
	Effect Effect
}

// The words for who decided about a call. ByHarness is what the harness does without a list, such
// as its mode or a check of its own, and ByNobody a question that no person could see.
const (
	ByCardea, ByList, ByClassifier, BySandbox = "cardea", "list", "classifier", "sandbox"
	ByPerson, ByHook, ByHarness, ByNobody     = "person", "hook", "harness", "nobody"
)

// Attendance is what is said, besides the mode, about whether a person watches an
// agent.
type Attendance uint8

const (
	// AttendanceUnsaid leaves it to the mode.
	AttendanceUnsaid Attendance = iota
	// PersonAttends is the harness's own word that a person sits in front of it.
	PersonAttends
	// NobodyAttends is the harness's word that nobody does, or the person's, given
	// at installation or by CARDEA_UNATTENDED.
	NobodyAttends
)

// Place is what is known of an event beyond its message.
type Place struct {
	// Project, Home, Roots, NativeAsk, Reviewed and Unreadable are those of an [Event].
	Project, Home       string
	Roots, Unreadable   []string
	NativeAsk, Reviewed bool
}

// At is the event in a place. The event stays as it is.
func (e *Event) At(p Place) *Event {
	at := *e
	at.Project, at.Home, at.Roots, at.Unreadable = p.Project, p.Home, p.Roots, p.Unreadable
	at.NativeAsk, at.Reviewed = p.NativeAsk, p.Reviewed
	return &at
}

// In is the event in a folder, where its message names none. The event stays as it is.
func (e *Event) In(dir string) *Event {
	in := *e
	in.Cwd = dir
	return &in
}

// WithNobody is the event of an agent that nobody watches. The event stays as it
// is.
func (e *Event) WithNobody() *Event {
	with := *e
	with.Attendance = NobodyAttends
	return &with
}

// WithPerson is the event of an agent of which its harness says that a person sits
// in front of it. The event stays as it is.
func (e *Event) WithPerson() *Event {
	with := *e
	with.Attendance = PersonAttends
	return &with
}

// WithRole is the event of an agent with a role, "" for none. The event stays as it
// is.
func (e *Event) WithRole(role string) *Event {
	with := *e
	with.Role = role
	return &with
}

// WithCall is the event about another call. The event stays as it is.
func (e *Event) WithCall(c *Call) *Event {
	with := *e
	with.Call = c
	return &with
}

// Attended reports whether a person is sure to see a question: by what is said
// about them, else by the mode. A mode that this version does not know is not sure,
// and in dontAsk the harness asks nobody.
func (e *Event) Attended() bool {
	switch {
	case e.Attendance == NobodyAttends || e.Mode == ModeDontAsk:
		return false
	case e.Attendance == PersonAttends:
		return true
	}
	return e.modeAsks()
}

// modeAsks reports whether the harness asks a person about the call in its mode.
func (e *Event) modeAsks() bool {
	switch e.Mode {
	case ModeUnknown, ModeDefault, ModePlan:
		return true
	case ModeAcceptEdits:
		return e.Call == nil || !e.Call.EditsFiles
	}
	return false
}

// Call is one tool call.
type Call struct {
	// Tool is the canonical name ("Bash", "Write", "mcp__github__get_me"),
	// Name the one that the harness sent.
	Tool, Name string
	// Known is false for a tool that this version does not know: its access
	// is unknown.
	Known bool
	// EditsFiles is set for the tools that edit files by themselves, whose
	// questions the mode acceptEdits answers.
	EditsFiles bool
	// Unsandboxed is set when the call asks to run outside of the harness's
	// sandbox.
	Unsandboxed bool
	// OneWay is set where the harness's own names for the fields of the input are
	// not known, so that another input cannot be sent back.
	OneWay bool
	// Input is the tool input by exact key. Values are what encoding/json
	// gives: string, json.Number, bool, nil, []any, map[string]any.
	Input map[string]any
	// Shadowed holds further values of duplicate and case-variant keys, by
	// the exact key that they imitate. They are judged too.
	Shadowed map[string][]any
	// Parts are what must be permitted by itself, piece by piece.
	Parts []Part
	// OnlyPossible is set for the call of [Event.Possible]: no part is certain, and
	// what allows one is not heard.
	OnlyPossible bool
	// OnlyOpened is set for a call whose one part reads files that are known because its
	// folders were looked into. The rules of Cardea's packs about single files do not
	// apply to it.
	OnlyOpened bool
	// Opens returns what part i reads and does not name, nil for nothing. It looks at the
	// disk, at most once for each part.
	Opens func(part int) *Opened
	// Opaque are spots that concern the whole call and no single part.
	Opaque []Opaque
	// Flows are what moves between parts.
	Flows []Flow
}

// WithInput is the call with another input, which is not analysed yet.
func (c *Call) WithInput(input map[string]any) *Call {
	with := *c
	with.Input, with.Shadowed = input, nil
	with.Parts, with.Opaque, with.Flows = nil, nil, nil
	return &with
}

// WithParts is the call with the parts that were found in it, and with further
// opaque spots besides those that it has.
func (c *Call) WithParts(parts []Part, flows []Flow, opaque []Opaque) *Call {
	with := *c
	with.Parts, with.Flows = parts, flows
	with.Opaque = append(c.Opaque[:len(c.Opaque):len(c.Opaque)], opaque...)
	return &with
}

// Part is a piece of a call that must be permitted by itself.
type Part struct {
	// Text is the part in canonical form, wrappers and assignments off.
	Text string
	// Typed is the command as the line has it, with what starts it; "" for a command that
	// no line has.
	Typed string
	// Argv are the words of a shell part: the program and what it is passed.
	// Empty for parts of other tools.
	Argv []Word
	// Command is the program's base name followed by its leading
	// subcommands, options between them left out: ["git", "push"].
	Command []string
	// UsualCommand is Command under the name that it usually has, where knowledge says
	// that two commands are equal: ["docker", "compose", "up"] for
	// docker-compose up. Nil where Command has that name.
	UsualCommand []string
	// ProgramPattern is what the program's base name fits where it is only known when
	// the line runs, as a name of a file fits a pattern: "card?a", "*dea", and "*" where
	// nothing tells. "" where the name is certain.
	ProgramPattern string
	// Operands are the indexes into Argv of what is no option, no option's
	// value and not part of Command.
	Operands []int
	// Options are the options given, one entry each, clusters taken apart.
	Options []Option
	// Assigns are the variables set for this part alone, by name.
	Assigns []Assign
	// Wrappers are the programs that start this one, outermost first.
	Wrappers []string
	// Outer are the commands that were taken apart to find this one, outermost
	// first: for "timeout 5 npm test" the one of timeout with all its words.
	Outer []Outer
	// Elevated is set when a wrapper changes who runs the part or where: an
	// allow for the part alone does not allow it.
	Elevated bool
	// Remote is set when it runs on another machine or in a container, so
	// that its paths are not this machine's.
	Remote bool
	// Via is what leads to the part: operators and constructs, such as "&&",
	// "|", "$( )", "bash -c", "function f".
	Via []string
	// Dir is the folder in which it runs, "" when the line hides it.
	Dir string
	// Access is what the part does, as far as it is known.
	Access []Access
	// UnseenInput is set where the line itself gives it a text to read that is only known
	// when the line runs: <<< "$X", or a here-document with such a word.
	UnseenInput bool
	// Script is a word, of sed say, with a program that may run commands or open files, or
	// whose text is not known, or with the place of files that it writes. What allows the
	// part's program with any words does not allow it then. "" means that there is no such word.
	Script string
	// MayTouch are the files that its words name, where its access is not known:
	// of kind Unknown, where it may read, write or delete them, of kind Write, where it
	// may write or delete them, or of kind Read.
	MayTouch []Access
	// MayRun are the commands that its words name, where its access is not known.
	// For a part that runs a file they are also the commands in the file.
	MayRun []Part
	// MayFlow is what flows between the parts of MayRun that stand in files.
	MayFlow []Flow
	// From is the file and line in which a part of MayRun stands, "" for one that
	// stands in the words of the part itself.
	From string
	// LookedInto are the files that were read for MayRun, and those that could not be.
	LookedInto []string
	// OpensUnnamed is set where it opens files that no word of it names, Copies where it may
	// copy or unpack what no word names.
	OpensUnnamed, Copies bool
	// Opaque are the spots in it that cannot be seen through.
	Opaque []Opaque
	// Coverage says whether everything that it starts is known.
	Coverage Coverage
	// Knowledge says whether everything is known that the program itself does
	// with these words: Access is then all of it. A part of a program that is
	// not known, or with an option that is not, has Partial knowledge.
	Knowledge Coverage
	// EditsFiles means that the program, with these words, reads and writes the files of
	// Access and does nothing else, however it is configured.
	EditsFiles bool
	// Configs are names of files in which a project tells the program what to
	// run or whom to contact, so that Knowledge is only right where none of
	// them lies in Dir or above it. ".git" stands for git's configuration.
	Configs []string
	// Doubt says in a few words why Knowledge is Partial, "" where nobody asks.
	Doubt string
	// NoEffect marks a part without access, which is allowed by itself.
	NoEffect bool
	// Start is the byte offset in the command text, for messages; -1 where
	// there is none.
	Start int
}

// Spellings are the texts of the part that mean the same to a shell: Text, and the same
// with the fewest quotes.
func (p *Part) Spellings() []string {
	out := []string{p.Text}
	if len(p.Argv) > 0 && strings.ContainsAny(p.Text, "'\"\\") {
		words := make([]string, len(p.Argv))
		for i, w := range p.Argv {
			if words[i] = w.Text; w.Static {
				words[i] = QuoteWord(w.Text)
			}
		}
		if plain := strings.Join(words, " "); plain != p.Text {
			out = append(out, plain)
		}
	}
	return out
}

// QuoteWord writes a word of a shell as a person types it: in quotes only where a blank, or
// a character that means something to the shell, needs them.
func QuoteWord(w string) string {
	special := func(c rune) bool { return c <= ' ' || strings.ContainsRune("\"'\\$`*?[]()<>|&;!\x7f", c) }
	if w != "" && w[0] != '~' && !strings.ContainsFunc(w, special) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// Program is the name of the program that a part starts, "" where there is none.
func (p *Part) Program() string {
	if len(p.Command) == 0 {
		return ""
	}
	return p.Command[0]
}

// Variables are the names of the variables that are set for this part alone, each
// once.
func (p *Part) Variables() []string {
	var out []string
	for _, a := range p.Assigns {
		if !slices.Contains(out, a.Name) {
			out = append(out, a.Name)
		}
	}
	return out
}

// UnseenOption reports whether a word of a part may become an option that the line does not
// show. What allows a program with any words does not allow the part then.
func (p *Part) UnseenOption() bool {
	return slices.ContainsFunc(p.Argv, func(w Word) bool { return w.UnseenOption })
}

// Outer is a command that starts the one of a part, before it was taken apart.
type Outer struct {
	// Text is the command in canonical form, as in Part.
	Text string
	// Argv are its words.
	Argv []Word
	// Elevated is set where it is the one that changes who runs the part, or
	// where.
	Elevated bool
}

// Word is one word of a shell part.
type Word struct {
	// Text is the value after quote removal when Static; another word stands
	// as written.
	Text string
	// Static means that bash passes exactly Text.
	Static bool
	// MaySplit marks an unquoted expansion or glob: it may become several words
	// or none.
	MaySplit bool
	// MayVanish is set beside MaySplit where it surely becomes one word or none, as
	// $(nproc) does.
	MayVanish bool
	// MayBeOption means that it may begin with a dash although it is not static, so
	// that it may be an option nobody has seen.
	MayBeOption bool
	// UnseenOption means that it may become any option of the program that has an access:
	// what MayBeOption says, but not where the program has none, after "--", and where the
	// folder that a pattern reads shows that no name begins with a dash.
	UnseenOption bool
}

// Option is one option of a part.
type Option struct {
	// Name is the option with its dashes and without a value: "-f",
	// "--force". Letters of a cluster are separate options.
	Name string
	// Value is its value, where it has one and Static is set.
	Value  string
	Static bool
	// Word is the index of the word in Argv that holds it.
	Word int
}

// Assign is a variable set for one part.
type Assign struct {
	Name, Value string
	// Static means that Value is what bash assigns.
	Static bool
	// Class is what the name means to programs that read it.
	Class EnvClass
}

// EnvClass is what setting an environment variable can do.
type EnvClass uint8

// The classes of the environment model.
const (
	// EnvUnknown is a name that only the program itself knows.
	EnvUnknown EnvClass = iota
	// EnvSafe is a name known to be harmless.
	EnvSafe
	// EnvDangerous is a name that executes, preloads, redirects
	// configuration or changes lookup.
	EnvDangerous
)

// AccessKind is what a part does to a path or a host.
type AccessKind string

// The kinds of access.
const (
	Read    AccessKind = "read"
	Write   AccessKind = "write"
	Delete  AccessKind = "delete"
	Execute AccessKind = "execute"
	Network AccessKind = "network"
	// Link gives a file or folder another name, a symbolic link, and changes nothing of it.
	Link    AccessKind = "link"
	Unknown AccessKind = "unknown"
)

// Access is one thing that a part does.
type Access struct {
	Kind AccessKind
	// Path is the resolved absolute path, of all kinds but network.
	// "" means that the path is not known.
	Path string
	// Spelled is the path as the command names it, made absolute but before
	// symbolic links are followed, where that differs from Path. What a rule
	// says about either counts.
	Spelled string
	// Host is the host of a network access in lower case, "" when unknown.
	Host string
	// Recursive means the path and everything below it.
	Recursive bool
	// SkipsHidden means that hidden files below the path are left out, unless a file
	// such as .gitignore says otherwise (ripgrep's guide, "Hidden files").
	SkipsHidden bool
	// Selection says which files are opened where it is Recursive.
	Selection Selection
	// Glob means that the path's last element was a pattern and Path is the
	// literal folder above it: what is touched are entries of that folder.
	Glob bool
	// Pattern is the whole pattern, absolute, where Glob is set.
	Pattern string
	// Files is what the pattern stands for when the call is judged; nil: it is not known.
	// It counts for who denies or asks alone: another file may have come until the line runs.
	Files *Files
	// Search marks a pattern of a search: files with such a name are read or deleted wherever
	// they lie below the folder, not all that lies in a folder of such a name. What is deleted
	// may lie in hidden folders, and its name may begin with a dot. What is written is a file
	// in the folder whose name is not known: that of a file which may lie anywhere is none.
	Search bool
	// LookedUp marks a read of which [Call.Opens] tells each file that it opens.
	LookedUp bool
	// MetadataOnly marks a read of names and attributes alone, as ls and stat do: the
	// contents stay unread.
	MetadataOnly bool
	// HoldsKey marks a read of a file that holds a private key, as its content or
	// a certificate beside it says.
	HoldsKey bool
	// Configured marks a network access whose host comes from the program's
	// own configuration, not from the call.
	Configured bool
	// Redirect marks an access that the shell makes itself, or a wrapper in
	// front of the program.
	Redirect bool
	// Fresh marks a write that overwrites nothing of the person's and creates
	// nothing that anything executes by its name: the file is new or
	// temporary.
	Fresh bool
}

// Files are what a pattern of the line stands for: the pattern itself, which stays where
// there is no such file, and the files, absolute, before and after links are followed.
type Files struct{ Names []string }

// One is the access to one of the files that the pattern stands for.
func (a *Access) One(name string) Access {
	one := *a
	one.Path, one.Spelled, one.Glob, one.Pattern, one.Files = name, "", false, "", nil
	return one
}

// NeedsSeparatePermission reports whether the access needs a yes of its own, besides the one for
// the program: a redirection, of the shell or of a wrapper, that writes what
// lasts, or reaches another machine (docs/design.md#shell-analysis).
func (a *Access) NeedsSeparatePermission() bool {
	return a.Redirect && a.Kind != Read && !a.Fresh && !a.Nowhere()
}

// MakesFilesOnly reports a part that reads and writes files, and moves or copies no folder:
// what it makes is no link.
func (p *Part) MakesFilesOnly() bool {
	return p.EditsFiles && !slices.ContainsFunc(p.Access, func(a Access) bool { return a.Kind == Delete || a.Kind == Write && a.Recursive })
}

// Nowhere reports whether the access is a redirection that writes to nothing
// that lasts.
func (a *Access) Nowhere() bool {
	if !a.Redirect || a.Kind != Write || a.Glob {
		return false
	}
	streams := []string{"/dev/stdout", "/dev/stderr"}
	return a.Path == "/dev/null" || slices.Contains(streams, a.Path) || slices.Contains(streams, a.Spelled)
}

// Coverage says how completely it is known what a part starts.
type Coverage uint8

// The coverages.
const (
	// Partial: something may be started that is not among the parts.
	Partial Coverage = iota
	// Complete: every program that the shell starts is among the parts.
	Complete
)

// String is the coverage's word.
func (c Coverage) String() string {
	if c == Complete {
		return "complete"
	}
	return "partial"
}

// Flow is data that moves from one part to another, and why that matters.
type Flow struct {
	// Kind is "download-run", "decode-run", "unpack-run" (of a downloaded archive), "secret-network", "write-run" or
	// "self-call" (a function that starts itself again), "multiplies" (work that
	// starts more work without end).
	Kind string
	// From and To are indexes of parts.
	From, To int
}
