package knowledge

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/command/knowledge/form"
)

// This file handles commands of git that replace files of the work tree: the contents
// come from a revision, not from the line.

// trees adds the agent settings that a command of git may replace or remove: those that differ
// between the last commit and a revision, or if that is unknown, the existing ones.
func (r *reader) trees(p *possibility) {
	if !r.seesRepository() {
		return
	}
	at := r.behindCommand()
	command, words := r.out.Command[1], r.argv[at:]
	if len(words) > 0 && Has(form.MovesToRevision, r.out.Command[0]+" "+command+" "+words[0].Text) {
		command, at = command+" "+words[0].Text, at+1
	}
	unless, takes := WordsOf(form.TakesAwayUnless, r.out.Command[0]+" "+command)
	top := r.topLevel()
	switch {
	case r.has([]string{"--abort", "--continue", "--skip", "--quit"}) && r.idle(top):
	case Has(form.MovesToRevision, r.out.Command[0]+" "+command) && r.system.Differs != nil:
		if !r.moves(p, command, at, top) {
			r.matching(p, cardea.Unknown, top, []pathspec{{pattern: top}}, nil, files.SaysAgents)
		}
	case takes && !slices.Contains(unless, (append(words, Word{}))[0].Text):
		specs, except := r.pathspecs(words, top, true)
		all := r.has([]string{"-u", "-a", "--include-untracked", "--all"})
		save := len(words) > 0 && words[0].Text == "save" // it takes a message
		if (save || len(specs) == 0) && (all || r.system.Differs != nil && r.differs(p, "", top, func(string) bool { return true }) != nil) {
			specs, except = []pathspec{{pattern: top}}, nil
		}
		r.matching(p, cardea.Unknown, top, specs, except, files.SaysAgents)
	}
}

// moves adds the agent settings that differ in the revisions named by the words after
// index from, and reports whether these are known.
func (r *reader) moves(p *possibility, command string, from int, top string) bool {
	specs, except := []pathspec{{pattern: top}}, []pathspec(nil)
	dashes := slices.IndexFunc(r.argv, func(f Word) bool { return f.Text == "--" })
	if command == "checkout" && dashes > 0 && !slices.ContainsFunc(r.argv[dashes:], func(f Word) bool { return !f.Static }) {
		specs, except = r.pathspecs(r.argv[dashes+1:], top, true)
	}
	wanted := func(name string) bool {
		named := func(s pathspec) bool { return s.matches(path.Join(top, name)) }
		return slices.ContainsFunc(specs, named) && !slices.ContainsFunc(except, named)
	}
	at, revisions, known := r.revisions(command, from, dashes, top)
	refOnly := strings.HasSuffix(command, "-ref") || command == "reset" && !r.has([]string{"--hard", "--keep", "--merge"})
	for _, text := range revisions {
		parts := []string{text}
		if command != "revert" {
			parts = strings.Split(text, "..")
		}
		for _, revision := range parts {
			revision = cmp.Or(map[string]string{"-": "@{-1}"}[revision], revision, "HEAD")
			err := r.differs(p, revision, at, wanted)
			nothing := r.system.IsNew != nil && !r.system.IsNew(Absolute(r.paths.Dir, text)) || !r.inv.FilesChanged && Has(form.NeedsRevision, r.out.Command[0]+" "+command)
			known = known && (err == nil || nothing && errors.Is(err, ErrNoRevision))
		}
	}
	return known && (refOnly || !r.inv.FilesChanged || len(revisions) == 0)
}

// revisions returns the revisions to which a command moves, and the folder into which it
// puts their files. known is false if there may be others.
func (r *reader) revisions(command string, from, dashes int, top string) (at string, revisions []string, known bool) {
	known = command == "checkout" || !r.has([]string{"--stdin", "--orphan"})
	for _, i := range r.operands {
		switch f := r.argv[i]; {
		case i < from, dashes > 0 && i > dashes && (command == "checkout" || command == "reset"):
		case !f.Static:
			known = false
		default:
			revisions = append(revisions, f.Text)
		}
	}
	switch {
	case command == "pull" && r.pullsLocal(top):
		return top, nil, false
	case command == "worktree add" && len(revisions) > 0:
		top, revisions = Absolute(r.paths.Dir, revisions[0]), revisions[1:]
	case command == "pull" && len(revisions) > 1 && !strings.ContainsAny(revisions[0], "./~:"):
		revisions = []string{revisions[0] + "/" + revisions[1]}
	case (command == "stash branch" || strings.HasSuffix(command, "-ref")) && len(revisions) > 0:
		revisions = revisions[1:]
	}
	def := map[string]string{"pull": "@{upstream}", "merge": "@{upstream}", "rebase": "@{upstream}", "stash pop": "stash@{0}", "stash apply": "stash@{0}", "stash branch": "stash@{0}"}[command]
	if len(revisions) == 0 && known && def != "" {
		revisions = []string{def}
	}
	parent := "1"
	for _, o := range r.out.Options {
		switch o.Name {
		case "--onto":
			known, revisions = known && o.Static, append(revisions, o.Value)
		case "-m", "--mainline":
			parent = o.Value // the parent that a revert keeps
		}
	}
	for i, text := range revisions {
		if revisions[i] = strings.ReplaceAll(text, "...", ".."); command == "revert" && !strings.Contains(text, "..") {
			revisions[i] = text + "^" + parent + ".." + text
		}
	}
	return top, revisions, known
}

// differs adds the wanted agent settings that differ in a revision. It returns an error
// if the difference is unknown.
func (r *reader) differs(p *possibility, revision, at string, wanted func(name string) bool) (err error) {
	names, err := r.system.Differs(r.paths.Dir, revision)
	for _, name := range names {
		if file := path.Join(at, name); files.SaysAgents(file) && wanted(name) {
			p.touch(cardea.Unknown, file)
		}
	}
	return err
}

// idle reports whether no operation of git is in progress that could be continued or aborted.
func (r *reader) idle(top string) bool {
	under := []string{"rebase-merge", "rebase-apply", "sequencer", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"}
	return !r.inv.FilesChanged && r.system.IsNew != nil && !r.system.IsNew(top+"/.git/HEAD") &&
		!slices.ContainsFunc(under, func(name string) bool { return !r.system.IsNew(top + "/.git/" + name) })
}

// pullsLocal reports whether a remote of the repository is on this machine, so that its
// current contents are unknown.
func (r *reader) pullsLocal(top string) bool {
	if r.system.ReadFile == nil {
		return true
	}
	text, err := r.system.ReadFile(top+"/.git/config", 1<<20)
	return err != nil || lazyRegexp(`(?i)url\s*=\s*"?(?:[./~]|file:)|include|insteadof`).MatchString(string(text))
}
