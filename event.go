package cardea

import (
	"slices"
	"strings"
)

// Kind is the canonical name of a hook event. It is an open set: harnesses add
// events without notice, and an unknown one is passed, never an error.
type Kind string

// The kinds that the gate answers. Events of every other kind either come too late to hold a call
// back, or are not about a call; see [Gate.Decide].
const (
	PreToolUse        Kind = "PreToolUse"
	PermissionRequest Kind = "PermissionRequest"
	// PreSkillShellCommand is about a shell command in the file of a skill or of a slash command,
	// which runs when the file is loaded. The harness never asks a person about it.
	PreSkillShellCommand Kind = "PreSkillShellCommand"
)

// Answered reports whether the gate gives verdicts on events of this kind.
func (k Kind) Answered() bool { return k.Begins() || k == PermissionRequest }

// Begins reports whether events of this kind are the first about their call.
func (k Kind) Begins() bool { return k == PreToolUse || k == PreSkillShellCommand }

// Mode is the harness's permission mode, in Claude Code's words. The adapters of other harnesses
// translate their modes. It is an open set.
type Mode string

// The modes (docs/design.md#attended-and-unattended). ModeUnknown ("") means that the harness does
// not send a mode.
const (
	ModeUnknown     Mode = ""
	ModeDefault     Mode = "default"
	ModePlan        Mode = "plan"
	ModeAcceptEdits Mode = "acceptEdits"
	ModeAuto        Mode = "auto"
	ModeDontAsk     Mode = "dontAsk"
	ModeBypass      Mode = "bypassPermissions"
)

// Modes returns the modes that this version knows, without ModeUnknown.
func Modes() []Mode {
	return []Mode{ModeDefault, ModePlan, ModeAcceptEdits, ModeAuto, ModeDontAsk, ModeBypass}
}

// Message is a hook message as the harness sent it.
type Message interface {
	// Fields returns the message's top-level fields, in the types of [Call].Input. Each call
	// returns a new map.
	Fields() map[string]any
}

// Event is one hook message in canonical form. It is immutable: its call and parts may be shared.
// [Event.With] returns a changed copy.
type Event struct {
	// Kind is the canonical event, Wire the name as the harness sent it.
	Kind Kind
	Wire string
	// Harness is the adapter name of the sender ("claude-code").
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
	// Attendance records whether a person watches the agent, as far as the harness or the user
	// says.
	Attendance Attendance
	// NativeAsk is set when the harness's own lists may ask about this call. An allow on
	// PermissionRequest would then answer that question in the person's place.
	NativeAsk bool
	// Reviewed is set when a model answers the harness's permission requests. An allow would then
	// decide in the model's place.
	Reviewed bool
	// Unreadable holds the patterns of files that the harness's own lists deny or ask to read, in
	// the harness's syntax.
	Unreadable []string
	// Role is the role of the agent, or "".
	Role string
	// Call is the tool call, nil for events that are not about a call. CallID is the harness's id
	// of the call, as sent.
	Call   *Call
	CallID string
	// Review is the decision of another reviewer that the event reports, nil for none.
	Review *Review
	// Sent is the message as it came, nil for an event that was not built from a message.
	Sent Message
	// Faults are the defects of the message and its tool input: duplicate keys, wrong types, and
	// replaced text.
	Faults []Opaque
}

// Review is a decision about a call by a reviewer other than Cardea, as the harness reports it.
type Review struct {
	// By is [ByList] or another of these words, "" where the harness does not report it. Reason is
	// the reviewer's text. A model may have written it.
	By, Reason string
	// Effect is Allow or Deny, Ask where a person is being asked, and Abstain where the harness
	// does not report it.
	Effect Effect
}

// The reviewers of a call. ByHarness means that the harness decided without a list, such as by its
// mode or by a check of its own. ByNobody means that the question could reach no person.
const (
	ByCardea, ByList, ByClassifier, BySandbox = "cardea", "list", "classifier", "sandbox"
	ByPerson, ByHook, ByHarness, ByNobody     = "person", "hook", "harness", "nobody"
)

// Attendance states whether a person watches an agent, for cases in which the mode does not decide
// that alone.
type Attendance uint8

const (
	// AttendanceUnsaid means that the mode decides.
	AttendanceUnsaid Attendance = iota
	// PersonAttends means that the harness reports a person in front of the agent.
	PersonAttends
	// NobodyAttends means that the agent runs unattended, as the harness reports or as the user set
	// at installation or by CARDEA_UNATTENDED.
	NobodyAttends
)

// With returns a copy of e after change was applied to the copy.
func (e *Event) With(change func(*Event)) *Event {
	with := *e
	change(&with)
	return &with
}

// Attended reports whether a person is sure to see a question. [Event].Attendance decides, else the
// mode. An unknown mode is unattended, and so is dontAsk, in which the harness never asks.
func (e *Event) Attended() bool {
	switch {
	case e.Attendance == NobodyAttends || e.Mode == ModeDontAsk:
		return false
	case e.Attendance == PersonAttends:
		return true
	}
	return e.modeAsks()
}

// modeAsks reports whether the harness asks a person about the call in the event's mode.
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
	// Known is false for a tool that this version does not know, so that its access is unknown.
	Known bool
	// EditsFiles is set for the tools that edit files themselves. The mode acceptEdits answers
	// their questions.
	EditsFiles bool
	// Unsandboxed is set when the call asks to run outside of the harness's
	// sandbox.
	Unsandboxed bool
	// OneWay is set where the harness's own names of the input fields are unknown, so that a
	// rewritten input cannot be sent back.
	OneWay bool
	// Input is the tool input by exact key. Values are what encoding/json
	// gives: string, json.Number, bool, nil, []any, map[string]any.
	Input map[string]any
	// Shadowed holds further values of duplicate and case-variant keys, by the exact key that they
	// imitate. The gate judges these values as well.
	Shadowed map[string][]any
	// Parts are the pieces of the call, each of which must be permitted by itself.
	Parts []Part
	// OnlyPotential is set for the call of [Event.Possible]: no part is certain to run, so an allow
	// is ignored.
	OnlyPotential bool
	// OnlyOpened is set for a call whose only part reads files that were found by listing its
	// folders. The rules of Cardea's packs about single files do not apply to it.
	OnlyOpened bool
	// Opens returns the files that part i reads without naming them, nil for none. It reads the
	// disk, at most once for each part.
	Opens func(part int) *Opened
	// Opaque holds the opaque spots that concern the whole call and no single part.
	Opaque []Opaque
	// Flows are the movements of data between parts.
	Flows []Flow
}

// WithInput returns a copy of c with the given input and without the analysis of the old one.
func (c *Call) WithInput(input map[string]any) *Call {
	with := *c
	with.Input, with.Shadowed = input, nil
	with.Parts, with.Opaque, with.Flows = nil, nil, nil
	return &with
}

// WithParts returns a copy of c with the given parts and flows, and with the given opaque spots
// added to its own.
func (c *Call) WithParts(parts []Part, flows []Flow, opaque []Opaque) *Call {
	with := *c
	with.Parts, with.Flows = parts, flows
	with.Opaque = append(c.Opaque[:len(c.Opaque):len(c.Opaque)], opaque...)
	return &with
}

// Part is a piece of a call that must be permitted by itself.
type Part struct {
	ShellFacts
	CommandFacts
	ScriptFacts
}

// ShellFacts holds the facts about a part that the shell line gives: its words, where it runs, and what the
// analysis cannot see. For parts of other tools only Text, Dir, Coverage and NoEffect are set.
type ShellFacts struct {
	// Text is the part in canonical form, without wrappers and assignments.
	Text string
	// Typed is the command as it appears in the line, with the program that starts it, or "" for a
	// command that appears in no line.
	Typed string
	// Argv are the words of a shell part: the program and what it is passed.
	// Empty for parts of other tools.
	Argv []Word
	// ProgramPattern is a glob that the program's base name matches, for a name that is only known
	// when the line runs: "card?a", "*dea", or "*" where nothing is known. It is "" where the name
	// is certain.
	ProgramPattern string
	// Assigns are the variables set for this part alone, by name.
	Assigns []Assign
	// Wrappers are the programs that start this one, outermost first.
	Wrappers []string
	// Outer are the commands that were split to find this one, outermost first. For "timeout 5 npm
	// test" it holds the command of timeout with all its words.
	Outer []Outer
	// Elevated is set when a wrapper changes the user or the place of the part. An allow for the
	// part alone then does not allow it.
	Elevated bool
	// Remote is set when the part runs on another machine or in a container, so that its paths are
	// not paths of this machine.
	Remote bool
	// Via lists the operators and constructs that lead to the part, such as "&&", "|", "$( )",
	// "bash -c", "function f".
	Via []string
	// Dir is the folder in which the part runs, "" where it is unknown.
	Dir string
	// UnseenInput is set where the line gives the part input text that is only known when the line
	// runs: <<< "$X", or a here-document with such a word.
	UnseenInput bool
	// Opaque holds the spots of the part that the analysis cannot see through.
	Opaque []Opaque
	// Coverage is Complete where every program that the part starts is known.
	Coverage Coverage
	// NoEffect marks a part without access, which needs no allow.
	NoEffect bool
	// Start is the byte offset of the part in the command text, for messages; -1 where it has no
	// position there.
	Start int
}

// CommandFacts holds the facts about a part that command knowledge gives: how its program reads the words, and
// which effects it has.
type CommandFacts struct {
	// Command is the program's base name followed by its leading subcommands, without the options
	// between them: ["git", "push"].
	Command []string
	// UsualCommand is Command under its usual name, where knowledge treats two commands as equal:
	// ["docker", "compose", "up"] for docker-compose up. It is nil where Command has that name.
	UsualCommand []string
	// Operands are the indexes into Argv of the words that are not an option, an option's value or
	// part of Command.
	Operands []int
	// Options are the options given, one entry each, with clusters split.
	Options []Option
	// Access lists the known effects of the part.
	Access []Access
	// Script is a word with a program, for example of sed. The program may run commands or open
	// files, its text may be unknown, or the word holds the path of a file to write. A rule that
	// allows the part's program with any words then does not allow the part. "" means that there is
	// no such word.
	Script string
	// OpensUnnamed is set where the part opens files that none of its words names, Copies where it
	// may copy or unpack such files.
	OpensUnnamed, Copies bool
	// Knowledge is Complete where every effect of the program with these words is known, so that
	// Access is complete. It is Partial for an unknown program or an unknown option.
	Knowledge Coverage
	// EditsFiles means that the program, with these words, only reads and writes the files of
	// Access, in every configuration.
	EditsFiles bool
	// Configs are names of files in which a project configures what the program runs or whom it
	// contacts. Knowledge is only right where Dir and the folders above it contain none of them.
	// ".git" means git's configuration.
	Configs []string
	// Doubt is a short reason why Knowledge is Partial, "" where the analysis does not give one.
	Doubt string
}

// ScriptFacts holds the potential effects of the files and words of a part: scripts that it runs, and words of
// commands that knowledge does not describe.
type ScriptFacts struct {
	// MayTouch lists the files that the part's words name, where its access is unknown. Kind
	// Unknown stands for a possible read, write or delete, Write for a write or delete, and Read
	// for a read.
	MayTouch []Access
	// MayRun lists the commands that the part's words name, where its access is unknown. For a part
	// that runs a file, it also lists the commands in the file.
	MayRun []Part
	// MayFlow lists the flows between the parts of MayRun that come from files.
	MayFlow []Flow
	// From is the file and line of a part of MayRun, "" for one in the words of the part itself.
	From string
	// LookedInto lists the files that were read for MayRun, and those that could not be read.
	LookedInto []string
}

// Spellings returns the texts of the part that mean the same to a shell: Text, and the same words
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

// QuoteWord returns a word in shell syntax. It quotes only words that are empty or have a blank or
// a special character.
func QuoteWord(w string) string {
	special := func(c rune) bool { return c <= ' ' || strings.ContainsRune("\"'\\$`*?[]()<>|&;!\x7f", c) }
	if w != "" && w[0] != '~' && !strings.ContainsFunc(w, special) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// Program returns the name of the program that a part starts, "" where the part has no command.
func (p *Part) Program() string {
	if len(p.Command) == 0 {
		return ""
	}
	return p.Command[0]
}

// Variables returns the names of the variables that are set for this part alone, without
// duplicates.
func (p *Part) Variables() []string {
	var out []string
	for _, a := range p.Assigns {
		if !slices.Contains(out, a.Name) {
			out = append(out, a.Name)
		}
	}
	return out
}

// UnseenOption reports whether a word of a part may become an option that the line does not show. A
// rule that allows a program with any words then does not allow the part.
func (p *Part) UnseenOption() bool {
	return slices.ContainsFunc(p.Argv, func(w Word) bool { return w.UnseenOption })
}

// Outer is a command that starts the command of a part, before it was split.
type Outer struct {
	// Text is the command in canonical form, as in [Part].
	Text string
	// Argv are the words of the command.
	Argv []Word
	// Elevated is set where this command changes the user or the place of the part.
	Elevated bool
}

// Word is one word of a shell part.
type Word struct {
	// Text is the value after quote removal when Static. Other words are as written.
	Text string
	// Static means that bash passes exactly Text.
	Static bool
	// MaySplit marks an unquoted expansion or glob, which may become several words or none.
	MaySplit bool
	// MayVanish is set with MaySplit where the word is sure to become one word or none, as $(nproc)
	// does.
	MayVanish bool
	// MayBeOption means that the word is not static and may begin with a dash. It may then be an
	// option that the line does not show.
	MayBeOption bool
	// UnseenOption means that the word may become any option of the program that has an access.
	// Unlike MayBeOption, it is unset for a program without such options and after "--". It is also
	// unset if the folder that a pattern reads contains no name with a leading dash.
	UnseenOption bool
}

// Option is one option of a part.
type Option struct {
	// Name is the option with its dashes and without a value: "-f", "--force". Letters of a cluster
	// are separate options.
	Name string
	// Value is the option's value, if it has one. It is only known where Static is set.
	Value  string
	Static bool
	// Word is the index in Argv of the word that holds the option.
	Word int
}

// Assign is a variable set for one part.
type Assign struct {
	Name, Value string
	// Static means that bash assigns exactly Value.
	Static bool
	// Class is the danger of the name for programs that read it.
	Class EnvClass
}

// EnvClass classifies the danger of setting an environment variable.
type EnvClass uint8

// The classes of the environment model.
const (
	// EnvUnknown is a name that is only known to the program itself.
	EnvUnknown EnvClass = iota
	// EnvSafe is a name known to be harmless.
	EnvSafe
	// EnvDangerous is a name that executes code, preloads libraries, redirects configuration or
	// changes the lookup of programs.
	EnvDangerous
)

// AccessKind is the kind of an effect of a part on a path or a host.
type AccessKind string

// The kinds of access.
const (
	Read    AccessKind = "read"
	Write   AccessKind = "write"
	Delete  AccessKind = "delete"
	Execute AccessKind = "execute"
	Network AccessKind = "network"
	// Link gives a file or folder another name, by a symbolic link, and leaves it unchanged.
	Link    AccessKind = "link"
	Unknown AccessKind = "unknown"
)

// Access is one effect of a part on a path or a host.
type Access struct {
	Kind AccessKind
	// Path is the resolved absolute path, for all kinds but Network. "" means that it is unknown.
	Path string
	// Spelled is the path as the command names it, absolute, but before symbolic links are
	// followed. It is "" where it equals Path. Rules apply to both paths.
	Spelled string
	// Host is the host of a network access in lower case, "" where it is unknown.
	Host string
	// Recursive means that the access covers the path and everything below it.
	Recursive bool
	// SkipsHidden means that hidden files below the path are left out, unless a file such as
	// .gitignore includes them (ripgrep's guide, "Hidden files").
	SkipsHidden bool
	// Selection describes the files that are opened where Recursive is set.
	Selection Selection
	// Glob means that the path's last element was a pattern. Path is then the literal folder above
	// it, and the access covers entries of that folder.
	Glob bool
	// Pattern is the whole pattern, absolute, where Glob is set.
	Pattern string
	// Files are the files that match the pattern when the call is judged, nil where they are
	// unknown. They apply only to denies and asks, since a new file may match when the line runs.
	Files *Files
	// Search marks a pattern of a search. A read or delete covers files of such a name anywhere
	// below the folder, but not everything in a folder of such a name. A deleted file may be in a
	// hidden folder, and its name may begin with a dot. A write covers a file of unknown name in
	// the folder, which a glob for a name in any folder (**/name) does not match.
	Search bool
	// LookedUp marks a read for which [Call].Opens returns each file that it opens.
	LookedUp bool
	// MetadataOnly marks a read of names and attributes alone, as by ls and stat. The contents stay
	// unread.
	MetadataOnly bool
	// HoldsKey marks a read of a file that holds a private key, as its content or a certificate
	// next to it shows.
	HoldsKey bool
	// Configured marks a network access whose host comes from the program's
	// own configuration, not from the call.
	Configured bool
	// Redirect marks an access by the shell itself, or by a wrapper in front of the program.
	Redirect bool
	// Fresh marks a write to a new or temporary file: it overwrites nothing of the user's, and it
	// creates nothing that is executed by its name.
	Fresh bool
}

// Files holds the matches of a pattern in the line: the pattern itself, which bash passes on where
// nothing matches, and the files, absolute, before and after links are followed.
type Files struct{ Names []string }

// One returns a copy of the access for one of the files that the pattern matches.
func (a *Access) One(name string) Access {
	one := *a
	one.Path, one.Spelled, one.Glob, one.Pattern, one.Files = name, "", false, "", nil
	return one
}

// NeedsSeparatePermission reports whether the access needs a permission in addition to the one for
// the program. It holds for a redirection, by the shell or a wrapper, that writes a lasting file or
// reaches another machine (docs/design.md#shell-analysis).
func (a *Access) NeedsSeparatePermission() bool {
	return a.Redirect && a.Kind != Read && !a.Fresh && !a.Nowhere()
}

// MakesFilesOnly reports whether a part only reads and writes files, and moves or copies no folder.
// Whatever it creates is then not a link.
func (p *Part) MakesFilesOnly() bool {
	return p.EditsFiles && !slices.ContainsFunc(p.Access, func(a Access) bool { return a.Kind == Delete || a.Kind == Write && a.Recursive })
}

// Nowhere reports whether the access is a redirection that writes to a discarding or standard
// stream, such as /dev/null.
func (a *Access) Nowhere() bool {
	if !a.Redirect || a.Kind != Write || a.Glob {
		return false
	}
	streams := []string{"/dev/stdout", "/dev/stderr"}
	return a.Path == "/dev/null" || slices.Contains(streams, a.Path) || slices.Contains(streams, a.Spelled)
}

// Coverage states how completely the programs that a part starts are known.
type Coverage uint8

// The coverages.
const (
	// Partial means that the part may start a program that is not among the parts.
	Partial Coverage = iota
	// Complete means that every program that the shell starts is among the parts.
	Complete
)

// String returns "complete" or "partial".
func (c Coverage) String() string {
	if c == Complete {
		return "complete"
	}
	return "partial"
}

// Flow is data that moves from one part to another, with the reason why that matters.
type Flow struct {
	// Kind is "download-run", "decode-run", "unpack-run" (of a downloaded archive),
	// "secret-network", "write-run", "self-call" (a function that starts itself again) or
	// "multiplies" (work that starts more work without end).
	Kind string
	// From and To are indexes of parts.
	From, To int
}
