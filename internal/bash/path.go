package bash

import (
	"cmp"
	"path"
	"strings"

	"cardea.dev"
)

// access makes an access of a path as bash's own cd reads it: ".." comes off by
// the letter, before links are followed.
func (w *walker) access(kind cardea.AccessKind, name string, ok bool) cardea.Access {
	a := cardea.Access{Kind: kind}
	if !ok {
		return a
	}
	spelled := Absolute(w.cur.cwd, name)
	if spelled == "" {
		return a
	}
	a.Path = w.resolve(spelled)
	if a.Path != spelled {
		a.Spelled = spelled
	}
	return a
}

// opens makes the accesses of a path that a program is passed, or that the
// shell opens: one for each place that it may lead to (see [Places]).
func (w *walker) opens(kind cardea.AccessKind, name string, redirect bool) []cardea.Access {
	places, spelled := Places(w.cur.cwd, name, w.env.Resolve)
	if spelled == "" {
		// A cd may have failed. What it led to is likely, and not certain.
		return []cardea.Access{{Kind: kind, Spelled: Absolute(w.entered(), name), Redirect: redirect}}
	}
	var out []cardea.Access
	for _, p := range places {
		a := cardea.Access{Kind: kind, Path: p, Redirect: redirect}
		if p != spelled {
			a.Spelled = spelled
		}
		out = append(out, a)
	}
	return out
}

// entered is the folder to which the last cd led if it succeeded, "" where that
// is not known.
func (w *walker) entered() string {
	for i := len(w.parts) - 1; i >= max(0, len(w.parts)-maxFlowScan); i-- {
		switch base(&w.parts[i]) {
		case "cd", "pushd", "popd":
			return w.parts[i].Dir
		}
	}
	return ""
}

// accessField is the first of a word's accesses.
func (w *walker) accessField(kind cardea.AccessKind, f field) cardea.Access {
	return w.opensField(kind, f)[0]
}

// opensField makes the accesses of a word that may be a pattern.
func (w *walker) opensField(kind cardea.AccessKind, f field) []cardea.Access {
	unknown := []cardea.Access{{Kind: kind}}
	if f.Static {
		return w.opens(kind, f.Text, false)
	}
	if !f.glob || !simpleGlob(f.Text) {
		return unknown
	}
	pattern := f.Text
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		home := w.cur.vars["HOME"]
		if home.kind != known {
			return unknown
		}
		pattern = home.text + "/" + rest
	}
	root := globRoot(pattern)
	dir := root[:strings.LastIndexByte(root, '/')+1]
	out := w.opens(kind, cmp.Or(dir, "."), false)
	for i := range out {
		out[i].Glob = true
		if out[i].Path == "" && out[i].Spelled == "" {
			continue
		}
		out[i].Pattern = Absolute(cmp.Or(w.cur.cwd, w.entered()), pattern)
		if climbs(pattern[len(dir):]) {
			// What lies above a link that the pattern finds is anybody's guess.
			out[i].Path = ""
		}
	}
	return out
}

// climbs reports whether a path has a ".." in it.
func climbs(name string) bool { return strings.Contains("/"+name+"/", "/../") }

// simpleGlob reports whether a word is only a pattern, without quotes or
// expansions, so that its text can be read as one.
func simpleGlob(s string) bool { return !strings.ContainsAny(s, "$`'\"\\(){}") }

// Absolute joins a name to a folder and cleans the result; "" when the folder
// is needed and not known.
func Absolute(dir, name string) string {
	switch {
	case name == "":
		return ""
	case strings.HasPrefix(name, "/"):
		return path.Clean(name)
	case dir == "":
		return ""
	}
	return path.Clean(dir + "/" + name)
}

// Places lists where a name may lead to, and how it is spelled: absolute, with
// ".." taken off by the letter. The kernel follows links first, so that
// "link/../x" lies beside what the link points to; programs that clean their
// paths themselves, as editors and git do, open what is spelled. Where the two
// differ, both are places. A place is "" where it is not known.
func Places(dir, name string, resolve func(string) string) (places []string, spelled string) {
	spelled = Absolute(dir, name)
	if spelled == "" || resolve == nil {
		return []string{spelled}, spelled
	}
	places = []string{resolve(spelled)}
	whole := name
	if !strings.HasPrefix(name, "/") {
		whole = dir + "/" + name
	}
	if climbs(whole) {
		if p := resolve(whole); p != places[0] {
			places = []string{p, places[0]}
		}
	}
	return places, spelled
}

// resolve follows symbolic links.
func (w *walker) resolve(p string) string {
	if w.env.Resolve == nil {
		return p
	}
	return w.env.Resolve(p)
}
