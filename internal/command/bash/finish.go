package bash

import (
	"slices"

	"cardea.dev"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
)

// finish returns the analysis of the line. Effects of the line as a whole may make the
// knowledge of its parts uncertain.
func (w *recorder) finish() Analysis {
	out := w.out
	for _, u := range w.unseen {
		for i := range out.Parts {
			if i != u.part && (createsUnusualName(out.Parts[i]) || knowledge.MayMakeLinks(&out.Parts[i])) {
				u.mark(&out.Parts[u.part], u.ifMade)
				break
			}
		}
	}
	foundNamesDoubtful := w.usesFoundNames && slices.ContainsFunc(out.Parts, createsUnusualName)
	for i, p := range out.Parts {
		for _, s := range w.late {
			if s.from <= i && i < s.to {
				p.Opaque = append(slices.Clone(p.Opaque), cardea.Opaque{Code: s.why.Code, Text: unknown.Shorten(p.Text), Reason: s.why.Reason})
				p.NoEffect, p.Coverage = false, cardea.Partial
			}
		}
		if p.Knowledge == cardea.Complete && foundNamesDoubtful && slices.ContainsFunc(p.Argv, func(f cardea.Word) bool { return !f.Static }) {
			p.Knowledge, p.Doubt = cardea.Partial, "the line makes files, whose names may be found"
		}
		doubt := ""
		switch {
		case w.outsideCode:
			doubt = "the shell evaluates a variable, which comes from outside of the line"
		case w.shows != "":
			doubt = "the line may show " + w.shows + ", which comes from outside of it"
		case w.expands && len(p.Argv) > 0:
			p.Configs = append(slices.Clone(p.Configs), knowledge.ProjectEnvironment)
		}
		if doubt != "" && p.Knowledge == cardea.Complete {
			p.Knowledge, p.Doubt = cardea.Partial, doubt
		}
		for _, bin := range w.fronts {
			p.Configs = append(slices.Clone(p.Configs), knowledge.ProgramsOf+bin)
		}
		// An error of zsh may show the words of a part without effect.
		switch tells := func() bool { return w.cur.Traced || errorsMayShow(&p) }; {
		case !p.NoEffect:
		case w.outsideCode, w.shows != "" && tells():
			p.NoEffect = false
		case w.expands && len(p.Argv) > 0 && tells():
			p.NoEffect, p.Knowledge = false, cardea.Complete
		}
		out.Parts[i] = p
	}
	w.definedCommands(out.Parts)
	return out
}
