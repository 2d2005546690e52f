package call

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// This file finds work that multiplies without end. One form is an endless loop that starts work in
// the background and waits for nothing. Another is a program that starts any number of others for
// endless input. The third is code that calls itself more than once or in the background. It
// ignores calls under a condition, since normal recursion ends by one.

// multiplies adds the flows "multiplies".
func (f *flowFinder) multiplies() {
	for _, r := range f.line.Endless {
		f.startsInLoop(r)
	}
	for _, p := range f.line.Pipes {
		for to := p.To[0]; to < p.To[1] && to < len(f.parts); to++ {
			dst := &f.parts[to]
			atOnce := startsAtOnce(dst.Argv) || slices.ContainsFunc(dst.Outer, func(o cardea.Outer) bool { return startsAtOnce(o.Argv) })
			if (atOnce || slices.ContainsFunc(dst.Wrappers, knowledge.StartsOnInput) && f.startsMore(to, len(f.parts[p.From[0]].Via))) && f.line.PrintsEndlessly(p.From) {
				f.add("multiplies", to, to)
			}
		}
	}
	calls := map[int]int{} // by the beginning of the called code
	for _, r := range f.line.SelfCalls {
		at := r.To - 1
		if at >= len(f.parts) || f.ends(r) {
			continue
		}
		// A final call of itself is an endless loop.
		f.startsInLoop(r)
		if calls[r.From]++; calls[r.From] > 1 || f.inProcess(at, r.Depth) {
			f.add("multiplies", at, at)
		}
	}
}

// startsInLoop finds work in an endless loop that continues while the loop does.
func (f *flowFinder) startsInLoop(r bash.Again) {
	from, to := max(r.From, r.To-bash.MaxScan), min(r.To, len(f.parts))
	first := -1
	for i := from; i < to; i++ {
		p := &f.parts[i]
		switch name := commandName(p); {
		case !f.startsMore(i, r.Depth):
			if knowledge.Has(form.Leaves, name) || knowledge.Has(form.Waits, name) && !shortPause(p) {
				return
			}
		case first < 0:
			first = i
		}
	}
	if first >= 0 {
		f.add("multiplies", first, first)
	}
}

// startsMore reports whether a part continues while the next parts run.
func (f *flowFinder) startsMore(at, depth int) bool {
	return stepsInto(&f.parts[at], depth, "&", "coproc", "<( )", ">( )") || detaches(&f.parts[at])
}

// ends reports whether there is a condition between the beginning of a function or a script and the
// place where it calls itself.
func (f *flowFinder) ends(r bash.Again) bool {
	for _, c := range f.line.Conditional {
		if c[0] < r.From {
			continue
		}
		if c[0] < r.To && r.To <= c[1] {
			return true
		}
		for i := c[0]; i < min(c[1], r.To); i++ {
			if knowledge.Has(form.Leaves, commandName(&f.parts[i])) {
				return true
			}
		}
	}
	return false
}

// inProcess reports whether a part runs in a process of its own within a construct.
func (f *flowFinder) inProcess(at, depth int) bool {
	return stepsInto(&f.parts[at], depth, "&", "|", "|&", "coproc", "( )", "$( )", "` `", "<( )", ">( )") || slices.ContainsFunc(f.line.Pipes, func(x bash.Pipe) bool { return x.From[0] <= at && at < x.From[1] })
}

// stepsInto reports whether one of some constructs is around a part within another construct.
func stepsInto(p *cardea.Part, depth int, constructs ...string) bool {
	return slices.ContainsFunc(p.Via[min(depth, len(p.Via)):], func(via string) bool { return slices.Contains(constructs, via) })
}

// commandName returns the name of a part's program or builtin.
func commandName(p *cardea.Part) string {
	if name := p.Program(); name != "" || len(p.Argv) == 0 {
		return name
	}
	return p.Argv[0].Text
}

// shortPause reports whether a part is a pause of less than a second.
func shortPause(p *cardea.Part) bool {
	return len(p.Argv) == 2 && p.Argv[1].Static && (strings.HasPrefix(p.Argv[1].Text, "0") || strings.HasPrefix(p.Argv[1].Text, "."))
}

// detaches reports whether a program starts work and ends before it.
func detaches(p *cardea.Part) bool {
	return knowledge.HasWith(form.Detaches, p.Program(), func(option string) bool { return knowledge.HasOption(p, option) }) ||
		slices.ContainsFunc(p.Outer, func(o cardea.Outer) bool {
			return len(o.Argv) > 0 && knowledge.HasWith(form.Detaches, o.Argv[0].Text, func(option string) bool {
				return slices.ContainsFunc(o.Argv, func(w cardea.Word) bool { return w.Text == option })
			})
		})
}

// startsAtOnce reports whether a program starts as many concurrent commands as it has input.
func startsAtOnce(argv []cardea.Word) bool {
	if len(argv) == 0 {
		return false
	}
	options, _ := knowledge.WordsOf(form.StartsAtOnceWith, argv[0].Text)
	for i, w := range argv {
		for _, option := range options {
			value, joined := strings.CutPrefix(w.Text, option)
			if w.Text == option && i+1 < len(argv) {
				value = argv[i+1].Text
			}
			if joined && strings.Trim(value, "=0") == "" && strings.HasSuffix(value, "0") {
				return true
			}
		}
	}
	return false
}
