package bash

import (
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
)

// Analyse returns the analysis of a command line. It never fails: what it cannot analyze
// is opaque. A text without any command yields no part. Other text without a part yields
// one opaque part.
func Analyse(text string, env Env) Analysis {
	out, first := analyse(text, env, creations{})
	if out.beyondLimit() || env.depth == 0 && out.misread {
		out.lookBeyond(text, env)
		return out
	}
	if first.matters() {
		looks, all := first.looks()
		for _, links := range looks {
			seen := env
			seen.Resolve = over(links, env.Resolve)
			again, _ := analyse(text, seen, first)
			out.join(again, text, all)
		}
	}
	return out
}

// walker is the whole interpreter: it walks the syntax tree in the order in which bash runs it.
type walker struct{ *statements }

// newWalker returns the interpreter of a line. created holds what an earlier pass found
// that the line creates.
func newWalker(env Env, created creations) *walker {
	var all struct { // in one piece of memory
		line
		words
		recorder
		redirections
		commands
		statements
		walker
	}
	all.words.line, all.recorder.words, all.redirections.recorder = &all.line, &all.words, &all.recorder
	all.commands.redirections, all.statements.commands, all.walker.statements = &all.redirections, &all.commands, &all.statements
	all.line = line{up: &all.walker, env: env, cur: shell.New(env.Cwd, env.Home, env.Name), begun: map[*shell.Function]running{},
		files: lineFiles{created: created, visited: []string{env.Cwd}, entered: env.likely, creates: creations{
			inside: map[string][]string{}, beside: map[string][]string{}, folders: map[string]int{}}}}
	return &all.walker
}

// analyse makes one pass over a line, given what an earlier pass found that it creates.
// It returns what this pass found.
func analyse(text string, env Env, created creations) (Analysis, creations) {
	w := newWalker(env, created)
	w.whole = text
	switch {
	case strings.Trim(text, " \t\n") == "":
		return Analysis{}, creations{}
	case !grammar.Limit(text).None():
		w.unknown(grammar.Limit(text), text)
	default:
		w.script(text)
		w.uncalled()
		w.lateFolders()
	}
	w.files.creates.note(w.out.Parts)
	out := w.finish()
	switch {
	case len(out.Parts) > 0:
	case w.onlyComments && len(out.Opaque) == 0:
		out.Parts = []cardea.Part{{
			ShellFacts:   cardea.ShellFacts{Text: unknown.Shorten(text), NoEffect: true, Coverage: cardea.Complete, Start: -1},
			CommandFacts: cardea.CommandFacts{Knowledge: cardea.Complete},
		}}
	default:
		spot := unknown.NoCommand.Spot(text)
		if len(out.Opaque) > 0 {
			spot = out.Opaque[0]
		}
		part := cardea.Part{
			ShellFacts:   cardea.ShellFacts{Text: unknown.Shorten(text), Opaque: []cardea.Opaque{spot}, Start: -1},
			CommandFacts: cardea.CommandFacts{Access: []cardea.Access{{Kind: cardea.Unknown}}},
		}
		if len(text) <= grammar.MaxText {
			may := knowledge.NewInput(w.paths())
			may.Text(text)
			part.MayTouch = may.Touch
		}
		out.Parts = []cardea.Part{part}
	}
	return out, w.files.creates
}
