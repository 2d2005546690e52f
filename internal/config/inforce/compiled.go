package inforce

import (
	"path/filepath"

	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/decide/policy/remote"
	"cardea.dev/internal/decide/rules"
)

// This file caches parsed files of users, so that a call needs no parser: only
// cardea-engine has the YAML library. Each form is signed, and bound to its text and the
// two programs, since the next version may parse a text differently.

// openCompiled sets where compiled forms are read and written.
func (l *Loaded) openCompiled() {
	if program := state.Stamp(l.Where.Program); l.Where.Compiled && program != "" {
		l.compiled = l.Where.files().Indexes("rules", l.Where.Dirs.Cache, l.Where.State)
		l.madeBy = []byte(rules.CompiledForm + " " + program + " " + stampOfEngine(l.Where.Program))
	}
}

// stampOfEngine returns the stamp of cardea-engine, which has the parsers.
func stampOfEngine(program string) string {
	name := remote.Program + filepath.Ext(program)
	if stamp := state.Stamp(filepath.Join(filepath.Dir(program), name)); stamp != "" {
		return stamp
	}
	return state.Stamp(filepath.Join(filepath.Dir(paths.Real(program)), name))
}

// documentForm returns the name of the form of a file's nodes. A file may have another
// form: its rules or roles.
func documentForm(path string) string { return "document " + path }

// document parses a file of a user, or takes its compiled form.
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
