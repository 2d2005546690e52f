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

// Harness is a program that can run Cardea as its hook. The differences between harnesses
// are data: the table in table.go.
type Harness struct {
	// Name is the value of --harness, Title the name of the program for people, and Program
	// its command.
	Name, Title, Program string
	// Seen is the version with which the installed hook was tested (scripts/live). It is "" if
	// the hook follows the vendor's documentation without a live test.
	Seen string
	// events are the hook events to register: those that the gate answers, and what
	// [Harness.On] added. gates are the former.
	events, gates []string
	// prompts are the events with the user's prompts. Every installation has them, since a
	// prompt such as "/cardea register coder" is handled there.
	prompts []string
	// reviews are the events with what the harness's own reviewer denied. Every installation
	// has them; the gate also works without them.
	reviews []string
	// more are all other documented events, except those whose hooks replace work of the
	// harness.
	more []string
	// newer are the events for versions from since on. An older version rejects the whole file
	// because of an unknown event.
	newer []string
	since []int
	// Late are further events that can stop a call. Every installation has them from version
	// lateSince on.
	Late      []string
	lateSince []int
	// posts is set if the harness can send hooks by HTTP, and blocks a call when that fails.
	posts bool
	// kind returns the canonical name of an event.
	kind func(event string) cardea.Kind
	form
	folders
	probe
	failing
	// Trust is an additional step for the user before the harness starts the hook, "" for
	// none.
	Trust string
	// trusted reports whether that step was done for a hook. The error says why this is
	// unknown.
	trusted func(at Places, h Harness, w Wiring) (bool, error)
}

// form is the format of a hook in a settings file.
type form struct {
	// grouped is set if handlers are in matcher groups with matcher.
	grouped bool
	matcher string
	// typed is set if a handler has the type "command".
	typed bool
	// command and timeout are the keys of a handler's shell line and time limit; unit is the
	// unit of the limit. Without a timeout key, the harness has no configurable limit.
	command, timeout string
	unit             time.Duration
	// usual is the harness's default limit.
	usual time.Duration
	// extra holds further keys of every handler.
	extra []jsonedit.Field
	// ownFile is set if Cardea's hooks have their own file. version is that of the file's
	// format, 0 if it has none.
	ownFile bool
	version int
	// plugin generates the small programs that replace settings entries, nil if the harness
	// itself starts hooks.
	plugin *smallProgram
}

// folders holds the places of a harness's files.
type folders struct {
	// own is the harness's folder in the user's home. variable names another folder, and below
	// is the path below that one.
	own, variable, below string
	// shared is set if the folder belongs to another harness, so it says nothing about this
	// one.
	shared bool
	// machine holds the folders of the machine by GOOS, nil if none exists.
	machine map[string]string
	// user, project and managed are the files of an installation in the user's, the project's
	// and the machine's folder, "" for none.
	user, project, managed string
	// reads lists the files from which the harness reads hooks, strongest first.
	reads []read
}

// read is a file, or a pattern of files, in the folder of a scope.
type read struct {
	scope   Scope
	pattern string
}

// failing describes what happens to a call whose hook fails.
type failing struct {
	// switchKey and switchValue make the harness, from version switchSince on, block a call
	// whose hook fails. An older version may reject the whole entry, so an unknown version
	// does not get them.
	switchKey, switchValue string
	switchSince            []int
	// shut is appended to the hook's line to deny if its program is missing or fails. It is ""
	// if the harness itself denies, or has the switch.
	shut string
	// left describes which calls still run, for people.
	left string
}

// AllEvents stands for all events of a harness.
const AllEvents = "all"

// On returns the harness in a version, "" for unknown, with the events for prompts and
// further ones. events are the harness's own names, or [AllEvents]. left holds those that
// the version may not support.
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

// Prompts returns the events with prompts in a version, "" for unknown.
func (h Harness) Prompts(version string) []string { return h.known(version, h.prompts) }

// Reviews returns the events of a version with what the harness's own reviewer denied.
func (h Harness) Reviews(version string) []string { return h.known(version, h.reviews) }

// known returns those of the events that a version has.
func (h Harness) known(version string, events []string) []string {
	on, _, _ := h.On(version)
	return slices.DeleteFunc(on.events, func(e string) bool { return !slices.Contains(events, e) })
}

func (h Harness) has(event string) bool {
	return slices.Contains(slices.Concat(h.events, h.prompts, h.Late, h.reviews, h.more), event)
}

// Since returns the first version that has all of the events.
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

// Named returns the harness's names of the events of these kinds. Kinds that it does not
// have are skipped.
func (h Harness) Named(kinds []string) []string {
	var out []string
	for _, e := range slices.Concat(h.events, h.prompts, h.Late, h.reviews, h.more) {
		if slices.Contains(kinds, string(h.kind(e))) {
			out = append(out, e)
		}
	}
	return out
}

// Find returns the harness of a name that a user typed.
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

// Words returns the names that users type for the harnesses.
func Words() []string {
	var out []string
	for _, h := range Harnesses() {
		out = append(out, h.Program)
	}
	return out
}

// Overview returns a table of each harness's files for the user and the project, and the
// list of harnesses with a machine file.
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

// Scope is the owner of settings.
type Scope string

// The scopes of an installation. Managed is the machine's, which neither user nor project
// settings can switch off.
const (
	User    Scope = "user"
	Project Scope = "project"
	Managed Scope = "managed"
	// local is Claude Code's file for the user in one project. Cardea does not install there,
	// but finds existing hooks.
	local Scope = "local"
)

// Places holds the folders of a user on a machine as absolute paths; "" means unknown.
type Places struct {
	// User holds the harnesses' folders of the user, Machine those of the machine, by harness
	// name.
	User, Machine map[string]string
	// Project is the project's folder.
	Project string
	// State is Cardea's own folder, with the record of what was inserted.
	State string
	// Programs holds the folders in which the plugin's script looks for the program
	// ([ProgramFolders]).
	Programs []string
}

// OwnFolder returns the harness's folder in the user's home, the variable that names
// another folder ("" for none), and the path below that one.
func (h Harness) OwnFolder() (own, variable, below string) { return h.own, h.variable, h.below }

// MachineFolder returns the folder of a harness's machine settings for a GOOS, "" if none
// exists.
func (h Harness) MachineFolder(goos string) string {
	if dir, ok := h.machine[goos]; ok {
		return dir
	}
	return h.machine["linux"]
}

// base returns the folder of a scope, "" if unknown.
func (p Places) base(h Harness, scope Scope) string {
	switch scope {
	case User:
		return p.User[h.Name]
	case Managed:
		return p.Machine[h.Name]
	}
	return p.Project
}

// File returns the settings file for an installation.
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

// Wanted describes how to start the hook.
type Wanted struct {
	// Binary is the program, as a permanent absolute path.
	Binary string `json:"binary"`
	// Timeout is the harness's time limit for the hook. Cardea gets four fifths of it: when
	// the limit is reached, the harness runs the tool.
	Timeout time.Duration `json:"timeout_ns"`
	// Unattended is set if no person watches this agent.
	Unattended bool `json:"unattended,omitempty"`
	// FailClosed makes the harness block if the hook fails. Only versions that know the key
	// may get it.
	FailClosed bool `json:"-"`
	// HTTP is the address of the daemon to which the harness sends hooks, "" for one process
	// per call. Token authenticates the harness.
	HTTP  string `json:"-"`
	Token string `json:"-"`
}

// Limit returns the time limit of the hook itself.
func (w Wanted) Limit() time.Duration { return limit.HookOf(w.Timeout) }

// Args returns the arguments of the hook.
func (w Wanted) Args(h Harness) []string {
	args := []string{"check", "--harness", h.Name, "--limit", w.Limit().String()}
	if w.Unattended {
		args = append(args, "--unattended")
	}
	return args
}

// line returns the shell line of the hook for an event.
func (h Harness) line(w Wanted, event string) string {
	line := shellLine(h.command, w.Binary, w.Args(h))
	if slices.Contains(h.gates, event) && !w.FailClosed && runtime.GOOS != "windows" {
		line = shutLine(line, h.shut)
	}
	return line
}

// entry returns the entry for the list of an event.
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

// isOurs reports whether a handler starts Cardea's hook, for any harness and in any form.
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

// invocation returns the program and arguments that a handler starts, from its args or from
// its shell line.
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

// timeLimit parses a time limit; 0 if it is malformed.
func timeLimit(literal string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n * float64(unit))
}
