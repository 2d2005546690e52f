package knowledge

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge/form"
)

// This file derives the accesses of a program from its described options and operands.

// accesses adds the accesses of the program to its operands and to the values of its options.
func (r *reader) accesses() {
	defer r.enter()()
	s := r.spec
	recursive := r.has(s.RecursiveOptions)
	kind, last, options := s.Operands, s.LastOperand, s.OptionAccesses
	if s.Complete != nil && s.Complete.Operands != "" && r.doubt() == "" {
		kind = s.Complete.Operands
	}
	for _, c := range s.When {
		if !r.has(c.Options) {
			continue
		}
		recursive = recursive || c.Recursive
		options = slices.Concat(c.OptionAccesses, options)
		if c.Operands != "" {
			kind = c.Operands
		}
		if c.LastOperand != "" {
			last = c.LastOperand
		}
	}
	_, document := r.document()
	if len(r.operands) > manyOperands {
		r.out.Access = slices.Grow(r.out.Access, len(r.operands))
	}
	for n, i := range r.operands {
		k := kind
		switch {
		case n == 0 && s.FirstOperand != "" && !r.has(s.FirstOperandUnless):
			if k = s.FirstOperand; document {
				k = form.None
			}
		case n == len(r.operands)-1 && last != "" && (n > 0 || s.FirstOperand != ""):
			k = last
		case last != "" && n > 0 && r.vanish(r.operands[n+1:]):
			r.operand(last, r.argv[i], recursive) // what follows may be nothing
		}
		r.operand(k, r.argv[i], recursive && !(n == len(r.operands)-1 && r.onlyMembers()))
	}
	r.optionValues(options, recursive)
	r.scripts()
	if kind == cardea.Delete && s.OperandsBeforeOptions {
		r.searched()
	}
	if (kind == cardea.Write || kind == cardea.Delete) && r.has(r.words(form.ListsOperandsWith)) {
		r.touch(kind, Word{}, recursive)
	}
	if s.PutsIntoLastOperand {
		r.members(recursive)
		r.backups()
		r.symlinks()
	}
	r.saved()
	r.storedUnder()
	r.spread()
	paths := len(r.operands)
	if slices.ContainsFunc(r.operands, func(i int) bool { return r.argv[i].Found != nil && r.argv[i].Found.MayBeNothing }) {
		paths--
	}
	if s.FirstOperand == form.None && paths > 0 && !r.has(s.FirstOperandUnless) {
		paths--
	}
	if paths == 0 && (recursive && s.LastOperand == "" || s.Operands == form.Metadata) && (s.Operands == cardea.Read || s.Operands == form.Metadata) && kind != form.None {
		r.touch(kind, Literal("."), recursive)
	}
	r.otherAccesses(s.Accesses)
}

// manyOperands is the number of operands from which on their accesses are allocated at once.
const manyOperands = 32

// enter makes the program's working folder the base of its operand paths and returns a
// function that restores the old one.
func (r *reader) enter() func() {
	back := r.paths.Dir
	if len(r.levels) > 0 {
		r.paths.Dir = inFolder(r.out.Command[0], back, r.out.Options, r.levels[0])
	}
	return func() { r.paths.Dir = back }
}

// inFolder returns the folder in which program works because of its options before word
// number before: git -C.
func inFolder(program, dir string, options []cardea.Option, before int) string {
	names, _ := WordsOf(form.ChangesFolderWith, program)
	for _, o := range options {
		switch {
		case !slices.Contains(names, o.Name) || o.Word >= before:
		case !o.Static:
			dir = ""
		default:
			dir = Absolute(dir, o.Value)
		}
	}
	return dir
}

// words returns the words that belong to a property of the program.
func (r *reader) words(property form.Property) []string {
	list, _ := WordsOf(property, r.out.Command[0])
	return list
}

// pathspec reports whether f is a pathspec of git, not a plain name.
func (r *reader) pathspec(f Word) bool {
	return f.Static && (strings.HasPrefix(f.Text, ":") || strings.ContainsAny(f.Text, "*?[")) && Has(form.ReadsPathspecs, r.out.Command[0])
}

// otherAccesses adds the accesses that do not depend on the operands and options.
func (r *reader) otherAccesses(kinds []cardea.AccessKind) {
	p := r.out
	for _, k := range kinds {
		if k == form.Configured {
			p.Access = append(p.Access, cardea.Access{Kind: cardea.Network, Configured: true})
			continue
		}
		if k == form.Metadata {
			p.Access = append(p.Access, cardea.Access{Kind: cardea.Read, Path: r.paths.Dir, Recursive: true, MetadataOnly: true})
			continue
		}
		if (k == cardea.Network || k == cardea.Unknown) && slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == k && !a.Redirect && !a.Configured }) {
			continue
		}
		p.Access = append(p.Access, cardea.Access{Kind: k})
	}
}

// operand adds the accesses of kind k to one operand.
func (r *reader) operand(k cardea.AccessKind, f Word, recursive bool) {
	if all := each(f); all[0].Static && !f.Static {
		for _, one := range all {
			r.operand(k, one, recursive)
		}
		return
	}
	if len(r.spec.KeyValueOperands) > 0 && f.Static {
		key, value, ok := strings.Cut(f.Text, "=")
		for _, pair := range r.spec.KeyValueOperands {
			if ok && pair.Name == key {
				r.touch(pair.Access, Literal(value), recursive)
			}
		}
		return
	}
	if r.spec.HostPathOperands && remoteName(f) {
		r.touch(cardea.Network, f, false)
		r.onThisMachine(k, f, recursive)
		return
	}
	if f.Process {
		return // names that another part prints
	}
	if f.Static && k == cardea.Read {
		for _, s := range r.spec.TriesSuffixes {
			r.touch(k, Literal(f.Text+s), recursive)
		}
	}
	if r.namedBySearch(f) && (k == cardea.Read || k == form.Metadata) {
		r.out.Access = append(r.out.Access, f.Found.accesses(k, recursive)...)
		if f.Found.deep() {
			r.supplied(k, f, recursive, true) // patterns of a search leave hidden files out
		}
		return
	}
	replaces := k == form.Edit && len(r.spec.Suffixes) > 0
	if replaces && r.keepsFiles() {
		k = cardea.Read
	}
	r.touch(k, f, recursive)
	if k != form.None && k != "" && k != cardea.Network && !f.Static {
		r.supplied(k, f, recursive, false)
	}
	if replaces {
		r.replaced(f, recursive)
	}
}

// onThisMachine adds the file of a remote operand whose host is this machine.
func (r *reader) onThisMachine(k cardea.AccessKind, f Word, recursive bool) {
	text := f.Text
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = strings.Replace(rest, "/", ":/", 1)
	}
	end := strings.IndexByte(text, ':')
	if strings.HasPrefix(text[strings.IndexByte(text, '@')+1:], "[") {
		end = strings.Index(text, "]:") + 1
	}
	if end <= 0 || !f.Static || !IsLoopback(text[:end]) {
		return
	}
	name := strings.TrimPrefix(strings.TrimLeft(text[end:], ":"), "~/")
	defer func(dir string) { r.paths.Dir = dir }(r.paths.Dir)
	r.paths.Dir = r.paths.Home
	r.touch(k, Literal(cmp.Or(name, ".")), recursive)
}

// remoteName reports whether f names a file on another machine: host:path, or an address.
func remoteName(f Word) bool {
	colon := strings.IndexByte(f.Text, ':')
	slash := strings.IndexByte(f.Text, '/')
	return colon > 0 && (slash < 0 || colon < slash)
}

// optionValues adds the accesses to the values of the program's options.
func (r *reader) optionValues(options []form.NamedAccess, recursive bool) {
	for _, o := range r.out.Options {
		for _, a := range options {
			if !r.means(o.Name, a.Name) || !o.Static && o.Value == "" {
				continue
			}
			if o.Static && o.Value == "-" {
				break // its own input or output
			}
			f := r.value(o)
			if slices.Contains(r.spec.HostPathOptions, a.Name) && remoteName(f) {
				r.touch(cardea.Network, f, false)
			}
			for _, f := range r.outputs(a.Name, f) {
				if r.touch(a.Access, f, recursive && a.Access != cardea.Write); !f.Static {
					r.supplied(a.Access, f, recursive && a.Access != cardea.Write, false)
				}
				if a.Access == cardea.Write && len(r.spec.SavesUnderURLName) > 0 {
					for _, dir := range r.into() {
						r.touch(a.Access, below(dir, f), false)
					}
				}
			}
			break
		}
	}
}

// outputs returns the files that f, the value of option, names.
func (r *reader) outputs(option string, f Word) []Word {
	if !f.Static || !strings.Contains(f.Text, "#") || !slices.Contains(r.spec.NumberedNameOptions, option) {
		return []Word{f}
	}
	if names, ok := r.numbered(f.Text); ok {
		return append(names, f)
	}
	return []Word{{Word: cardea.Word{Text: f.Text}}}
}

// touch adds the accesses of kind k to one word.
func (r *reader) touch(k cardea.AccessKind, f Word, recursive bool) {
	out := &r.out.Access
	switch k {
	case form.None, "":
		return
	case form.Edit:
		r.touch(cardea.Read, f, recursive)
		r.touch(cardea.Write, f, recursive)
		return
	case form.Metadata:
		from := len(*out)
		r.touch(cardea.Read, f, recursive)
		for i := from; i < len(*out); i++ {
			(*out)[i].MetadataOnly = true
		}
		return
	case form.Revision:
		r.ofRevision(f, recursive)
		return
	case form.Repository:
		r.fileURL(f, true)
		if host, rest, ok := strings.Cut(f.Text, "/"); !f.Static || strings.ContainsAny(f.Text, ":@\\") || ok && strings.Contains(rest, "/") {
			*out = append(*out, cardea.Access{Kind: cardea.Network, Host: host})
		}
		return
	case cardea.Network:
		r.fileURL(f, recursive)
		for _, h := range hostsOf(f) {
			*out = append(*out, cardea.Access{Kind: k, Host: h})
		}
		return
	case cardea.Read:
		if f.Static && f.Text == "-" {
			return
		}
	case cardea.Write, cardea.Delete:
		if r.pathspec(f) {
			*out = append(*out, cardea.Access{Kind: k})
			return
		}
	}
	from := len(*out)
	if *out = r.paths.appendWord(*out, k, f); recursive {
		r.folders((*out)[from:])
	}
}

// ofRevision adds the reads of a word of git. After a revision a path begins at the top
// of the repository. A command that shows no contents only reveals that the file exists.
func (r *reader) ofRevision(f Word, recursive bool) {
	dir, from := r.paths.Dir, len(r.out.Access)
	for _, file := range revisionFiles(f) {
		name := f
		name.Text = file
		behind := strings.HasSuffix(f.Text, ":"+file) && !strings.HasPrefix(file, "./") && !strings.HasPrefix(file, "../") && r.system != nil
		if !behind || strings.IndexByte("0123456789:/", f.Text[0]) >= 0 { // log -L 1,9:file names no revision
			r.touch(cardea.Read, name, recursive)
		}
		if behind {
			r.paths.Dir = r.topLevel()
			r.touch(cardea.Read, name, recursive)
			r.paths.Dir = dir
		}
	}
	p := &cardea.Part{CommandFacts: cardea.CommandFacts{Command: r.out.Command, Options: r.out.Options}}
	kind, _ := WordsOf(form.ShowsFilesOf, strings.Join(r.out.Command, " "))
	names := !showsContents(p) && !(slices.Contains(kind, "objects") && strings.Contains(f.Text, ":"))
	for i := from; names && i < len(r.out.Access); i++ {
		r.out.Access[i].MetadataOnly = true
	}
}

// fileURL adds the file that a file: address reads. In such an address {a,b} and [a-b]
// stand for several files, as curl reads them.
func (r *reader) fileURL(f Word, recursive bool) {
	name, ok := FileURL(f.Text)
	if !ok {
		return
	}
	at := Word{Word: cardea.Word{Text: name, Static: f.Static}}
	if f.Static && strings.ContainsAny(name, "{[") {
		at = pattern(alternatives.ReplaceAllString(name, "*"))
	}
	r.touch(cardea.Read, at, recursive)
}

// alternatives matches the {a,b} and [a-b] of an address, as curl reads them.
var alternatives = lazyRegexp(`\{[^{}]*\}|\[[^\[\]]*\]`)

// revisionFiles returns the files that a word of git may name: one of the work tree, of
// a revision (HEAD:file, :0:file), or a pathspec with its magic (gitrevisions(7),
// gitglossary(7)). A pathspec that excludes files names none.
func revisionFiles(f Word) []string {
	spec, rest, _ := readPathspec(f.Text)
	before, file, _ := strings.Cut(f.Text, ":")
	switch {
	case spec.except && f.Static:
		return nil
	case file == "":
		return []string{before}
	case before != "":
		rest = file
	default:
		rest = strings.TrimLeft(rest, "/!^:0123456789")
	}
	out := []string{rest}
	if i := strings.LastIndexByte(rest, ':'); i >= 0 {
		out = append(out, rest[i+1:])
	}
	return out
}

// has reports whether one of the named options is given, or names contains "always".
func (r *reader) has(names []string) bool {
	for _, n := range names {
		if n == "always" {
			return true
		}
		name, text, valued := strings.Cut(n, "=")
		for _, o := range r.out.Options {
			if r.means(o.Name, name) && (!valued || strings.Contains(o.Value, text)) {
				return true
			}
		}
	}
	return false
}

// into returns the folders that options name for the files of the program.
func (r *reader) into() []Word {
	var out []Word
	for _, o := range r.out.Options {
		if o.Value != "" && r.meansOne(o, r.spec.FolderOptions) {
			out = append(out, Word{Word: cardea.Word{Text: o.Value, Static: o.Static}})
		}
	}
	return out
}

// cutRemote splits host:name if the program takes such names. host is "" for a local name.
func cutRemote(s *form.Program, name string) (host, file string) {
	if i := strings.LastIndexByte(name, ':'); (s.HostPathOperands || len(s.HostPathOptions) > 0) && i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

// saved adds the files in which downloads are saved under a name from their address.
// Curl leaves the query off, wget does not.
func (r *reader) saved() {
	s := r.spec
	if len(s.SavesUnderURLName) == 0 || !r.has(s.SavesUnderURLName) || r.has(s.SavesUnderURLNameUnless) {
		return
	}
	folders := r.into()
	if len(folders) == 0 {
		folders = []Word{Literal(".")}
	}
	for _, f := range r.addresses() {
		addresses, ok := addressesOf(f.Text)
		if !f.Static || !ok {
			r.out.Access = append(r.out.Access, cardea.Access{Kind: cardea.Write})
			if !ok || !f.Glob || !simpleGlob(f.Text) {
				continue
			}
		}
		for _, address := range append(addresses, f.Text) {
			r.savedAs(address, folders)
		}
	}
}

// savedAs adds the file in each folder under which the download of address is saved.
func (r *reader) savedAs(address string, folders []Word) {
	names := []string{lastName(address)}
	if bare, _, ok := strings.Cut(address, "?"); ok {
		names = append(names, lastName(bare))
	}
	for _, dir := range folders {
		for _, name := range names {
			r.touch(cardea.Write, below(dir, fetchedName(name)), false)
		}
	}
}

// lastName returns the file name at the end of address.
func lastName(address string) string {
	address, _, _ = strings.Cut(address, "#")
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	query := ""
	if i := strings.IndexByte(address, '?'); i >= 0 {
		address, query = address[:i], address[i:]
	}
	name := ""
	if i := strings.LastIndexByte(address, '/'); i >= 0 {
		name = address[i+1:]
	}
	return cmp.Or(name, "index.html") + query
}

// spread adds the folder into which the program writes files that the line does not
// name. The access is recursive if an option names the folder.
func (r *reader) spread() {
	s := r.spec
	if !r.has(s.WritesUnnamedFiles) || r.has(s.WritesUnnamedFilesUnless) {
		return
	}
	folders := r.into()
	for _, dir := range folders {
		// The home folder is more often a mistake than a target, and its files are not
		// certainly overwritten.
		home := dir.Static && Absolute(r.paths.Dir, dir.Text) == r.paths.Home
		r.touch(cardea.Write, dir, !home)
	}
	if len(folders) == 0 {
		r.touch(cardea.Write, Literal("."), false)
	}
}

// maxUncertain is the number of uncertain words of one invocation that are examined, so
// that long lines stay linear.
const maxUncertain = 8

// mayBecome returns the values that f may have, or nil if too many words are uncertain.
func (r *reader) mayBecome(f Word) []PotentialPath {
	if r.inv.MayBecome == nil || r.uncertain > maxUncertain {
		return nil
	}
	return r.inv.MayBecome(f)
}

// supplied adds the values that an operand of unknown value may have. Such an access has
// no path but a spelling: deny rules match it, allow rules do not. If hidden is set,
// only hidden files are added.
func (r *reader) supplied(k cardea.AccessKind, f Word, recursive, hidden bool) {
	if len(f.May) == 0 {
		r.uncertain++
	}
	metadata := k == form.Metadata
	switch k {
	case form.Edit:
		k = cardea.Write
	case form.Metadata, form.Revision:
		k = cardea.Read
	case form.Repository:
		return // it names no file
	}
	for _, s := range r.mayBecome(f) {
		if s.Search && k == cardea.Delete {
			r.search(s, cardea.Access{Kind: k, Recursive: recursive})
			continue
		}
		if s.Entries && s.Pattern == "" && k != cardea.Delete || hidden && !r.paths.SaysHidden(cmp.Or(s.Pattern, s.Path), r.system.Roots) {
			continue
		}
		a := cardea.Access{Kind: k, Spelled: s.Path, Recursive: recursive || s.Below, MetadataOnly: metadata}
		if s.Entries && k == cardea.Delete {
			a.Glob, a.Pattern = true, cmp.Or(s.Pattern, strings.TrimSuffix(s.Path, "/")+"/*")
		} else if s.Pattern != "" {
			if !r.paths.SaysHidden(s.Pattern, r.system.Roots) {
				if !s.Entries {
					r.changed(s.Pattern, a)
				}
				continue
			}
			a.Spelled, a.Glob, a.Pattern, a.Search = "", true, s.Pattern, s.Search
		}
		r.out.Access = append(r.out.Access, a)
	}
}

// changed adds a write or deletion of each file that matches pattern now.
func (r *reader) changed(pattern string, a cardea.Access) {
	if a.Kind == cardea.Read {
		return
	}
	found, ok := r.namesLike(pattern)
	for _, file := range found {
		if a.Spelled = file; ok {
			r.out.Access = append(r.out.Access, a)
		}
	}
}

// searched adds the deletions of a search (find -delete).
func (r *reader) searched() {
	p := cardea.Part{
		ShellFacts:   cardea.ShellFacts{Dir: r.paths.Dir},
		CommandFacts: cardea.CommandFacts{Command: r.out.Command, Options: r.out.Options, Operands: r.operands},
	}
	for _, f := range r.argv {
		p.Argv = append(p.Argv, f.Word)
	}
	var acts []string
	for _, c := range r.spec.When {
		if c.Operands == cardea.Delete {
			acts = append(acts, c.Options...)
		}
	}
	become := func(operand int) (out []string) {
		if r.inv.MayBecome == nil {
			return nil
		}
		for _, s := range r.inv.MayBecome(r.argv[operand]) {
			if s.Pattern == "" && !s.Entries {
				out = append(out, s.Path)
			}
		}
		return out
	}
	for _, s := range pathsOfSearch(&p, r.system, acts, true, become) {
		if s.Pattern != "" { // the folder is an operand
			r.search(s, cardea.Access{Kind: cardea.Delete, Path: r.paths.follow(path.Dir(paths.LiteralBegin(s.Pattern)))})
		}
	}
}

// search adds the accesses like like to the files that a search finds by a pattern:
// those it finds now, and if not all were seen, whatever the pattern may stand for.
func (r *reader) search(s PotentialPath, like cardea.Access) {
	const mostSearches = 64
	found, all := []string{s.Path}, s.Pattern == ""
	if r.searches++; !all && r.searches <= mostSearches && r.system != nil && r.system.Names != nil {
		pattern := paths.Pattern(nil).Join(s.Pattern)
		found, all = hiddenBelow(s.Path, r.paths.SaysHidden(s.Path, r.system.Roots), r.paths.Dir, r.system, func(file string) bool {
			return pattern.Match(paths.Segments(file))
		})
	}
	into := &r.out.Access
	if s.Narrowed {
		like.Kind, into = cardea.Unknown, &r.out.Potential.Touch
	}
	if !all {
		like.Glob, like.Search, like.Pattern = true, true, s.Pattern
		*into = append(*into, like)
		return
	}
	for _, file := range found {
		like.Path, like.Spelled = "", file
		*into = append(*into, like)
	}
}

// namedBySearch reports whether a search found the file that f names, in the folder from
// which the program reads it.
func (r *reader) namedBySearch(f Word) bool {
	return f.Found != nil && f.Found.Dir != "" && f.Found.Dir == r.paths.Dir
}

// sureFind reports whether all effects on the operand at i are known, given that a
// search found it.
func (r *reader) sureFind(i int) bool {
	s, f := r.spec, r.argv[i]
	kind := s.Operands
	if len(r.operands) > 0 && r.operands[0] == i && s.FirstOperand != "" && !r.has(s.FirstOperandUnless) {
		kind = s.FirstOperand
	}
	several := f.MaySplit && (s.Complete.LimitsOperands || s.LastOperand != "" || s.FirstOperand != "" && s.Operands != cardea.Read && s.Operands != form.Metadata)
	return r.namedBySearch(f) && !several && slices.Contains(r.operands, i) && (kind == cardea.Read || kind == form.Metadata || kind == form.None)
}
