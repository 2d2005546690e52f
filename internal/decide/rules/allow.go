package rules

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/pathglob"
)

// This file has the strict reading of parts, for rules that allow. They allow nothing that
// they do not mention.

// grant collects the conditions on the way to an alternative.
type grant struct {
	// flags are the permitted options.
	flags []string
	// after is the number of words of the part that belong to the command.
	after int
	// wrappers is set if the command also names the wrappers.
	wrappers bool
	// redirects is set if the rule names accesses precisely enough to include writes by the
	// shell or a wrapper.
	redirects bool
	// exact is set if operands or the text are named. stdin is the condition on the part's
	// input.
	exact bool
	stdin string
}

// allows reports whether the rule allows part i. It does not if
//
//   - the message has defects, the call asks to run outside of the harness's sandbox, or
//     the part or the call has an opaque spot;
//   - the programs that the part starts are not all known (partial coverage);
//   - it sets a variable that is not known to be harmless;
//   - a word before "--" may expand to unknown options;
//   - it has an option whose exact name is not in flags;
//   - another user or machine runs it, and command does not begin with exactly the
//     wrappers that cause this;
//   - the shell, or a wrapper before it (time -o, flock), writes a file for it, unless
//     the rule has path and access, and they match that file;
//   - a path starts the program, and command does not name that path (except in the
//     system's own folders);
//   - the rule has args, and an operand does not match;
//   - the line gives the part input, and stdin is "none". Without stdin the same applies
//     if the rule has args or pattern, and the part may do more with its input than read
//     it;
//   - the rule has path, access or host, and one access does not match;
//   - pattern does not match the whole text, or field has several values.
func (c *evaluation) allows(i int) bool {
	p := &c.ev.Call.Parts[i]
	if len(c.ev.Faults)+len(c.ev.Call.Opaque)+len(p.Opaque) > 0 || c.ev.Call.Unsandboxed ||
		p.Coverage != cardea.Complete || !plain(p) {
		return false
	}
	return c.permits(&c.rule.Match, p, grant{after: 1})
}

// plain reports whether a part's words and variables certainly have their apparent meaning.
func plain(p *cardea.Part) bool {
	if slices.ContainsFunc(p.Assigns, func(a cardea.Assign) bool { return a.Class != cardea.EnvSafe }) {
		return false
	}
	if len(p.Argv) == 0 {
		return true
	}
	if !p.Argv[0].Static {
		return false
	}
	for k := 1; k < len(p.Argv); k++ {
		w := p.Argv[k]
		dash := strings.HasPrefix(w.Text, "-")
		switch {
		case w.Static && w.Text == "--" && !strings.HasPrefix(p.Argv[k-1].Text, "-"):
			return true // the other words are certainly operands
		case !w.Static && (w.MayBeOption || dash || w.MaySplit && strings.ContainsAny(w.Text, "$`{")),
			dash && len(w.Text) > 1 && !slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return o.Word == k }):
			return false
		}
	}
	return true
}

// permits reports whether all conditions of a match hold on the part, and the part does no
// more than they name.
func (c *evaluation) permits(m *Match, p *cardea.Part, g grant) bool {
	if m.Opaque || m.AnyProgram || m.HoldsKey || m.Redirection || m.UnlessMetadata || m.UnlessSearch || m.UnlessReads || m.Outside || m.UnknownPath || m.UnlessText != "" || len(m.Flows)+len(m.Env)+len(m.StartedBy)+len(m.Unless)+len(m.UnlessCommand)+len(m.UnlessPaths)+len(m.Own) > 0 || len(m.Roles) > 0 && !oneOf(m.Roles, c.ev.Role) {
		return false
	}
	if len(m.Command) > 0 {
		var ok bool
		if g.after, g.wrappers, ok = begins(m.Command, p); !ok {
			return false
		}
	}
	if g.exact = g.exact || len(m.Args) > 0 || m.Pattern != "" && m.Field == ""; m.Stdin != "" && g.stdin != stdinNone {
		g.stdin = m.Stdin
	}
	g.flags = append(g.flags[:len(g.flags):len(g.flags)], m.Flags...)
	if len(m.Paths)+len(m.Access)+len(m.Hosts) > 0 {
		if !c.everyAccess(m, p) {
			return false
		}
		g.redirects = g.redirects || len(m.Paths) > 0 && len(m.Access) > 0
	}
	if len(m.Args) > 0 && !c.everyArg(m.Args, p, g.after) {
		return false
	}
	if m.Field != "" {
		if !c.fieldIs(m) {
			return false
		}
	} else if m.Pattern != "" && !slices.ContainsFunc(p.Spellings(), func(text string) bool { return c.matches(whole(m.Pattern), text) }) {
		return false
	}
	if m.anyOf(func(one *Match) bool { return c.permits(one, p, g) }) {
		return true
	}
	return len(m.Any) == 0 && g.suffices(p) && (!g.minds(p) || !c.mayBeFed(p))
}

// suffices reports whether the grant covers the part's options, wrappers and redirections.
func (g grant) suffices(p *cardea.Part) bool {
	if (p.Elevated || p.Remote) && !g.wrappers || slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return !g.lists(&o, p) }) {
		return false
	}
	return g.redirects || !slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.NeedsSeparatePermission() })
}

// minds reports whether the grant requires that the line gives the part no input.
func (g grant) minds(p *cardea.Part) bool {
	return g.stdin == stdinNone || g.stdin == "" && g.exact && doesMore(p)
}

// lists reports whether an option is in flags, by name or as its whole word.
func (g grant) lists(o *cardea.Option, p *cardea.Part) bool {
	for _, f := range g.flags {
		if name, value, valued := strings.Cut(f, "="); o.Name == name && (!valued || o.Static && o.Value == value) {
			return true
		}
		if o.Word > 0 && o.Word < len(p.Argv) && p.Argv[o.Word].Static && p.Argv[o.Word].Text == f {
			return true
		}
	}
	return false
}

// begins reports whether the part begins with one of the commands, word by word. It also
// returns the number of words, and whether the command names the part's wrappers.
func begins(commands [][]string, p *cardea.Part) (after int, wrappers, ok bool) {
	outer := strings.Fields(strings.Join(p.Wrappers, " ")) // "docker run" is two words
	for _, cmd := range commands {
		if beginsWith(cmd, p) {
			return len(cmd), false, true
		}
		if n := len(outer); n > 0 && n < len(cmd) && slices.Equal(cmd[:n], outer) && beginsWith(cmd[n:], p) {
			return len(cmd) - n, true, true
		}
	}
	return 0, false, false
}

func beginsWith(cmd []string, p *cardea.Part) bool {
	if len(p.Argv) == 0 || len(cmd) > words(p) || !startsProgram(cmd[0], p.Argv[0]) {
		return false
	}
	return continues(cmd, p)
}

// startsProgram reports whether a word starts the program that a rule names. A bare name
// must be that name, or the same name in a folder of the system. A path must be the path in
// the rule.
func startsProgram(name string, w cardea.Word) bool {
	return w.Static && (w.Text == name || !strings.Contains(name, "/") && (w.Text == "/bin/"+name || w.Text == "/usr/bin/"+name))
}

// everyArg reports whether there are operands after the command, and all are known and
// match one of the expressions.
func (c *evaluation) everyArg(args []string, p *cardea.Part, after int) bool {
	for k := after; k < words(p); k++ {
		if text, static := word(p, k); !static || !slices.ContainsFunc(args, func(a string) bool { return c.matches(a, text) }) {
			return false
		}
	}
	return words(p) > after
}

// everyAccess reports whether there are accesses, and path, access and host hold on all of
// them.
func (c *evaluation) everyAccess(m *Match, p *cardea.Part) bool {
	found := false
	for k := range p.Access {
		a := &p.Access[k]
		if a.Nowhere() {
			continue
		}
		if !c.accessIs(m, p, a) {
			return false
		}
		found = true
	}
	return found
}

// accessIs reports whether a match names an access. It is false for a kind of access that
// the match does not mention.
func (c *evaluation) accessIs(m *Match, p *cardea.Part, a *cardea.Access) bool {
	named := len(m.Access) > 0
	if named && !slices.Contains(m.Access, a.Kind) {
		return false
	}
	if a.Kind == cardea.Network {
		if len(m.Hosts) > 0 {
			return a.Host != "" && hostIs(m.Hosts, a.Host)
		}
		return named
	}
	if len(m.Paths) == 0 {
		return named && a.Kind != cardea.Unknown
	}
	return !p.Remote && (named || a.Kind != cardea.Unknown) && c.covered(m, a)
}

func (c *evaluation) covered(m *Match, a *cardea.Access) bool {
	pl := c.at()
	for k := range m.Paths {
		if c.globsOf(m).at(c, k).Covers(a, pl) {
			return true
		}
	}
	return false
}

// coveredBy reports whether globs match everything that an access touches.
func (c *evaluation) coveredBy(globs []string, a *cardea.Access) bool {
	pl := c.at()
	return slices.ContainsFunc(globs, func(text string) bool {
		return cached(&c.unless, text, func() *pathglob.Glob { return pl.Glob(text) }).Covers(a, pl)
	})
}

// fieldIs reports whether the field has exactly one value and the pattern, if any, matches
// the whole value.
func (c *evaluation) fieldIs(m *Match) bool {
	vals := fieldValues(c.ev.Call, m.Field, true)
	if len(vals) != 1 || len(c.ev.Call.Shadowed) > 0 {
		return false
	}
	return m.Pattern == "" || c.matches(whole(m.Pattern), valueText(vals[0]))
}
