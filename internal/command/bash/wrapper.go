package bash

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
)

// unread adds a part for a wrapper whose options could not be read. It returns false if
// they could.
func (w *commands) unread(p parsed, inv invocation) bool {
	if p.bad == "" {
		return false
	}
	w.unknown(unknown.WrapperOption, p.bad)
	w.emitProgram(inv)
	return true
}

// plainWrapper handles every wrapper that a table describes.
func (w *commands) plainWrapper(s *wrapper, inv invocation) {
	p := s.parse(inv.argv[1:])
	name := path.Base(inv.argv[0].Text)
	if w.unread(p, inv) {
		return
	}
	w.opaqueOptions(s, p)
	doubted := w.doubts(p)
	if s.ItselfToo || doubted || len(p.rest) == 0 {
		outer := inv
		outer.elevated = outer.elevated || s.Elevated && len(p.rest) == 0
		w.emitProgram(outer)
		if len(p.rest) == 0 {
			return
		}
		inv.access = nil
		if doubted {
			w.cmd.spots = &[]cardea.Opaque{} // one report is enough
		}
	}
	inv = inv.behind(name, p.rest)
	inv.elevated = inv.elevated || s.Elevated
	if s.Remote && s.JoinsWords && len(p.before) > 0 && knowledge.IsLoopback(p.before[0].Text) {
		defer func(cwd string) { w.cur.Folder = cwd }(w.cur.Folder)
		w.cur.Folder = w.env.Home // this machine
	} else {
		inv.remote = inv.remote || s.Remote
	}
	if s.Assignments {
		inv.assign(p.before)
	}
	inv.access = slices.Concat(inv.access, w.optionAccesses(s, p))
	if s.JoinsWords {
		w.joinedScript(name, inv)
		return
	}
	w.up.start(inv)
}

// optionAccesses returns the accesses to the values of options.
func (w *commands) optionAccesses(s *wrapper, p parsed) (out []cardea.Access) {
	for _, o := range p.options {
		for _, a := range s.OptionAccesses {
			if a.Name == o.name {
				out = append(out, w.paths().Open(a.Access, o.value, false)...)
			}
		}
	}
	return out
}

// doubts adds a spot if another command may begin than the apparent one, and reports it.
// The apparent command is analyzed as well.
func (w *commands) doubts(p parsed) bool {
	if p.doubt == "" {
		return false
	}
	w.unknown(unknown.WrapperOptionOutside, p.doubt)
	return true
}

// opaqueOptions adds a spot for each option with which a wrapper starts something that
// the analysis cannot see.
func (w *commands) opaqueOptions(s *wrapper, p parsed) {
	for _, o := range s.OpaqueOptions {
		if _, given := p.option(o); given {
			w.unknown(unknown.WrapperConfig, o)
		}
	}
	for _, o := range s.OpaqueOptionValues {
		value, _ := p.option(o.Name)
		value = strings.ToLower(strings.TrimSpace(value))
		if slices.ContainsFunc(o.Values, func(begin string) bool { return strings.HasPrefix(value, begin) }) {
			w.unknown(unknown.WrapperOptionRuns, o.Name)
		}
	}
}

// joinedScript handles wrappers that join their words and pass them to a shell.
func (w *commands) joinedScript(name string, inv invocation) {
	if text, ok := w.joinedText(inv.argv, unknown.JoinedText); ok {
		w.childShell(name, text, nil, inv)
	} else {
		w.emitProgram(inv)
	}
}

// joinedText returns the text that words form together. For an unknown word it records
// why and returns false.
func (w *commands) joinedText(words []field, why unknown.Reason) (string, bool) {
	var text []string
	for _, f := range words {
		if !f.Static {
			w.unknown(why, f.Text)
			return "", false
		}
		text = append(text, f.Text)
	}
	return strings.Join(text, " "), true
}
