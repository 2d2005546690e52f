package call

import (
	"cmp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
)

// makefile holds the parsed contents of a Makefile and of those that it includes.
type makefile struct {
	rules map[string]*makeRule
	// patterns are the targets with a %, in their order.
	patterns []string
	// first is the default target.
	first  string
	values map[string]string
	// expansions counts references to variables, since they may multiply.
	expansions int
	// shell are the commands whose output is inserted into the text.
	shell []piece
	// at is the line that is being read, current the targets of a recipe after it.
	at      piece
	current []*makeRule
	// include reads another Makefile.
	include  func(name string) (file, text string, ok bool)
	included int
}

// makeRule is a target of a Makefile.
type makeRule struct {
	needs   []string
	recipes []piece
}

var (
	makeAssign = expression(`^ *(?:export +|override +)*([A-Za-z_][A-Za-z0-9_.-]*) *(\?|!|\+|:{0,3})= *(.*?) *$`)
	makeTarget = expression(`^([^\t#:=][^:=#]*?)[ \t]*&?::?(?:([^:=].*)|)$`)
)

// recipes returns a reader of the recipes of the targets that a part makes, and of their
// prerequisites.
func (s *scripts) recipes(p *cardea.Part, dir string) func(text string) []piece {
	return func(text string) []piece {
		m := &makefile{rules: map[string]*makeRule{}, values: map[string]string{"HOME": s.env.Home, "CURDIR": dir, "RM": "rm -f", "MAKE": "make", "SHELL": "sh"}}
		m.include = func(name string) (string, string, bool) {
			file := knowledge.Absolute(dir, name)
			text, err := s.read(file)
			if told := noted(file, err); (err == nil || err == errUnreadable) && !slices.Contains(p.LookedInto, told) {
				p.LookedInto = append(p.LookedInto, told)
			}
			return file, text, err == nil
		}
		for _, a := range p.Assigns {
			if a.Static {
				m.values[a.Name] = a.Value
			}
		}
		m.read("", text)
		var targets []string
		for _, word := range operandsOf(p) {
			if name, value, ok := strings.Cut(word, "="); ok {
				m.values[strings.TrimRight(name, ":?+")] = value
			} else {
				targets = append(targets, word)
			}
		}
		if len(targets) == 0 {
			targets = []string{cmp.Or(m.values[".DEFAULT_GOAL"], m.first)}
		}
		out := m.made(targets)
		return append(m.shell, out...)
	}
}

// made returns the recipes of targets and of their prerequisites.
func (m *makefile) made(targets []string) (out []piece) {
	done := map[string]bool{}
	for len(targets) > 0 && len(out) < maxScriptParts {
		name := targets[0]
		targets = targets[1:]
		if done[name] {
			continue
		}
		done[name] = true
		r, stem := m.rule(name)
		needs := strings.Fields(m.expand(strings.ReplaceAll(strings.Join(r.needs, " "), "%", stem), nil, 0))
		targets = append(targets, needs...)
		all := strings.Join(needs, " ")
		automatic := map[string]string{"@": name, "*": stem, "^": all, "+": all, "?": all, "<": strings.Join(needs[:min(len(needs), 1)], "")}
		for _, c := range r.recipes {
			m.at = c
			c.text = strings.TrimLeft(m.expand(strings.TrimLeft(c.text, "@-+ \t"), automatic, 0), "@-+ \t")
			out = append(out, c)
		}
	}
	return out
}

// rule returns the rule for a target, and the text for the % of a pattern rule.
func (m *makefile) rule(target string) (r makeRule, stem string) {
	if own := m.rules[target]; own != nil {
		r = *own
		if len(r.recipes) > 0 {
			return r, "%"
		}
	}
	for _, pattern := range m.patterns {
		other := m.rules[pattern]
		head, tail, _ := strings.Cut(pattern, "%")
		if len(other.recipes) > 0 && len(target) > len(head)+len(tail) && strings.HasPrefix(target, head) && strings.HasSuffix(target, tail) {
			r.needs, r.recipes = append(r.needs[:len(r.needs):len(r.needs)], other.needs...), other.recipes
			return r, target[len(head) : len(target)-len(tail)]
		}
	}
	return r, "%"
}

// joinedLines joins continued lines of a Makefile, with a mark at each joint.
var joinedLines = strings.NewReplacer("\r\n", "\n", "\\\r\n", " \x00", "\\\n", " \x00")

// read parses a Makefile. It ignores conditions, so that each branch applies.
func (m *makefile) read(file, text string) {
	m.current = nil
	number, defined := 1, ""
	for line := range strings.SplitSeq(joinedLines.Replace(text), "\n") {
		m.at = piece{line: number, file: file}
		number += 1 + strings.Count(line, "\x00")
		line = strings.TrimSuffix(strings.ReplaceAll(line, "\x00", ""), "\r")
		recipe, isRecipe := strings.CutPrefix(line, "\t")
		name, defines := strings.CutPrefix(line, "define ")
		switch {
		case defined != "" && strings.TrimSpace(line) == "endef":
			defined = ""
		case defined != "":
			if len(m.values[defined]) <= maxMakeValue { // longer ones are unknown
				m.values[defined] += line + "\n"
			}
		case isRecipe:
			for _, r := range m.current {
				r.recipes = append(r.recipes, m.piece(recipe))
			}
		case defines:
			defined = strings.Trim(name, " =")
			m.values[defined] = ""
		default:
			m.line(line)
		}
	}
}

// piece returns a text that begins in the line that is being read.
func (m *makefile) piece(text string) piece { return piece{text, m.at.line, m.at.file} }

// line reads a line that is not a recipe.
func (m *makefile) line(line string) {
	r := makeTarget().FindStringSubmatch(line)
	word, names, isTwo := strings.Cut(line, " ")
	switch {
	case m.assigns(line):
	case isTwo && strings.TrimLeft(word, "-s") == "include":
		for _, name := range strings.Fields(m.expand(names, nil, 0)) {
			if m.included++; m.included > maxScripts {
				break
			}
			if other, text, ok := m.include(name); ok {
				m.read(other, text)
			}
		}
	case r == nil:
		m.expand(line, nil, 0) // $(shell …) and $(info …) may be a line of their own
	case !m.assigns(r[2]): // otherwise a variable of the target
		m.targets(strings.Fields(m.expand(r[1], nil, 0)), r[2])
	}
}

// targets adds rules for targets.
func (m *makefile) targets(names []string, rest string) {
	needs, recipe, has := strings.Cut(rest, ";")
	if _, more, static := strings.Cut(needs, ":"); static {
		needs = more // a static pattern rule
	}
	m.current = nil
	for _, name := range names {
		r := m.rules[name]
		if r == nil {
			r = &makeRule{}
			m.rules[name] = r
			if strings.Contains(name, "%") {
				m.patterns = append(m.patterns, name)
			}
		}
		r.needs = append(r.needs, strings.Fields(m.expand(needs, nil, 0))...)
		if has {
			r.recipes = append(r.recipes, m.piece(recipe))
		}
		if m.current = append(m.current, r); m.first == "" && name[0] != '.' && !strings.Contains(name, "%") {
			m.first = name
		}
	}
}

// assigns reports whether a line assigns a variable, and assigns it as its operator requires.
func (m *makefile) assigns(line string) bool {
	a := makeAssign().FindStringSubmatch(line)
	if a == nil {
		return false
	}
	name, operator, value := a[1], a[2], a[3]
	_, has := m.values[name]
	switch {
	case operator == "?" && has:
	case operator == "!":
		m.shell = append(m.shell, m.piece(m.expand(value, nil, 0)))
		m.values[name] = unknownWord
	case operator == "+":
		m.values[name] = strings.TrimSpace(m.values[name] + " " + value)
	case strings.HasPrefix(operator, ":"):
		m.values[name] = strings.ReplaceAll(m.expand(value, nil, 0), "$", "$$")
	default:
		m.values[name] = value
	}
	return true
}

// The limits of make's texts: the depth of references between variables, the length of their
// values, and the number of references.
const (
	maxMakeDepth      = 8
	maxMakeValue      = 4096
	maxMakeExpansions = 20_000
)

// unknownWord replaces an unknown text. It is not empty, and not a command for the shell.
const unknownWord = "unknown"

// expand replaces the variables of make that hold a text, and records the commands of $(shell …).
func (m *makefile) expand(text string, automatic map[string]string, depth int) string {
	if !strings.Contains(text, "$") {
		return text
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found || after == "" || out.Len() > maxMakeValue {
			return out.String()
		}
		name, end := after[:1], 1
		if name == "(" || name == "{" {
			end = closing(after)
			name, end = after[1:end], min(end+1, len(after))
		}
		if text = after[end:]; name == "$" {
			out.WriteByte('$')
		} else {
			out.WriteString(m.value(name, automatic, depth))
		}
	}
}

// value returns the value of a reference of make.
func (m *makefile) value(name string, automatic map[string]string, depth int) string {
	if m.expansions++; depth > maxMakeDepth || m.expansions > maxMakeExpansions {
		return unknownWord
	}
	if function, rest, ok := strings.Cut(name, " "); ok {
		switch rest = m.expand(rest, automatic, depth+1); function {
		case "shell":
			if len(m.shell) < maxScripts {
				m.shell = append(m.shell, m.piece(rest))
			}
		case "strip", "abspath", "realpath":
			return strings.TrimSpace(rest)
		}
		return unknownWord
	}
	if value, ok := automatic[name]; ok {
		return value
	}
	value, ok := m.values[name]
	if !ok || len(value) > maxMakeValue {
		return unknownWord
	}
	return m.expand(value, automatic, depth+1)
}

// closing returns the offset at which the bracket at the beginning of a text is closed, or its end.
func closing(text string) int {
	open, shut := text[0], map[byte]byte{'(': ')', '{': '}'}[text[0]]
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text)
}
