// Package mention finds what a text may name: paths, and commands for a shell or a program.
//
// It reads words of a command line and texts in any language: scripts on the line,
// here-documents, fields of a tool's input. It knows no language, only the constructs that most
// share: string constants, ways to join them, and variables that hold one. Its findings may be
// wrong, so they never allow anything (docs/design.md#may-touch-may-run).
package mention

import (
	"net/url"
	"strings"
)

// Found holds the paths and commands that a text may name.
type Found struct {
	// Paths are spelled as in the text, without quotes. A leading ~ is the home folder.
	Paths []string
	// Addresses are URLs.
	Addresses []string
	// Lines are texts that may be commands for a shell.
	Lines []string
	// Lists are lists of words, each of which may be a program with its arguments.
	Lists [][]string
	// OnlyReads is set for code that only calls functions which read and print.
	OnlyReads bool
	// Copies is set for code that may copy or unpack unknown files.
	Copies bool
	// TooMany is set if the text names more than is read.
	TooMany bool
}

// most is the number of paths of one text that are kept. No script on a command line
// names as many.
const most = 4096

// mostPieces is the number of delimiters of one word that are examined. Lists of folders
// have fewer.
const mostPieces = 256

// longestPath is the length in bytes of the longest path that a system opens.
const longestPath = 4096

// The limits of reading one text: a size in bytes, and a multiple of its length.
const (
	mostRead  = 1 << 18
	timesRead = 16
)

// finder collects findings, each path once.
type finder struct {
	Found
	seen map[string]bool
	// left is the number of bytes that may still be read.
	left int
}

func newFinder(text string) *finder { return &finder{left: mostRead + timesRead*len(text)} }

// spend reports whether n more bytes may be read, and counts them.
func (f *finder) spend(n int) bool {
	f.left -= n + 16
	f.TooMany = f.TooMany || f.left < 0
	return f.left >= 0
}

// path adds a path, also with backslashes as slashes and with its percent escapes decoded.
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

// spelled adds a path in one spelling.
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

// home returns p with the home folder written as ~.
func home(p string) string {
	for _, name := range [...]string{"$HOME", "${HOME}", "%USERPROFILE%", "$env:HOME", "$env:USERPROFILE"} {
		if rest, ok := strings.CutPrefix(p, name); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
			return "~" + strings.ReplaceAll(rest, `\`, "/")
		}
	}
	return p
}

// Word finds what one word of a command line may name: itself, and the text after a
// joined option letter or after one of = : @ and a comma. If it holds several words, it
// is also read as a text.
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

// Plain reports whether a word names only itself: [Word] finds no delimiter and nothing
// else to resolve in it.
func Plain(word string) bool {
	return !strings.ContainsAny(word, " \t\n\x00'\"`()[]{};<>|=:@,+%\\$") && !strings.HasPrefix(word, "-") && opened(word) == ""
}

// opened returns the file name after a command of sed or ed that opens a file, at the
// beginning or after an address: w.x, $r.x. It returns "" without such a command.
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

// pieces adds a word without blanks, and the text in it after each delimiter.
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

// address adds the path of an address: the text after the host.
func (f *finder) address(rest string) {
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		path, _, _ := strings.Cut(rest[i:], "?")
		if plain, err := url.PathUnescape(path); err == nil {
			path = plain
		}
		f.path(path)
	}
}

// diff adds the files of a unified diff without the folders a/ and b/ that git adds.
func (f *finder) diff(line string) {
	if strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "rename ") || strings.HasPrefix(line, "diff ") {
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "a/") || strings.HasPrefix(word, "b/") {
				f.path(word[2:])
			}
		}
	}
}

// text adds what a text names: its words that look like paths, its string constants and
// the texts joined from them, and its lines and constants as commands.
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

// mostSubstitutions is the number of sed commands that are read in one text.
const mostSubstitutions = 64

// substitutions adds the commands that sed runs with the flag e of its command s.
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

// shellFunctions adds the commands that make runs when it expands $(shell …).
func (f *finder) shellFunctions(text string) {
	for _, at := range shellFunction().FindAllStringIndex(text, mostSubstitutions) {
		f.line(text[at[1]:max(at[1], strings.LastIndexAny(text, ")}"))])
	}
}

var shellFunction = expression(`\$[({]shell `)

// delimited returns the text before an unescaped mark.
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

// line adds a line that may be a command for a shell: as it is, and after prefixes of
// other programs (a recipe's @, an editor's :!).
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
	// An editor's or a client's own word: "e ls", ".shell ls", "system ls".
	if word, rest, ok := strings.Cut(line, " "); ok && len(word) < len("silentsystem!") {
		f.command(strings.TrimSpace(rest))
	}
}

func (f *finder) command(line string) {
	if line != "" && len(f.Lines) < most && f.spend(len(line)) {
		f.Lines = append(f.Lines, line)
	}
}
