package bash

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// This file recognizes the files that activate a Python virtual environment: bin/activate as
// venv, virtualenv and uv write it, and conda's own. They set shell variables, put the
// environment's programs before others, and define the function deactivate.

// activates returns the folder of programs that a command puts before others, or "" if
// it does anything other than activate an environment. conda is the folder of conda if
// conda activates it.
func (w *commands) activates(inv invocation) (bin, conda string) {
	plain := w.cur.Forgotten.None() && len(inv.argv) > 1 && len(inv.access)+len(inv.assigns)+len(inv.wrappers)+len(*w.cmd.spots) == 0 && inv.argv[1].Static
	if !plain || w.loops > 0 || w.cur.Folder == "" || w.env.ReadFile == nil || w.changesFiles() || !w.untouched() {
		return "", ""
	}
	// With ".." a symlink leads to another folder than its name shows.
	word, file := inv.argv[1].Text, knowledge.Absolute(w.cur.Folder, inv.argv[1].Text)
	const longest = 32 << 10
	data, err := w.env.ReadFile(file, longest)
	if err != nil || !strings.Contains(word, "/") || strings.Contains(word, "..") || path.Base(file) != "activate" || path.Base(path.Dir(file)) != "bin" {
		return "", ""
	}
	root := path.Dir(path.Dir(file))
	switch {
	case len(inv.argv) == 2 && isActivation(string(data), root):
		return path.Dir(file), ""
	case isConda(string(data), root):
		return w.condaBin(root, inv.argv[2:]), root
	}
	return "", ""
}

// untouched reports whether the line has changed no variable, function or alias that an
// activate file uses.
func (w *commands) untouched() bool {
	names, _ := knowledge.WordsOf(form.VariableKinds, "activation")
	return len(w.cur.Funcs)+len(w.cur.Aliases) == 0 && !slices.ContainsFunc(names, func(name string) bool { return !w.cur.Vars.Get(name).IsUntouched() || w.cur.Attributes[name] != 0 })
}

// deactivates reports whether inv calls the function deactivate of an activate file.
func (w *commands) deactivates(inv invocation) bool {
	program := func(bin string) bool { return w.env.IsNew == nil || !w.env.IsNew(path.Join(bin, "deactivate")) }
	return w.untouched() && len(inv.argv) == 1 && inv.argv[0].Text == "deactivate" && len(inv.access)+len(inv.wrappers) == 0 && !slices.ContainsFunc(w.fronts, program)
}

// isConda reports whether text is the activate file of conda in root. It runs more files
// of that folder.
func isConda(text, root string) bool {
	return plainPath(root) && strings.Join(codeLines(text), "\n") == "_CONDA_ROOT=\""+root+"\"\n\\. \"$_CONDA_ROOT/etc/profile.d/conda.sh\" || return $?\nconda activate \"$@\""
}

// condaBin returns the folder of programs of the conda environment that an operand
// names. It returns "" if that environment may run files of its own.
func (w *commands) condaBin(root string, operands []field) string {
	if len(operands) > 0 && operands[0].Text != "base" {
		root = path.Join(root, "envs", operands[0].Text)
	}
	unclear := len(operands) > 1 || slices.ContainsFunc(operands, func(f field) bool { return !f.Static || !texts.PlainName(strings.ReplaceAll(f.Text, "-", "_")) })
	if unclear || w.env.IsNew == nil || w.env.IsNew(root) || !w.env.IsNew(path.Join(root, "etc/conda/activate.d")) {
		return ""
	}
	return path.Join(root, "bin")
}

func plainPath(root string) bool {
	return strings.Trim(root, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./@+-") == ""
}

// codeLines returns the lines of a script without comments and blanks.
func codeLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.Trim(line, " \t\n"); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// isActivation reports whether text is the activate file that venv, virtualenv or uv
// writes for an environment in root.
func isActivation(text, root string) bool {
	if !plainPath(root) || strings.ContainsAny(text, "\x00\x01\r\v\f") {
		return false
	}
	name := path.Base(root)
	text = strings.ReplaceAll(strings.Join(codeLines(text), "\n"), root, "\x00")
	for _, q := range [][2]string{{"(", ") "}, {`"`, `"`}, {"'", "'"}, {"x", `" != x`}, {"=", "\n"}} {
		text = strings.ReplaceAll(text, q[0]+name+q[1], q[0]+"\x01"+q[1])
	}
	for _, library := range []string{"TCL_LIBRARY='", "TK_LIBRARY='"} { // of the system's Tk
		before, rest, found := strings.Cut(text, "\n"+library+"/usr/")
		if value, after, closed := strings.Cut(rest, "'\n"); found && closed && plainPath(value) {
			text = before + "\n" + library + "'\n" + after
		}
	}
	sum := sha256.Sum256([]byte(text))
	known, _ := knowledge.WordsOf(form.LanguageCalls, "activation files")
	return slices.Contains(known, hex.EncodeToString(sum[:16]))
}

// changesFiles reports whether a part so far may change files.
func (w *commands) changesFiles() bool {
	return slices.ContainsFunc(w.out.Parts, func(p cardea.Part) bool {
		return !p.NoEffect && (len(p.Opaque) > 0 || len(p.Argv) > 0 && p.Knowledge != cardea.Complete ||
			slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Write || a.Kind == cardea.Delete }))
	})
}
