package install

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/jsonedit"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/harness"
)

// Harness is a program whose hooks Cardea can be. What differs between harnesses is
// data: the table in table.go.
type Harness struct {
	// Name is the word of --harness, Title what people call the program,
	// Program its command.
	Name, Title, Program string
	// Seen is the version with which the installed hook was tried (scripts/live), ""
	// where it is written as the vendor documents it and was not seen live.
	Seen string
	// events are the hook events that the hook is registered for: those that the gate
	// answers, and what [Harness.On] added. gates are the former.
	events, gates []string
	// prompts are the events by which the person's prompts come. Every installation
	// has them, since a prompt such as "/cardea register coder" is carried out there.
	prompts []string
	// reviews are the events by which the harness tells what its own reviewer denied. Every
	// installation has them, and an installation without them is no worse a gate.
	reviews []string
	// more are all further events that the harness's documentation has, but those
	// whose hooks do the harness's work in its place.
	more []string
	// newer are the events that only versions from since on get: an older one refuses
	// the whole file for an event that it does not know.
	newer []string
	since []int
	// Late are further events in which a call can be stopped, and which every installation
	// has from the version lateSince on.
	Late      []string
	lateSince []int
	// posts is set where the harness can send hooks by HTTP, and blocks a call where that
	// fails.
	posts bool
	// kind is the canonical name of an event.
	kind func(event string) cardea.Kind
	form
	folders
	probe
	failing
	// Trust is what a person must do besides before the harness starts the hook, ""
	// for nothing.
	Trust string
	// trusted reports whether it was done for a hook, and why that cannot be told.
	trusted func(at Places, h Harness, w Wiring) (bool, error)
}

// form is how a hook is written down.
type form struct {
	// grouped is set where handlers stand in matcher groups, with matcher.
	grouped bool
	matcher string
	// typed is set where a handler says that it is a command.
	typed bool
	// command and timeout are the keys of a handler's shell line and time limit, unit
	// is what the limit counts. Without a key the harness has no limit to set.
	command, timeout string
	unit             time.Duration
	// usual is the harness's limit where a handler gives none.
	usual time.Duration
	// more are further keys of every handler.
	extra []jsonedit.Field
	// ownFile is set where Cardea's hooks have a file of their own, version is that of
	// the file's form, 0 where it has none.
	ownFile bool
	version int
	// plugin makes the small programs that stand in for entries in settings, nil where
	// the harness starts hooks by itself.
	plugin *smallProgram
}

// folders are where a harness's files lie.
type folders struct {
	// own is the harness's folder in the person's home, variable the one that names
	// another, and below what comes below that one.
	own, variable, below string
	// shared is set where the folder is another harness's, and tells nothing of this one.
	shared bool
	// machine are the folders of the machine by GOOS, nil where there is none.
	machine map[string]string
	// user, project and managed are the file of an installation in the person's, the
	// project's and the machine's folder, "" where there is none.
	user, project, managed string
	// reads are further files that the harness reads hooks from, strongest first.
	reads []read
}

// read is a file, or a pattern of files, in the folder of a scope.
type read struct {
	scope   Scope
	pattern string
}

// failing is what becomes of a call whose hook fails.
type failing struct {
	// key and value, written from a version on, make the harness block a call whose hook
	// fails; a version that is too old or not known may refuse the whole entry for it.
	switchKey, switchValue string
	switchSince            []int
	// shut is what makes the hook's line deny where its program is missing or fails; ""
	// where the harness denies by itself, or has the switch.
	shut string
	// left is what still lets a call run, for people.
	left string
}

// AllEvents is the word for all events that a harness has.
const AllEvents = "all"

// On is the harness in a version, "" for one that is not known, with the events by
// which prompts come and with further ones, by the names that it has for them, or
// [AllEvents]. left are those that it does not get because the version is too old or
// not known.
func (h Harness) On(version string, events ...string) (on Harness, left []string, err error) {
	on = h
	on.events = slices.Clone(h.events)
	add := func(event string) {
		switch {
		case slices.Contains(on.events, event) || slices.Contains(left, event):
		case slices.Contains(h.newer, event) && !atLeast(version, h.since...), slices.Contains(h.Late, event) && !atLeast(version, h.lateSince...):
			left = append(left, event)
		default:
			on.events = append(on.events, event)
		}
	}
	on.gates = slices.Concat(h.gates, h.Late)
	for _, e := range slices.Concat(h.prompts, h.Late, h.reviews, events) {
		switch {
		case e == AllEvents:
			for _, m := range h.more {
				add(m)
			}
		case h.has(e):
			add(e)
		default:
			return h, nil, fmt.Errorf("%s has no event %q for rules and policies: use all, or %s", h.Title, e, strings.Join(slices.Concat(h.prompts, h.more, h.reviews), ", "))
		}
	}
	return on, left, nil
}

// Prompts are the events by which prompts come in a version, "" for one that is not
// known.
func (h Harness) Prompts(version string) []string { return h.known(version, h.prompts) }

// Reviews are the events by which a version tells what its own reviewer denied.
func (h Harness) Reviews(version string) []string { return h.known(version, h.reviews) }

// known are those of some events that a version has.
func (h Harness) known(version string, events []string) []string {
	on, _, _ := h.On(version)
	return slices.DeleteFunc(on.events, func(e string) bool { return !slices.Contains(events, e) })
}

func (h Harness) has(event string) bool {
	return slices.Contains(slices.Concat(h.events, h.prompts, h.Late, h.reviews, h.more), event)
}

// Since is the first version that gets all of some events, as people write it.
func (h Harness) Since(events ...string) string {
	if slices.ContainsFunc(events, func(e string) bool { return slices.Contains(h.Late, e) }) {
		return dotted(h.lateSince)
	}
	return dotted(h.since)
}

func dotted(version []int) string {
	words := make([]string, len(version))
	for i, n := range version {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ".")
}

// Named are the events that bring some kinds of events, by the names that the harness
// has for them. Kinds that it cannot bring have none.
func (h Harness) Named(kinds []string) []string {
	var out []string
	for _, e := range slices.Concat(h.events, h.prompts, h.Late, h.reviews, h.more) {
		if slices.Contains(kinds, string(h.kind(e))) {
			out = append(out, e)
		}
	}
	return out
}

// Find is the harness of a name that a person typed.
func Find(name string) (Harness, error) {
	for _, h := range Harnesses() {
		if harness.Canonical(name) == h.Name || name == h.Program {
			return h, nil
		}
	}
	if why := unsupported[harness.Canonical(name)]; why != "" {
		return Harness{}, fmt.Errorf("cardea cannot be installed for %q: %s", name, why)
	}
	words := Words()
	return Harness{}, fmt.Errorf("cardea cannot be installed for %q: use %s or %s", name, strings.Join(words[:len(words)-1], ", "), words[len(words)-1])
}

// Words are what people type to name the harnesses.
func Words() []string {
	var out []string
	for _, h := range Harnesses() {
		out = append(out, h.Program)
	}
	return out
}

// Overview lists the files of each harness, for people: a table of those of the person
// and of the project, and which harnesses have one of the machine.
func Overview() string {
	var b strings.Builder
	const row = "  %-8s %-36s %s\n"
	fmt.Fprintf(&b, row, "", "--user (default)", "--project")
	var managed []string
	for _, h := range Harnesses() {
		fmt.Fprintf(&b, row, h.Program, "~/"+h.own+"/"+h.user, h.project)
		if h.managed != "" {
			managed = append(managed, h.Program)
		}
	}
	fmt.Fprintf(&b, "\n--managed writes the file of the machine (%s\nand %s): docs/installation.md says where it lies.\n", strings.Join(managed[:len(managed)-1], ", "), managed[len(managed)-1])
	return b.String()
}

// Scope is whose settings are meant.
type Scope string

// The scopes of an installation. Managed is the machine's, which neither the
// person's settings nor a project's can switch off.
const (
	User    Scope = "user"
	Project Scope = "project"
	Managed Scope = "managed"
	// local is Claude Code's file for the person in one project. Cardea does
	// not install there, but finds what is there.
	local Scope = "local"
)

// Places are the folders of a person on a machine, absolute; "" is not known.
type Places struct {
	// User are the harnesses' own folders of the person, Machine those of the machine,
	// by the harness's name.
	User, Machine map[string]string
	// Project is the project's folder.
	Project string
	// State is Cardea's own folder, where it is remembered what was put in.
	State string
	// Programs are the folders in which the plugin's script looks for the program
	// ([ProgramFolders]).
	Programs []string
}

// OwnFolder is where a harness keeps its files in a person's home, and the variable
// that names another folder, "" for none; what comes below that folder is below.
func (h Harness) OwnFolder() (own, variable, below string) { return h.own, h.variable, h.below }

// MachineFolder is the folder of a harness's settings of the machine on a platform, by
// its GOOS, "" where there is none.
func (h Harness) MachineFolder(goos string) string {
	if dir, ok := h.machine[goos]; ok {
		return dir
	}
	return h.machine["linux"]
}

// base is the folder of a scope.
func (p Places) base(h Harness, scope Scope) string {
	switch scope {
	case User:
		return p.User[h.Name]
	case Managed:
		return p.Machine[h.Name]
	}
	return p.Project
}

// File is the file that an installation goes into.
func (p Places) File(h Harness, scope Scope) (string, error) {
	path := map[Scope]string{User: h.user, Project: h.project, Managed: h.managed}[scope]
	if path == "" {
		return "", fmt.Errorf("%s has no settings of the machine that Cardea can be installed in; use --user or --project", h.Title)
	}
	base := p.base(h, scope)
	if base == "" {
		if scope == Project {
			return "", errors.New("there is no project here; change into one, or use --user")
		}
		return "", fmt.Errorf("the folder of %s's settings is not known; set HOME", h.Title)
	}
	return filepath.Join(base, filepath.FromSlash(path)), nil
}

// Wanted is how the hook is to be started.
type Wanted struct {
	// Binary is the program, by an absolute path that stays.
	Binary string `json:"binary"`
	// Timeout is the harness's time limit for the hook. Cardea gets four
	// fifths of it, since a harness whose limit is reached lets the tool run.
	Timeout time.Duration `json:"timeout_ns"`
	// Unattended says that nobody watches this agent.
	Unattended bool `json:"unattended,omitempty"`
	// FailClosed asks the harness to block where the hook fails; only
	// versions that know the key may get it.
	FailClosed bool `json:"-"`
	// HTTP is the address of the daemon to which the harness sends its hooks, "" for a
	// process for each call. Token is what it sends along.
	HTTP  string `json:"-"`
	Token string `json:"-"`
}

// Limit is the time that the hook itself gets.
func (w Wanted) Limit() time.Duration { return limit.HookOf(w.Timeout) }

// Args are the arguments of the hook.
func (w Wanted) Args(h Harness) []string {
	args := []string{"check", "--harness", h.Name, "--limit", w.Limit().String()}
	if w.Unattended {
		args = append(args, "--unattended")
	}
	return args
}

// line is the shell line of the hook for an event.
func (h Harness) line(w Wanted, event string) string {
	line := shellLine(h.command, w.Binary, w.Args(h))
	if slices.Contains(h.gates, event) && !w.FailClosed && runtime.GOOS != "windows" {
		line = shutLine(line, h.shut)
	}
	return line
}

// entry is what stands in the list of an event.
func (h Harness) entry(w Wanted, event string) []jsonedit.Field {
	if w.HTTP != "" && h.ByHTTP(event) {
		return []jsonedit.Field{{Key: "matcher", Value: h.matcher}, {Key: "hooks", Value: []any{h.posting(w)}}}
	}
	var handler []jsonedit.Field
	if h.typed {
		handler = append(handler, jsonedit.Field{Key: "type", Value: "command"})
	}
	handler = append(handler, jsonedit.Field{Key: h.command, Value: h.line(w, event)})
	if h.timeout != "" {
		handler = append(handler, jsonedit.Field{Key: h.timeout, Value: int(w.Timeout / h.unit)})
	}
	handler = append(handler, h.extra...)
	if w.FailClosed {
		handler = append(handler, jsonedit.Field{Key: h.switchKey, Value: h.switchValue})
	}
	if !h.grouped {
		return handler
	}
	return []jsonedit.Field{{Key: "matcher", Value: h.matcher}, {Key: "hooks", Value: []any{handler}}}
}

// isOurs reports whether a handler starts Cardea's hook, for whichever harness
// and in whichever form somebody wrote it.
func isOurs(handler *jsonedit.Node) bool {
	if sent(handler) != nil {
		return true
	}
	program, args := invocation(handler)
	return isCardea(program) && len(args) > 0 && args[0] == "check"
}

func isCardea(program string) bool {
	name := program[strings.LastIndexAny(program, `/\`)+1:]
	return strings.HasPrefix(strings.ToLower(name), "cardea")
}

// invocation is what a handler starts: the program and its arguments, in the
// form with arguments or as words of a shell line.
func invocation(handler *jsonedit.Node) (program string, args []string) {
	if words, ok := handler.Get("args").Words(); ok {
		for _, key := range []string{"exec", "command"} {
			if program = handler.Str(key); program != "" {
				return program, words
			}
		}
	}
	for _, key := range []string{"command", "exec", "bash", "powershell"} {
		if words := shellWords(withoutShut(handler.Str(key))); len(words) > 1 {
			return words[0], words[1:]
		}
	}
	return "", nil
}

// timeLimit reads a time limit as written.
func timeLimit(literal string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n * float64(unit))
}
