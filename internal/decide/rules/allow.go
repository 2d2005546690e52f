package rules

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/pathglob"
)

// This file is how a rule that allows reads a part: strictly. What the rule
// does not mention is not allowed.

// grant is what the conditions on the way to an alternative add up to.
type grant struct {
	// flags are the options that may be given.
	flags []string
	// after is how many words of the part belong to the command.
	after int
	// wrappers is set where the command names the wrappers, too.
	wrappers bool
	// redirects is set where accesses are named precisely enough to include
	// what the shell, or a wrapper, itself writes.
	redirects bool
	// exact is set where operands or the text are named, stdin is what is said about
	// what the part reads.
	exact bool
	stdin string
}

// allows reports whether the rule allows part i. It does not if
//
//   - the message has faults, the call asks to run outside of the harness's
//     sandbox, or there is an opaque spot in the part or in the call;
//   - it is not known what the part starts (partial coverage);
//   - a variable is set for it that is not known to be harmless;
//   - a word before "--" may turn into options nobody has seen;
//   - an option is given that flags does not list by its exact name;
//   - who runs it or where is changed, and command does not begin with
//     exactly the wrappers that do so;
//   - the shell, or a wrapper in front of it (time -o, flock), writes a file
//     for it, unless the rule names path and access and they hold for that
//     file;
//   - the program is started by a path, and command does not name that path
//     (the system's own folders aside);
//   - args are given and one operand does not match;
//   - the line gives the part something to read, and stdin says "none", or nothing while
//     args or pattern are given and the part may do more with it than read it;
//   - path, access or host are given and do not hold on every access;
//   - pattern does not match the whole text, or field has several values.
func (c *call) allows(i int) bool {
	p := &c.ev.Call.Parts[i]
	if len(c.ev.Faults)+len(c.ev.Call.Opaque)+len(p.Opaque) > 0 || c.ev.Call.Unsandboxed ||
		p.Coverage != cardea.Complete || !plain(p) {
		return false
	}
	return c.permits(&c.rule.Match, p, grant{after: 1})
}

// plain reports whether the part's words and variables are what they seem.
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
			return true // the rest are operands for certain
		case !w.Static && (w.MayBeOption || dash || w.MaySplit && strings.ContainsAny(w.Text, "$`{")),
			dash && len(w.Text) > 1 && !slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return o.Word == k }):
			return false
		}
	}
	return true
}

// permits reports whether every condition of a match holds on the part, and
// the part is nothing but what they name.
func (c *call) permits(m *Match, p *cardea.Part, g grant) bool {
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

// suffices reports whether the grant covers the part's options, wrappers and
// redirections.
func (g grant) suffices(p *cardea.Part) bool {
	if (p.Elevated || p.Remote) && !g.wrappers || slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return !g.lists(&o, p) }) {
		return false
	}
	return g.redirects || !slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.NeedsSeparatePermission() })
}

// minds reports whether the grant is for the part only where the line gives it nothing to
// read.
func (g grant) minds(p *cardea.Part) bool {
	return g.stdin == stdinNone || g.stdin == "" && g.exact && doesMore(p)
}

// lists reports whether an option is among the flags, by name or as the whole
// word that it stands in.
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

// begins reports whether the part is one of the commands, word by word, how
// many words that takes, and whether the command names the part's wrappers.
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

// startsProgram reports whether a word starts the program that a rule names.
// A name is looked up by the shell; a path is only what the rule says itself,
// or the same name in a folder of the system.
func startsProgram(name string, w cardea.Word) bool {
	return w.Static && (w.Text == name || !strings.Contains(name, "/") && (w.Text == "/bin/"+name || w.Text == "/usr/bin/"+name))
}

// everyArg reports whether there are operands after the command, and each is
// certain and matches one of the expressions.
func (c *call) everyArg(args []string, p *cardea.Part, after int) bool {
	for k := after; k < words(p); k++ {
		if text, static := word(p, k); !static || !slices.ContainsFunc(args, func(a string) bool { return c.matches(a, text) }) {
			return false
		}
	}
	return words(p) > after
}

// everyAccess reports whether there are accesses, and path, access and host
// hold on each of them.
func (c *call) everyAccess(m *Match, p *cardea.Part) bool {
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

// accessIs reports whether one access is what the match names. A kind of
// access that nothing is said about is none of it.
func (c *call) accessIs(m *Match, p *cardea.Part, a *cardea.Access) bool {
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

func (c *call) covered(m *Match, a *cardea.Access) bool {
	pl := c.at()
	for k := range m.Paths {
		if c.globsOf(m).at(c, k).Covers(a, pl) {
			return true
		}
	}
	return false
}

// coveredBy reports whether globs name all that an access touches.
func (c *call) coveredBy(globs []string, a *cardea.Access) bool {
	pl := c.at()
	return slices.ContainsFunc(globs, func(text string) bool {
		return kept(&c.unless, text, func() *pathglob.Glob { return pl.Glob(text) }).Covers(a, pl)
	})
}

// fieldIs reports whether the field has exactly one value and the pattern, if
// there is one, matches the whole of it.
func (c *call) fieldIs(m *Match) bool {
	vals := fieldValues(c.ev.Call, m.Field, true)
	if len(vals) != 1 || len(c.ev.Call.Shadowed) > 0 {
		return false
	}
	return m.Pattern == "" || c.matches(whole(m.Pattern), valueText(vals[0]))
}
