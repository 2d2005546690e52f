package knowledge

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
)

// This file evaluates an expression of find for one file: can an action reach it?

// truth is the result of a test: no, perhaps or yes.
type truth uint8

const (
	no truth = iota
	perhaps
	yes
)

// finding is the evaluation of an expression for one file or folder.
type finding struct {
	findWords
	name   string // the path as find writes it
	folder bool
	// acted is whether an action is reached. pruned is set if -prune certainly is, acts if
	// the expression has an action.
	acted        truth
	pruned, acts bool
}

// Finds reports whether the search of p may reach file, an absolute path, and whether it
// certainly does. resolve follows symlinks.
func Finds(p *cardea.Part, file string, resolve func(string) string) (may, surely bool) {
	spec := programOf(p.Program())
	if spec == nil || !spec.OperandsBeforeOptions {
		return true, false
	}
	folders, clear := searchedFolders(p, func(int) []string { return nil })
	out := no
	words := p.Argv[expressionAt(p):]
	for _, folder := range folders {
		root := Absolute(p.Dir, folder)
		if base := path.Base(folder); resolve != nil && root != "" && (strings.HasSuffix(folder, "/") || base == "." || base == ".." || HasOption(p, "-L", "-H", "-follow")) {
			root = resolve(root)
		} else if resolve != nil && root != "" {
			root = path.Join(resolve(path.Dir(root)), base) // a symlink itself is not followed
		}
		if rest, below := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/"); root != "" && below {
			out = max(out, reaches(words, spec.ValueOptions, strings.TrimSuffix(folder, "/"), rest))
		} else if root == "" {
			clear = false
		}
	}
	return out != no || !clear, out == yes && clear
}

// reaches returns whether an action reaches file below folder: neither it nor a folder
// above it is excluded.
func reaches(words []cardea.Word, values []string, folder, file string) truth {
	segments := strings.Split(file, "/")
	for i, w := range words[:max(len(words)-1, 0)] {
		if most, err := strconv.Atoi(words[i+1].Text); w.Text == "-maxdepth" && w.Static && err == nil && words[i+1].Static && len(segments) > most {
			return no
		}
	}
	deepFirst := slices.ContainsFunc(words, func(w cardea.Word) bool { return w.Text == "-depth" || w.Text == "-d" || w.Text == "-delete" })
	for n := range segments {
		if deepFirst {
			break // -prune does nothing
		}
		f := finding{findWords: findWords{words: words, values: values}, name: folder, folder: true}
		if n > 0 {
			f.name = folder + "/" + strings.Join(segments[:n], "/")
		}
		if f.list(yes); f.pruned {
			return no
		}
	}
	f := finding{findWords: findWords{words: words, values: values}, name: folder + "/" + file}
	holds := f.list(yes)
	switch {
	case f.at < len(words):
		return max(f.acted, perhaps)
	case f.acts:
		return f.acted
	}
	return holds
}

// list evaluates the parts between commas. reached is whether find evaluates them at all.
func (f *finding) list(reached truth) truth {
	out := f.either(reached)
	for f.is(",") {
		f.at++
		out = f.either(reached)
	}
	return out
}

func (f *finding) either(reached truth) truth {
	out := f.both(reached)
	for f.is("-o", "-or") {
		f.at++
		next := f.both(min(reached, yes-out))
		out = max(out, next)
	}
	return out
}

func (f *finding) both(reached truth) truth {
	out := yes
	for f.at < len(f.words) && !f.is("-o", "-or", ",", ")") {
		if f.is("-a", "-and") {
			f.at++
			continue
		}
		out = min(out, f.one(min(reached, out)))
	}
	return out
}

// one evaluates a test, an action, a negation, or a group in parentheses.
func (f *finding) one(reached truth) truth {
	if f.tooDeep() {
		f.act(perhaps)
	}
	defer func() { f.depth-- }()
	switch {
	case f.at >= len(f.words):
		return perhaps
	case f.is("!", "-not"):
		f.at++
		return yes - f.one(reached)
	case f.is("("):
		f.at++
		out := f.list(reached)
		f.at++
		return out
	}
	return f.primary(reached)
}

// primary evaluates one test or action with its value. An uncertain word may be any action.
func (f *finding) primary(reached truth) truth {
	word := f.words[f.at]
	f.at++
	switch {
	case !word.Static:
		f.act(perhaps) // it may be anything
		return perhaps
	case word.Text == "-prune":
		f.pruned = f.pruned || reached == yes && f.folder
		return yes
	case startsCommand(word.Text):
		f.act(reached)
		f.skipCommand()
		return perhaps
	case slices.Contains([]string{"-print", "-print0", "-delete", "-ls"}, word.Text):
		f.act(reached)
		return yes
	case word.Text == "-true" || word.Text == "-follow":
		return yes
	case !slices.Contains(f.values, word.Text) || f.at >= len(f.words):
		return perhaps
	}
	value := f.words[f.at]
	f.at++
	if strings.HasPrefix(word.Text, "-fprint") || word.Text == "-printf" || word.Text == "-fls" {
		f.act(reached)
		return yes
	}
	return f.test(word.Text, value)
}

// act records an action that find may reach.
func (f *finding) act(reached truth) {
	f.acts, f.acted = true, max(f.acted, reached)
}

// test returns whether a test with a value holds.
func (f *finding) test(test string, value cardea.Word) truth {
	text, name, base := value.Text, f.name, path.Base(f.name)
	if rest, fold := strings.CutPrefix(test, "-i"); fold {
		test, text, name, base = "-"+rest, strings.ToLower(text), strings.ToLower(name), strings.ToLower(base)
	}
	holds := false
	switch {
	case test == "-maxdepth" && value.Static:
		return yes // reaches has evaluated it
	case !value.Static || !paths.WellFormed(text):
		return perhaps
	case test == "-name":
		holds = paths.MatchName(text, base)
	case test == "-path" || test == "-wholename":
		holds = paths.MatchName(text, name)
	case test == "-type" && f.folder:
		holds = strings.Contains(text, "d")
	case test == "-type" && len(text) == 1:
		holds = text == "f"
	default:
		return perhaps
	}
	if holds {
		return yes
	}
	return no
}
