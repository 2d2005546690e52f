package knowledge

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
)

// This file derives the files that programs write next to those that they are given:
// gzip gives a file another name.

// keepsFiles reports whether the program leaves the files that it edits as they are.
func (r *reader) keepsFiles() bool {
	return r.has(r.spec.KeepsFiles) && !r.has(r.spec.KeepsFilesUnless)
}

// replaced adds the file that takes the place of f, whose name has one more suffix or
// one less. A file that the program keeps stays next to it.
func (r *reader) replaced(f Word, recursive bool) {
	suffixes := r.spec.Suffixes
	for _, o := range r.out.Options {
		if o.Static && o.Value != "" && r.meansOne(o, r.spec.SuffixOptions) {
			suffixes = append([]string{o.Value}, suffixes...)
		}
	}
	switch stored := r.keepsFiles(); {
	case !stored:
		r.touch(cardea.Delete, f, recursive)
	case recursive && !f.Static:
		r.touch(cardea.Write, f, true)
	case recursive:
		r.touch(cardea.Write, pattern(f.Text+"/**/*"+suffixes[0]), false)
	}
	sure, may := f.Static || f.Glob && simpleGlob(f.Text), f.May
	switch {
	case sure:
		may = []string{f.Text}
	default:
		for _, s := range r.mayBecome(f) {
			if s.Search && r.paths.SaysHidden(s.Pattern, r.system.Roots) {
				may = append(may, s.Pattern)
			}
		}
	}
	for _, text := range may {
		all := []string{text}
		if !f.Static && paths.IsPattern(text) && !r.inv.FilesChanged {
			if found, ok := r.namesLike(text); ok {
				all = found
			}
		}
		for _, text := range all {
			for _, name := range otherNames(text, suffixes) {
				r.written(name, f.Static, sure)
			}
		}
	}
}

// written adds a write of name, or of the files that match it. If sure is not set, the
// program may write another file.
func (r *reader) written(name string, literal, sure bool) {
	f := Literal(name)
	if !literal && paths.IsPattern(name) {
		f = pattern(name)
	}
	from := len(r.out.Access)
	r.touch(cardea.Write, f, false)
	for i := from; i < len(r.out.Access) && !sure; i++ {
		a := &r.out.Access[i]
		a.Path, a.Spelled = "", cmp.Or(a.Spelled, a.Path)
	}
}

// namesLike returns the files that match pattern now, or false if they are unknown.
func (r *reader) namesLike(pattern string) ([]string, bool) {
	const most = 256
	folder, base := path.Split(pattern)
	at := Absolute(r.paths.Dir, cmp.Or(folder, "."))
	if at == "" || r.system == nil || r.system.Names == nil || paths.IsPattern(folder) {
		return nil, false
	}
	if r.system.IsNew != nil && r.system.IsNew(at) {
		return nil, true
	}
	all, ok := r.system.Names(at)
	all = slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !paths.MayBeNamed(base, name) })
	for i := range all {
		all[i] = folder + all[i]
	}
	return all, ok && len(all) <= most
}

// otherNames returns name without the suffix that it has, else with the first suffix. A pattern
// may end in a suffix that it does not show: then it also returns name without its ending.
func otherNames(name string, suffixes []string) []string {
	for _, s := range suffixes {
		if bare, ok := strings.CutSuffix(name, s); ok && bare != "" && !strings.HasSuffix(bare, "/") {
			return []string{bare}
		}
	}
	out := []string{name + suffixes[0]}
	end := name[strings.LastIndexAny(name, "*?]")+1:]
	may := end != name && slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(s, end) })
	if i := strings.LastIndexAny(name, ".-_"); may && i > strings.LastIndexByte(name, '/')+1 {
		out = append(out, name[:i])
	}
	return out
}
