// Package readonly allows parts that certainly only read.
//
// It is what makes people keep a gate, and so it must be certain: everything
// that a part does has to be known (cardea.Part.Knowledge), every access has to
// be a read in a place where reading is free, and nothing that the agent may
// have planted is trusted: no program found in a folder that it may write, no
// configuration of a repository that could execute something
// (docs/readonly.md). It only ever allows; that secrets are asked about or
// denied is the business of rules, and it stays out of their way by never
// allowing one.
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

// Settings say where reading is free.
type Settings struct {
	// Trees are the folders of the work, absolute, links resolved: the project
	// and the harness's additional ones come from the event, so these are only
	// those that the settings add.
	Trees []string
	// Temp are the folders for temporary files, absolute, links resolved.
	Temp []string
	// Home is the person's home folder: a project that is or holds it is none.
	Home string
	// Path is the PATH with which the harness starts commands.
	Path string
	// Env is the environment of the harness, nil for none.
	Env func(name string) string
	// Guarded says what lets others than root change a path of the system, nil for what is not
	// known.
	Guarded func(path string) string
}

// Decider is the decider "readonly".
type Decider struct{ about Settings }

// New makes the decider. It reads nothing before a call needs it.
func New(about Settings) *Decider {
	return &Decider{about}
}

// Name is "readonly".
func (*Decider) Name() string { return "readonly" }

// Decide allows each part that only reads. It never fails: what it cannot find
// out it does not allow.
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

// Refusal says why part i of a call is not read-only, in a few words; "" where
// it is.
func (d *Decider) Refusal(ev *cardea.Event, i int) string {
	return d.call(ev).refusal(&ev.Call.Parts[i])
}

// OnlyTouches reports whether a part does nothing but read and write files, each of which
// is free to read or is covered: by an entry of a list, or by the mode.
func (d *Decider) OnlyTouches(ev *cardea.Event, p *cardea.Part, covered func(*cardea.Access) bool) bool {
	c := d.call(ev)
	c.covered = covered
	return c.refusal(p) == ""
}

// Free reports whether what an access reads needs nobody's word, whoever reads it.
func (d *Decider) Free(ev *cardea.Event, a *cardea.Access) bool { return d.call(ev).reading(a) == "" }

// call is one event under judgement.
type call struct {
	about Settings
	ev    *cardea.Event
	// found are the folders of the work, with links followed, after trees.
	found    []string
	findThem sync.Once
	// covered reports an access that is approved although it is no free read; nil is none.
	covered func(*cardea.Access) bool
	repo    map[string]string // what is wrong with the repository of a folder
	// foreign is set where the shell may read the line in another encoding.
	foreign bool
	// userinfo is set when a repository's configuration holds an address with
	// a user's name or a password.
	userinfo bool
	// indexes are those of the repositories that were looked at.
	indexes []gitindex.Index
}

func (d *Decider) call(ev *cardea.Event) *call {
	names, _ := knowledge.WordsOf(form.VariableKinds, "encoding")
	foreign := func(name string) bool { return d.about.Env != nil && knowledge.ForeignLetters(d.about.Env(name)) }
	return &call{about: d.about, ev: ev, repo: map[string]string{}, foreign: slices.ContainsFunc(names, foreign)}
}

// refusalOfCall is why no part of a call is read-only, "" for nothing.
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

// refusal is why a part is not read-only, "" where it is.
func (c *call) refusal(p *cardea.Part) string {
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

// shellInside reports whether a program starts a shell that starts the part:
// find -exec sh -c, where people want to see what is run on their files.
func shellInside(wrappers []string) bool {
	for i, w := range wrappers {
		if i > 0 && knowledge.Has(form.Shell, w) && knowledge.Has(form.StartsOnFiles, wrappers[i-1]) {
			return true
		}
	}
	return false
}

// writes reports whether another part of the call writes or moves files by
// itself. What the shell opens for writing is never a link.
func (c *call) writes(p *cardea.Part) bool {
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

// copies reports a part that reads other files than it writes.
func copies(p *cardea.Part) bool {
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		same := func(b cardea.Access) bool { return b.Kind == cardea.Write && b.Path == a.Path && a.Path != "" }
		return a.Kind == cardea.Read && !slices.ContainsFunc(p.Access, same)
	})
}

// unclear reports whether it is not known everything that another part of the call does.
func (c *call) unclear(p *cardea.Part) bool {
	for i := range c.ev.Call.Parts {
		if q := &c.ev.Call.Parts[i]; q != p && !q.NoEffect && (len(q.Opaque) > 0 || q.Coverage != cardea.Complete || len(q.Argv) > 0 && q.Knowledge != cardea.Complete) {
			return true
		}
	}
	return false
}

// maxCommand is how long a command may be, in bytes. Claude Code asks about
// longer ones even where all of it only reads
// (https://code.claude.com/docs/en/permissions, "Read-only commands").
const maxCommand = 10_000

func tooLong(c *cardea.Call) bool {
	text, _ := c.Input["command"].(string)
	return len(text) > maxCommand
}

// harmlessTool reports the tools whose parts can be read-only: those that read
// files, and those without effect outside of the conversation. Tools that ask
// the person something are not among them: an allow would skip the question.
func harmlessTool(c *cardea.Call) bool {
	info, known := harness.Tool(c.Tool)
	return known && info.OnlyReads() && !harness.AsksPerson(c)
}

// redirection reports a part that is a redirection by itself: that of a loop, or
// of a command that only assigns.
func redirection(p *cardea.Part) bool {
	return len(p.Access) > 0 && !slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return !a.Redirect })
}

// access is why an access is more than free reading.
func (c *call) access(p *cardea.Part, a *cardea.Access) string {
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

// program is why the program itself is not trusted to be the one that is known.
func (c *call) program(p *cardea.Part) string {
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

// configured is why a part is not trusted with one of its Configs.
func (c *call) configured(p *cardea.Part, name string) string {
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

// onlyMoved reports whether a part that counts as elevated runs as nobody else,
// but in another folder: env -C is its only wrapper. To read there is to read.
func onlyMoved(p *cardea.Part) bool {
	return len(p.Wrappers) > 0 && !slices.ContainsFunc(p.Wrappers, func(w string) bool { return !knowledge.ChangesEnvironment(w) })
}
