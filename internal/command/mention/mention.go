// Package mention finds what a text may name: paths, and commands that a shell
// or a program could be told to run.
//
// It reads words of a command line and texts in any language: scripts on the line,
// here-documents, fields of a tool's input. It knows no language, only what most
// have in common: string constants, ways to join them, and variables that hold
// one. What it finds may be none of it, so nothing is allowed because of it
// (docs/design.md#may-touch-may-run).
package mention

import (
	"net/url"
	"strings"
)

// Found is what a text may name.
type Found struct {
	// Paths are as they are spelled, without quotes. A leading ~ is the home folder.
	Paths []string
	// Addresses are URLs.
	Addresses []string
	// Lines are texts that a shell could be given.
	Lines []string
	// Lists are lists of words, each of which may be a program with what it is
	// passed.
	Lists [][]string
	// OnlyReads is set for code that calls nothing but what reads and prints.
	OnlyReads bool
	// Copies is set for code that may copy or unpack what is not known.
	Copies bool
	// TooMany is set where the text names more than is looked at.
	TooMany bool
}

// most is how many paths of one text are looked at. No script that stands on a
// command line names as many.
const most = 4096

// mostPieces is how many delimiters of one word are looked at. Lists of folders have
// fewer.
const mostPieces = 256

// longestPath is how long a path is that a system opens, in bytes.
const longestPath = 4096

// What is looked at of one text, in bytes: so much, and so many times its length.
const (
	mostRead  = 1 << 18
	timesRead = 16
)

// finder collects what is found, each path once.
type finder struct {
	Found
	seen map[string]bool
	// left is how many more bytes are looked at.
	left int
}

func newFinder(text string) *finder { return &finder{left: mostRead + timesRead*len(text)} }

// spend reports whether so many bytes more are looked at.
func (f *finder) spend(n int) bool {
	f.left -= n + 16
	f.TooMany = f.TooMany || f.left < 0
	return f.left >= 0
}

func (f *finder) path(p string) {
	if len(p) > longestPath || !f.spend(len(p)) {
		return
	}
	f.spelled(home(p))
	if strings.Contains(p, `\`) && !strings.ContainsAny(p, " \n") {
		f.path(strings.ReplaceAll(p, `\`, "/"))
	}
	if strings.Contains(p, "%") {
		if plain, err := url.PathUnescape(p); err == nil && plain != p {
			f.spelled(home(plain))
			f.spelled(strings.ReplaceAll(plain, `\`, "/"))
		}
	}
}

// spelled adds a path as it is spelled.
func (f *finder) spelled(p string) {
	if p == "" || p == "-" || p == "~" || strings.ContainsAny(p, "\x00\n") || f.seen[p] {
		return
	}
	if len(f.Paths) >= most {
		f.TooMany = true
		return
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	f.seen[p] = true
	f.Paths = append(f.Paths, p)
}

// home writes the home folder as ~.
func home(p string) string {
	for _, name := range [...]string{"$HOME", "${HOME}", "%USERPROFILE%", "$env:HOME", "$env:USERPROFILE"} {
		if rest, ok := strings.CutPrefix(p, name); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
			return "~" + strings.ReplaceAll(rest, `\`, "/")
		}
	}
	return p
}

// Word finds what one word of a command line may name: itself, what stands behind
// a joined option letter or one of = : @ and a comma, and, where it holds more than
// one word, all that a text does.
func Word(word string) Found {
	f := newFinder(word)
	if strings.ContainsAny(word, " \t\n'\"`()[]{};<>|") {
		f.path(word)
		f.text(word)
		if strings.HasPrefix(word, "-") && len(word) > 2 { // -c'git push'
			f.line(word[2:])
		}
		for rest, n := word, 0; n < 4; n++ { // --run=, -c core.pager=
			end := strings.IndexAny(rest, "=:")
			if end < 0 {
				break
			}
			rest = rest[end+1:]
			f.line(rest)
		}
		return f.Found
	}
	f.pieces(word)
	return f.Found
}

// Plain reports a word that names nothing but itself: [Word] finds no delimiter in it,
// and nothing that stands for something else.
func Plain(word string) bool {
	return !strings.ContainsAny(word, " \t\n\x00'\"`()[]{};<>|=:@,+%\\$") && !strings.HasPrefix(word, "-") && opened(word) == ""
}

// opened returns the name after a command of sed or ed that opens a file, which is at the
// beginning or after an address: w.x, $r.x, "" for none.
func opened(word string) string {
	for i := 0; i+2 < len(word); i++ {
		if strings.IndexByte("wWrR", word[i]) >= 0 && (word[i+1] == '.' || word[i+1] == '~') && (i == 0 || !isNameByte(word[i-1]) || word[i-1] <= '9') {
			return word[i+1:]
		}
	}
	return ""
}

// Text finds what a text may name.
func Text(text string) Found {
	f := newFinder(text)
	f.text(text)
	return f.Found
}

// pieces adds a word without blanks, and what stands in it behind a delimiter.
func (f *finder) pieces(word string) {
	if strings.HasPrefix(word, "-") {
		if !strings.HasPrefix(word, "--") && len(word) > 2 {
			f.path(word[2:])
		}
		if i := strings.IndexAny(word, "/.~"); i > 2 { // -xf/etc/x, --file/etc/x
			f.path(word[i:])
		}
	} else {
		f.path(strings.TrimLeft(word, "+@"))
	}
	if name := opened(word); name != "" {
		f.path(name)
	}
	left := mostPieces
	for i := 0; i < len(word); i++ {
		if strings.IndexByte("=:@,+", word[i]) < 0 {
			continue
		}
		if left--; left < 0 {
			f.TooMany = true
			return
		}
		rest := word[i+1:]
		if strings.HasPrefix(rest, "//") {
			f.Addresses = append(f.Addresses, word[:i+1]+rest)
			f.address(rest[2:])
		}
		f.path(rest)
		if end := strings.IndexAny(rest, "=:@,"); end > 0 {
			f.path(rest[:end])
		}
	}
	if end := strings.IndexAny(word, "=:,"); end > 0 && word[0] != '-' {
		f.path(word[:end])
	}
}

// address adds the path of an address: what stands behind the host.
func (f *finder) address(rest string) {
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		path, _, _ := strings.Cut(rest[i:], "?")
		if plain, err := url.PathUnescape(path); err == nil {
			path = plain
		}
		f.path(path)
	}
}

// diff adds the files of a unified diff without the folders a/ and b/ that git
// writes in front.
func (f *finder) diff(line string) {
	if strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "rename ") || strings.HasPrefix(line, "diff ") {
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "a/") || strings.HasPrefix(word, "b/") {
				f.path(word[2:])
			}
		}
	}
}

// text adds what stands in a text: its words that look like paths, its string
// constants and what is joined of them, its lines and constants as commands.
func (f *finder) text(text string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || strings.ContainsRune("'\"`()[]{}<>;|&,!", r) }) {
		if !strings.ContainsAny(word, "/.~") {
			continue
		}
		f.pieces(word)
		if _, file, ok := strings.Cut(word, "/w"); ok && file != "" && strings.IndexByte(".~/", file[0]) >= 0 {
			f.path(file) // the flag w of sed's s
		}
	}
	f.code(text)
	f.substitutions(text)
	f.shellFunctions(text)
	for line := range strings.Lines(text) {
		f.line(line)
		f.diff(line)
	}
}

// mostSubstitutions is how many commands of sed are looked at in one text.
const mostSubstitutions = 64

// substitutions adds what sed runs with the flag e of its command s.
func (f *finder) substitutions(text string) {
	left := mostSubstitutions
	for i := 0; i+1 < len(text) && left > 0; i++ {
		mark := text[i+1]
		if text[i] != 's' || i > 0 && isNameByte(text[i-1]) && (text[i-1] < '0' || text[i-1] > '9') || isNameByte(mark) || strings.IndexByte(" \t\n\\.()[]'\"", mark) >= 0 {
			continue
		}
		left--
		pattern := delimited(text[i+2:], mark)
		with := delimited(text[min(i+3+len(pattern), len(text)):], mark)
		flags := text[min(i+4+len(pattern)+len(with), len(text)):]
		if end := strings.IndexFunc(flags, func(r rune) bool { return !strings.ContainsRune("egpiImM0123456789", r) }); end >= 0 {
			flags = flags[:end]
		}
		if strings.Contains(flags, "e") {
			f.line(strings.NewReplacer(`\&`, "&", `\`+string(mark), string(mark)).Replace(with))
		}
	}
}

// shellFunctions adds what make runs when it expands $(shell …).
func (f *finder) shellFunctions(text string) {
	for _, at := range shellFunction().FindAllStringIndex(text, mostSubstitutions) {
		f.line(text[at[1]:max(at[1], strings.LastIndexAny(text, ")}"))])
	}
}

var shellFunction = expression(`\$[({]shell `)

// delimited returns what precedes a mark without a backslash.
func delimited(text string, mark byte) string {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case mark:
			return text[:i]
		}
	}
	return text
}

// line adds a line that a shell could be given: as it is, and behind what other
// programs write in front of a command (a recipe's @, an editor's :!).
func (f *finder) line(line string) {
	line = strings.TrimSpace(line)
	if bare := strings.TrimLeft(line, "@-:!%.+> \t"); bare != line {
		f.command(bare)
	} else {
		f.command(line)
	}
	if i := strings.IndexByte(line, '!'); i >= 0 {
		f.command(strings.TrimSpace(line[i+1:]))
	}
	// An editor's or a client's own word for it: "e ls", ".shell ls", "system ls".
	if word, rest, ok := strings.Cut(line, " "); ok && len(word) < len("silentsystem!") {
		f.command(strings.TrimSpace(rest))
	}
}

func (f *finder) command(line string) {
	if line != "" && len(f.Lines) < most && f.spend(len(line)) {
		f.Lines = append(f.Lines, line)
	}
}
