package knowledge

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/command/knowledge/form"
)

// This file derives the names under which cp, mv, ln, install, rsync and the like
// put files into a folder.

// members adds the names under which operands are put into a folder: "cp
// x/.claude ." writes ./.claude.
func (r *reader) members(recursive bool) {
	from, folders := r.operands, r.into()
	if n := len(from); len(folders) == 0 && n > 0 {
		dest := r.argv[from[n-1]]
		switch {
		case n == 1 && Has(form.LinksIntoFolder, r.out.Command[0]):
			folders = []Word{Literal(".")}
		case n == 1 || r.spec.HostPathOperands && remoteName(dest):
			return
		case n > 2 || dest.Glob || r.isFolder(dest):
			from, folders = from[:n-1], []Word{dest}
		}
	}
	for _, dir := range folders {
		for _, i := range from {
			for _, src := range each(r.argv[i]) {
				r.member(dir, src, recursive)
			}
		}
	}
}

// each returns the texts that a word becomes one by one in a loop over words, or only
// the word itself if there may be others.
func each(f Word) []Word {
	if !f.Listed || f.MaySplit || f.MayBeOption || len(f.May) == 0 {
		return []Word{f}
	}
	out := make([]Word, len(f.May))
	for i, text := range f.May {
		out[i] = Literal(text)
	}
	return out
}

// mostPotential is the number of possible texts of a word that are examined.
const mostPotential = 64

// potentialWords returns the word itself, if it is not one of a list, and the texts that
// it may become as far as the line shows.
func (r *reader) potentialWords(f Word) []Word {
	out := each(f)
	if f.Static || f.Glob || out[0].Static {
		return out
	}
	var may []string
	for _, text := range f.May {
		if f.MaySplit {
			may = append(may, strings.Fields(text)...)
		} else {
			may = append(may, text)
		}
	}
	if len(may) == 0 && r.inv.MayBecome != nil {
		for _, p := range r.inv.MayBecome(f) {
			may = append(may, cmp.Or(p.Pattern, p.Path))
		}
	}
	for _, text := range may[:min(len(may), mostPotential)] {
		if strings.ContainsAny(text, "*?[") {
			out = append(out, pattern(text))
		} else {
			out = append(out, Literal(text))
		}
	}
	return out
}

// member adds the names under which one operand is put into a folder.
func (r *reader) member(dir, src Word, recursive bool) {
	if names, ok := r.names(src); ok {
		for _, name := range names {
			r.touch(cardea.Write, below(dir, name), recursive)
		}
		return
	}
	if !src.Static {
		if src.Glob || recursive {
			r.matched(dir, src, recursive)
		} else {
			// An unknown name: only a rule for the whole folder matches it.
			r.touch(cardea.Write, below(dir, Literal(strings.Trim(path.Base(src.Text), `"'`))), false)
		}
		r.unnamed(dir, src)
		return
	}
	name := path.Base(src.Text)
	if r.has([]string{"--parents", "--relative"}) {
		name = src.Text
	} else if name == "." || name == ".." || name == "/" || r.spec.HostPathOperands && strings.HasSuffix(src.Text, "/") || r.has([]string{"-T", "--no-target-directory"}) && r.isFolder(src) {
		if len(r.into()) > 0 {
			r.touch(cardea.Write, dir, recursive)
		}
		r.contents(src, dir)
		return // the line does not name its other contents
	}
	_, name = cutRemote(r.spec, name)
	r.touch(cardea.Write, below(dir, Literal(strings.TrimPrefix(name, "/"))), recursive)
}

// contents adds the agent settings in a folder whose whole contents are put into a
// folder of the work.
func (r *reader) contents(src, dir Word) {
	from, to := Absolute(r.paths.Dir, src.Text), Absolute(r.paths.Dir, dir.Text)
	if from == "" || from == to || r.system.Names == nil || !paths.WithinAny(r.system.Roots, to) && to != r.paths.Home {
		return
	}
	found, _ := hiddenBelow(from, false, from, r.system, files.SaysAgents)
	for _, file := range found {
		r.touch(cardea.Write, Literal(to+strings.TrimPrefix(file, from)), false)
	}
}

// unnamed adds the names that a file may get in a folder that is only known when the
// line runs: in a hidden folder any name, in the home folder a hidden one, and in any
// other folder those that it may have.
func (r *reader) unnamed(dir, src Word) {
	at, hidden := r.target(dir)
	any := ""
	switch names, _ := r.namesOf(src); {
	case hidden:
		any = "*"
	case at != "" && at == r.paths.Home && (names == nil || slices.ContainsFunc(names, allNames)):
		any = ".*"
	}
	if any != "" {
		from := len(r.out.Access)
		r.touch(cardea.Write, below(dir, pattern(any)), false)
		r.nameless(from)
	}
	for _, s := range r.mayBecome(src) {
		files := []string{s.Path}
		switch {
		case s.Search, s.Below, s.Entries && (s.Pattern == "" || path.Clean(s.Path) == r.paths.Dir):
			continue // ls also prints names of another folder
		case s.Pattern != "":
			files, _ = r.namesLike(s.Pattern)
		}
		for _, file := range files {
			r.touch(cardea.Write, below(dir, Literal(path.Base(file))), false)
		}
	}
}

// backups adds the names under which cp, mv, ln and install save the files that they
// replace: "cp -b -S .json x settings" writes settings.json.
func (r *reader) backups() {
	if r.spec.HostPathOperands || !r.has([]string{"-b", "--backup", "-S", "--suffix"}) {
		return
	}
	for _, a := range r.out.Access {
		if a.Kind != cardea.Write || !a.Glob && !a.Recursive && r.exists(Literal(a.Path)) {
			continue // backups are in the folder, and the folder itself has none
		}
		name := a.Path
		if a.Glob {
			name = a.Pattern
		}
		f := pattern(name + "*")
		f.Glob = name != "" && (a.Glob || !strings.ContainsAny(name, "*?["))
		r.touch(cardea.Write, f, a.Recursive)
	}
}

// storedUnder adds the names under which the old content of edited files is saved.
func (r *reader) storedUnder() {
	edited := r.out.Access
	for _, o := range r.out.Options {
		if (!o.Static && o.Value != "" || strings.ContainsAny(o.Value, "*/")) && r.meansOne(o, r.spec.BackupSuffixOptions) {
			r.out.Script = r.argv[o.Word].Text // it writes to another place
			r.touch(cardea.Write, Word{}, false)
		}
		if !r.isBackupSuffix(o) {
			continue
		}
		for _, a := range edited {
			if a.Kind != cardea.Write || a.Recursive {
				continue
			}
			name := Word{Word: cardea.Word{Text: cmp.Or(a.Spelled, a.Path), Static: !a.Glob}, Glob: a.Glob}
			if a.Glob {
				name.Text = a.Pattern
			}
			if name.Text != "" { // else it may be any file already
				name.Text = backupName(name.Text, o)
				r.touch(cardea.Write, name, false)
			}
		}
	}
}

// isBackupSuffix reports whether the value of o makes the name of a backup from a file
// name. A value that names a folder must have a star for the file in it.
func (r *reader) isBackupSuffix(o cardea.Option) bool {
	suffix := backupSuffix(o)
	return o.Static && suffix != "" && (strings.Contains(suffix, "*") || !strings.Contains(suffix, "/")) && r.meansOne(o, r.spec.BackupSuffixOptions)
}

func backupSuffix(o cardea.Option) string { return strings.TrimPrefix(o.Value, "=") }

// backupName returns the name under which the old content of a file is saved next to it.
// Each star in the suffix stands for the file's name (sed(1), -i). No system accepts a
// path of more than 4096 bytes.
func backupName(file string, o cardea.Option) string {
	const longest = 4096
	dir, base := path.Split(file)
	suffix := backupSuffix(o)
	switch stars := strings.Count(suffix, "*"); {
	case stars == 0:
		return file + suffix
	case stars*len(base) > longest:
		return file
	}
	return dir + strings.ReplaceAll(suffix, "*", base)
}

// vanish reports whether all given words may expand to nothing.
func (r *reader) vanish(words []int) bool {
	return !slices.ContainsFunc(words, func(i int) bool { return r.argv[i].Static || r.argv[i].Glob })
}

// matched adds the names in a folder that the files of a pattern or a search get there:
// "mv x/*.txt y" writes y/*.txt. If they are unknown, it adds a write of any name, or of
// an unknown file.
func (r *reader) matched(dir, src Word, recursive bool) {
	from := len(r.out.Access)
	at, shut := r.target(dir)
	top := slices.Contains(r.system.Roots, at)
	names, hidden := r.namesOf(src)
	any := names == nil || top && hidden && slices.ContainsFunc(names, allNames)
	switch {
	case names == nil && r.has([]string{"--parents"}):
		r.touch(cardea.Write, Word{}, recursive)
	case any:
		names = []string{"*"}
	}
	for _, name := range names {
		r.touch(cardea.Write, below(dir, pattern(name)), recursive)
		if hidden && top && !any && paths.IsPattern(name[:1]) {
			r.touch(cardea.Write, below(dir, pattern(hiddenName(name))), recursive)
		}
	}
	if !shut && !(src.Glob && r.paths.Hidden) && !(top && any) && paths.WithinAny(r.system.Roots, at) && !r.fromOutside(src) {
		r.nameless(from)
	}
	for _, s := range r.mayBecome(src) { // a search and ls -A also find hidden names
		if folder := path.Clean(s.Path); s.Pattern != "" && !slices.Contains(r.system.Roots, folder) {
			r.contents(Literal(folder), dir)
		}
	}
}

// pattern returns a word that the shell replaces by the names that match.
func pattern(text string) Word { return Word{Word: cardea.Word{Text: text}, Glob: true} }

// allNames reports whether pattern matches any name.
func allNames(pattern string) bool { return strings.Trim(pattern, "*?") == "" }

// target returns the path of a folder with symlinks followed, or "" if it is unknown,
// and whether the folder is hidden.
func (r *reader) target(dir Word) (at string, hidden bool) {
	if at = Absolute(r.paths.Dir, dir.Text); !dir.Static || at == "" {
		return "", false
	}
	at = r.paths.follow(at)
	return at, r.paths.SaysHidden(at+"/*", r.system.Roots)
}

// nameless marks the accesses after index from as writes under a name that the line does
// not show.
func (r *reader) nameless(from int) {
	for i := from; i < len(r.out.Access); i++ {
		r.out.Access[i].Search = true
	}
}

// namesOf returns patterns of the names that a word may be, and whether these may also
// be hidden names. Nil: any name.
func (r *reader) namesOf(src Word) (names []string, hidden bool) {
	found := []string{src.Text}
	if !src.Glob {
		found = nil
		if src.Found == nil || r.inv.MayBecome == nil {
			return nil, true
		}
		for _, a := range src.Found.Places {
			if !a.Glob {
				return nil, true
			}
			found = append(found, a.Pattern)
		}
		hidden = slices.ContainsFunc(r.inv.MayBecome(src), func(s PotentialPath) bool { return s.Search })
	}
	for _, text := range found {
		name, whole := path.Base(text), r.has([]string{"--parents"})
		if !simpleGlob(text) || r.spec.HostPathOperands || strings.HasSuffix(text, "/") || dots(name) || whole && (!src.Glob || climbs(text)) {
			return nil, true
		} else if whole {
			name = strings.TrimPrefix(text, "/")
		}
		names = append(names, name)
	}
	return names, hidden || r.paths.Hidden
}

// fromOutside reports whether a word may be a file outside of the work.
func (r *reader) fromOutside(src Word) bool {
	outside := func(at string) bool { return at == "" || !paths.WithinAny(r.system.Roots, r.paths.follow(at)) }
	folder, _ := path.Split(paths.LiteralBegin(cmp.Or(src.Head, src.Text)))
	return strings.HasPrefix(folder, "~") || r.spec.HostPathOperands && strings.Contains(src.Text, ":") || outside(Absolute(r.paths.Dir, cmp.Or(folder, "."))) ||
		r.inv.MayBecome != nil && slices.ContainsFunc(r.inv.MayBecome(src), func(s PotentialPath) bool { return outside(s.Path) })
}

// names returns the files that a pattern matches, in a folder that the line has not
// changed, or false if they are unknown.
func (r *reader) names(src Word) ([]Word, bool) {
	if r.inv.FilesChanged {
		return nil, false
	}
	return r.namesNow(src)
}

// namesNow returns the files that a pattern matches on the current disk, or false if
// they are unknown.
func (r *reader) namesNow(src Word) ([]Word, bool) {
	folder, pattern := path.Split(src.Text)
	at := Absolute(r.paths.Dir, cmp.Or(folder, "."))
	if !src.Glob || !simpleGlob(src.Text) || strings.ContainsAny(folder, "*?[~") || strings.ContainsAny(pattern, "[") || pattern == "" || dots(pattern) ||
		at == "" || r.system.Names == nil || r.spec.HostPathOperands || r.has([]string{"--parents"}) {
		return nil, false
	}
	all, ok := r.system.Names(at)
	if !ok {
		return nil, false
	}
	var out []string
	for _, name := range all {
		if found, _ := path.Match(pattern, name); found && (r.paths.Hidden || name[0] != '.' || pattern[0] == '.') {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		out = []string{pattern} // a pattern without a match stays as it is
	}
	return together(out)
}

// few is the number of names that are added one by one.
const few = 24

// together returns names as words. Of many names, those with the same ending become one
// pattern. It returns false if there are still too many.
func together(names []string) ([]Word, bool) {
	endings := map[string]int{}
	for _, name := range names {
		endings[path.Ext(name)]++
	}
	var out []Word
	for _, name := range names {
		ending := path.Ext(name)
		switch n := endings[ending]; {
		case len(names) <= few || ending == "" || name[0] == '.' || n == 1 || strings.ContainsAny(ending, "*?[]\\"):
			out = append(out, Literal(name))
		case n > 1:
			out = append(out, pattern("*"+ending))
			endings[ending] = -1 // added already
		}
	}
	return out, len(out) <= 2*few
}

// dots reports whether a pattern may match "." or "..": only a pattern that begins with
// a dot matches such names.
func dots(pattern string) bool {
	if !strings.HasPrefix(pattern, ".") {
		return false
	}
	one, err := path.Match(pattern, ".")
	two, err2 := path.Match(pattern, "..")
	return one || two || err != nil || err2 != nil
}

// onlyMembers reports whether the last operand is a folder in which only the names that
// [reader.members] adds are written. It exists, or several operands require it, and all
// of them have known names. On macOS "cp -r x/ y" copies the contents of x. A copy
// between machines has names of its own.
func (r *reader) onlyMembers() bool {
	n := len(r.operands)
	if !r.spec.PutsIntoLastOperand || n < 2 || r.spec.HostPathOperands || len(r.into()) > 0 || r.has([]string{"-T", "--no-target-directory"}) {
		return false
	}
	dest := r.argv[r.operands[n-1]]
	sure := 0 // operands that exist whatever a pattern matches
	for _, i := range r.operands[:n-1] {
		src := each(r.argv[i])[0]
		switch base := path.Base(src.Text); {
		case src.Static && !strings.HasSuffix(src.Text, "/") && base != "." && base != "..":
			sure++
		case src.Glob && simpleGlob(src.Text) && !strings.HasSuffix(src.Text, "/") && !dots(base):
		default:
			return false
		}
	}
	return dest.Static && (sure > 1 || r.exists(dest))
}

// exists reports whether a word is an existing folder that the line has not changed.
func (r *reader) exists(f Word) bool {
	at := Absolute(r.paths.Dir, f.Text)
	stands := !r.inv.FilesChanged || r.inv.Stands != nil && at != "" && r.inv.Stands(at)
	return at != "" && stands && r.system.IsDir != nil && r.system.IsDir(at)
}

// isFolder reports whether a word is likely a folder: it is spelled like one, has a
// hidden or known name, exists as one, or the line may create it.
func (r *reader) isFolder(f Word) bool {
	if !f.Static {
		return false
	}
	base := path.Base(f.Text)
	if strings.HasSuffix(f.Text, "/") || strings.HasPrefix(base, ".") || r.exists(f) {
		return true
	}
	at := Absolute(r.paths.Dir, f.Text)
	if at == "" {
		return false
	}
	r.out.Targets = append(r.out.Targets, at)
	return r.inv.MadeFolder != nil && r.inv.MadeFolder(at) || at == r.paths.Home || at == r.paths.Dir || slices.Contains(r.system.Roots, at)
}

// below returns the path of a name in a folder. It is not certain if one of them is not.
func below(dir, name Word) Word {
	literal := func(f Word) bool { return f.Static && simpleGlob(f.Text) && !strings.ContainsAny(f.Text, "*?[~") }
	if dir.Glob && (literal(name) || name.Glob) || name.Glob && (literal(dir) || dir.Glob) {
		return pattern(strings.TrimSuffix(dir.Text, "/") + "/" + name.Text)
	}
	if !dir.Static || !name.Static {
		return Word{Word: cardea.Word{Text: dir.Text + "/" + name.Text}}
	}
	if strings.HasPrefix(name.Text, "/") {
		return name
	}
	return Literal(strings.TrimSuffix(dir.Text, "/") + "/" + name.Text)
}
