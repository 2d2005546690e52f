package knowledge

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/knowledge/files"
	"cardea.dev/internal/knowledge/form"
)

// This file is about commands of git that put other files in place of those of the work:
// what they write is in a revision, and not on the line.

// trees adds the settings for agents that a command of git may replace or take away: those
// that differ between the last commit and a revision, and where that is not known, those
// that are there.
func (r *reader) trees(p *possibility) {
	if !r.seesRepository() {
		return
	}
	at := r.behindCommand()
	command, words := r.out.Command[1], r.argv[at:]
	if len(words) > 0 && slices.Contains(r.words(form.MovesToRevision), command+" "+words[0].Text) {
		command, at = command+" "+words[0].Text, at+1
	}
	top := r.topLevel()
	switch {
	case slices.Contains(r.words(form.MovesToRevision), command) && r.world.Differs != nil:
		if !r.moves(p, command, at, top) {
			r.matching(p, cardea.Unknown, top, []pathspec{{pattern: top}}, nil, files.SaysAgents)
		}
	case slices.Contains(r.words(form.TakesAway), command) && !slices.Contains(r.words(form.TakesAwayUnless), (append(words, Word{}))[0].Text):
		specs, except := r.pathspecs(words, top, true)
		all := r.has([]string{"-u", "-a", "--include-untracked", "--all"})
		if all && len(specs) == 0 || len(words) > 0 && words[0].Text == "save" { // it takes a message
			specs, except = []pathspec{{pattern: top}}, nil
		}
		r.matching(p, cardea.Unknown, top, specs, except, files.SaysAgents)
	}
}

// moves adds the settings for agents that differ in the revisions which the words from one
// on name, and reports whether they are known.
func (r *reader) moves(p *possibility, command string, from int, top string) bool {
	known, revisions := true, []string(nil)
	for _, i := range r.operands {
		f := r.argv[i]
		switch before := r.argv[i-1].Text; {
		case i < from || len(before) == 2 && before[0] == '-' && strings.Contains("mFsXSbBcCx", before[1:]):
		case slices.ContainsFunc(r.argv[from:i], func(f Word) bool { return f.Text == "--" }):
		case !f.Static:
			known = false
		default:
			revisions = append(revisions, f.Text)
		}
	}
	def := map[string]string{"pull": "@{upstream}", "merge": "@{upstream}", "rebase": "@{upstream}", "stash pop": "stash@{0}", "stash apply": "stash@{0}", "stash branch": "stash@{0}"}[command]
	switch {
	case command == "worktree add" && len(revisions) > 0:
		top, revisions = Absolute(r.paths.Dir, revisions[0]), revisions[1:]
	case command == "pull" && r.pullsLocal(top):
		return false
	case command == "pull" && len(revisions) > 1 && !strings.ContainsAny(revisions[0], "./~:"):
		revisions = []string{revisions[0] + "/" + revisions[1]}
	case command == "stash branch" && len(revisions) > 0:
		revisions = revisions[1:]
	case command == "reset" && !r.has([]string{"--hard", "--keep", "--merge"}):
		return true
	}
	if len(revisions) == 0 && known && def != "" {
		revisions = []string{def}
	}
	for _, text := range revisions {
		for _, revision := range strings.Split(strings.ReplaceAll(text, "...", ".."), "..") {
			names, err := r.world.Differs(r.paths.Dir, cmp.Or(map[string]string{"-": "@{-1}"}[revision], revision, "HEAD"))
			for _, name := range names {
				if file := path.Join(top, name); files.SaysAgents(file) {
					p.touch(cardea.Unknown, file)
				}
			}
			file := r.world.IsNew != nil && !r.world.IsNew(Absolute(r.paths.Dir, revision))
			known = known && (err == nil || file && errors.Is(err, ErrNoRevision))
		}
	}
	return known && !(r.inv.FilesChanged && len(revisions) > 0)
}

// pullsLocal reports whether the repository has another one of this machine for a remote:
// what it holds now is not known.
func (r *reader) pullsLocal(top string) bool {
	if r.world.ReadFile == nil {
		return true
	}
	text, err := r.world.ReadFile(top+"/.git/config", 1<<20)
	return err != nil || lazyRegexp(`(?i)url\s*=\s*"?(?:[./~]|file:)|include|insteadof`).MatchString(string(text))
}
