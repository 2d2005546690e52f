package gate

import (
	"context"
	"slices"
	"strings"

	"cardea.dev"
)

// worktrees is where Claude Code puts the worktrees of a project.
const worktrees = "/.claude/worktrees/"

// inWorktrees is a decider for which a file in a worktree of the project is also the file
// of that name in the project: what denies "tests/**" there holds in each worktree. It
// hears what denies or asks about the second name, and nothing else.
type inWorktrees struct{ cardea.Decider }

// Decide gives the decider's opinions about both names, those about the second without
// what was said about the first.
func (d inWorktrees) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	out, err := d.Decider.Decide(ctx, ev)
	in := inProject(ev)
	if in == nil || err != nil {
		return out, err
	}
	more, err := d.Decider.Decide(ctx, in)
	said := len(out)
	for _, o := range more {
		if o.Effect >= cardea.Ask && !o.Overrides && !slices.ContainsFunc(out[:said], func(x cardea.Opinion) bool {
			return x.Rule == o.Rule && x.Source == o.Source && x.Part == o.Part && x.Effect == o.Effect
		}) {
			out = append(out, o)
		}
	}
	return out, err
}

// inProject is the event with the files of worktrees under their names in the project,
// nil where it is about none.
func inProject(ev *cardea.Event) *cardea.Event {
	if ev.Call == nil || ev.Project == "" {
		return nil
	}
	base := strings.TrimSuffix(ev.Project, "/")
	all := base + worktrees
	named := func(path string) string {
		if rest, in := strings.CutPrefix(path, all); in {
			if _, below, _ := strings.Cut(rest, "/"); below != "" { // else it is the worktree itself
				return base + "/" + below
			}
		}
		return path
	}
	var parts []cardea.Part
	for i := range ev.Call.Parts {
		for k := range ev.Call.Parts[i].Access {
			a := ev.Call.Parts[i].Access[k]
			path, spelled, pattern := named(a.Path), named(a.Spelled), named(a.Pattern)
			if path == a.Path && spelled == a.Spelled && pattern == a.Pattern {
				continue
			}
			if parts == nil {
				parts = slices.Clone(ev.Call.Parts)
				for n := range parts {
					parts[n].Access = slices.Clone(parts[n].Access)
				}
			}
			if a.Glob && path == a.Path { // a pattern directly in the worktree
				path = base
			}
			at := &parts[i].Access[k]
			at.Path, at.Spelled, at.Pattern, at.Files = path, spelled, pattern, nil
		}
	}
	if parts == nil {
		return nil
	}
	call := *ev.Call
	call.Parts = parts
	return ev.WithCall(&call)
}
