package gate

import (
	"context"
	"slices"
	"strings"

	"cardea.dev"
)

// inWorktrees wraps a decider. It also shows it each file of a project's Claude Code
// worktree under the file's name in the project: a deny of "tests/**" then applies in each
// worktree. Only denies and asks about the second name are used.
type inWorktrees struct{ cardea.Decider }

// Decide returns the decider's opinions about both names.
func (d inWorktrees) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	out, err := d.Decider.Decide(ctx, ev)
	in := inProject(ev)
	if in == nil || err != nil {
		return out, err
	}
	more, err := d.Decider.Decide(ctx, in)
	return append(out, slices.DeleteFunc(more, func(o cardea.Opinion) bool { return o.Effect < cardea.Ask || o.Overrides })...), err
}

// WatchesFiles reports whether the wrapped decider watches files.
func (d inWorktrees) WatchesFiles() bool {
	w, ok := d.Decider.(cardea.Watcher)
	return ok && w.WatchesFiles()
}

// inProject returns the event with files of worktrees under their names in the project, or
// nil if it touches no worktree.
func inProject(ev *cardea.Event) *cardea.Event {
	if ev.Call == nil || ev.Project == "" {
		return nil
	}
	base := strings.TrimSuffix(ev.Project, "/")
	all := base + "/.claude/worktrees/"
	below := func(path string) (rest string) {
		if in, ok := strings.CutPrefix(path, all); ok {
			_, rest, _ = strings.Cut(in, "/")
		}
		return rest
	}
	in := func(a cardea.Access) bool { return below(a.Path)+below(a.Spelled)+below(a.Pattern) != "" }
	if !slices.ContainsFunc(ev.Call.Parts, func(p cardea.Part) bool { return slices.ContainsFunc(p.Access, in) }) {
		return nil
	}
	call := *ev.Call
	call.Parts = slices.Clone(call.Parts)
	for i := range call.Parts {
		p := &call.Parts[i]
		p.Access = slices.Clone(p.Access)
		for k := range p.Access {
			a := &p.Access[k]
			if !in(*a) {
				continue
			}
			if a.Files = nil; a.Glob && below(a.Path) == "" { // a pattern directly in the worktree
				a.Path = base
			}
			for _, path := range []*string{&a.Path, &a.Spelled, &a.Pattern} {
				if rest := below(*path); rest != "" {
					*path = base + "/" + rest
				}
			}
		}
	}
	return ev.With(func(e *cardea.Event) { e.Call = &call })
}
