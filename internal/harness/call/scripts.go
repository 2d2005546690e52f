package call

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// This file looks into the files that a line runs: scripts, recipes of Makefiles, scripts of
// package.json, hooks of git. Their commands are potential effects (docs/design.md#scripts).

// The limits of the contents that are read for one call. They are numbers, so that the same call
// has the same answer on every machine.
const (
	maxScripts     = 32        // files that are read
	maxTries       = 128       // files that are looked for
	maxScript      = 128 << 10 // bytes of one file
	maxScriptBytes = 256 << 10 // bytes that are analysed
	maxScriptTaken = 1 << 20   // bytes that are taken apart, also for several parts
	maxScriptDepth = 4         // files that run files
	maxScriptParts = 1024      // commands in files
	maxScriptNames = 256       // files that words of these commands name
	maxCopied      = 8         // files that one file is made from, and copies of copies
)

// scripts adds the effects of the files that a call runs to its parts.
type scripts struct {
	env bash.Env
	// written are the files that the line writes before it runs them.
	written []bash.Written
	// inputs are the texts that the line gives to its parts as input.
	inputs []bash.StdinText
	// texts are the texts of the files that were read, seen the pieces that were analysed, by their
	// position.
	texts map[string]string
	// copies maps a written file to the files that the writing part reads: a script may be run
	// under the name of its copy.
	copies                                  map[string][]string
	seen                                    map[string]bool
	tries, files, size, parts, taken, names int
	// full is the limit that was reached, as people read it.
	full string
	// part is the part of the line that is being looked into.
	part int
	// certain are flows of the line itself that the files cause.
	certain []cardea.Flow
}

// lookIntoLine adds the potential effects of the files that the parts of a line run, and reports
// limits that were reached.
func (s *scripts) lookIntoLine(parts []cardea.Part) {
	s.noteCopies(parts)
	for i := range parts {
		if s.part = i; !parts[i].Remote && len(parts[i].Command) > 0 {
			s.input(&parts[i])
		}
		s.lookInto(parts[i:i+1], 1)
	}
	for i := range parts {
		if looked := &parts[i].LookedInto; s.full != "" && len(*looked) > 0 {
			*looked = append(*looked, "no further: "+s.full)
		}
	}
}

// noteCopies records the files that a part reads when it writes one, whatever program copies,
// moves, links or changes them.
func (s *scripts) noteCopies(parts []cardea.Part) {
	for i := range parts {
		var from []string
		for _, a := range parts[i].Access {
			if (a.Kind == cardea.Read || a.Kind == cardea.Delete) && a.Path != "" && !a.Glob && len(from) < maxCopied {
				from = append(from, a.Path)
			}
		}
		for _, a := range parts[i].Access {
			if a.Kind == cardea.Write && a.Path != "" && !a.Nowhere() && len(from) > 0 && len(s.copies) <= maxScriptNames {
				s.copies[a.Path] = append(s.copies[a.Path], from...)
			}
		}
	}
}

// lookInto adds the potential effects of the files that parts run.
func (s *scripts) lookInto(parts []cardea.Part, depth int) {
	for i := range parts {
		p := &parts[i]
		if p.Remote {
			continue
		}
		for _, f := range s.runFiles(p) {
			if depth > maxScriptDepth {
				s.full = fmt.Sprintf("more than %d files run each other", maxScriptDepth)
				break
			}
			s.file(p, f, depth)
		}
	}
}

// input adds the effects of a part of the line that runs its input.
func (s *scripts) input(p *cardea.Part) {
	if !runsStdin(p) {
		return
	}
	f := runFile{path: "its input", dir: p.Dir, pieces: language(p.Command[0], "")}
	if _, recipes := knowledge.WordsOf(form.RunsFileOfOption, p.Program()); recipes && p.Dir != "" {
		f.pieces = s.recipes(p, p.Dir)
	}
	for _, in := range s.inputs {
		if in.Part == s.part {
			s.add(p, f, s.pieces(f, in.Text), 1)
		}
	}
}

// runFile is a file that a part runs, with its working folder.
type runFile struct {
	path, dir string
	// pieces returns the pieces of the file's text that run.
	pieces func(text string) []piece
	// named is set where the line names the file.
	named bool
}

// piece is a text for a shell with its position: a line of a file, "" for the file that runs.
type piece struct {
	text string
	line int
	file string
}

// file adds the effects of a file that a part runs.
func (s *scripts) file(p *cardea.Part, f runFile, depth int) {
	texts, err := s.textsOf(f.path, 0)
	if len(texts) == 0 && (err == errUnreadable || f.named && err != nil && err != errTooMany) {
		p.LookedInto = append(p.LookedInto, noted(f.path, err))
	}
	for _, text := range texts {
		if _, read := s.texts[f.path]; !read {
			s.texts[f.path] = text
		}
		p.LookedInto = append(p.LookedInto, f.path)
		s.add(p, f, s.pieces(f, text), depth)
	}
}

// noted returns the file, with the reason if it could not be looked into.
func noted(file string, err error) string {
	if err == nil {
		return file
	}
	return file + " (" + err.Error() + ")"
}

// textsOf returns the texts that a file may hold when it is run: those that the line writes there,
// else its current text, and those of the files that it is made from.
func (s *scripts) textsOf(file string, hops int) (texts []string, err error) {
	replaced := false
	for _, w := range s.written {
		if w.Path == file {
			texts, replaced = append(texts, w.Text), replaced || !w.Appended
		}
	}
	if !replaced {
		var text string
		if text, err = s.read(file); err == nil {
			texts = append(texts, text)
		}
	}
	for _, from := range s.copies[file] {
		if hops < maxCopied && from != file {
			more, _ := s.textsOf(from, hops+1)
			texts = append(texts, more...)
		}
	}
	return texts, err
}

// pieces returns the pieces of a file that run, within the limits.
func (s *scripts) pieces(f runFile, text string) []piece {
	if s.taken += len(text); s.taken > maxScriptTaken {
		s.full = "files are too large for so many commands"
		return nil
	}
	return f.pieces(text)
}

// The reasons why a file is not looked into.
var (
	errAbsent     = errors.New("is not there")
	errUnreadable = fmt.Errorf("cannot be read, or has more than %d KiB", maxScript>>10)
	errNoText     = errors.New("no text")
	errTooMany    = errors.New("beyond the limit of files")
)

// read returns the text of a file, unless too many were read.
func (s *scripts) read(file string) (string, error) {
	if text, ok := s.texts[file]; ok {
		return text, nil
	}
	if s.files >= maxScripts || s.tries >= maxTries {
		s.full = fmt.Sprintf("more than %d files", maxScripts)
		return "", errTooMany
	}
	s.tries++
	data, err := s.env.ReadFile(file, maxScript)
	text := string(data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", errAbsent
	case err != nil:
		return "", errUnreadable
	case strings.IndexByte(text, 0) >= 0:
		return "", errNoText
	}
	s.files++
	s.texts[file] = text
	return text, nil
}

// add adds the effects of pieces of a file, and the flows between them.
func (s *scripts) add(p *cardea.Part, f runFile, pieces []piece, depth int) {
	base := len(p.MayRun)
	var all bash.Analysis
	for _, c := range pieces {
		c.file = cmp.Or(c.file, f.path)
		found, ok := s.analyse(c, f)
		if !ok {
			continue
		}
		stored := min(len(found.Parts), maxScriptParts-s.parts)
		if stored < len(found.Parts) {
			s.full = fmt.Sprintf("more than %d commands", maxScriptParts)
		}
		s.parts += stored
		s.mayFlow(p, base+len(all.Parts), stored, &found)
		for i := range stored {
			found.Parts[i].From = s.place(c, found.Parts[i].Start)
		}
		all.Parts = append(all.Parts, found.Parts[:stored]...)
	}
	if len(pieces) > 1 {
		s.mayFlow(p, base, len(all.Parts), &all)
	}
	for i := range all.Parts {
		q := &all.Parts[i]
		q.Opaque = nil // opaque spots in files have no effect
		q.Access, q.MayTouch = slices.DeleteFunc(q.Access, guessed), slices.DeleteFunc(q.MayTouch, guessed)
		if room := maxScriptNames - s.names; len(q.MayTouch) > room {
			q.MayTouch = q.MayTouch[:room]
			s.full = fmt.Sprintf("more than %d names of files", maxScriptNames)
		}
		s.names += len(q.MayTouch)
	}
	s.lookInto(all.Parts, depth+1)
	for i := range all.Parts {
		for _, looked := range all.Parts[i].LookedInto {
			if !slices.Contains(p.LookedInto, looked) {
				p.LookedInto = append(p.LookedInto, looked)
			}
		}
		all.Parts[i].LookedInto = nil
	}
	p.MayRun = append(p.MayRun, all.Parts...)
}

// runsAgain reports whether a part of a piece runs that piece.
func (s *scripts) runsAgain(p *cardea.Part, c piece) bool {
	if _, byName := knowledge.WordsOf(form.RunsByName, p.Program()); !byName && !accessKind(p, cardea.Execute) {
		return false
	}
	return slices.ContainsFunc(s.runFiles(p), func(r runFile) bool {
		text, read := s.texts[r.path]
		return read && r.path == c.file && slices.ContainsFunc(s.pieces(r, text), func(other piece) bool { return other.file == "" && other.line == c.line })
	})
}

// analyse returns the effects of a piece of a file; false for a known piece, and beyond a limit.
func (s *scripts) analyse(c piece, f runFile) (found bash.Analysis, ok bool) {
	key := fmt.Sprintf("%s:%d:%s:%s", c.file, c.line, f.dir, c.text)
	switch {
	case s.seen[key]:
		return found, false
	case s.size+len(c.text) > maxScriptBytes:
		s.full = fmt.Sprintf("more than %d KiB", maxScriptBytes>>10)
		return found, false
	case s.parts >= maxScriptParts:
		s.full = fmt.Sprintf("more than %d commands", maxScriptParts)
		return found, false
	}
	s.seen[key] = true
	s.size += len(c.text)
	env := s.env
	env.Cwd, env.Name = f.dir, f.path
	found = bash.Analyse(c.text, env)
	for i := range found.Parts {
		if s.runsAgain(&found.Parts[i], c) {
			found.SelfCalls = append(found.SelfCalls, bash.Again{To: i + 1})
		}
	}
	again := flowFinder{line: &found, parts: found.Parts}
	if again.multiplies(); len(again.found) > 0 {
		s.certain = append(s.certain, cardea.Flow{Kind: "multiplies", From: s.part, To: s.part})
	}
	s.written = append(s.written, found.Written...)
	return found, true
}

// mayFlow adds the flows between the first kept parts of a text, which are at index base of MayRun.
// It leaves out decoded text in a variable that is used as a command, since scripts often do that.
func (s *scripts) mayFlow(p *cardea.Part, base, stored int, text *bash.Analysis) {
	for _, f := range Flows(text, s.env.IsNew) {
		if max(f.From, f.To) >= stored {
			continue
		}
		to := &text.Parts[f.To]
		guess := len(to.Argv) == 0 || !to.Argv[0].Static || f.Kind == decode+"-run" && !interpreter(to.Program())
		f.From, f.To = f.From+base, f.To+base
		if !guess && !slices.Contains(p.MayFlow, f) {
			p.MayFlow = append(p.MayFlow, f)
		}
	}
}

// place returns the position of a part of a piece, as people read it.
func (s *scripts) place(c piece, start int) string {
	file, line := c.file, c.line
	if rest, ok := strings.CutPrefix(file, s.env.Cwd+"/"); ok {
		file = rest
	}
	if start >= 0 && start <= len(c.text) {
		line += strings.Count(c.text[:start], "\n")
	}
	if c.line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// guessed reports whether the file of an access is unknown. In a file, folders and variables are
// less often known than in a line, so that guesses would ask about everything.
func guessed(a cardea.Access) bool {
	switch {
	case a.Kind == cardea.Network:
		return a.Host == ""
	case a.Kind == cardea.Unknown:
		return a.Glob && a.Pattern != ""
	case a.Kind == cardea.Write && a.Glob && !strings.Contains(a.Pattern, "/."):
		return true
	}
	return a.Path == "" || a.Glob && a.Kind == cardea.Read
}

// runFiles returns the files that a part runs.
func (s *scripts) runFiles(p *cardea.Part) []runFile {
	switch {
	case len(p.Command) == 0:
		return namedToRun(p)
	case len(p.Options) == 1 && p.Options[0].Name == "-n" && knowledge.Has(form.Shell, p.Program()) &&
		!slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return !w.Static || strings.HasPrefix(w.Text, "+") }):
		return nil // it only reads the script; +n undoes -n
	}
	var out []runFile
	for _, a := range p.Access {
		if a.Kind == cardea.Execute && a.Path != "" && a.Pattern == "" && !a.Recursive {
			out = append(out, runFile{a.Path, p.Dir, language(p.Command[0], a.Path), true})
		}
	}
	out = append(out, namedToRun(p)...)
	program := p.Program()
	names, runs := knowledge.WordsOf(form.RunsByName, program)
	if p.Dir == "" || !runs && !knowledge.Has(form.RunsHooks, program) {
		return out
	}
	dir := p.Dir
	for _, folder := range optionValues(p, form.RunsInFolderOfOption) {
		dir = knowledge.Absolute(dir, folder)
	}
	switch {
	case !runs:
		return append(out, s.gitHooks(p, dir)...)
	case slices.Contains(names, packageFile):
		for _, folder := range s.workspaces(p, dir) {
			out = append(out, runFile{path.Join(folder, packageFile), folder, packageScripts(p), false})
		}
		return out
	}
	named := optionValues(p, form.RunsFileOfOption)
	if len(named) > 0 {
		names = named
	}
	for _, name := range names {
		out = append(out, runFile{knowledge.Absolute(dir, name), dir, s.recipes(p, dir), len(named) > 0})
	}
	return out
}

// namedToRun returns the scripts among the words of an unknown program, in the form of names that
// are run: strace ./x. It ignores a file that does not name its interpreter.
func namedToRun(p *cardea.Part) []runFile {
	if p.Dir == "" || !accessKind(p, cardea.Unknown) {
		return nil
	}
	var out []runFile
	for _, w := range p.Argv[min(1, len(p.Argv)):] {
		spelledPath := strings.HasPrefix(w.Text, "./") || strings.HasPrefix(w.Text, "../") || strings.HasPrefix(w.Text, "/")
		if w.Static && spelledPath && !strings.ContainsAny(w.Text, " \n") {
			file := knowledge.Absolute(p.Dir, w.Text)
			read := language(file, file)
			out = append(out, runFile{file, p.Dir, func(text string) []piece {
				if !strings.HasPrefix(text, "#!") {
					return nil
				}
				return read(text)
			}, false})
		}
	}
	return out
}

// optionValues returns the values of the options that have a property of a part's program.
func optionValues(p *cardea.Part, property form.Property) []string {
	options, _ := knowledge.WordsOf(property, p.Program())
	var out []string
	for _, o := range p.Options {
		if o.Static && o.Value != "" && slices.Contains(options, o.Name) {
			out = append(out, o.Value)
		}
	}
	return out
}

// named returns the recipes that a command runs by name: hooks of git, scripts of package.json. A
// star is replaced by the next word.
func named(p *cardea.Part) []string {
	words, _ := recipeWords(p)
	words = append(words[:len(words):len(words)], "", "")
	names, ok := knowledge.WordsOf(form.RunsRecipes, strings.TrimSpace(p.Program()+" "+words[0]))
	star := words[1]
	if !ok {
		names, _ = knowledge.WordsOf(form.RunsRecipes, p.Program()+" *")
		star = words[0]
	}
	var out []string
	for _, name := range names {
		if whole := strings.Replace(name, "*", star, 1); star != "" || whole == name {
			out = append(out, whole)
		}
	}
	return out
}

// operandsOf returns the words of a part that select the contents of a file to run: subcommands and
// operands.
func operandsOf(p *cardea.Part) []string {
	out := slices.Clone(p.Command[1:])
	for _, i := range p.Operands {
		if i < len(p.Argv) && p.Argv[i].Static {
			out = append(out, p.Argv[i].Text)
		}
	}
	return out
}

// recipeWords returns the subcommand that runs recipes with the operands after it, and the
// workspace that a preceding subcommand names.
func recipeWords(p *cardea.Part) (words []string, workspace string) {
	words = operandsOf(p)
	subcommands, _ := knowledge.WordsOf(form.RunsInWorkspaceOfOption, p.Program())
	if len(words) > 1 && slices.Contains(subcommands, words[0]) {
		return words[2:], words[1]
	}
	return words, ""
}

// language returns the reader for a file that a program runs. It is chosen by the program, else by
// the first line, else by the name.
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
		if name, ok := knowledge.WordsOf(form.CodeLanguage, by); ok {
			return codeLanguages()[name[0]].lines(text)
		}
		switch ext := path.Ext(file); {
		case knowledge.Has(form.Shell, by), program == ".", program == "source",
			by == knowledge.Unversioned(path.Base(file)) && (ext == "" || ext == ".sh" || ext == ".bash"):
			return []piece{{text: text, line: 1}}
		}
		return nil
	}
}
