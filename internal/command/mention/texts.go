package mention

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file finds the constants of code that are text for people.

func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// tableText has named lists of words and named regular expressions. A line continues the
// previous one if it has the same name. A language with certain constants has an
// expression for its tokens. It also has a list of tokens that make the end of a
// constant or the meaning of a name unknown: those by which code can reach names by
// their text, or catch what is thrown or written. A name includes its folders:
// json.dumps. A method of another value is .upper.
//
//go:embed tables.txt
var tableText string

var tables = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.SplitSeq(tableText, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		out[name] += value
	}
	return out
})

// splits and off are the expressions of the languages, by their names.
var splits, off = ofLanguages("tokens", "signs"), ofLanguages("off", "")

func ofLanguages(kind, more string) map[string]func() *regexp.Regexp {
	out := map[string]func() *regexp.Regexp{}
	for _, name := range []string{"Python", "JavaScript", "SQL"} {
		out[name] = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(tables()[name+" "+kind] + tables()[more]) })
	}
	return out
}

// inserting matches a constant into which only plain values are inserted.
var inserting = expression(`^[fF]['"](?:[^{}]|\{[^{}()\[\]'":]*(?::[-<>^+=, .0-9]*[a-zA-Z%]?)?\})*$`)

// Words after which a name gets another meaning, words by which a value goes to another
// place, and options of calls that show text. A text has one of these before and after
// it. Other names of the modules of the calls only read.
var (
	definingWords = strings.Fields("def class as import global nonlocal function let const var new get set async static del .")
	flowWords     = strings.Fields("for lambda := => function | @ & ^ ~ await yield = ; **")
	valueWords    = strings.Fields("return in not and or if else elif while assert is typeof")
	comparisons   = strings.Fields("== != === !==")
	textOptions   = strings.Fields("sep end flush indent sort_keys ensure_ascii")
	beforeTexts   = strings.Fields("( [ { , : ? == != === !== if elif else and or not is in while assert return")
	behindTexts   = strings.Fields(") ] } , : ? == != === !== if else and or not is in")
	plainNames    = strings.Fields("json.load json.loads json.dump logging.basicConfig logging.DEBUG logging.INFO logging.WARNING logging.ERROR JSON.parse")
	plainValues   = strings.Fields("null None true false True False undefined")
)

// WithoutTexts returns code without the constants that are only text for people:
// arguments of calls that show them, or compared constants. `print` shows its arguments.
// The value of `len*` is text as an argument of such a call. `.upper*` is a method of a
// constant. Any other use of a value makes its constants code. SQL has only the
// statements and functions of calls. The code is returned unchanged if a name of the
// calls may have another meaning, and for unknown languages.
func WithoutTexts(code, in string, calls []string) string {
	tokens, known := splits[in]
	if !known || len(code) > mostRead {
		return code
	}
	c := textFinder{calls: calls, code: code, at: tokens().FindAllStringIndex(code, -1), frames: []frame{{}}}
	for i := 0; i < len(c.at); i++ {
		t, before := c.token(i), c.token(i-1)
		switch {
		case off[in]().MatchString(t) || before+t == "import*" || t[0] >= 0x80 || c.unclear(i):
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
	at     [][]int // the offsets of the tokens
	frames []frame
	texts  []int
}

// frame is an open bracket, at a token: whether a constant in it is text, whether a call shows
// all constants that are, and whether it is the call of a text, or of one without names.
type frame struct {
	at                         int
	text, shows, call, unnamed bool
	constants                  []int
}

// token returns the text of a token, or "" if there is no token.
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

// unclear reports whether a token is not certainly a constant: a single quote or
// backslash, a prefix that changes the meaning of a constant, or code in one: f"{f()}",
// also with three quotes.
func (c *textFinder) unclear(i int) bool {
	t := c.token(i)
	if !c.constant(i) {
		return strings.ContainsAny(t, "\\\"'`")
	}
	return c.joins(i) && (c.name(i-1) || c.constant(i-1) && strings.IndexByte("fF", c.token(i - 1)[0]) >= 0) || strings.IndexByte("fF", t[0]) >= 0 && !inserting().MatchString(t)
}

// joins reports whether no space is before a token.
func (c *textFinder) joins(i int) bool {
	return i > 0 && i < len(c.at) && c.at[i-1][1] == c.at[i][0]
}

// query reads a token of SQL, and reports whether it only queries and stores.
func (c *textFinder) query(i int) bool {
	t, before := strings.ToLower(c.token(i)), strings.ToLower(c.token(i-1))
	if t == "(" && (before == "]" || before == ")" || c.constant(i-1) && !strings.EqualFold(c.token(i-2), "into") || c.name(i-1) && c.token(i-2) == ".") {
		return false
	}
	if first := before == "" || before == ";"; first || t == "(" && c.name(i-1) && !strings.EqualFold(c.token(i-2), "into") {
		return first && (t == ";" || slices.Contains(c.calls, t)) || !first && slices.Contains(c.calls, before+"*")
	}
	if c.constant(i) {
		c.texts = append(c.texts, i)
	}
	return true
}

// means reports whether a name of the calls has its usual meaning: it is called here,
// and nothing redefines it.
func (c *textFinder) means(i int) bool {
	name, before, next := c.token(i), c.token(i-1), c.token(i+1)
	if name == "]" || name == "}" {
		return c.declares(i)
	}
	if !c.name(i) {
		return true
	}
	module, _, inModule := strings.Cut(name, ".")
	last, called := name[strings.LastIndexByte(name, '.')+1:], next == "(" && c.joins(i+1)
	ours := slices.Contains(c.calls, name) || slices.Contains(c.calls, name+"*")
	switch {
	case name == "require":
		return called && c.constant(i+2) && c.token(i+3) == ")" && !strings.Contains(c.token(i+2), `\`)
	case strings.HasSuffix(name, "stderr"):
		return name == "sys.stderr" && before == "=" && c.token(i-2) == "file"
	case inModule && (strings.HasSuffix(next, "=") && !slices.Contains(comparisons, next) || next == "of" || next == "in"):
		return next == "in" && before != "for" // it may be one of the calls
	case last == "close" && inModule:
		return called && c.token(i+2) == ")"
	case ours:
		return called && !slices.Contains(definingWords, before)
	case inModule && !called && slices.ContainsFunc(c.calls, func(call string) bool { return strings.HasSuffix("."+strings.TrimSuffix(call, "*"), "."+last) }):
		return false
	case module == "" || !slices.ContainsFunc(c.calls, func(call string) bool { return strings.HasPrefix(call, module+".") }):
		return true
	}
	return slices.Contains(plainNames, name)
}

// declares reports whether the bracket that ends at a token gets no values (a[b] = c),
// or declares new names (const {a} = b), and gives no name to a value ({[a]: b}).
func (c *textFinder) declares(i int) bool {
	switch next := c.token(i + 1); {
	case strings.HasSuffix(next, "=") && !slices.Contains(comparisons, next), next == "of":
		return slices.Contains([]string{"const", "let", "var"}, c.token(c.frames[len(c.frames)-1].at-1))
	case next == "(", next == ":" && c.token(i) == "]":
		before := c.token(c.frames[len(c.frames)-1].at - 1)
		return next == ":" && before != "{" && before != ","
	}
	return true
}

// next reads one token.
func (c *textFinder) next(i int) {
	t, before, top := c.token(i), c.token(i-1), &c.frames[len(c.frames)-1]
	value := c.name(i-1) && !slices.Contains(valueWords, before) || before == ")" || before == "]" || before == "}" || c.constant(i-1)
	switch {
	case c.constant(i):
		if c.begins(i) && c.ends(i) {
			top.add(i)
		}
		if c.compared(i) {
			c.texts = append(c.texts, i)
		}
	case t == "(" && slices.Contains(c.calls, before):
		c.frames = append(c.frames, frame{at: i, text: true, shows: true})
	case t == "(" && slices.Contains(c.calls, before+"*"):
		f := frame{at: i, text: top.text, call: true, unnamed: top.unnamed || before == "JSON.stringify"}
		if before[0] != '.' {
			f.text = f.text && c.begins(i-1)
		} else if f.text = f.text && c.constant(i-2) && c.begins(i-2); f.text {
			f.constants = []int{i - 2}
		}
		c.frames = append(c.frames, f)
	case t == "(" || t == "[" || t == "{":
		c.frames = append(c.frames, frame{at: i, text: top.text && !value && c.begins(i), unnamed: top.unnamed})
	case (t == ")" || t == "]" || t == "}") && len(c.frames) > 1:
		c.frames = c.frames[:len(c.frames)-1]
		if top.shows {
			c.texts = append(c.texts, top.constants...)
		} else if c.ends(i) {
			c.frames[len(c.frames)-1].add(top.constants...)
		}
	case slices.Contains(flowWords, t) && !(t == "=" && (slices.Contains(textOptions, before) || before == "file" && c.token(i+1) == "sys.stderr")),
		t == "," && top.call && !c.plain(i+1),
		top.unnamed && (t == "?" || c.name(i) && c.token(i+1) != ":" && !c.plain(i)):
		if top.text {
			c.forget()
		}
	}
}

// add collects constants if they are text.
func (f *frame) add(constants ...int) {
	if f.text {
		f.constants = append(f.constants, constants...)
	}
}

// forget makes all constants collected in open brackets code.
func (c *textFinder) forget() {
	for i := range c.frames {
		c.frames[i].text, c.frames[i].constants = false, nil
	}
}

// plain reports whether a token is a value without a call: null, 2, "a", sort_keys=True.
func (c *textFinder) plain(i int) bool {
	t := c.token(i)
	return t == ")" || c.constant(i) || slices.Contains(plainValues, t) || slices.Contains(textOptions, t) && c.token(i+1) == "=" || strings.Trim(t, "0123456789") == ""
}

// beside returns the index of the token before (step -1) or after the constants that are
// joined to one, or -2 if there are too many.
func (c *textFinder) beside(i, step int) int {
	for range longestJoin * longestJoin {
		switch t := c.token(i + step); {
		case c.constant(i) && c.constant(i+step):
			i += step
		case c.constant(i) && (t == "+" || t == "%") && c.constant(i+2*step):
			i += 2 * step
		default:
			return i + step
		}
	}
	return -2
}

// begins reports whether the value that begins at a token is used unchanged, as far as
// the tokens before it show. Constants may be joined.
func (c *textFinder) begins(i int) bool {
	at := c.beside(i, -1)
	return slices.Contains(beforeTexts, c.token(at)) || c.token(at) == "=" && slices.Contains(textOptions, c.token(at-1))
}

// ends is like begins, for the tokens after the value that ends at the token.
func (c *textFinder) ends(i int) bool { return slices.Contains(behindTexts, c.token(c.beside(i, 1))) }

// compared reports whether a constant is only compared: a == "b", "b" in c, "b" in "c".
func (c *textFinder) compared(i int) bool {
	before, next := c.token(i-1), c.token(i+1)
	if slices.Contains(comparisons, before) || before == "in" && c.constant(i-2) {
		return next == "" || next == ";" || slices.Contains(behindTexts, next) || c.name(i+1) && next[0] != '.' ||
			(next == "&" || next == "|") && c.token(i+2) == next
	}
	begins := slices.Contains(beforeTexts, before) || before == "" || before == ";" || (before == "&" || before == "|") && c.token(i-2) == before
	return begins && (slices.Contains(comparisons, next) || next == "in" || next == "not" && c.token(i+2) == "in")
}
