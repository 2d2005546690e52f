package cardea

import (
	"context"
	"slices"
)

// Opened lists the files that a part reads without naming them: files in a folder, matches of a
// pattern, and files of a revision. The contents of an archive are in [Part].MayTouch instead.
type Opened struct {
	// Files are absolute paths of files that the part opens. Perhaps are those that it may open.
	Files, Perhaps []string
	// Unseen is the reason why the lists may be incomplete, "" where they are complete.
	Unseen string
	// Without returns the option that makes the part leave a file out, "" where there is no such
	// option.
	Without func(file string) string
}

// Selection describes the files in a folder that a program opens.
type Selection struct {
	// Only and Except are gitignore patterns, one a line, relative to From. A file is opened if a
	// pattern of Only matches it, or Only is empty, and no pattern of Except does.
	Only, Except, From string
	// Unclear is set where other options also select files.
	Unclear bool
	// KeepsLinks is set where links inside the folder are not followed.
	KeepsLinks bool
	// SkipsIgnored is set where files that .gitignore names are left out.
	SkipsIgnored bool
	// Tracked is set where only the files that git tracks are opened.
	Tracked bool
}

// Watcher is a decider that may deny or ask about a file because of its path.
type Watcher interface {
	Decider
	// WatchesFiles reports whether the decider has such a rule from outside Cardea's packs.
	WatchesFiles() bool
}

// askOpened asks about the files that parts open without naming them, unless the call is denied
// already. Where these files are unknown, the part is deferred.
func (t *evaluation) askOpened(ctx context.Context) {
	call := t.event.Call
	if call.Opens == nil || t.effect().Stricter(Ask) {
		return
	}
	var watchers []Watcher
	for _, s := range t.gate.Placements {
		if w, ok := s.Decider.(Watcher); ok && s.Potential && w.WatchesFiles() {
			watchers = append(watchers, w)
		}
	}
	for i := range call.Parts {
		if len(watchers) == 0 || ctx.Err() != nil {
			return
		}
		opened := call.Opens(i)
		if opened == nil {
			continue
		}
		for _, w := range watchers {
			t.hear(w, func() ([]Opinion, error) { return t.aboutOpened(ctx, w, i, opened, opened.Files) })
			t.hear(w, func() ([]Opinion, error) {
				perhaps, err := t.aboutOpened(ctx, w, i, opened, opened.Perhaps)
				for k := range perhaps {
					perhaps[k].Effect = Defer
				}
				return perhaps, err
			})
		}
		if opened.Unseen != "" {
			t.hear(watchers[0], func() ([]Opinion, error) {
				return []Opinion{{Decider: "opened", Rule: "unseen", Effect: Defer, Part: i, Scope: ScopeBuiltin,
					Reason: "some files may not be read, and this opens unknown files: " + opened.Unseen}}, nil
			})
		}
	}
}

// aboutOpened returns the asks and denies of d about files that a part opens, one for each rule
// that has not decided on the part already. The reason names one of the files.
func (t *evaluation) aboutOpened(ctx context.Context, d Decider, part int, opened *Opened, files []string) ([]Opinion, error) {
	if len(files) == 0 {
		return nil, nil
	}
	type voice struct{ by, source string }
	decide := func(files []string) (map[voice]Opinion, error) {
		found, err := d.Decide(ctx, t.event.opening(part, files))
		out := map[voice]Opinion{}
		for _, o := range found {
			if v := (voice{o.By(), o.Source}); o.Effect >= Ask && o.Part == 0 && out[v].Effect < o.Effect {
				out[v] = o
			}
		}
		return out, err
	}
	all, err := decide(files)
	var out []Opinion
	for v, o := range all {
		if said := t.saidBy(v.by, v.source, part); said {
			continue
		}
		file := files[0]
		for files := files; len(files) > 1; { // narrows down to one file that the opinion is about
			half := files[:len(files)/2]
			if in, _ := decide(half); in[v].Effect < o.Effect {
				half = files[len(files)/2:]
			}
			files, file = half, half[0]
		}
		o.Part, o.Advice = part, Advice{}
		opens := "; it opens " + file
		if opened.Without != nil {
			opens += ", which " + opened.Without(file) + " leaves out"
		}
		o.Reason += opens
		out = append(out, o)
	}
	return out, err
}

// saidBy reports whether a decider's rule has already asked or denied about a part.
func (t *evaluation) saidBy(by, source string, part int) bool {
	return slices.ContainsFunc(t.verdict.Opinions, func(o Opinion) bool {
		return o.Effect >= Ask && o.Part == part && o.By() == by && o.Source == source
	})
}

// opening returns a copy of e about a single part whose only effect is to read the given files.
func (e *Event) opening(part int, files []string) *Event {
	p := e.Call.Parts[part]
	p.Access, p.MayTouch, p.MayRun, p.Opaque = make([]Access, len(files)), nil, nil, nil
	for i, f := range files {
		p.Access[i] = Access{Kind: Read, Path: f}
	}
	with := *e.Call
	with.Parts, with.Flows, with.Opaque, with.Opens, with.OnlyOpened = []Part{p}, nil, nil, nil, true
	return e.With(func(e *Event) { e.Call = &with })
}
