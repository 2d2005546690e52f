package call

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"cardea.dev/internal/bash"
)

// This file reads what certain calls of the standard library do in a file of Python,
// JavaScript, Perl or Ruby: those that delete, write, connect and start programs, with
// constant arguments. All others say nothing, so that nobody is asked about a text that
// only looks like one.

// codeLanguage is how a language writes such calls and constants.
type codeLanguage struct {
	// call finds the beginning of a call. The last group that matches is its name.
	call *regexp.Regexp
	// does says what a call does, by its name: a line for a shell in which each %s is an
	// argument, or one of the effects below.
	does map[string]string
	// method finds the methods of a path, by the same names (nil: there are none).
	method *regexp.Regexp
	// home finds what stands for the home folder, join functions that join the parts of
	// a path, or give back their argument.
	home, join *regexp.Regexp
	// insert finds what is replaced in a text by the value of an expression, its last
	// group, if the text begins with one of inserting.
	insert    *regexp.Regexp
	inserting string
	// comment begins a comment, plain finds texts that are no code. Where it has a
	// group that does not match, the text is a value.
	comment string
	plain   *regexp.Regexp
	// joins are the operators that join texts.
	joins string
}

// The effects that are no line for a shell.
const (
	runs     = ""     // the argument is a text for a shell, or the arguments are words of a command
	replaces = "exec" // the same, and the program's name stands in front of the words
	opens    = "file" // writes the file, or runs the command, as the mode says
	contacts = "url"  // contacts the host of a URL
)

// codeLanguages are the languages that are read.
var codeLanguages = sync.OnceValue(func() map[string]*codeLanguage {
	return map[string]*codeLanguage{"Python": python(), "JavaScript": javaScript(), "Perl": perl(), "Ruby": ruby()}
})

// effects reads a table of what calls do: their names, a colon and the effect.
func effects(table string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(table) {
		names, effect, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for _, name := range strings.Fields(names) {
			out[name] = effect
		}
	}
	return out
}

func python() *codeLanguage {
	return &codeLanguage{
		call: regexp.MustCompile(`\b(?:shutil\.(rmtree|move|copy|copy2|copyfile|copytree|unpack_archive)|os\.(remove|unlink|rmdir|removedirs|rename|replace|system|popen|exec[lv]p?)|` +
			`subprocess\.(run|call|check_call|check_output|Popen|getoutput|getstatusoutput)|asyncio\.(create_subprocess_shell|create_subprocess_exec)|pty\.(spawn)|(open)|` +
			`(?:urllib\.request\.|request\.)?(urlopen|urlretrieve)|(?:requests|httpx)\.(get|post|put|patch|delete|head)|http\.client\.(HTTPConnection|HTTPSConnection)|(?:socket\.(create_connection)|\w\.(connect))\()\(`),
		does: effects(`
			rmtree: rm -rf -- %s
			remove unlink: rm -f -- %s
			rmdir: rmdir -- %s
			removedirs: rmdir -p -- %s
			move rename replace: mv -- %s %s
			copy copy2 copyfile: cp -- %s %s
			copytree: cp -r -- %s/. %s
			unpack_archive: tar -xf %s -C %s
			execv execvp execl execlp: exec
			open: file
			write_text write_bytes: tee -- %s
			urlopen get post put patch delete head: url
			urlretrieve: curl -o %[2]s -- %[1]s
			HTTPConnection HTTPSConnection create_connection connect: curl -- %s
		`),
		method:    regexp.MustCompile(`\.(unlink|rmdir|write_text|write_bytes)\(`),
		home:      regexp.MustCompile(`^(?:(?:pathlib\.)?Path\.home\(\)|os\.environ\[["']HOME["']\]|os\.(?:environ\.get|getenv)\(["']HOME["']\))`),
		join:      regexp.MustCompile(`^(?:os\.path\.(?:join|expanduser|abspath|realpath)|(?:pathlib\.)?Path|str|shlex\.split)?\(`),
		insert:    regexp.MustCompile(`\{([^{}]*)\}`),
		inserting: "fF", comment: "#", joins: "+/",
		plain: regexp.MustCompile(`(?m)(^[ \t]*[rRuU]?)?(?:"""[\s\S]*?"""|'''[\s\S]*?''')|(^[ \t]*>>> ).*`),
	}
}

func javaScript() *codeLanguage {
	return &codeLanguage{
		call: regexp.MustCompile(`(?:\b(?:fs|fsp|fse|promises|Deno)\.(rm|rmdir|unlink|writeFile|appendFile|remove|rename|writeTextFile)|\b(rmSync|rmdirSync|unlinkSync|writeFileSync|appendFileSync|removeSync|emptyDirSync|renameSync|cpSync|rimraf|rimrafSync)|` +
			`(?:\bchild_process(?:["']\))?\.|\bcp\.|(?:^|[^.\w]))(execSync|execFileSync|spawnSync|execFile|exec|spawn|execa|execaSync|execaCommand)|\b(?:Bun|Deno)\.(spawn|spawnSync|Command)|` +
			`(?:^|[^.\w])(fetch)|\baxios\.(get|post|put|patch|delete)|\bhttps?\.(get|request)|\bnew (WebSocket))\(`),
		does: effects(`
			rm rmSync remove removeSync emptyDirSync rimraf rimrafSync: rm -rf -- %s
			rmdir rmdirSync: rmdir -- %s
			unlink unlinkSync: rm -f -- %s
			rename renameSync: mv -- %s %s
			cpSync: cp -r -- %s/. %s
			writeFile writeFileSync writeTextFile: tee -- %s
			appendFile appendFileSync: tee -a -- %s
			fetch get post put patch delete request WebSocket: url
		`),
		home:      regexp.MustCompile(`^(?:(?:require\(["'](?:node:)?os["']\)|os)\.homedir\(\)|homedir\(\)|process\.env\.HOME\b)`),
		join:      regexp.MustCompile(`^(?:path\.(?:join|resolve)|String|join|resolve)?\(`),
		insert:    regexp.MustCompile(`\$\{([^{}]*)\}`),
		inserting: "`", comment: "//", joins: "+",
		plain: regexp.MustCompile(`(?m)^[ \t]*/\*[\s\S]*?\*/`),
	}
}

func perl() *codeLanguage {
	return &codeLanguage{
		call: regexp.MustCompile(`(?:^|[^.\w$@%&>:{-])(?:(system|exec|unlink|rmdir|rmtree|remove_tree|rename|move|copy)(?:\s*\(|\s+)|(open)\s*(?:\(|\s)\s*(?:(?:my\s+|our\s+)?\$?\w+)\s*,|(qx|capture)\b\s*|(getstore|get|head)\()|` +
			`(?:->(get|post|head|mirror)|\bIO::Socket::(?:INET|IP|SSL)->(new))\((?:[^()]*?Peer(?:Addr|Host)\s*=>\s*)?`),
		does: effects(`
			unlink: rm -f -- %s
			rmdir: rmdir -- %s
			rmtree remove_tree: rm -rf -- %s
			rename move: mv -- %s %s
			copy: cp -- %s %s
			open: file
			get post head mirror: url
			getstore: curl -o %[2]s -- %[1]s
			new: curl -- %s
		`),
		home:      regexp.MustCompile(`^\$ENV\{["']?HOME["']?\}`),
		join:      regexp.MustCompile(`^(?:File::Spec->cat(?:file|dir)|catfile|catdir)?\(`),
		insert:    regexp.MustCompile(`(\$ENV\{\w+\}|\$\{\w+\}|\$\w+)`),
		inserting: "\"`{", comment: "#", joins: ".",
		plain: regexp.MustCompile(`(?ms)^=[a-z].*?^=cut|^__(?:END|DATA)__.*`),
	}
}

func ruby() *codeLanguage {
	return &codeLanguage{
		call: regexp.MustCompile(`(?:^|[^.\w:@$"'])(?:(system|exec|spawn|sh)(?:\(|[ \t]+)|(%x))|\b(?:FileUtils\.(rm_rf|rm_r|rm_f|rmtree|remove_dir|remove_entry|rm|mv|cp|cp_r)|File\.(delete|unlink|write|rename|open)|Dir\.(rmdir|delete)|IO\.(popen|write)|` +
			`Open3\.(capture2e|capture2|capture3|popen3|popen2|popen2e)|(?:Kernel|Process)\.(system|exec|spawn)|Net::HTTP\.(get|get_response|post|post_form|start)|URI\.(open)|TCPSocket\.(new)|(?:Pathname\.new\())(?:\(|[ \t]+)(?:URI(?:\.parse)?\()?`),
		does: effects(`
			rm_rf rmtree remove_dir remove_entry: rm -rf -- %s
			rm_r: rm -r -- %s
			rm_f delete unlink: rm -f -- %s
			rm: rm -- %s
			mv rename: mv -- %s %s
			cp: cp -- %s %s
			cp_r: cp -r -- %s %s
			rmdir: rmdir -- %s
			write: tee -- %s
			open: file
			get get_response post post_form: url
			start new: curl -- %s
		`),
		home:      regexp.MustCompile(`^(?:Dir\.home|ENV\[["']HOME["']\]|ENV\.fetch\(["']HOME["']\))`),
		join:      regexp.MustCompile(`^(?:File\.(?:join|expand_path)|Pathname(?:\.new)?)?\(`),
		insert:    regexp.MustCompile(`#\{([^{}]*)\}`),
		inserting: "\"`{", comment: "#", joins: "+/",
		plain: regexp.MustCompile(`(?ms)^=begin.*?^=end|^__END__.*`),
	}
}

// expression is a regular expression that is compiled when it is first used.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

var codeAssignment = expression(`(?m)^[ \t]*(?:const |let |var |my |our )?(\$?[A-Za-z_][A-Za-z0-9_]*)(?:: *\w+)? *= *([^=~\n].*?);?[ \t]*$`)

// backticks finds commands in backticks: where a value stands in Perl and Ruby, behind a
// $ in JavaScript (zx, Bun).
var backticks = expression("(?m)(?:(\\$)|[=({,][ \t]*|^[ \t]*|\\breturn[ \t]+)(`[^`\n]+`)")

// lines are the lines for a shell that do what calls in a text do.
func (l *codeLanguage) lines(text string) []piece {
	text = l.withoutPlain(text)
	var methods, quoted [][]int
	if l.method != nil {
		methods = l.method.FindAllStringSubmatchIndex(text, maxScriptParts)
	}
	if strings.Contains(l.inserting, "`") {
		quoted = backticks().FindAllStringSubmatchIndex(text, maxScriptParts)
	}
	calls := l.call.FindAllStringSubmatchIndex(text, maxScriptParts)
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
		for i := len(at) - 2; i >= 2; i -= 2 {
			if at[i] >= 0 {
				add(at[i], k.line(l.does[text[at[i]:at[i+1]]], text[at[1]:]))
				break
			}
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

// withoutPlain is a text without what is no code, with as many lines.
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

// constants are the variables of a text that hold one constant.
func (l *codeLanguage) constants(text string) constants {
	k := constants{codeLanguage: l, values: map[string]string{}}
	for _, m := range codeAssignment().FindAllStringSubmatch(text, maxScriptParts) {
		if _, twice := k.values[m[1]]; twice {
			k.values[m[1]] = "" // which one counts is not known
		} else if v, rest, ok := k.value(m[2], 0); ok && strings.TrimSpace(rest) == "" {
			k.values[m[1]] = v
		}
	}
	return k
}

// constants evaluates expressions that are constant.
type constants struct {
	*codeLanguage
	values map[string]string
}

// line is what a call does with the arguments at the beginning of a text, "" where
// that is not known. Arguments behind the first one that is not constant do not count.
func (k constants) line(does, args string) string {
	var values []string
	listed := false
	for len(values) < maxCodeWords {
		args = strings.TrimLeft(args, " \t\n")
		if does != runs && does != replaces && strings.HasPrefix(args, "(") {
			args = args[1:] // connect((host, port))
		}
		if strings.HasPrefix(args, "[") {
			words, rest := k.list(args)
			if words == nil {
				return ""
			}
			values, args, listed = append(values, words...), rest, true
		} else {
			v, rest, ok := k.value(args, 0)
			if !ok || v == "" {
				break
			}
			values, args = append(values, v), rest
		}
		rest, more := strings.CutPrefix(strings.TrimLeft(args, " \t\n"), ",")
		if !more {
			break
		}
		args = rest
	}
	return filled(does, values, listed)
}

// maxCodeWords bounds the words of a command in code.
const maxCodeWords = 256

// filled is what a call does with the values of its arguments, "" where nothing is
// known.
func filled(does string, values []string, listed bool) string {
	if len(values) == 0 {
		return ""
	}
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = shellWord(v)
	}
	switch does {
	case runs:
		if len(values) == 1 && !listed {
			return values[0]
		}
		return strings.Join(words, " ")
	case replaces:
		return strings.Join(words[min(1, len(words)-1):], " ")
	case contacts:
		if strings.Contains(values[0], "://") {
			return "curl -- " + words[0]
		}
		return ""
	case opens:
		return opened(values, words)
	}
	if strings.Count(does, "%") > len(words) {
		return ""
	}
	does = strings.NewReplacer("%[1]s", words[0], "%[2]s", words[min(1, len(words)-1)]).Replace(does)
	for _, w := range words {
		does = strings.Replace(does, "%s", w, 1)
	}
	return does
}

// opened is what opening a file does: nothing where it is read.
func opened(values, words []string) string {
	first := values[0]
	switch {
	case len(values) == 1 && strings.Contains(first, "://"):
		return "curl -- " + words[0]
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

// list are the words of a list of constants and what follows it; nil where one is not
// constant.
func (k constants) list(text string) (words []string, rest string) {
	words, rest = []string{}, text[1:]
	for len(words) < maxCodeWords {
		rest = strings.TrimLeft(rest, " \t\n,")
		if after, ended := strings.CutPrefix(rest, "]"); ended || rest == "" {
			return words, after
		}
		v, after, ok := k.value(rest, 0)
		if !ok {
			break
		}
		words, rest = append(words, v), after
	}
	return nil, ""
}

// receiver is the value of the expression at the end of a text: of a variable, or of
// what stands in parentheses.
func (k constants) receiver(text string) (string, bool) {
	text = text[max(0, len(text)-200):]
	begin, depth := len(text), 0
	for begin > 0 {
		c := text[begin-1]
		if c == ')' {
			depth++
		} else if c == '(' {
			if depth--; depth < 0 {
				break
			}
		} else if depth == 0 && c != '.' && !inName(c) {
			break
		}
		begin--
	}
	v, rest, ok := k.value(text[begin:], 0)
	return v, ok && rest == ""
}

func inName(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// behind finds what may follow a constant: the end of an argument or a statement.
var behind = expression(`^(?:$|[,;)\]}\n\r#:]|(?:if|unless|or|and|rescue|do)\b|\|\||&&)`)

// value evaluates the expression at the beginning of a text, and gives what follows.
func (k constants) value(text string, depth int) (value, rest string, ok bool) {
	value, rest, ok = k.term(text, depth)
	for joined := 0; ok && joined < maxCodeWords; joined++ {
		next := strings.TrimLeft(rest, " \t")
		slash := strings.HasPrefix(next, "/")
		switch {
		case next != "" && strings.IndexByte(k.joins, next[0]) >= 0 && !strings.HasPrefix(next, "//"):
			next = next[1:]
		case next != "" && k.comment == "#" && (next[0] == '"' || next[0] == '\''):
			// Texts beside each other are one.
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

// term evaluates a text, a variable, the home folder or a path that is joined.
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
		rest = text[at[1]:]
		for parts := 0; parts < maxCodeWords; parts++ {
			v, after, known := k.value(rest, depth+1)
			if !known {
				break
			}
			if value != "" {
				value = strings.TrimSuffix(value, "/") + "/"
			}
			value += v
			after = strings.TrimLeft(after, " \t\n")
			if strings.HasPrefix(after, ")") {
				return value, after[1:], true
			}
			if rest, known = strings.CutPrefix(after, ","); !known {
				break
			}
		}
		return "", text, false
	}
	end := 0
	if text[0] == '$' {
		end = 1
	}
	for end < len(text) && inName(text[end]) {
		end++
	}
	value = k.values[text[:end]]
	return value, text[end:], value != ""
}

// quoted evaluates the text in quotes at the beginning of an expression.
func (k constants) quoted(text string, depth int) (value, rest string, ok bool) {
	mark := strings.TrimLeft(text, "rRbBfFuU")
	if k.comment != "#" || len(text)-len(mark) > 2 {
		mark = text
	}
	if mark == "" {
		return "", text, false
	}
	quote := mark[:1]
	inserting := strings.ContainsAny(k.inserting, text[:len(text)-len(mark)]+quote)
	end := quote
	switch {
	case quote == "{" && inserting:
		end = "}"
	case quote == "`" && inserting:
	case quote != `"` && quote != "'":
		return "", text, false
	case strings.HasPrefix(mark, strings.Repeat(quote, 3)):
		end = strings.Repeat(quote, 3)
	}
	body := mark[len(end):]
	at := 0
	for ; ; at++ {
		if at >= len(body) || len(end) == 1 && body[at] == '\n' {
			return "", text, false
		}
		if body[at] == '\\' {
			at++
		} else if strings.HasPrefix(body[at:], end) {
			break
		}
	}
	body, rest = body[:at], body[at+len(end):]
	body = strings.NewReplacer(`\"`, `"`, `\'`, `'`, `\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(body)
	if !inserting {
		return body, rest, true
	}
	known := true
	body = k.insert.ReplaceAllStringFunc(body, func(found string) string {
		m := k.insert.FindStringSubmatch(found)
		v, after, is := k.value(m[len(m)-1], depth+1)
		known = known && is && after == ""
		return v
	})
	return body, rest, known
}

// shellWord is a constant as one word for a shell, the home folder as it is.
func shellWord(v string) string {
	if rest, ok := strings.CutPrefix(v, "~"); ok && (rest == "" || rest[0] == '/') {
		if rest == "" {
			return "~"
		}
		return "~/" + bash.Quote(rest[1:])
	}
	return bash.Quote(v)
}
