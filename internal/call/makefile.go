package call

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/knowledge"
)

// makefile is what is read of a Makefile and of those that it includes.
type makefile struct {
	rules map[string]*makeRule
	// patterns are the targets with a %, in their order.
	patterns []string
	// first is the target that is made where none is named.
	first  string
	values map[string]string
	// expansions counts references to variables, since they may multiply.
	expansions int
	// shell are the commands whose output is put into the text.
	shell []piece
	// include reads another Makefile.
	include  func(name string) (file, text string, ok bool)
	included int
}

// makeRule is a target of a Makefile.
type makeRule struct {
	needs   []string
	recipes []piece
}

var makeLines = sync.OnceValue(func() (re struct{ assign, rule *regexp.Regexp }) {
	re.assign = regexp.MustCompile(`^ *(?:export +|override +)*([A-Za-z_][A-Za-z0-9_.-]*) *(\?|!|\+|:{0,3})= *(.*?) *$`)
	re.rule = regexp.MustCompile(`^([^\t#:=][^:=#]*?)[ \t]*&?::?(?:([^:=].*)|)$`)
	return re
})

// recipes reads the recipes of the targets that a part makes, and of those that they
// need.
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

// made are the recipes of targets, and of those that they need.
func (m *makefile) made(targets []string) []piece {
	var out []piece
	done := map[string]bool{}
	for len(targets) > 0 && len(out) < maxScriptParts {
		name := targets[0]
		targets = targets[1:]
		if done[name] {
			continue
		}
		done[name] = true
		r, stem := m.rule(name)
		var needs []string
		for _, n := range r.needs {
			needs = append(needs, strings.Fields(m.expand(strings.ReplaceAll(n, "%", stem), nil, 0))...)
		}
		targets = append(targets, needs...)
		all := strings.Join(needs, " ")
		automatic := map[string]string{"@": name, "*": stem, "^": all, "+": all, "?": all, "<": strings.Join(needs[:min(len(needs), 1)], "")}
		for _, c := range r.recipes {
			c.text = strings.TrimLeft(m.expand(strings.TrimLeft(c.text, "@-+ \t"), automatic, 0), "@-+ \t")
			out = append(out, c)
		}
	}
	return out
}

// rule is what makes a target, and what the % of a rule for many stands for.
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

// read takes a Makefile apart. Conditions are not looked at: each branch counts.
func (m *makefile) read(file, text string) {
	var current []*makeRule
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line, at := strings.TrimSuffix(lines[i], "\r"), piece{"", i + 1, file}
		var whole strings.Builder
		for strings.HasSuffix(line, "\\") && i+1 < len(lines) {
			whole.WriteString(strings.TrimSuffix(line, "\\") + " ")
			i++
			line = strings.TrimSuffix(lines[i], "\r")
		}
		whole.WriteString(line)
		line = whole.String()
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			for _, r := range current {
				r.recipes = append(r.recipes, piece{recipe, at.line, file})
			}
		} else if name, ok := strings.CutPrefix(line, "define "); ok {
			begin := i + 1
			for i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != "endef" {
				i++
			}
			m.values[strings.Trim(name, " =")] = strings.Join(lines[begin:i+1], "\n")
		} else if rules, is := m.line(line, at); is {
			current = rules
		}
	}
}

// line reads a line that is no recipe. Where it is a rule, the rules of its targets are
// those to which the recipes behind it belong.
func (m *makefile) line(line string, at piece) (rules []*makeRule, is bool) {
	re := makeLines()
	if a := re.assign.FindStringSubmatch(line); a != nil {
		m.assign(a[1], a[2], a[3], at)
		return nil, false
	}
	if word, names, ok := strings.Cut(line, " "); ok && strings.TrimLeft(word, "-s") == "include" {
		for _, name := range strings.Fields(m.expand(names, nil, 0)) {
			if m.included++; m.included > maxScripts {
				break
			}
			if other, text, ok := m.include(name); ok {
				m.read(other, text)
			}
		}
		return nil, false
	}
	r := re.rule.FindStringSubmatch(line)
	if r == nil {
		m.expand(line, nil, 0) // $(shell …) and $(info …) may be a line of their own
		return nil, false
	}
	if a := re.assign.FindStringSubmatch(r[2]); a != nil { // a variable of the target
		m.assign(a[1], a[2], a[3], at)
		return nil, false
	}
	return m.targets(strings.Fields(m.expand(r[1], nil, 0)), r[2], at), true
}

// targets adds rules for targets.
func (m *makefile) targets(names []string, rest string, at piece) []*makeRule {
	needs, recipe, has := strings.Cut(rest, ";")
	if pattern, more, static := strings.Cut(needs, ":"); static {
		_, needs = pattern, more // a static pattern rule
	}
	var out []*makeRule
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
			r.recipes = append(r.recipes, piece{recipe, at.line, at.file})
		}
		if out = append(out, r); m.first == "" && name[0] != '.' && !strings.Contains(name, "%") {
			m.first = name
		}
	}
	return out
}

// assign gives a variable its value, as the operator says.
func (m *makefile) assign(name, operator, value string, at piece) {
	_, has := m.values[name]
	switch {
	case operator == "?" && has:
	case operator == "!":
		m.shell = append(m.shell, piece{m.expand(value, nil, 0), at.line, at.file})
		m.values[name] = unknownWord
	case operator == "+":
		m.values[name] = strings.TrimSpace(m.values[name] + " " + value)
	case strings.HasPrefix(operator, ":"):
		m.values[name] = strings.ReplaceAll(m.expand(value, nil, 0), "$", "$$")
	default:
		m.values[name] = value
	}
	for i := range m.shell {
		if m.shell[i].line == 0 {
			m.shell[i].line, m.shell[i].file = at.line, at.file
		}
	}
}

// The bounds of a text of make: how deep variables may refer to each other, how long
// their values may be, and how many references are followed.
const (
	maxMakeDepth      = 8
	maxMakeValue      = 4096
	maxMakeExpansions = 20_000
)

// unknownWord stands for a text that is not known, so that it is neither nothing nor a
// command for the shell.
const unknownWord = "unknown"

// expand puts in the variables of make that hold a text. What $(shell …) runs is noted.
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
		switch c := after[0]; c {
		case '$':
			out.WriteByte('$')
			text = after[1:]
		case '(', '{':
			end := closing(after)
			out.WriteString(m.value(after[1:end], automatic, depth))
			text = after[min(end+1, len(after)):]
		default:
			out.WriteString(m.value(after[:1], automatic, depth))
			text = after[1:]
		}
	}
}

// value is what a reference of make stands for.
func (m *makefile) value(name string, automatic map[string]string, depth int) string {
	if m.expansions++; depth > maxMakeDepth || m.expansions > maxMakeExpansions {
		return unknownWord
	}
	if function, rest, ok := strings.Cut(name, " "); ok {
		switch rest = m.expand(rest, automatic, depth+1); function {
		case "shell":
			if len(m.shell) < maxScripts {
				m.shell = append(m.shell, piece{text: rest})
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

// closing is where the bracket at the beginning of a text is closed, or its end.
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
