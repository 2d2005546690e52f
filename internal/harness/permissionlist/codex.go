package permissionlist

import (
	"regexp"
	"strings"

	"cardea.dev"
)

// maxAlternatives is the largest number of prefixes in one rule of Codex.
const maxAlternatives = 256

// codexCall finds the calls that define rules, codexAllows an explicit decision to allow, and
// codexDecides any decision.
var (
	codexCall    = regexp.MustCompile(`\b(?:prefix_rule|network_rule)\(`)
	codexAllows  = regexp.MustCompile(`\bdecision\s*=\s*(?:"allow"|'allow')\s*[,)]`)
	codexDecides = regexp.MustCompile(`\bdecision\b`)
)

// codex reads execpolicy rules: calls of prefix_rule and network_rule with literal
// arguments. The strictest rule that matches wins.
func (t *translation) codex() {
	text := string(t.data)
	calls := codexCall.FindAllStringIndex(text, -1)
	read := 0
	for i, c := range calls {
		if c[0] < read || commented(text, c[0]) {
			continue
		}
		s := starlark{text: text, pos: c[1]}
		args, ok := s.arguments()
		read = s.pos
		call := text[c[1]:]
		if i+1 < len(calls) {
			call = text[c[1]:calls[i+1][0]]
		}
		rules := codexRules(args, c[0])
		switch {
		case ok && len(rules) > 0:
			for _, r := range rules {
				t.add(r, nil)
			}
		case strings.Contains(call, ")") && (codexAllows.MatchString(call) || !codexDecides.MatchString(call)):
			t.leave(rule{tool: strings.TrimSuffix(text[c[0]:c[1]], "("), effect: cardea.Allow, at: c[0]}, "the harness applies it to its own calls")
		default:
			t.untranslated(c[0], "the rule is not written in literals that are read here")
		}
	}
}

// commented reports whether there is a # before an offset on its line.
func commented(text string, at int) bool {
	return strings.Contains(text[strings.LastIndexByte(text[:at], '\n')+1:at], "#")
}

// codexRules returns the rules that a call defines, or none if its arguments have an unknown form.
func codexRules(args map[string]any, at int) (rules []rule) {
	r := rule{tool: "Bash", at: at}
	switch args["decision"] {
	case "forbidden", "deny":
		r.effect = cardea.Deny
	case "prompt":
		r.effect = cardea.Ask
	case nil, "allow":
		r.effect = cardea.Allow
	default:
		return nil
	}
	if host, is := args["host"].(string); is {
		r.tool, r.spec = "WebFetch", "domain:"+host
		return []rule{r}
	}
	tokens, _ := args["pattern"].([]any)
	prefixes := []string{""}
	for _, tok := range tokens {
		words, isList := tok.([]any)
		if !isList {
			words = []any{tok}
		}
		var next []string
		for _, p := range prefixes {
			for _, w := range words {
				word, isText := w.(string)
				if !isText {
					return nil
				}
				next = append(next, strings.TrimSpace(p+" "+cardea.QuoteWord(word)))
				if name := homeAt(word, false); strings.HasPrefix(word[len(name):], "/") && name != "" {
					next = append(next, strings.TrimSpace(p+" "+name+"/"+cardea.QuoteWord(word[len(name)+1:])))
				}
			}
		}
		if prefixes = next; len(prefixes) > maxAlternatives {
			return nil
		}
	}
	if len(tokens) == 0 {
		return nil
	}
	for _, p := range prefixes {
		r.spec = p + ":*"
		rules = append(rules, r)
	}
	return rules
}

// starlark reads the literals of a call: texts, lists, and names as texts.
type starlark struct {
	text string
	pos  int
}

// space skips white space and comments.
func (s *starlark) space() {
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			s.pos++
		case c == '#':
			line, _, _ := strings.Cut(s.text[s.pos:], "\n")
			s.pos += len(line)
		default:
			return
		}
	}
}

func (s *starlark) take(c byte) bool {
	s.space()
	if s.pos < len(s.text) && s.text[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// arguments reads name = value pairs up to the closing parenthesis.
func (s *starlark) arguments() (map[string]any, bool) {
	out := map[string]any{}
	for !s.take(')') {
		name := s.name()
		if name == "" || !s.take('=') {
			return out, false
		}
		v, ok := s.value(0)
		if _, twice := out[name]; !ok || twice {
			return out, false
		}
		out[name] = v
		if !s.take(',') {
			return out, s.take(')')
		}
	}
	return out, true
}

func (s *starlark) name() string {
	s.space()
	from := s.pos
	for s.pos < len(s.text) && (s.text[s.pos] == '_' || s.text[s.pos]|0x20 >= 'a' && s.text[s.pos]|0x20 <= 'z') {
		s.pos++
	}
	return s.text[from:s.pos]
}

// value reads a text or a list, up to four levels deep.
func (s *starlark) value(depth int) (any, bool) {
	s.space()
	if s.pos >= len(s.text) || depth > 4 {
		return nil, false
	}
	switch c := s.text[s.pos]; {
	case c == '"' || c == '\'':
		return s.string(c)
	case c == '[':
		s.pos++
		list := []any{}
		for !s.take(']') {
			v, ok := s.value(depth + 1)
			if !ok {
				return nil, false
			}
			list = append(list, v)
			if !s.take(',') {
				return list, s.take(']')
			}
		}
		return list, true
	}
	return nil, false
}

// string reads a text up to the quote. It rejects a line break and unknown escapes.
func (s *starlark) string(quote byte) (any, bool) {
	var b strings.Builder
	for s.pos++; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; {
		case c == quote:
			s.pos++
			return b.String(), true
		case c == '\n':
			return nil, false
		case c == '\\' && s.pos+1 < len(s.text):
			s.pos++
			if strings.IndexByte(`\"'`, s.text[s.pos]) < 0 {
				return nil, false
			}
			b.WriteByte(s.text[s.pos])
		default:
			b.WriteByte(c)
		}
	}
	return nil, false
}
