package shell

import (
	"path"
	"strings"

	"cardea.dev"
)

// access makes an access of a path as a command names it.
func (w *walker) access(kind cardea.AccessKind, name string, ok, redirect bool) cardea.Access {
	a := cardea.Access{Kind: kind, Redirect: redirect}
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

// accessField makes an access of a word that may be a pattern.
func (w *walker) accessField(kind cardea.AccessKind, f field) cardea.Access {
	if f.Static {
		return w.access(kind, f.Text, true, false)
	}
	if !f.glob || !simpleGlob(f.Text) {
		return cardea.Access{Kind: kind}
	}
	pattern := f.Text
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		home := w.cur.vars["HOME"]
		if home.kind != known {
			return cardea.Access{Kind: kind}
		}
		pattern = home.text + "/" + rest
	}
	root := globRoot(pattern)
	dir := root[:strings.LastIndexByte(root, '/')+1]
	if dir == "" {
		dir = "."
	}
	a := w.access(kind, dir, true, false)
	a.Glob = true
	if a.Path != "" {
		a.Pattern = Absolute(w.cur.cwd, pattern)
	}
	return a
}

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

// resolve follows symbolic links.
func (w *walker) resolve(p string) string {
	if w.env.Resolve == nil {
		return p
	}
	return w.env.Resolve(p)
}

// inside reports whether p is one of the roots or below.
func inside(p string, roots []string) bool {
	for _, r := range roots {
		if r != "" && (p == r || strings.HasPrefix(p, strings.TrimSuffix(r, "/")+"/")) {
			return true
		}
	}
	return false
}
