package call

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/bash"
	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/knowledge/form"
)

// This file looks into the files that a line runs: scripts, recipes of Makefiles,
// scripts of package.json, hooks of git. What stands in them may run
// (docs/design.md#scripts).

// The limits of what is looked into for one call. Nothing beyond them is looked at.
const (
	maxScripts     = 32        // files
	maxScript      = 128 << 10 // bytes of one file
	maxScriptBytes = 256 << 10 // bytes that are analysed
	maxScriptDepth = 4         // files that run files
	maxScriptParts = 2048      // commands in files
)

// scripts adds to the parts of a call what the files do that they run.
type scripts struct {
	env bash.Env
	// written are the files that the line writes before it runs them.
	written []bash.Written
	// seen are the texts that were analysed, by where they stand.
	seen               map[string]bool
	files, size, parts int
	// part is the part of the line that is being looked into.
	part int
	// flows are those of the line that the files make.
	flows []cardea.Flow
}

// lookInto adds what the files that parts run may do.
func (s *scripts) lookInto(parts []cardea.Part, depth int) {
	for i := range parts {
		p := &parts[i]
		if depth == 1 {
			s.part = i
		}
		if p.Remote || len(p.Command) == 0 || depth > maxScriptDepth {
			continue
		}
		for _, f := range runFiles(p, s.env) {
			s.file(p, f, depth)
		}
	}
}

// runFile is a file that a part runs.
type runFile struct {
	path string
	// pieces are the pieces of the file's text that run.
	pieces func(text string) []piece
	// named is set where the line names the file.
	named bool
}

// piece is a text for a shell, and the line of the file in which it begins.
type piece struct {
	text string
	line int
}

func (s *scripts) file(p *cardea.Part, f runFile, depth int) {
	if s.files >= maxScripts {
		return
	}
	var texts []string
	for _, w := range s.written {
		if w.Path == f.path {
			texts = append(texts, w.Text)
		}
	}
	if len(texts) == 0 {
		s.files++
		data, err := s.env.ReadFile(f.path, maxScript)
		switch {
		case err != nil && f.named:
			p.LookedInto = append(p.LookedInto, f.path+" (cannot be read)")
		case err != nil:
		case bytes.IndexByte(data, 0) >= 0:
			p.LookedInto = append(p.LookedInto, f.path+" (no text)")
		default:
			texts = append(texts, string(data))
		}
	}
	for _, text := range texts {
		p.LookedInto = append(p.LookedInto, f.path)
		for _, c := range f.pieces(text) {
			s.piece(p, f, c, depth)
		}
	}
}

// piece adds what a piece of a file does.
func (s *scripts) piece(p *cardea.Part, f runFile, c piece, depth int) {
	key := fmt.Sprintf("%s:%d:%s", f.path, c.line, p.Dir)
	if s.seen[key] || s.size+len(c.text) > maxScriptBytes || s.parts >= maxScriptParts {
		return
	}
	s.seen[key] = true
	s.size += len(c.text)
	env := s.env
	env.Cwd = p.Dir
	env.Name = f.path
	line := bash.Analyse(c.text, env)
	found := line.Parts
	s.parts += len(found)
	for i := range found {
		if slices.ContainsFunc(runFiles(&found[i], env), func(r runFile) bool { return r.path == f.path }) {
			line.SelfCalls = append(line.SelfCalls, bash.Again{To: i + 1})
		}
	}
	again := flowFinder{line: &line, parts: found}
	if again.multiplies(); len(again.found) > 0 {
		s.flows = append(s.flows, cardea.Flow{Kind: "multiplies", From: s.part, To: s.part})
	}
	for i := range found {
		q := &found[i]
		q.From = s.shown(f.path)
		at := c.line
		if q.Start >= 0 && q.Start <= len(c.text) {
			at += strings.Count(c.text[:q.Start], "\n")
		}
		if at > 0 {
			q.From += fmt.Sprintf(":%d", at)
		}
		q.Opaque = nil // what cannot be seen through changes nothing
		q.Access, q.MayTouch = slices.DeleteFunc(q.Access, guessed), slices.DeleteFunc(q.MayTouch, guessed)
	}
	s.lookInto(found, depth+1)
	p.MayRun = append(p.MayRun, found...)
}

// guessed reports an access whose file is not known. In a file, folders and variables
// are known less often than in a line, so that guesses would ask about everything.
func guessed(a cardea.Access) bool {
	switch a.Kind {
	case cardea.Network:
		return a.Host == ""
	case cardea.Unknown:
		return a.Glob && a.Pattern != ""
	}
	return a.Path == "" || a.Glob && a.Kind == cardea.Read
}

// shown is a path as it is shown: below the folder of the call without that.
func (s *scripts) shown(file string) string {
	if rest, ok := strings.CutPrefix(file, s.env.Cwd+"/"); ok {
		return rest
	}
	return file
}

// runFiles are the files that a part runs.
func runFiles(p *cardea.Part, env bash.Env) []runFile {
	var out []runFile
	for _, a := range p.Access {
		if a.Kind == cardea.Execute && a.Path != "" && a.Pattern == "" && !a.Recursive {
			out = append(out, runFile{path: a.Path, pieces: language(p.Command[0], a.Path), named: true})
		}
	}
	if p.Dir == "" {
		return out
	}
	program := path.Base(p.Command[0])
	dir := p.Dir
	for _, o := range p.Options {
		switch o.Name {
		case "-C", "--directory", "--prefix", "--cwd", "--dir":
			if o.Static && o.Value != "" {
				dir = joined(dir, o.Value)
			}
		}
	}
	names, _ := knowledge.WordsOf(form.RunsByName, program)
	options, _ := knowledge.WordsOf(form.RunsFileOfOption, program)
	for _, o := range p.Options {
		if o.Static && o.Value != "" && knowledge.Matches(options, o.Name) {
			names = []string{o.Value}
		}
	}
	for _, name := range names {
		pieces := recipes(p)
		if name == "package.json" {
			pieces = packageScripts(p)
		}
		out = append(out, runFile{path: joined(dir, name), pieces: pieces})
	}
	if program == "git" && len(p.Command) > 1 && env.TopLevel != nil {
		hooks := gitHooks[p.Command[1]]
		if len(hooks) == 0 {
			return out
		}
		if root := env.TopLevel(dir); root != "" {
			for _, hook := range hooks {
				for _, folder := range []string{".git/hooks", ".husky"} {
					file := path.Join(root, folder, hook)
					out = append(out, runFile{path: file, pieces: language(file, file)})
				}
			}
		}
	}
	return out
}

// gitHooks are the hooks that a command of git starts (githooks(5)).
var gitHooks = map[string][]string{
	"commit":      {"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"},
	"push":        {"pre-push"},
	"merge":       {"pre-merge-commit", "commit-msg", "post-merge"},
	"pull":        {"pre-merge-commit", "post-merge", "pre-rebase", "post-rewrite"},
	"checkout":    {"post-checkout"},
	"switch":      {"post-checkout"},
	"rebase":      {"pre-rebase", "post-checkout", "post-rewrite"},
	"am":          {"applypatch-msg", "pre-applypatch", "post-applypatch"},
	"cherry-pick": {"prepare-commit-msg", "commit-msg", "post-commit"},
	"revert":      {"prepare-commit-msg", "commit-msg", "post-commit"},
}

func joined(dir, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}

// language is the reader for a file that a program runs: by the program, else by the
// first line, else by the name.
func language(program, file string) func(text string) []piece {
	return func(text string) []piece {
		by := knowledge.Unversioned(path.Base(program))
		if first, _, _ := strings.Cut(text, "\n"); path.Base(program) == path.Base(file) && strings.HasPrefix(first, "#!") {
			words := strings.Fields(strings.TrimPrefix(first, "#!"))
			for _, w := range words {
				if by = knowledge.Unversioned(path.Base(w)); by != "env" && !strings.HasPrefix(w, "-") {
					break
				}
			}
		}
		switch ext := path.Ext(file); {
		case by == "node" || by == "nodejs" || by == "deno" || by == "bun":
			return codeLines(text, javaScript())
		case by == "python" || by == "pypy":
			return codeLines(text, python())
		case knowledge.Has(form.Shell, by), program == ".", program == "source",
			by == knowledge.Unversioned(path.Base(file)) && (ext == "" || ext == ".sh" || ext == ".bash"):
			return []piece{{text, 1}}
		}
		return nil
	}
}
