package inforce

import (
	"path/filepath"

	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/decide/policy/remote"
	"cardea.dev/internal/decide/rules"
)

// This file keeps what parsers made of the files of people, so that a call needs no
// parser: the library for YAML is a part of cardea-engine alone. Each form is signed, and
// bound to the text that it was made of and to the two programs: what a parser makes of
// a text may be another thing in the next version.

// openCompiled sets what compiled forms are read from and written to.
func (l *Loaded) openCompiled() {
	if program := state.Stamp(l.Where.Program); l.Where.Compiled && program != "" {
		l.compiled = l.Where.files().Indexes("rules", l.Where.Dirs.Cache, l.Where.State)
		l.madeBy = []byte(rules.CompiledForm + " " + program + " " + stampOfEngine(l.Where.Program))
	}
}

// stampOfEngine is the stamp of the program in which the parsers are.
func stampOfEngine(program string) string {
	name := remote.Program + filepath.Ext(program)
	if stamp := state.Stamp(filepath.Join(filepath.Dir(program), name)); stamp != "" {
		return stamp
	}
	return state.Stamp(filepath.Join(filepath.Dir(paths.Real(program)), name))
}

// documentForm is the name of the form of a file's nodes. A file may have another one:
// of the rules or roles that it means.
func documentForm(path string) string { return "document " + path }

// document reads the text of a file of people, or takes the nodes that were made of it.
func (l *Loaded) document(path string, data []byte) *document.Reader {
	name, of := documentForm(path), [][]byte{data, []byte(document.FormVersion), l.madeBy}
	if form := l.compiled.Load(name, of...); form != "" {
		if doc, err := document.ReadForm(path, data, form); err == nil {
			return doc
		}
	}
	doc := document.Read(path, data)
	if form := doc.Form(); form != "" && len(data) > 0 && l.compiled != nil {
		l.compiled.Keep(name, form, of...)
	}
	return doc
}
