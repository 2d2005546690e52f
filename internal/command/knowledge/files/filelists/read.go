// Package filelists reads packs/files/*.yaml, what is known of files by their names,
// as people write it: every mistake with its file, line and column. The program
// itself links only what is generated from it.
package filelists

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/document"
	_ "cardea.dev/internal/base/document/yamltext" // reads YAML
	"cardea.dev/internal/base/paths"
)

// List is a named list of files.
type List struct {
	Name, About string
	Files       []File
}

// File is an entry: a glob, a path that it names, and one that is close to it and
// that it does not name.
type File struct{ Glob, Is, Not string }

// Read reads a folder of lists.
func Read(dir string) ([]List, []cardea.Diagnostic, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, nil, err
	}
	var out []List
	var problems []cardea.Diagnostic
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
					v.Problem(cardea.CodeDuplicate, "give it another name", "there is a list %q already", key)
				}
			}
			out = append(out, readList(key, v))
		}
		top.Only()
		problems = append(problems, r.Problems()...)
	}
	return out, problems, nil
}

func readList(name string, v document.Value) List {
	m := v.Map()
	l := List{Name: name, About: m.Need("about").Text()}
	seen := map[string]bool{}
	for _, e := range m.Need("files").List() {
		f := ReadFile(e)
		if seen[f.Glob] {
			e.Problem(cardea.CodeDuplicate, "remove it", "%q is in the list already", f.Glob)
		}
		seen[f.Glob] = true
		l.Files = append(l.Files, f)
	}
	m.Only()
	return l
}

// within are wildcards but for any folder in front and all that lies below.
var within = regexp.MustCompile(`[*?\[]`)

// ReadFile reads an entry of a list.
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
		e.Problem(cardea.CodeBadValue, "begin it with /**/ for any folder, ~/ for the home folder or / for the machine's", "it is not known where %q lies", f.Glob)
	case f.Is == "" && within.MatchString(inner):
		e.Problem(cardea.CodeMissing, "write {glob: ..., is: PATH}", "%q has no example", f.Glob)
	case f.Is != "" && !f.Names(f.Is):
		e.Problem(cardea.CodeBadValue, "change the glob or the example", "%q does not name %q", f.Glob, f.Is)
	case f.Not != "" && f.Names(f.Not):
		e.Problem(cardea.CodeBadValue, "change the glob or the example", "%q names %q", f.Glob, f.Not)
	}
	return f
}

// Names reports whether an entry names a path.
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
