package bash

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/knowledge"
)

// This file is about operands that the line does not tell for certain, though
// it tells where they come from: "find ~ | xargs rm -rf", "rm -rf $(echo ~)",
// "rm -rf ${HOME%/}". What they may become is added as an access whose path is
// not known and whose spelling is, so that what denies finds it and nothing
// allows it.

// mayBecome lists the paths that a word of a command may become.
func (w *walker) mayBecome(word field, wrappers []string) []knowledge.PossiblePath {
	var out []knowledge.PossiblePath
	add := func(list []knowledge.PossiblePath) { out = append(out, list[:min(len(list), maxFlowScan)]...) }
	if slices.ContainsFunc(wrappers, searches) {
		for i := len(w.parts) - 1; i >= 0; i-- {
			if searches(base(&w.parts[i])) {
				add(w.supplies(i))
				break
			}
		}
	}
	if slices.Contains(wrappers, "xargs") {
		add(w.fromInput())
	}
	if substitutionAlone(word.Text) {
		for _, from := range w.pending {
			if from[0] < from[1] {
				add(w.supplies(w.maker(from)))
			}
		}
	}
	for _, from := range w.origins(word.Text, len(w.parts)) {
		add(w.supplies(w.maker(from)))
	}
	if slices.Contains(w.via, "while") && w.stdin.kind == piped && variableAlone(word.Text) != "" {
		add(w.fromInput())
	}
	if at := w.likely(word.Text); at != "" {
		add([]knowledge.PossiblePath{{Path: at}})
	}
	return out
}

// fromInput lists what xargs reads from its standard input.
func (w *walker) fromInput() []knowledge.PossiblePath {
	switch w.stdin.kind {
	case literal:
		return w.printed(strings.Fields(w.stdin.text), w.cur.cwd)
	case piped:
		return w.supplies(w.maker(w.stdin.from))
	}
	return nil
}

// maker is the part of a range that made what comes out at its end: programs
// that pass on what they read are looked through.
func (w *walker) maker(from [2]int) int {
	for i := min(from[1], len(w.parts)) - 1; i >= from[0]; i-- {
		switch base(&w.parts[i]) {
		case "sort", "uniq", "cat", "tac", "tee", "tr", "shuf":
			continue
		}
		return i
	}
	return -1
}

// supplies lists the paths that a part prints, where it is one of the programs
// that print what they are passed.
func (w *walker) supplies(i int) []knowledge.PossiblePath {
	if i < 0 {
		return nil
	}
	p := &w.parts[i]
	operands := make([]string, 0, len(p.Operands))
	for _, k := range p.Operands {
		if p.Argv[k].Static {
			operands = append(operands, p.Argv[k].Text)
		}
	}
	option := func(names ...string) bool {
		return slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return slices.Contains(names, o.Name) })
	}
	switch base(p) {
	case "find", "gfind", "fd", "fdfind":
		return w.finds(p)
	case "echo", "printf", "yes", "realpath", "readlink":
		var words []string
		for _, o := range operands {
			words = append(words, strings.Fields(strings.ReplaceAll(o, `\n`, " "))...)
		}
		return w.printed(words, p.Dir)
	case "dirname":
		for i := range operands {
			operands[i] = path.Dir(operands[i])
		}
		return w.printed(operands, p.Dir)
	case "pwd":
		return w.printed([]string{"."}, p.Dir)
	case "ls":
		switch {
		case option("-d", "--directory"):
			return w.printed(operands, p.Dir)
		case len(p.Operands) == 0:
			return []knowledge.PossiblePath{{Path: p.Dir, Entries: !option("-a", "-A", "--all", "--almost-all")}}
		}
	case "git":
		if option("--show-toplevel") && len(w.env.Roots) > 0 {
			return []knowledge.PossiblePath{{Path: w.env.Roots[0]}}
		}
	}
	return nil
}

// printed are paths as a program prints them.
func (w *walker) printed(list []string, dir string) []knowledge.PossiblePath {
	var out []knowledge.PossiblePath
	for _, text := range list {
		text = strings.Trim(text, `"'`)
		if at := knowledge.Absolute(dir, text); at != "" {
			out = append(out, knowledge.PossiblePath{Path: at})
		}
	}
	return out
}

// searches reports the programs that search folders, and start others on what
// they find.
func searches(name string) bool {
	return name == "find" || name == "gfind" || name == "fd" || name == "fdfind"
}

// finds lists what a find prints: everything below its folders, if it has no
// test that leaves something out. A search with tests is not followed.
func (w *walker) finds(p *cardea.Part) []knowledge.PossiblePath {
	if name := base(p); name == "fd" || name == "fdfind" {
		if len(p.Operands) > 0 && strings.Trim(p.Argv[p.Operands[0]].Text, ".*^") != "" {
			return nil // a pattern that names something
		}
	}
	command := -1 // the end of what -exec runs
	for _, o := range p.Options {
		if o.Word <= command {
			continue
		}
		switch o.Name {
		case "-x", "-X", "--exec", "--exec-batch":
			command = len(p.Argv)
		case "-exec", "-execdir", "-ok", "-okdir":
			for command = o.Word + 1; command < len(p.Argv) && p.Argv[command].Text != ";" && p.Argv[command].Text != "+"; command++ {
			}
		case "-print", "-print0", "-delete", "-depth", "-d", "-xdev", "-mount", "-type", "-maxdepth", "-mindepth", "-H", "-L", "-P",
			"-O", "-D", "-true", "-noleaf", "-ls", "-prune", "-o", "-or", "-a", "-and", "-I", "-u", "-t", "--type", "--hidden", "--no-ignore", "--unrestricted", "-0":
		default:
			return nil
		}
	}
	var out []knowledge.PossiblePath
	for _, a := range p.Access {
		if a.Kind == cardea.Read && a.Recursive {
			at := a.Path
			if at == "" {
				at = a.Spelled
			}
			if at != "" {
				out = append(out, knowledge.PossiblePath{Path: at, Below: true})
			}
		}
	}
	return out
}

// substitutionAlone reports whether a word is one command substitution and
// nothing else but slashes and dots.
func substitutionAlone(text string) bool {
	text = strings.Trim(text, `"/.`)
	return strings.HasPrefix(text, "$(") && strings.HasSuffix(text, ")") || len(text) > 1 && text[0] == '`' && text[len(text)-1] == '`'
}

// likely is the path that a word is likely to become: one that begins with the
// home or the current folder in a spelling that is not followed. It cuts what is
// taken off the front of a value, and no more.
func (w *walker) likely(text string) string {
	text = strings.TrimPrefix(text, `"`)
	name, rest := "", ""
	switch {
	case strings.HasPrefix(text, "${"):
		inner, after, ok := strings.Cut(text[2:], "}")
		if !ok {
			return ""
		}
		end := strings.IndexAny(inner, "%:/^,@")
		if end <= 0 || strings.Contains(inner, "#") {
			return ""
		}
		name, rest = inner[:end], after
	case strings.HasPrefix(text, "~+"):
		name, rest = "PWD", text[2:]
	case strings.HasPrefix(text, "~"):
		user, after, _ := strings.Cut(text[1:], "/")
		if home := w.cur.vars["HOME"]; home.kind == known && user != "" && plainUser(user) {
			return path.Join(path.Dir(home.text), user, strings.Trim(after, `"`))
		}
		return ""
	default:
		return ""
	}
	rest = strings.Trim(rest, `"*`)
	if v := w.cur.vars[name]; v.kind == known && strings.HasPrefix(v.text, "/") && !strings.ContainsAny(rest, "$`{") {
		return path.Clean(v.text + "/" + rest)
	}
	return ""
}

func plainUser(s string) bool {
	return s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// maxOriginScan bounds how many parts are looked through for what set a
// variable.
const maxOriginScan = 128

// origins lists the parts whose output a word holds that is one variable and
// nothing else, as far as the parts in front of one tell: those in the
// substitution that set it, or those that a loop goes through.
func (w *walker) origins(text string, before int) [][2]int {
	name := variableAlone(text)
	if name == "" {
		return nil
	}
	var out [][2]int
	for i := min(before, len(w.parts)) - 1; i >= max(0, before-maxOriginScan); i-- {
		p := &w.parts[i]
		switch {
		case p.NoEffect && setsName(p.Text, name):
			for _, pipe := range w.pipes {
				if pipe.to[0] <= i && i < pipe.to[1] {
					out = append(out, pipe.from)
				}
			}
			return out
		case loops(p.Via) && !slices.ContainsFunc(w.pipes[max(0, len(w.pipes)-maxFlowScan):], func(x pipe) bool { return x.from[0] <= i && i < x.from[1] }):
			out = append(out, [2]int{i, i + 1})
		}
	}
	return out
}

// loops reports a part that stands in a substitution of a for loop.
func loops(via []string) bool {
	n := len(via)
	return n > 1 && via[n-2] == "for" && (via[n-1] == "$( )" || via[n-1] == "` `")
}

// setsName reports whether a part that only sets variables sets this one from
// a substitution.
func setsName(text, name string) bool {
	for _, keyword := range []string{"export ", "local ", "declare ", "readonly ", "typeset "} {
		text = strings.TrimPrefix(text, keyword)
	}
	rest, ok := strings.CutPrefix(text, name+"=")
	return ok && strings.ContainsAny(rest, "$`")
}

// variableAlone is the name of the variable that a word consists of.
func variableAlone(text string) string {
	text = strings.TrimRight(strings.Trim(text, `"`), "/")
	name, ok := strings.CutPrefix(strings.Trim(text, `"`), "$")
	if !ok {
		return ""
	}
	if inner, ok := strings.CutPrefix(name, "{"); ok {
		name = strings.TrimSuffix(inner, "}")
	}
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return ""
	}
	return name
}
