package call

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cardea.dev/internal/command/bash"
)

// This file reads certain calls of the standard library in a file of Python, JavaScript, Perl or
// Ruby: those that delete, write, connect and start programs, with constant arguments. All other
// calls are ignored, so that a text that merely looks like one causes no question.

// codeLanguage describes the syntax of such calls and constants in a language.
type codeLanguage struct {
	// call finds the beginning of a call. The last group that matches is its name. method finds the
	// methods of a path, by the same names.
	call, method *regexp.Regexp
	// does maps the name of a call to its effect: a line for a shell in which $1 and $2 are its
	// arguments, or one of the effects below. It also holds the fields of the table.
	does map[string]string
	// home finds expressions for the home folder, join functions that join the parts of a path, or
	// return their argument.
	home, join *regexp.Regexp
	// insert finds the expressions in a text that are replaced by their values; its last group is
	// the expression. It applies if the text begins with one of inserting.
	insert    *regexp.Regexp
	inserting string
	// comment begins a comment, plain finds texts that are not code. If it has a group that does
	// not match, the text is a value.
	comment string
	plain   *regexp.Regexp
	// joins are the operators that join texts.
	joins string
}

// The effects that are not a line for a shell.
const (
	runs     = ""     // the argument is a text for a shell, or the arguments are words of a command
	replaces = "exec" // the same, with the program's name before the words
	opens    = "file" // writes the file, or runs the command, as the mode says
	contacts = "url"  // contacts the host of a URL
)

// languageTable has the languages, separated by an empty line. A line is a field of [codeLanguage],
// which begins with an @ and may be continued on the next line, or the names of calls with their
// effect.
//
//go:embed languages.txt
var languageTable string

// codeLanguages are the supported languages.
var codeLanguages = sync.OnceValue(func() map[string]*codeLanguage {
	out := map[string]*codeLanguage{}
	for section := range strings.SplitSeq(languageTable, "\n\n") {
		f := map[string]string{}
		for line := range strings.SplitSeq(section, "\n") {
			names, value, _ := strings.Cut(line, ": ")
			for name := range strings.FieldsSeq(names) {
				f[name] += value
			}
		}
		re := func(field string) *regexp.Regexp { return regexp.MustCompile(f[field]) }
		out[f["@name"]] = &codeLanguage{call: re("@call"), method: re("@method"), does: f, home: re("@home"), join: re("@join"),
			insert: re("@insert"), inserting: f["@inserting"], comment: f["@comment"], plain: re("@plain"), joins: f["@joins"]}
	}
	return out
})

// expression returns a function that compiles a regular expression at its first use.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

var codeAssignment = expression(`(?m)^[ \t]*(?:const |let |var |my |our )?(\$?[A-Za-z_][A-Za-z0-9_]*)(?:: *\w+)? *= *([^=~\n].*?);?[ \t]*$`)

// backticks finds commands in backticks: in place of a value in Perl and Ruby, after a $ in
// JavaScript (zx, Bun).
var backticks = expression("(?m)(?:(\\$)|[=({,][ \t]*|^[ \t]*|\\breturn[ \t]+)(`[^`\n]+`)")

// lines returns lines for a shell with the effects of the calls in a text.
func (l *codeLanguage) lines(text string) []piece {
	text = l.withoutPlain(text)
	calls, methods := l.call.FindAllStringSubmatchIndex(text, maxScriptParts), l.method.FindAllStringSubmatchIndex(text, maxScriptParts)
	var quoted [][]int
	if strings.Contains(l.inserting, "`") {
		quoted = backticks().FindAllStringSubmatchIndex(text, maxScriptParts)
	}
	if len(calls)+len(methods)+len(quoted) == 0 {
		return nil
	}
	k := l.constants(text)
	var out []piece
	add := func(at int, line string) {
		begin := strings.LastIndexByte(text[:at], '\n') + 1
		if line != "" && !strings.HasPrefix(strings.TrimSpace(text[begin:at+1]), l.comment) {
			out = append(out, piece{text: line, line: 1 + strings.Count(text[:at], "\n")})
		}
	}
	for _, at := range calls {
		if end := slices.Max(at[2:]); end >= 0 {
			begin := at[slices.Index(at[2:], end)+1]
			add(begin, k.line(l.does[text[begin:end]], text[at[1]:]))
		}
	}
	for _, at := range methods {
		if v, ok := k.receiver(text[:at[0]]); ok {
			add(at[0], filled(l.does[text[at[2]:at[3]]], []string{v}, false))
		}
	}
	for _, at := range quoted {
		if l.comment == "#" || at[2] >= 0 {
			v, _, _ := k.term(text[at[4]:at[5]], 0)
			add(at[4], v)
		}
	}
	return out
}

// withoutPlain returns a text without the pieces that are not code, with as many lines.
func (l *codeLanguage) withoutPlain(text string) string {
	var out strings.Builder
	from := 0
	for _, at := range l.plain.FindAllStringSubmatchIndex(text, -1) {
		if len(at) > 2 && slices.Max(at[2:]) < 0 {
			continue // a value
		}
		out.WriteString(text[from:at[0]] + strings.Repeat("\n", strings.Count(text[at[0]:at[1]], "\n")))
		from = at[1]
	}
	return out.String() + text[from:]
}

// constants returns the variables of a text that hold one constant.
func (l *codeLanguage) constants(text string) constants {
	k := constants{codeLanguage: l, values: map[string]string{}}
	for _, m := range codeAssignment().FindAllStringSubmatch(text, maxScriptParts) {
		if _, twice := k.values[m[1]]; twice {
			k.values[m[1]] = "" // several values: unknown
		} else if v, rest, ok := k.value(m[2], 0); ok && strings.TrimSpace(rest) == "" {
			k.values[m[1]] = v
		}
	}
	return k
}

// constants evaluates constant expressions.
type constants struct {
	*codeLanguage
	values map[string]string
}

// line returns the effect of a call with the arguments at the beginning of a text, "" where it is
// unknown. It ignores arguments after the first one that is not constant.
func (k constants) line(does, args string) string {
	args = strings.TrimLeft(args, " \t\n")
	if does != runs && does != replaces {
		args = strings.TrimLeft(args, "(") // connect((host, port))
	}
	values, _, _ := k.args(args, ")", 0)
	return filled(does, values, strings.HasPrefix(args, "["))
}

// args returns the constants at the beginning of a text, with commas between them and lists
// flattened, and the text after their closing bracket. If one is not constant, closed is false and
// values are those before it, or none if it is in a list.
func (k constants) args(text, closing string, depth int) (values []string, rest string, closed bool) {
	for more := true; more && len(values) < maxCodeWords; {
		text = strings.TrimLeft(text, " \t\n")
		if rest, closed = strings.CutPrefix(text, closing); closed {
			return values, rest, true
		}
		var words []string
		if list, is := strings.CutPrefix(text, "["); is && depth == 0 {
			if words, text, is = k.args(list, "]", 1); !is {
				return nil, "", false
			}
		} else {
			v, after, ok := k.value(text, depth)
			if !ok {
				break
			}
			words, text = []string{v}, after
		}
		values, text = append(values, words...), strings.TrimLeft(text, " \t\n")
		if rest, closed = strings.CutPrefix(text, closing); closed {
			return values, rest, true
		}
		text, more = strings.CutPrefix(text, ",")
	}
	return values, "", false
}

// maxCodeWords is the largest number of words of a command in code.
const maxCodeWords = 256

// filled returns the effect of a call with the values of its arguments, "" for an unknown effect.
func filled(does string, values []string, listed bool) string {
	if len(values) == 0 {
		return ""
	}
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = shellWord(v)
	}
	url := strings.Contains(values[0], "://")
	switch {
	case does == runs && len(values) == 1 && !listed:
		return values[0]
	case does == runs:
		return strings.Join(words, " ")
	case does == replaces:
		return strings.Join(words[min(1, len(words)-1):], " ")
	case url && (does == contacts || does == opens && len(values) == 1):
		return "curl -- " + words[0]
	case does == opens:
		return opened(values, words)
	case does == contacts, strings.Contains(does, "$2") && len(words) < 2:
		return ""
	}
	return strings.NewReplacer("$1", words[0], "$2", words[min(1, len(words)-1)]).Replace(does)
}

// opened returns the effect of opening a file, "" for reading it.
func opened(values, words []string) string {
	first := values[0]
	switch {
	case len(values) == 1 && strings.HasPrefix(first, ">"):
		return "tee -- " + shellWord(strings.TrimLeft(first, "> "))
	case len(values) == 1:
		if text := strings.TrimSuffix(strings.TrimPrefix(first, "|"), "|"); text != first {
			return text
		}
		return ""
	case first == "-|" || first == "|-":
		return filled(runs, values[1:], false)
	case strings.HasPrefix(first, ">"), strings.HasPrefix(first, "+"):
		return "tee -- " + words[1]
	case !strings.HasPrefix(first, "<") && strings.Trim(values[1], "rwaxbt+") == "" && strings.ContainsAny(values[1], "wax+"):
		return "tee -- " + words[0]
	}
	return ""
}

// atEnd finds a variable or a parenthesis, with the calls on it.
var atEnd = expression(`(?:[\w.]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))+$`)

// receiver returns the value of the expression at the end of a text.
func (k constants) receiver(text string) (string, bool) {
	v, rest, ok := k.value(atEnd().FindString(text[max(0, len(text)-200):]), 0)
	return v, ok && rest == ""
}

var nameAtStart = expression(`^\$?\w+`)

// behind matches the text that may follow a constant: the end of an argument or a statement.
var behind = expression(`^(?:$|[,;)\]}\n\r#:]|(?:if|unless|or|and|rescue|do)\b|\|\||&&)`)

// value evaluates the expression at the beginning of a text, and returns the rest.
func (k constants) value(text string, depth int) (value, rest string, ok bool) {
	value, rest, ok = k.term(text, depth)
	for joined := 0; ok && joined < maxCodeWords; joined++ {
		next := strings.TrimLeft(rest, " \t")
		slash := strings.HasPrefix(next, "/")
		switch {
		case next != "" && strings.IndexByte(k.joins, next[0]) >= 0 && !strings.HasPrefix(next, "//"):
			next = next[1:]
		case next != "" && k.comment == "#" && (next[0] == '"' || next[0] == '\''):
			// Adjacent texts are one text.
		default:
			return value, rest, behind().MatchString(next)
		}
		more, after, known := k.term(next, depth)
		if !known {
			return "", rest, false
		}
		if slash {
			value = strings.TrimSuffix(value, "/") + "/"
		}
		value, rest = value+more, after
	}
	return "", rest, false
}

// term evaluates a text, a variable, the home folder or a joined path.
func (k constants) term(text string, depth int) (value, rest string, ok bool) {
	text = strings.TrimLeft(text, " \t\n")
	if text == "" || depth > 8 {
		return "", text, false
	}
	head := text[:min(len(text), 80)]
	if at := k.home.FindStringIndex(head); at != nil {
		return "~", text[at[1]:], true
	}
	if value, rest, ok = k.quoted(text, depth); ok {
		return value, rest, ok
	}
	if at := k.join.FindStringIndex(head); at != nil {
		parts, after, closed := k.args(text[at[1]:], ")", depth+1)
		if !closed || len(parts) == 0 {
			return "", text, false
		}
		for _, part := range parts {
			if value != "" {
				value = strings.TrimSuffix(value, "/") + "/"
			}
			value += part
		}
		return value, after, true
	}
	name := nameAtStart().FindString(text)
	value = k.values[name]
	return value, text[len(name):], value != ""
}

// quotedText matches a text in quotes; one of its groups is the contents.
var quotedText = expression(`^([rRbBfFuU]{0,2})("""((?s:[^\\]|\\.)*?)"""|'''((?s:[^\\]|\\.)*?)'''|"((?s:[^"\\\n]|\\.)*)"|'((?s:[^'\\\n]|\\.)*)'|` +
	"`((?s:[^`\\\\\n]|\\\\.)*)`" + `|\{((?s:[^}\\\n]|\\.)*)\})`)

// longestQuoted is the longest text in quotes, in bytes.
const longestQuoted = 1 << 14

// quoted evaluates the text in quotes at the beginning of an expression.
func (k constants) quoted(text string, depth int) (value, rest string, ok bool) {
	m := quotedText().FindStringSubmatch(text[:min(len(text), longestQuoted)])
	if m == nil {
		return "", text, false
	}
	inserting := strings.ContainsAny(k.inserting, m[1]+m[2][:1])
	if !inserting && strings.IndexByte("`{", m[2][0]) >= 0 {
		return "", text, false
	}
	rest = text[len(m[0]):]
	body := strings.NewReplacer(`\"`, `"`, `\'`, `'`, `\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(strings.Join(m[3:], ""))
	known := true
	if inserting {
		body = k.insert.ReplaceAllStringFunc(body, func(found string) string {
			m := k.insert.FindStringSubmatch(found)
			v, after, is := k.value(m[len(m)-1], depth+1)
			known = known && is && after == ""
			return v
		})
	}
	return body, rest, known
}

// shellWord returns a constant as one word for a shell, with the home folder as it is.
func shellWord(v string) string {
	if v == "~" {
		return v
	}
	if rest, ok := strings.CutPrefix(v, "~/"); ok {
		return "~/" + bash.Quote(rest)
	}
	return bash.Quote(v)
}
