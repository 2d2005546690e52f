package call

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// This file follows text that a line downloads or decodes, from part to part, to where it is run.
// It follows pipes, variables and descriptors to the output of a part. If a part reads such a file,
// every file that it writes is also marked, whatever program copies, moves, links or changes it.

// origin is the origin of a file that a line writes.
type origin struct {
	kind string
	from int // the part that wrote it last
}

// maxOrigins is the largest number of files that are followed.
const maxOrigins = 256

// follow finds the text that each part brings in and writes, and the parts that run it.
func (f *flowFinder) follow() {
	f.brings, f.origins = make([]string, len(f.parts)), map[string]origin{}
	pipes := make(map[int][]bash.Pipe, len(f.line.Pipes))
	backwards := false
	for _, p := range f.line.Pipes {
		for to := p.To[0]; to < p.To[1] && to < len(f.parts); to++ {
			pipes[to] = append(pipes[to], p)
			backwards = backwards || p.From[0] > to
		}
	}
	rounds := 1
	if backwards { // a descriptor that was opened before the write to it
		rounds = 2
	}
	for range rounds {
		for i := range f.parts {
			f.followPart(i, pipes[i])
		}
	}
}

// followPart follows the text through one part.
func (f *flowFinder) followPart(i int, pipes []bash.Pipe) {
	p := &f.parts[i]
	printed := ""
	switch {
	case downloads(p):
		printed = download
	case decodes(p):
		printed = decode
	}
	kind := printed
	words := len(p.Argv) == 0 || knowledge.Has(form.PrintsText, p.Program()) // an assignment, echo "$x"
	passes := words || knowledge.PassesOn(p)
	for _, pipe := range pipes {
		if pipe.Variable && !words {
			continue // a program that gets it as a word
		}
		for from := max(pipe.From[0], pipe.From[1]-bash.MaxScan); from < pipe.From[1] && from < len(f.parts); from++ {
			kind = cmp.Or(kind, f.brings[from])
			if passes {
				printed = cmp.Or(printed, f.brings[from])
			}
		}
	}
	f.findRuns(i)
	from, writes := "", false
	for _, a := range p.Access {
		writes = writes || a.Kind == cardea.Write
		if t, ok := f.holding(place(a)); ok && t.kind != write && (a.Kind == cardea.Read || a.Kind == cardea.Delete) {
			kind, printed, from = cmp.Or(kind, t.kind), cmp.Or(printed, t.kind), place(a)
		}
	}
	f.brings[i] = printed
	for _, a := range p.Access {
		if a.Kind == cardea.Write && place(a) != "" && !a.Nowhere() {
			f.writes(i, place(a), from, kind)
		}
	}
	if !writes && downloads(p) { // its target is unknown
		for _, at := range p.Operands {
			if word := p.Argv[at]; word.Static && !strings.Contains(word.Text, ":") {
				f.writes(i, knowledge.Absolute(p.Dir, word.Text), "", download)
			}
		}
	}
}

// place returns the file of an access, or its likely path.
func place(a cardea.Access) string { return cmp.Or(a.Path, a.Spelled) }

// holding returns the origin of a file, or of the contents of a folder.
func (f *flowFinder) holding(file string) (origin, bool) {
	if file == "" || len(f.origins) == 0 {
		return origin{}, false
	}
	if t, ok := f.origins[file]; ok {
		return t, true
	}
	for at, t := range f.origins {
		if strings.HasPrefix(at, file+"/") && t.kind != write {
			return t, true
		}
	}
	return f.unpacked(file)
}

// unpacked finds the folder above a file into which a download was unpacked.
func (f *flowFinder) unpacked(file string) (origin, bool) {
	if len(file) > 4096 {
		return origin{}, false // no system opens a path of that length
	}
	for dir := path.Dir(file); len(dir) > 1; dir = path.Dir(dir) {
		if t, ok := f.origins[dir]; ok && t.kind == unpack {
			return t, true
		}
	}
	return origin{}, false
}

// writes records that a part writes a file, from another file if that is known. Earlier text stays
// marked, since the file may still hold it.
func (f *flowFinder) writes(i int, file, from, kind string) {
	p := &f.parts[i]
	switch {
	case kind == "":
		kind = write
	case knowledge.Has(form.Unpacks, p.Program()):
		kind = unpack
	}
	put := func(file string) {
		if old, ok := f.origins[file]; len(f.origins) < maxOrigins && (!ok || old.kind == write || kind == unpack) {
			f.origins[file] = origin{kind, i}
		}
	}
	put(file)
	if kind == write || kind == unpack {
		return
	}
	put(strings.TrimSuffix(file, path.Ext(file))) // gunzip x.gz
	if from == "" {
		return
	}
	for at := range f.origins {
		if below, ok := strings.CutPrefix(at, from+"/"); ok { // of a copied folder
			put(path.Join(file, below))
			put(path.Join(file, path.Base(from), below))
		}
	}
}

// findRuns finds the files that the line has written and a part runs.
func (f *flowFinder) findRuns(i int) {
	p := &f.parts[i]
	for _, a := range p.Access {
		if file := place(a); file != "" && runsFile(p, a) {
			f.runsWritten(i, file, file)
		}
	}
	implied := impliedFiles(p)
	if p.Dir == "" && (len(implied) > 0 || slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Execute && a.Path == "" })) {
		for _, t := range f.origins { // it may run in the unpacked folder
			if t.kind == unpack {
				f.runs(t, i)
				break
			}
		}
	}
	for _, file := range implied {
		f.runsWritten(i, file, p.Dir)
	}
}

// runsWritten records that a part runs a file, if the line has written it, or has unpacked it to a
// place without files.
func (f *flowFinder) runsWritten(i int, file, unpackedTo string) {
	if t, ok := f.origins[file]; ok {
		f.runs(t, i)
	} else if t, ok := f.unpacked(file); ok && f.isNew(unpackedTo) {
		f.runs(t, i)
	}
}

func (f *flowFinder) runs(t origin, at int) {
	if t.from != at {
		f.add(t.kind+"-run", t.from, at)
	}
}

// secretsThroughDescriptors finds secrets that reach the network over a descriptor, or in one
// program.
func (f *flowFinder) secretsThroughDescriptors() {
	secrets := -1
	for i := range f.parts {
		p := &f.parts[i]
		reads := readsSecret(p)
		if secrets >= 0 && accessKind(p, cardea.Network) && readsDescriptor(p) {
			f.add("secret-network", secrets, i)
		}
		if reads {
			secrets = i
		}
		if reads && accessKind(p, cardea.Network) && sendsFile(p) {
			f.add("secret-network", i, i)
		}
	}
}

// isNew reports whether nothing exists at a path before the line runs.
func (f *flowFinder) isNew(file string) bool {
	return file != "" && (f.new == nil || f.new(file))
}
