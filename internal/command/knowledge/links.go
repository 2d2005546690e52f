package knowledge

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// symlinks records the symlinks that ln and cp create, and those that any program puts
// in another place.
func (r *reader) symlinks() {
	symbolic := r.has(r.words(form.LinksSymbolicallyWith))
	from, folders, alone := r.operands, r.into(), false
	if symbolic {
		defer r.ownLinks()
	}
	if n := len(from); len(folders) == 0 && n > 1 {
		alone = n == 2
		from, folders = from[:n-1], []Word{r.argv[from[n-1]]}
	} else if len(folders) == 0 {
		folders = []Word{Literal(".")}
	}
	defer func(dir string) { r.paths.Dir = dir }(r.paths.Dir)
	for _, r.paths.Dir = range append(slices.Clone(r.paths.Likely), r.paths.Dir) {
		for _, word := range folders {
			for _, dir := range r.potentialWords(word) {
				r.linksInto(dir, from, alone, symbolic)
			}
		}
	}
}

// linksInto records the links that the operands from put into dir, or at its name if
// alone is set.
func (r *reader) linksInto(dir Word, from []int, alone, symbolic bool) {
	at := Absolute(r.paths.Dir, dir.Text)
	if !dir.Static || at == "" {
		return
	}
	alone = alone && !strings.HasSuffix(dir.Text, "/") && !dot(dir.Text) && !(r.exists(dir) && !r.isLink(dir.Text))
	there := Link{At: at, IfFolder: true, IfNoFolder: true}
	for _, i := range from {
		sources := r.sources(r.argv[i], symbolic)
		one := alone && len(sources) == len(r.potentialWords(r.argv[i]))
		for _, src := range sources {
			if one {
				r.symlink(Link{At: at, IfNoFolder: true}, symbolic, src)
			}
			switch {
			case !src.Static:
				r.symlink(there, symbolic, src)
			case dot(src.Text):
				r.linksBelow(there, src)
			default:
				r.symlink(Link{At: at + "/" + path.Base(src.Text), IfFolder: true, IfNoFolder: !alone}, symbolic, src)
			}
		}
		if r.spec.HostPathOperands { // rsync x/ y puts the contents of x there
			r.linksBelow(there, r.argv[i])
		}
	}
}

// ownLinks adds the targets of the symlinks that the program creates, resolved from its folder
// and from the link. It removes the writes through them: an existing link is replaced.
func (r *reader) ownLinks() {
	var leads []cardea.Access
	for _, a := range r.out.Access {
		if a.Kind == cardea.Read && !a.Redirect {
			a.Kind = cardea.Link
			leads = append(leads, a)
		}
	}
	for _, l := range r.out.Links {
		if l.Target == "" {
			continue
		}
		for _, a := range r.paths.Open(cardea.Link, l.Target, false) {
			if !slices.Contains(leads, a) {
				leads = append(leads, a)
			}
		}
		for i := range r.out.Access {
			a := &r.out.Access[i]
			if a.Kind == cardea.Write && a.Spelled == l.At && (!a.Recursive || r.paths.follow(l.At) == r.paths.follow(l.Target)) {
				a.Path, a.Spelled = l.At, ""
			}
		}
	}
	r.out.Access = append(r.out.Access, leads...)
}

// dot reports whether a path ends in "." or "..", which cannot name a link.
func dot(name string) bool { return path.Base(name) == "." || path.Base(name) == ".." }

// sources returns the files for which a word stands, or the word itself if they are unknown.
func (r *reader) sources(f Word, symbolic bool) []Word {
	if rest, ok := strings.CutPrefix(f.Text, "~/"); ok && f.Glob && r.paths.Home != "" {
		f.Text = r.paths.Home + "/" + rest
	}
	find := r.namesNow // the existing links
	if symbolic {
		find = r.names
	}
	names, ok := find(f)
	if !ok || slices.ContainsFunc(names, func(n Word) bool { return !n.Static }) {
		var out []Word
		for _, word := range r.potentialWords(f) {
			if word.Glob && !f.Glob {
				out = append(out, r.sources(word, symbolic)...)
			} else {
				out = append(out, word)
			}
		}
		return out
	}
	for i, name := range names {
		names[i] = Literal(path.Join(path.Dir(f.Text), name.Text))
	}
	return names
}

// isLink reports whether a path is a symlink now.
func (r *reader) isLink(name string) bool {
	at := Absolute(r.paths.Dir, name)
	return at != "" && r.paths.follow(at) != strings.TrimSuffix(r.paths.follow(path.Dir(at)), "/")+"/"+path.Base(at)
}

// symlink records link as a link to src, or as src itself if src is a link.
func (r *reader) symlink(link Link, symbolic bool, src Word) {
	at := path.Clean(link.At)
	at = strings.TrimSuffix(r.paths.follow(path.Dir(at)), "/") + "/" + path.Base(at)
	target := "" // unknown
	switch {
	case symbolic && strings.HasPrefix(src.Text, "/") && src.Static:
		target = src.Text
	case symbolic && src.Static: // not cleaned: the kernel follows links first
		target = path.Dir(at) + "/" + src.Text
	case symbolic:
	case src.Static && r.isFolder(src) && !r.isLink(src.Text):
		link.At = at
		r.linksBelow(link, src)
		return
	case !src.Static || !r.isLink(src.Text):
		return
	default:
		target = r.leadsFrom(path.Dir(at), Absolute(r.paths.Dir, src.Text))
	}
	if at == target || strings.HasPrefix(at, "//") {
		return
	}
	link.At, link.Target = at, target
	r.out.Links = append(r.out.Links, link)
}

// leadsFrom returns the target of a link after a move to folder: a relative target is
// another path there. It returns "" if the target is unknown.
func (r *reader) leadsFrom(folder, link string) string {
	text := ""
	if r.system.LinkText != nil {
		text = r.system.LinkText(link)
	}
	if text == "" || strings.HasPrefix(text, "/") {
		return text
	}
	return folder + "/" + text // not cleaned: the kernel follows links first
}

// mostBelow is the number of names below the folders of an invocation that are searched
// for links.
const mostBelow = 512

// linksBelow records the links in a folder that are copied with it, each at its new place and
// with its own target. If there are too many names, every copied file may be a link.
func (r *reader) linksBelow(link Link, src Word) {
	from, to := Absolute(r.paths.Dir, src.Text), strings.TrimSuffix(path.Clean(link.At), "/")
	if !src.Static || from == "" || r.system.Names == nil || r.system.IsDir == nil || !r.system.IsDir(from) {
		return
	}
	folders := []string{""}
	for n := 0; n < len(folders); n++ {
		names, ok := r.system.Names(from + folders[n])
		if r.below += 1 + len(names); !ok || r.below > mostBelow {
			link.At, link.Target = to, ""
			r.out.Links = append(r.out.Links, link)
			return
		}
		for _, name := range names {
			switch below := folders[n] + "/" + name; {
			case r.isLink(from + below):
				link.At, link.Target = to+below, r.leadsFrom(path.Dir(to+below), from+below)
				r.out.Links = append(r.out.Links, link)
			case r.system.IsDir(from + below):
				folders = append(folders, below)
			}
		}
	}
}
