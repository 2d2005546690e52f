// Package readonly allows parts that certainly only read.
//
// Without it a gate asks too often, so people switch it off; and it must be certain. All
// effects of a part must be known (cardea.Part.Knowledge), and each access must be a read
// in a place where reading is free. It trusts nothing that the agent may have planted: no
// program in a folder that the agent may write, and no repository configuration that may
// execute something (docs/readonly.md). It only allows. Rules ask about secrets or deny
// them; this package just never allows one.
package readonly

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/command/gitindex"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
	"cardea.dev/internal/harness"
)

// Options define where reading is free.
type Options struct {
	// Trees are further folders of the work from settings, absolute, with links resolved.
	// The project and the harness's additional folders come from the event.
	Trees []string
	// Temp are the folders for temporary files, absolute, with links resolved.
	Temp []string
	// Home is the person's home folder. A project that contains it is not a working tree.
	Home string
	// Path is the PATH with which the harness starts commands.
	Path string
	// Env returns a variable of the harness's environment. If nil, all are empty.
	Env func(name string) string
	// Guarded returns the reason why users other than root can change a system path, or "".
	// If nil, this is unknown.
	Guarded func(path string) string
}

// Decider is the decider "readonly".
type Decider struct{ about Options }

// New returns the decider. It reads no files before a call needs them.
func New(about Options) *Decider {
	return &Decider{about}
}

// Name returns "readonly".
func (*Decider) Name() string { return "readonly" }

// Decide allows each part that only reads. It never fails, and does not allow what it
// cannot find out.
func (d *Decider) Decide(_ context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if ev.Call == nil {
		return nil, nil
	}
	c := d.call(ev)
	var out []cardea.Opinion
	for i := range ev.Call.Parts {
		if p := &ev.Call.Parts[i]; !p.NoEffect && c.refusal(p) == "" {
			out = append(out, cardea.Opinion{Decider: "readonly", Effect: cardea.Allow, Part: i,
				Scope: cardea.ScopeBuiltin, Reason: "it only reads"})
		}
	}
	return out, nil
}

// Refusal returns a short reason why part i of a call is not read-only, or "".
func (d *Decider) Refusal(ev *cardea.Event, i int) string {
	return d.call(ev).refusal(&ev.Call.Parts[i])
}

// OnlyTouches reports whether a part only reads and writes files, each of which is free to
// read or covered. An entry of a list or the mode may cover a file.
func (d *Decider) OnlyTouches(ev *cardea.Event, p *cardea.Part, covered func(*cardea.Access) bool) bool {
	c := d.call(ev)
	c.covered = covered
	return c.refusal(p) == ""
}

// Free reports whether any program may make a read without approval.
func (d *Decider) Free(ev *cardea.Event, a *cardea.Access) bool { return d.call(ev).reading(a) == "" }

// evaluation is the evaluation of one event.
type evaluation struct {
	about Options
	ev    *cardea.Event
	// found holds the folders of the work, with links resolved, after a call of trees.
	found    []string
	findThem sync.Once
	// covered reports whether an access that is not a free read is approved. If nil, none
	// is.
	covered func(*cardea.Access) bool
	repo    map[string]string // reason not to trust the repository of a folder
	// foreign is set if the shell may read the line in another encoding.
	foreign bool
	// userinfo is set if a repository's configuration contains an address with a user name
	// or password.
	userinfo bool
	// indexes are the indexes of the repositories checked so far.
	indexes []gitindex.Index
}

func (d *Decider) call(ev *cardea.Event) *evaluation {
	names, _ := knowledge.WordsOf(form.VariableKinds, "encoding")
	foreign := func(name string) bool { return d.about.Env != nil && knowledge.ForeignLetters(d.about.Env(name)) }
	return &evaluation{about: d.about, ev: ev, repo: map[string]string{}, foreign: slices.ContainsFunc(names, foreign)}
}

// refusalOfCall returns the reason why no part of a call is read-only, or "".
func refusalOfCall(ev *cardea.Event) string {
	switch {
	case len(ev.Faults) > 0:
		return "the message has faults"
	case tooLong(ev.Call):
		return "the command is longer than a person reads"
	case ev.Call.Unsandboxed:
		return "it asks to run outside of the sandbox"
	case len(ev.Call.Opaque) > 0:
		return ev.Call.Opaque[0].Reason
	}
	if field := harness.Unlisted(ev.Harness, ev.Call); field != "" {
		return "its input has a field that is not known: " + field
	}
	return ""
}

// refusal returns the reason why a part is not read-only, or "".
func (c *evaluation) refusal(p *cardea.Part) string {
	ev := c.ev
	if why := refusalOfCall(ev); why != "" {
		return why
	}
	switch {
	case c.foreign:
		return "the encoding of this session is not UTF-8: see LC_ALL, LC_CTYPE and LANG"
	case len(p.Opaque) > 0:
		return p.Opaque[0].Reason
	case p.Coverage != cardea.Complete:
		return "it is not known what it starts"
	case p.Elevated && !onlyMoved(p), p.Remote:
		return "it runs as somebody else or elsewhere"
	case c.covered != nil && p.EditsFiles:
	case p.Knowledge != cardea.Complete && len(p.Argv) > 0:
		if p.Doubt != "" {
			return p.Doubt
		}
		return "it is not known everything that it does"
	}
	if shellInside(p.Wrappers) {
		return "a shell that another program starts, once for each file"
	}
	for _, a := range p.Assigns {
		if a.Class != cardea.EnvSafe {
			return "it sets " + a.Name
		}
	}
	if len(p.Argv) == 0 {
		if !harmlessTool(ev.Call) && !redirection(p) {
			return "the tool may do more than read"
		}
	} else if why := c.program(p); why != "" {
		return why
	}
	for k := range p.Access {
		a := &p.Access[k]
		if why := c.access(p, a); why != "" {
			if c.covered == nil || !c.covered(a) {
				return why
			}
			if why := c.beyond(a); why != "" {
				return why
			}
		}
		switch {
		case a.Selection.Tracked && c.unclear(p):
			return "another command of the line may change what git tracks"
		case a.Kind == cardea.Read && !a.MetadataOnly && c.writes(p):
			return "another command of the line writes files, and may put a link where this one reads"
		}
	}
	return ""
}

// shellInside reports whether a program starts the part through a shell, as find -exec sh
// -c does. People want to see such commands.
func shellInside(wrappers []string) bool {
	for i, w := range wrappers {
		if i > 0 && knowledge.Has(form.Shell, w) && knowledge.Has(form.StartsOnFiles, wrappers[i-1]) {
			return true
		}
	}
	return false
}

// writes reports whether another part of the call writes or moves files itself.
// Redirections are ignored, since a file that the shell opens for writing never is a new
// link.
func (c *evaluation) writes(p *cardea.Part) bool {
	for i := range c.ev.Call.Parts {
		q := &c.ev.Call.Parts[i]
		if q.MakesFilesOnly() && (c.covered != nil || !copies(q)) {
			continue
		}
		if q != p && slices.ContainsFunc(q.Access, func(a cardea.Access) bool { return (a.Kind == cardea.Write || a.Kind == cardea.Delete) && !a.Redirect }) {
			return true
		}
	}
	return false
}

// copies reports whether a part reads a file other than those it writes.
func copies(p *cardea.Part) bool {
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		same := func(b cardea.Access) bool { return b.Kind == cardea.Write && b.Path == a.Path && a.Path != "" }
		return a.Kind == cardea.Read && !slices.ContainsFunc(p.Access, same)
	})
}

// unclear reports whether another part of the call has unknown effects.
func (c *evaluation) unclear(p *cardea.Part) bool {
	for i := range c.ev.Call.Parts {
		if q := &c.ev.Call.Parts[i]; q != p && !q.NoEffect && (len(q.Opaque) > 0 || q.Coverage != cardea.Complete || len(q.Argv) > 0 && q.Knowledge != cardea.Complete) {
			return true
		}
	}
	return false
}

// maxCommand is the longest command that is allowed, in bytes. Claude Code asks about
// longer ones even if they only read (https://code.claude.com/docs/en/permissions,
// "Read-only commands").
const maxCommand = 10_000

func tooLong(c *cardea.Call) bool {
	text, _ := c.Input["command"].(string)
	return len(text) > maxCommand
}

// harmlessTool reports whether parts of a tool can be read-only: it reads files, or has no
// effect outside the conversation. Tools that ask the person are excluded, since an allow
// would skip the question.
func harmlessTool(c *cardea.Call) bool {
	info, known := harness.Tool(c.Tool)
	return known && info.OnlyReads() && !harness.AsksPerson(c)
}

// redirection reports whether a part has only redirections, such as those of a loop or an
// assignment.
func redirection(p *cardea.Part) bool {
	return len(p.Access) > 0 && !slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return !a.Redirect })
}

// access returns the reason why an access is more than a free read, or "".
func (c *evaluation) access(p *cardea.Part, a *cardea.Access) string {
	asks := knowledge.Has(form.AsksThisMachine, p.Program())
	switch a.Kind {
	case cardea.Read:
		return c.reading(a)
	case cardea.Write:
		if asks && a.Fresh || (a.Redirect || asks) && !a.Glob && (a.Path == "/dev/null" || a.Spelled == "/dev/null") {
			return ""
		}
		return "it writes"
	case cardea.Network:
		names, _ := knowledge.WordsOf(form.VariableKinds, "request")
		if asks && knowledge.IsLoopback(a.Host) && !c.set(names...) {
			return ""
		}
		if a.Configured && a.Host == "" {
			return ""
		}
		return "it contacts a host that the line names"
	case cardea.Delete:
		return "it deletes"
	case cardea.Execute:
		return "it runs a file"
	}
	return "it may do anything"
}

// program returns the reason why the program may not be the known one, or "".
func (c *evaluation) program(p *cardea.Part) string {
	if !p.Argv[0].Static {
		return "its name comes from outside of the line"
	}
	if name := p.Argv[0].Text; !strings.Contains(name, "/") {
		if why := c.planted(name); why != "" {
			return why
		}
	}
	configs := p.Configs
	if knowledge.Has(form.ReadsRepository, p.Program()) && !slices.Contains(configs, ".git") {
		configs = append(slices.Clone(configs), ".git")
	}
	for _, name := range configs {
		if why := c.configured(p, name); why != "" {
			return why
		}
	}
	return ""
}

// configured returns the reason why a part is not trusted with one of its Configs, or "".
func (c *evaluation) configured(p *cardea.Part, name string) string {
	switch name {
	case ".git":
		return c.git(p)
	case knowledge.PythonModules:
		return c.python(p)
	case knowledge.ProjectEnvironment:
		return c.environment(p.Dir)
	}
	if folder, isFolder := strings.CutPrefix(name, knowledge.OwnedBySystem); isFolder {
		return c.ownedBySystem(folder)
	}
	if bin, isBin := strings.CutPrefix(name, knowledge.ProgramsOf); isBin {
		if file := disk.InEnvironment(c.ev.Call.Parts, p, bin, false); file != "" {
			return "it may start a program of the virtual environment: " + file
		}
		return ""
	}
	if own, isOwn := strings.CutPrefix(name, "~/"); isOwn {
		if _, err := os.Lstat(path.Join(c.about.Home, own)); c.about.Home == "" || !errors.Is(err, fs.ErrNotExist) {
			return "it is configured in your home folder: " + own
		}
		return ""
	}
	return c.configuring(p.Dir, name)
}

// onlyMoved reports whether a part treated as elevated only runs in another folder, as the
// same user. All of its wrappers only change the environment, as env -C does.
func onlyMoved(p *cardea.Part) bool {
	return len(p.Wrappers) > 0 && !slices.ContainsFunc(p.Wrappers, func(w string) bool { return !knowledge.ChangesEnvironment(w) })
}
