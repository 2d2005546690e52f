package mention

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file finds the constants of code that are text for people.

// language says how a language is taken apart, and which tokens make it unknown where a
// constant ends or what a name means.
type language struct{ tokens, off func() *regexp.Regexp }

func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

const (
	plainConstants = `"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`
	// A name has its folders: json.dumps. What is called of another value is .upper.
	namesAndSigns = `|[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*|\.[A-Za-z_$][\w$]*|[=!]==?|=>|:=|--|/\*|\S`
)

// languages are those whose constants are certain, by name.
var languages = map[string]language{
	"Python": {expression(`[rbuRBU]{0,2}(?:"""(?s:[^\\]|\\.)*?"""|'''(?s:[^\\]|\\.)*?'''|` + plainConstants + `)|[fF](?:` + plainConstants + `)` + namesAndSigns),
		expression(`^(?:class|[gs]etattr|globals|locals|vars|eval|exec|compile|import\*|builtins.*|match|#|dup2?|p?[Pp]open|` +
			`[^'"]*(?:__.*|\b(?:modules|stdout|stdin|dup2?|redirect_std\w+|[pP]open|pty|mkfifo|patch|mock)\b.*))$`)},
	"JavaScript": {expression("`(?:[^`\\\\$]|\\\\.)*`|" + plainConstants + namesAndSigns),
		expression(`^(?:class|with|eval|import|Function|(?:globalThis|global|window|Reflect|Proxy).*|[^'"]*(?:__.*|\b(?:prototype|constructor|stdout|stdin)\b.*|\.console\b.*)|/|/\*|--)$`)},
	"SQL": {expression(`'[^']*'|"[^"]*"` + namesAndSigns),
		expression(`^(?i:copy|program|outfile|dumpfile|infile|load|exec|execute|call|system|source|tee|pager|edit|--|/\*|[#@$].*|['"].*\\.*)$`)},
}

// inserting fits a constant into which only plain values are put.
var inserting = expression(`^[fF]['"](?:[^{}]|\{[^{}()\[\]'"]*\})*$`)

// Words of languages after which a name gets another meaning, by which a value goes
// elsewhere, after which a value begins, and options of calls that show text.
var (
	definingWords = strings.Fields("def class as import global nonlocal function let const var new get set async static del")
	flowWords     = strings.Fields("for lambda := => function | @ & ^ ~ await yield = ;")
	valueWords    = strings.Fields("return in not and or if else elif while assert is typeof")
	comparisons   = strings.Fields("== != === !==")
	textOptions   = strings.Fields("sep end flush indent sort_keys ensure_ascii")
)

// WithoutTexts is code without the constants that are nothing but text for people: they
// are only passed to calls that show them, or compared. `print` shows its arguments; the value
// of `len*` is text as an argument of such a call; `.upper*` is a method. SQL has no other
// statements and functions than those of the calls. It is the code as it is where a name of
// the calls may mean something else, and in languages that are not known.
func WithoutTexts(code, in string, calls []string) string {
	lang, ok := languages[in]
	if !ok || len(code) > mostRead {
		return code
	}
	c := textFinder{calls: calls, code: code, at: lang.tokens().FindAllStringIndex(code, -1), frames: []frame{{}}}
	for i := 0; i < len(c.at); i++ {
		t, before := c.token(i), c.token(i-1)
		switch {
		case lang.off().MatchString(t) || before+t == "import*" || t[0] >= 0x80 || c.unclear(i):
			return code
		case in == "SQL":
			if !c.query(i) {
				return code
			}
		case t == "import" && c.token(i-2) != "from":
			for c.token(i+2) == "," {
				i += 2
			}
			if c.token(i+2) != "as" {
				i++
			}
		case !c.means(i):
			return code
		default:
			c.next(i)
		}
	}
	if len(c.frames) != 1 {
		return code
	}
	slices.Sort(c.texts)
	var b strings.Builder
	from := 0
	for _, i := range slices.Compact(c.texts) {
		b.WriteString(code[from:c.at[i][0]] + `""`)
		from = c.at[i][1]
	}
	return b.String() + code[from:]
}

// textFinder finds the constants that are text.
type textFinder struct {
	calls  []string
	code   string
	at     [][]int // where the tokens are
	frames []frame
	texts  []int
}

// frame is a bracket that is open: whether a constant in it is text, and whether a call
// shows all that is.
type frame struct {
	text, shows bool
	constants   []int
}

// token is the text of a token, "" where there is no token.
func (c *textFinder) token(i int) string {
	if i < 0 || i >= len(c.at) {
		return ""
	}
	return c.code[c.at[i][0]:c.at[i][1]]
}

func (c *textFinder) constant(i int) bool {
	t := c.token(i)
	return len(t) > 1 && strings.IndexByte("\"'`", t[len(t)-1]) >= 0
}

func (c *textFinder) name(i int) bool {
	t := c.token(i)
	return t != "" && (isNameByte(t[0]) || t[0] == '.' && len(t) > 1) && !c.constant(i)
}

// unclear reports what is no constant for certain: a quote or a backslash that stands alone, a
// letter in front that changes what a constant is, and code in one: f"{f()}".
func (c *textFinder) unclear(i int) bool {
	t := c.token(i)
	if !c.constant(i) {
		return strings.ContainsAny(t, "\\\"'`")
	}
	return c.name(i-1) && c.at[i-1][1] == c.at[i][0] || strings.IndexByte("fF", t[0]) >= 0 && !inserting().MatchString(t)
}

// query reads a token of SQL, and reports whether it only queries and stores.
func (c *textFinder) query(i int) bool {
	t, before := strings.ToLower(c.token(i)), strings.ToLower(c.token(i-1))
	if first := before == "" || before == ";"; first || t == "(" && c.name(i-1) && !strings.EqualFold(c.token(i-2), "into") {
		return first && (t == ";" || slices.Contains(c.calls, t)) || !first && slices.Contains(c.calls, before+"*")
	}
	if c.constant(i) {
		c.texts = append(c.texts, i)
	}
	return true
}

// means reports whether a name of the calls means what it always does: it is called here,
// and nothing gives it another meaning.
func (c *textFinder) means(i int) bool {
	name, before, next := c.token(i), c.token(i-1), c.token(i+1)
	module, _, inModule := strings.Cut(name, ".")
	switch {
	case inModule && (next == "=" || next == "in") && !c.constant(i):
		return next == "in" && before != "for" // it may be one of theirs
	case slices.Contains(c.calls, name) || slices.Contains(c.calls, name+"*"):
		return next == "(" && !slices.Contains(definingWords, before)
	case module == "" || !slices.ContainsFunc(c.calls, func(call string) bool { return strings.HasPrefix(call, module+".") }):
		return true
	}
	return inModule || before == "from"
}

// next reads one token.
func (c *textFinder) next(i int) {
	t, before, top := c.token(i), c.token(i-1), &c.frames[len(c.frames)-1]
	value := c.name(i-1) && !slices.Contains(valueWords, before) || before == ")" || before == "]" || c.constant(i-1)
	switch {
	case c.constant(i):
		if !c.stays(i+1) || value && !c.constant(i-1) {
			return
		}
		if top.text {
			top.constants = append(top.constants, i)
		}
		if next := c.token(i + 1); slices.Contains(comparisons, before) || slices.Contains(comparisons, next) || next == "in" || next == "not" {
			c.texts = append(c.texts, i)
		}
	case t == "(" && c.name(i-1) && value:
		shows := slices.Contains(c.calls, before)
		c.frames = append(c.frames, frame{text: shows || slices.Contains(c.calls, before+"*") && top.text, shows: shows})
	case t == "(" || t == "[" || t == "{":
		c.frames = append(c.frames, frame{text: top.text && !value})
	case (t == ")" || t == "]" || t == "}") && len(c.frames) > 1:
		c.frames = c.frames[:len(c.frames)-1]
		if around := &c.frames[len(c.frames)-1]; top.shows {
			c.texts = append(c.texts, top.constants...)
		} else if around.text && c.stays(i+1) {
			around.constants = append(around.constants, top.constants...)
		}
	case slices.Contains(flowWords, t) && !(t == "=" && (slices.Contains(textOptions, before) || before == "file" && c.token(i+1) == "sys.stderr")):
		top.text, top.constants = false, nil
	}
}

// stays reports whether what begins after a value leaves it a text: nothing, or a method of
// the calls.
func (c *textFinder) stays(i int) bool {
	t := c.token(i)
	return t == "" || t[0] != '.' && !strings.Contains("([|@", t) || slices.Contains(c.calls, t+"*") && c.token(i+1) == "("
}
