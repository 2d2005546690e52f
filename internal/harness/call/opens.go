package call

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// openedBy returns a function with the files that a part of a call opens without naming them. It
// looks at each part once, at the first call.
func openedBy(parts []cardea.Part, system knowledge.System) func(int) *cardea.Opened {
	if system.Opened == nil {
		return nil
	}
	for i := range parts {
		changed := slices.ContainsFunc(parts, func(p cardea.Part) bool { return p.Start != parts[i].Start && mayChange(&p) })
		for k := range parts[i].Access {
			a := &parts[i].Access[k]
			a.LookedUp = looksInto(a) && !parts[i].Remote && !changed
		}
	}
	opened := make([]func() *cardea.Opened, len(parts))
	for i := range parts {
		opened[i] = sync.OnceValue(func() *cardea.Opened {
			o := opener{system: system, parts: parts}
			if o.part(i); len(o.out.Files)+len(o.out.Perhaps) > 0 || o.out.Unseen != "" {
				return &o.out
			}
			return nil
		})
	}
	return func(i int) *cardea.Opened { return opened[i]() }
}

// mayChange reports whether a part may make or remove files of unknown names, so that another part
// opens different files.
func mayChange(p *cardea.Part) bool {
	return len(p.Argv) > 0 && p.Knowledge != cardea.Complete || slices.ContainsFunc(p.Access, func(a cardea.Access) bool {
		return a.Kind != cardea.Read && a.Kind != cardea.Network && !(a.Redirect && a.Path != "")
	})
}

// access adds the files that one access opens.
func (o *opener) access(a *cardea.Access, opens func(file string) (may, surely bool)) {
	if !looksInto(a) {
		return
	}
	files, unseen := o.system.Opened(a)
	o.unseen(unseen)
	for _, file := range files {
		if may, surely := opens(file); surely {
			o.out.Files = append(o.out.Files, file)
		} else if may {
			o.out.Perhaps = append(o.out.Perhaps, file)
		}
	}
}

// printed reports whether an operand of a part is only known when the line runs.
func printed(p *cardea.Part) bool {
	return slices.ContainsFunc(p.Operands, func(i int) bool {
		return !p.Argv[i].Static && p.Argv[i].MaySplit && strings.ContainsAny(p.Argv[i].Text, "$`")
	})
}

// looksInto reports whether an access opens files that it does not name individually.
func looksInto(a *cardea.Access) bool {
	return a.Kind == cardea.Read && !a.MetadataOnly && !a.Redirect && a.Path != "" && (a.Recursive || a.Glob && a.Files == nil)
}

type opener struct {
	system knowledge.System
	parts  []cardea.Part
	out    cardea.Opened
}

func (o *opener) unseen(why string) { o.out.Unseen = cmp.Or(o.out.Unseen, why) }

// maxMayRun limits the number of potential commands for which git is asked.
const maxMayRun = 16

// part adds the files that one part opens.
func (o *opener) part(i int) {
	p := &o.parts[i]
	if p.Remote || p.NoEffect {
		return
	}
	find, filtered := o.search(i)
	for k := range p.Access {
		o.access(&p.Access[k], func(file string) (may, surely bool) {
			switch a := &p.Access[k]; {
			case find != nil:
				may, surely = knowledge.Finds(find, file, o.system.Resolve)
				return may, surely && !filtered
			case a.Selection.Unclear, !a.Glob && printed(p):
				return true, false // through options that are not followed, or names that are printed
			}
			return true, true
		})
	}
	if p.OpensUnnamed || slices.ContainsFunc(p.MayRun, func(q cardea.Part) bool { return q.OpensUnnamed }) {
		o.unseen("no word of " + p.Program() + " names them")
		for k := 0; find != nil && slices.Contains(p.Via, "|") && k < len(find.Access); k++ {
			named := find.Access[k]
			named.MetadataOnly = false
			o.access(&named, func(file string) (may, surely bool) { return knowledge.Finds(find, file, o.system.Resolve) })
		}
	}
	for k := range p.MayRun {
		for n := range p.MayRun[k].Access {
			o.access(&p.MayRun[k].Access[n], func(string) (may, surely bool) { return true, false })
		}
		if k < maxMayRun {
			o.out.Perhaps = append(o.out.Perhaps, o.git(&p.MayRun[k], o.parts[:i])...)
		} else if knowledge.Has(form.ReadsRepository, p.MayRun[k].Program()) {
			o.unseen("it may run too many commands")
		}
	}
	o.out.Files = append(o.out.Files, o.git(p, o.parts[:i])...)
	o.out.Without = without(p, find)
}

// search returns the search that finds the input of part i, nil for none or several. filtered is
// set if another part selects from its results.
func (o *opener) search(i int) (found *cardea.Part, filtered bool) {
	for k := range o.parts[:i] {
		p := &o.parts[k]
		if !knowledge.Has(form.Searches, p.Program()) {
			filtered = filtered || found != nil && knowledge.Has(form.FiltersLines, p.Program())
			continue
		}
		if found != nil && found.Text != p.Text {
			return nil, false
		}
		found = p
	}
	return found, filtered
}

// git adds the files that a git command shows, given the parts that run before it.
func (o *opener) git(p *cardea.Part, before []cardea.Part) (files []string) {
	exists := func(name string) bool { return o.system.IsNew == nil || !o.system.IsNew(name) }
	dir, shows, unclear, ok := knowledge.ShownByGit(p, exists)
	if !ok || o.system.Shown == nil {
		return nil
	}
	for k := range before {
		if q := &before[k]; knowledge.Has(form.ReadsRepository, q.Program()) && len(q.Command) > 1 && q.Knowledge != cardea.Complete {
			records := knowledge.Has(form.RecordsFiles, q.Command...) && !knowledge.HasOption(q, "-f", "--force")
			shows.Recorded = true
			if !records || knowledge.Has(form.Publishes, q.Command...) && shows.Kind != "named" && len(shows.Revisions)+len(shows.Chose) > 0 {
				unclear = "the line changes the repository before"
			}
		}
	}
	if unclear != "" || dir == "" {
		o.unseen(unclear + " (git)")
		return nil
	}
	files, err := o.system.Shown(dir, shows)
	if err != nil {
		o.unseen(err.Error())
	}
	return files
}

// without returns a function with the option that makes a part leave a file out.
func without(p, find *cardea.Part) func(file string) string {
	if find != nil {
		p = find
	}
	how, ok := knowledge.WordsOf(form.LeavesOutBy, p.Program())
	if len(p.Argv) == 0 {
		how, ok = []string{`the glob "!{}"`}, strings.HasPrefix(p.Text, "Grep")
	}
	if !ok {
		return nil
	}
	return func(file string) string {
		name := strings.TrimPrefix(strings.TrimPrefix(file, p.Dir), "/")
		return strings.NewReplacer("{path}", name, "{}", path.Base(file)).Replace(strings.Join(how, " "))
	}
}
