package embedding

import "strings"

// Group says what a word of a command is.
type Group int

const (
	// Head are the program and the word behind it, if it may be a subcommand.
	Head Group = iota
	// Object is the word behind those: "pods" in "kubectl get pods", "up" in
	// "docker compose up".
	Object
	// Option are the names of options.
	Option
	// Operand is what the command is done with: files, names, values of options.
	Operand
	groups
)

// weights is how much the words of a group count together with one word of the head.
var weights = [groups]float32{Head: 1, Object: 0.8, Option: 0.7, Operand: 0.3}

const (
	// maxText is the longest text, in bytes, that gets a vector. A longer one is a
	// script, of which one vector says nothing.
	maxText = 4096
	// maxHead is how many words behind a program may be subcommands.
	maxHead = 2
)

// Words gives the words of a command that say something about its meaning, with
// their groups. It reads text, not shell: it has no say in what is allowed.
//
// Left out are quotes and other signs of the shell, the folders of a program, all but
// the last two steps of other paths, numbers, and hashes. A word with signs inside is
// several words: "docker-compose" is "docker compose". What stands behind an operator
// of the shell is a command of its own.
func Words(text string, yield func(word string, group Group)) {
	head := 0 // how many words of the head came, the program among them
	bare := true
	for at := 0; at < len(text); {
		if c := text[at]; c <= ' ' || separates(c) || signs[c] {
			if separates(c) {
				head, bare = 0, true
			}
			at++
			continue
		}
		end := at
		for end < len(text) && text[end] > ' ' && !separates(text[end]) {
			end++
		}
		w := strings.TrimFunc(text[at:end], func(r rune) bool { return r < 128 && signs[r] })
		at = end
		switch {
		case w == "":
		case head == 0 && assignment(w):
			operand(w, yield)
		case head == 0:
			w = w[strings.LastIndexByte(w, '/')+1:]
			head = max(1, each(strings.TrimSuffix(w, ".exe"), Head, yield))
		case len(w) > 1 && w[0] == '-':
			name, value, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
			each(name, Option, yield)
			operand(value, yield)
			bare = false
		case head <= maxHead && bare && subcommand(w):
			group := Head
			if head > 1 {
				group = Object
			}
			each(w, group, yield)
			head++
		default:
			operand(w, yield)
			bare = false
		}
	}
}

// signs are characters at the edges of words that belong to the shell.
var signs = [256]bool{'"': true, '\'': true, '`': true, '\\': true, '(': true, ')': true, '{': true, '}': true, '$': true, '!': true, '<': true, '>': true}

// separates reports whether a character ends a command of a line.
func separates(c byte) bool { return c == ';' || c == '|' || c == '&' || c == '\n' }

// assignment reports whether a word gives a variable a value.
func assignment(w string) bool {
	name, _, found := strings.Cut(w, "=")
	if !found || name == "" {
		return false
	}
	for i := range len(name) {
		if !letter(name[i]) && name[i] != '_' && (i == 0 || !digit(name[i])) {
			return false
		}
	}
	return true
}

// subcommand reports whether a word looks like one: letters, with dashes and colons
// between them.
func subcommand(w string) bool {
	for i := range len(w) {
		if c := w[i]; !letter(c) && (i == 0 || c != '-' && c != ':' && c != '_' && !digit(c)) {
			return false
		}
	}
	return !identifier(w)
}

// operand gives what an operand says: the last two steps of a path, without those
// that are numbers or hashes.
func operand(w string, yield func(string, Group)) {
	if _, path, found := strings.Cut(w, "://"); found {
		w, _, _ = strings.Cut(path, "?")
	}
	w = strings.Trim(w, "/.~*")
	if i := strings.LastIndexByte(w, '/'); i >= 0 {
		if j := strings.LastIndexByte(w[:i], '/'); j >= 0 {
			w = w[j+1:]
		}
	}
	for w != "" {
		step := w
		if i := strings.IndexByte(w, '/'); i >= 0 {
			step, w = w[:i], w[i+1:]
		} else {
			w = ""
		}
		each(step, Operand, yield)
	}
}

// each gives the words that stand between the signs of a word, and how many they are.
func each(w string, group Group, yield func(string, Group)) (n int) {
	for at := 0; at < len(w); {
		end := at
		for end < len(w) && (w[end] >= 128 || letter(w[end]) || digit(w[end])) {
			end++
		}
		if end > at && !identifier(w[at:end]) {
			yield(w[at:end], group)
			n++
		}
		at = end + 1
	}
	return n
}

// identifier reports whether a word is a number, a hash or the like: it has a digit,
// and nothing but digits of base 16 and signs.
func identifier(w string) bool {
	digits := 0
	for i := range len(w) {
		c := w[i]
		if digit(c) {
			digits++
		} else if c >= 128 || letter(c) && (c|0x20) > 'f' {
			return false
		}
	}
	return digits > 0
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func digit(c byte) bool { return c >= '0' && c <= '9' }
