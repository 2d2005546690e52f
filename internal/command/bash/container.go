package bash

import (
	"path"
	"slices"
	"strings"
)

// container handles docker exec, docker run, kubectl exec and similar programs: the
// command that they start is a part, and so is the call itself.
func (w *commands) container(s *wrapper, inv invocation) {
	w.emitProgram(inv)
	name := strings.TrimSuffix(path.Base(inv.argv[0].Text), "-compose")
	words := inv.argv[1:]
	self := len(w.out.Parts) - 1
	var seen mounts
	skip := func() bool { // reads options; false if one cannot be read
		for len(words) > 0 {
			f := words[0]
			if !f.Static || f.Text == "--" || !strings.HasPrefix(f.Text, "-") {
				return f.Static
			}
			seen.option(w.cur.Folder, words)
			words = words[1:]
			if !strings.Contains(f.Text, "=") && slices.Contains(s.ValueOptions, f.Text) && len(words) > 0 {
				words = words[1:]
			}
		}
		return false
	}
	if !skip() {
		return
	}
	sub := words[0].Text
	words = words[1:]
	if (sub == "container" || sub == "compose") && skip() {
		sub, words = words[0].Text, words[1:]
	}
	if sub != "exec" && sub != "run" || !skip() {
		return
	}
	if words[0].Text != "--" {
		words = words[1:] // the container, image or pod
	}
	if s.OptionsAfterOperand {
		skip()
	}
	if len(words) > 0 && words[0].Static && words[0].Text == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	if self >= 0 && self < len(w.out.Parts) {
		p := &w.out.Parts[self]
		p.MayRun = append(p.MayRun, seen.potential(w.within(), words)...)
	}
	inv = inv.behind(name+" "+sub, words)
	inv.access, inv.elevated, inv.remote = nil, s.Elevated, s.Remote
	w.up.start(inv)
}
