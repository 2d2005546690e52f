package bash

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/bash/unknown"
)

// redirects handles the redirections of a command. It returns the accesses of the shell,
// and sets the input of the command.
func (w *redirections) redirects(list []*syntax.Redirect) []cardea.Access {
	var out []cardea.Access
	enclosing := w.cmd.expands
	w.cmd.expands = false // those of a program are expanded in another place
	for _, r := range list {
		before := w.cmd.stdin
		if out = append(out, w.redirect(r)...); readsFrom(r) && before.kind != inherited && !before.outer {
			w.cmd.stdin = before.and(w.cmd.stdin)
		}
	}
	w.cmd.expands = enclosing
	return out
}

// readsFrom reports whether r redirects the standard input.
func readsFrom(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.RdrIn, syntax.RdrInOut, syntax.DplIn:
		return r.N == nil || r.N.Value == "0"
	}
	return false
}

// redirect handles one redirection and returns its accesses. It returns nil if no file
// is opened.
func (w *redirections) redirect(r *syntax.Redirect) []cardea.Access {
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		name := strings.Trim(r.N.Value, "{}")
		if !texts.PlainName(name) {
			w.unknown(unknown.Evaluated, r.N.Value)
		}
		w.set(name, shell.Join(w.cur.Vars.Get(name), shell.SomeNumber)) // a program's one is set in another place
	}
	stdin := r.N == nil || r.N.Value == "0"
	if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc || r.Op == syntax.WordHdoc {
		before := len(w.cmd.pending)
		in := w.hereText(r)
		for i := before; i < len(w.cmd.pending) && r.Op == syntax.WordHdoc; i++ {
			w.cmd.pending[i].variable = false // it is the input of the command
			in.from = w.cmd.pending[i].at
		}
		if stdin {
			w.cmd.stdin = in
		} else {
			w.fed += in.text + in.may
		}
		return nil
	}
	defer w.followDescriptor(r, stdin)
	duplicates := r.Op == syntax.DplIn || r.Op == syntax.DplOut
	if duplicates && r.Word != nil && w.lookup(variableAlone(w.source(r.Word))).Has(shell.Numeric) { // {name}> has set it
		if stdin && r.Op == syntax.DplIn {
			w.cmd.stdin = standardInput{kind: elsewhere}
		}
		return nil
	}
	w.cmd.appends = w.cmd.appends || appends(r)
	word, ok := w.target(r.Word)
	if r.Op == syntax.DplOut && (!ok || strings.Trim(word.Text, texts.WordBytes+"/") != "") { // a second expansion may change it
		w.unknown(unknown.TargetTwice, w.source(r))
	}
	read := r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut || r.Op == syntax.DplIn
	if read && stdin {
		w.cmd.stdin = standardInput{kind: elsewhere}
	}
	if duplicates && ok && isDescriptor(word.Text) {
		return nil
	}
	if read {
		w.comesFrom(r, word, ok, stdin)
	}
	return w.opened(r, word, ok, read, !read || r.Op == syntax.RdrInOut)
}

// hereText returns the input that a here-document or a here-string gives.
func (w *redirections) hereText(r *syntax.Redirect) standardInput {
	if r.Op == syntax.WordHdoc {
		if v := w.assigned(r.Word); v.Known() {
			return standardInput{kind: literal, text: v.Text + "\n"}
		} else if len(v.May) > 0 {
			return standardInput{kind: elsewhere, may: strings.Join(v.May, "\n"), unseen: true}
		}
		return standardInput{kind: elsewhere, may: texts.Unquoted(w.source(r.Word)), unseen: true}
	}
	text, ok := grammar.HereText(r)
	var may []string
	if r.Hdoc != nil && !grammar.QuotedDelimiter(r.Word) {
		may = w.mayJoin(w.quotedParts(r.Hdoc.Parts))
	}
	if ok {
		exact := r.Op == syntax.Hdoc && (grammar.QuotedDelimiter(r.Word) || !strings.Contains(text, `\`))
		return standardInput{kind: literal, text: text, document: exact}
	}
	return standardInput{kind: elsewhere, may: grammar.HereBody(w.src, r) + "\n" + strings.Join(may, "\n"), unseen: true}
}

// comesFrom records the input of a redirection, as far as the line shows it.
func (w *redirections) comesFrom(r *syntax.Redirect, word field, ok, stdin bool) {
	text := ""
	if n := len(w.cmd.pending); grammar.IsProcSubst(r.Word) && n > 0 {
		text = w.printedFrom(w.cmd.pending[n-1].at[0])
		if stdin {
			w.cmd.stdin.names = w.namesFrom(w.cmd.pending[n-1].at[0])
		}
	} else if ok {
		text = w.writtenText(word.Text)
	}
	if stdin {
		w.cmd.stdin.may = text
	} else {
		w.fed += text
	}
}

// appends reports whether a redirection keeps the content of the file.
func appends(r *syntax.Redirect) bool { return r.Op == syntax.AppOut || r.Op == syntax.AppAll }

// opened returns the accesses of a redirection to or from a target.
func (w *redirections) opened(r *syntax.Redirect, word field, ok, read, write bool) []cardea.Access {
	target := word.Text
	if !ok && grammar.IsProcSubst(r.Word) {
		return nil // a pipe to a command, which is a separate part
	}
	if ok {
		if harmlessDevice(target) && !(write && paths.IsDescriptor(target) && !isOutput(target)) {
			return nil
		}
		if net := bashNetwork.FindStringSubmatch(target); net != nil {
			return []cardea.Access{{Kind: cardea.Network, Host: strings.ToLower(net[1]), Redirect: true}}
		}
	} else {
		w.unknown(unknown.RedirectionTarget, w.source(r))
	}
	var out []cardea.Access
	if read {
		out = append(out, w.redirected(cardea.Read, word, ok)...)
	}
	if write {
		out = append(out, w.redirected(cardea.Write, word, ok)...)
	}
	return out
}

// redirected returns the accesses to a target. A pattern stands for the one file that
// matches, or for itself: the access has the pattern, and its path is unknown.
func (w *redirections) redirected(kind cardea.AccessKind, word field, ok bool) []cardea.Access {
	if ok {
		return w.paths().Open(kind, word.Text, true)
	}
	out := []cardea.Access{{Kind: kind, Redirect: true}}
	if word.Glob {
		for _, a := range w.paths().OpenWord(kind, word) {
			if a.Redirect = true; a.Path != "" || a.Spelled != "" {
				out = append(out, a)
			}
		}
	}
	for _, p := range w.likelyPaths(word) {
		a := cardea.Access{Kind: kind, Redirect: true, Spelled: p.Path, Glob: p.Pattern != "", Pattern: p.Pattern}
		out = append(out, a)
		for _, leads := range w.paths().Open(kind, p.Path, true) {
			if a.Spelled = leads.Path; p.Pattern == "" && a.Spelled != p.Path && a.Spelled != "" {
				out = append(out, a)
			}
		}
	}
	for _, p := range w.lyingThere(word) {
		if w.paths().SaysHidden(p.Pattern, w.env.Roots) {
			out = append(out, cardea.Access{Kind: kind, Redirect: true, Glob: true, Pattern: p.Pattern, Search: true})
		}
	}
	return out
}

// harmlessDevice reports whether p is a device that stores nothing, or the name of a
// descriptor that the shell has open anyway.
func harmlessDevice(p string) bool {
	return p == "/dev/null" || p == "/dev/zero" || strings.HasPrefix(p, "/dev/") && paths.IsDescriptor(p)
}

// isOutput reports whether p names the normal output of a program. Any other descriptor
// may be a file opened for reading, which would be opened again for writing.
func isOutput(p string) bool {
	return p == "/dev/stdout" || p == "/dev/stderr" || p == "/dev/fd/1" || p == "/dev/fd/2"
}

// target expands the word of a redirection, and reports whether it is known. A word that
// becomes none or several is an error in bash and unknown here.
func (w *redirections) target(word *syntax.Word) (field, bool) {
	if word == nil {
		return field{}, false
	}
	fs := w.fields(word)
	if len(fs) != 1 {
		return field{}, false
	}
	return fs[0], fs[0].Static
}

func isDescriptor(s string) bool {
	return strings.Trim(strings.TrimSuffix(s, "-"), "0123456789") == ""
}

// bashNetwork matches /dev/tcp/host/port, which bash opens by itself.
var bashNetwork = regexp.MustCompile(`^/dev/(?:tcp|udp)/([^/]*)`)

// mayFail reports whether a redirection can fail, so that its command does not run in
// this shell.
func (w *redirections) mayFail(list []*syntax.Redirect) bool {
	for _, r := range list {
		text, own := "", ""
		if r.N != nil {
			own = r.N.Value // beyond a limit there are no descriptors
		}
		if r.Word != nil {
			text = r.Word.Lit()
		}
		switch {
		case len(own) < 2 && (r.Hdoc != nil || r.Op == syntax.WordHdoc || text == "/dev/null"):
		case (r.Op == syntax.DplOut || r.Op == syntax.DplIn) && (text == "0" || text == "1" || text == "2") && len(own) < 2 && !w.cur.Closes:
		default:
			return true
		}
	}
	return false
}

// redirectOnly handles redirections without a simple command. They form a part of their own.
func (w *redirections) redirectOnly(st *syntax.Stmt) []cardea.Access {
	var spots []cardea.Opaque
	saved := w.cmd.spots
	w.cmd.spots = &spots
	access := w.redirects(st.Redirs)
	w.cmd.spots = saved
	if len(access) == 0 && len(spots) == 0 {
		return nil
	}
	var text []string
	for _, r := range st.Redirs {
		if r.Hdoc == nil {
			text = append(text, w.source(r))
		}
	}
	w.emit(cardea.Part{
		ShellFacts:   cardea.ShellFacts{Text: strings.Join(text, " "), Opaque: spots, Start: w.offset(st.Redirs[0])},
		CommandFacts: cardea.CommandFacts{Access: access},
	})
	if st.Cmd == nil && !w.used.overLimit {
		w.notePrinted(nil)
	}
	return access
}
