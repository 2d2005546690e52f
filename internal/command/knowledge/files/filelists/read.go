// Package filelists reads packs/files/*.yaml, the hand-written lists of known files. It
// reports every mistake with its file, line and column. The program itself links only
// the table that is generated from them.
package filelists

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	_ "cardea.dev/internal/base/document/yamltext" // reads YAML
	"cardea.dev/internal/base/paths"
)

// List is a named list of files.
type List struct {
	Name, About string
	Files       []File
}

// File is an entry of a list: a glob, an example path that it matches, and a similar one
// that it does not.
type File struct{ Glob, Is, Not string }

// Read reads all lists of a folder. The diagnostics are the mistakes in the lists. The
// error is one of reading the folder.
func Read(dir string) ([]List, []diagnostic.Diagnostic, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, nil, err
	}
	var out []List
	var problems []diagnostic.Diagnostic
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		r := document.Read(name, data)
		top := r.Top().Map()
		lists := top.Need("lists").Map()
		for _, key := range lists.Keys() {
			v := lists.Get(key)
			for _, l := range out {
				if l.Name == key {
					v.Problem(diagnostic.CodeDuplicate, "give it another name", "there is a list %q already", key)
				}
			}
			out = append(out, readList(key, v))
		}
		top.Only()
		problems = append(problems, r.Problems()...)
	}
	return out, problems, nil
}

// readList reads the list of the given name and reports an entry that repeats a glob.
func readList(name string, v document.Value) List {
	m := v.Map()
	l := List{Name: name, About: m.Need("about").Text()}
	seen := map[string]bool{}
	for _, e := range m.Need("files").List() {
		f := ReadFile(e)
		if seen[f.Glob] {
			e.Problem(diagnostic.CodeDuplicate, "remove it", "%q is in the list already", f.Glob)
		}
		seen[f.Glob] = true
		l.Files = append(l.Files, f)
	}
	m.Only()
	return l
}

// within matches a wildcard. [ReadFile] applies it to a glob without its leading and
// trailing "/**".
var within = regexp.MustCompile(`[*?\[]`)

// ReadFile reads an entry of a list: a glob alone, or a map with its examples.
func ReadFile(e document.Value) File {
	var f File
	if e.IsMap() {
		m := e.Map()
		f = File{Glob: m.Need("glob").Text(), Is: m.Text("is"), Not: m.Text("not")}
		m.Only()
	} else {
		f.Glob = e.Text()
	}
	switch inner := strings.TrimSuffix(strings.TrimPrefix(f.Glob, "/**"), "/**"); {
	case !strings.HasPrefix(f.Glob, "/") && !strings.HasPrefix(f.Glob, "~/"):
		e.Problem(diagnostic.CodeBadValue, "begin it with /**/ for any folder, ~/ for the home folder or / for the machine's", "it is not known where %q lies", f.Glob)
	case f.Is == "" && within.MatchString(inner):
		e.Problem(diagnostic.CodeMissing, "write {glob: ..., is: PATH}", "%q has no example", f.Glob)
	case f.Is != "" && !f.Names(f.Is):
		e.Problem(diagnostic.CodeBadValue, "change the glob or the example", "%q does not name %q", f.Glob, f.Is)
	case f.Not != "" && f.Names(f.Not):
		e.Problem(diagnostic.CodeBadValue, "change the glob or the example", "%q names %q", f.Glob, f.Not)
	}
	return f
}

// Names reports whether the glob of f matches path.
func (f *File) Names(path string) bool {
	glob := f.Glob
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	if rest, ok := strings.CutPrefix(glob, "~/"); ok {
		glob = "/home/user/" + rest
	}
	return paths.Pattern(nil).Join(glob).Match(paths.Segments(path))
}
