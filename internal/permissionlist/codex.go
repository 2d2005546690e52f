package permissionlist

import (
	"strings"

	"cardea.dev"
)

// maxAlternatives bounds the prefixes that one rule of Codex stands for.
const maxAlternatives = 256

// codex reads execpolicy rules: calls of prefix_rule with literal arguments. The
// strictest rule that matches wins.
func (t *translation) codex() {
	text := string(t.data)
	for at := 0; ; {
		i := strings.Index(text[at:], "prefix_rule(")
		if i < 0 {
			return
		}
		at += i
		if commented(text, at) {
			at++
			continue
		}
		s := starlark{text: text, pos: at + len("prefix_rule(")}
		args, ok := s.arguments()
		t.prefixRule(at, args, ok)
		at = max(s.pos, at+1)
	}
}

// commented reports whether a # stands in front of an offset on its line.
func commented(text string, at int) bool {
	return strings.Contains(text[strings.LastIndexByte(text[:at], '\n')+1:at], "#")
}

func (t *translation) prefixRule(at int, args map[string]any, ok bool) {
	decision, _ := args["decision"].(string)
	var effect cardea.Effect
	switch {
	case ok && decision == "forbidden":
		effect = cardea.Deny
	case ok && decision == "prompt":
		effect = cardea.Ask
	case ok && (decision == "" || decision == "allow"):
		return
	}
	tokens, isList := args["pattern"].([]any)
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
				ok = ok && isText
				next = append(next, strings.TrimSpace(p+" "+cardea.QuoteWord(word)))
				if name := homeAt(word, false); strings.HasPrefix(word[len(name):], "/") && name != "" {
					next = append(next, strings.TrimSpace(p+" "+name+"/"+cardea.QuoteWord(word[len(name)+1:])))
				}
			}
		}
		if prefixes = next; len(prefixes) > maxAlternatives {
			ok = false
			break
		}
	}
	if !ok || !isList || len(tokens) == 0 || effect == cardea.Abstain {
		t.untranslated(at, "the rule is not written in literals that are read here")
		return
	}
	for _, p := range prefixes {
		t.add(rule{tool: "Bash", spec: p + ":*", effect: effect, at: at}, nil)
	}
}

// starlark reads the literals of a call: texts, lists, and names as texts.
type starlark struct {
	text string
	pos  int
}

func (s *starlark) space() {
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			s.pos++
		case c == '#':
			end := strings.IndexByte(s.text[s.pos:], '\n')
			if end < 0 {
				end = len(s.text) - s.pos
			}
			s.pos += end
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
