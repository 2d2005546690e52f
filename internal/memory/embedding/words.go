package embedding

import "strings"

// Group is the kind of a word in a command.
type Group int

const (
	// Head is the program and the next word, if it may be a subcommand.
	Head Group = iota
	// Object is the word after the head: "pods" in "kubectl get pods", "up" in "docker compose up".
	Object
	// Option is the name of an option.
	Option
	// Operand is an operand: a file, a name, or the value of an option.
	Operand
	groups
)

// weights are the weights of the words of each group, relative to a word of the head.
var weights = [groups]float32{Head: 1, Object: 0.8, Option: 0.7, Operand: 0.3}

const (
	// maxText is the longest text, in bytes, that gets a vector. A longer one is a script, whose
	// meaning one vector cannot express.
	maxText = 4096
	// maxHead is the number of words after a program that may be subcommands.
	maxHead = 2
)

// Words yields the words of a command that carry its meaning, with their groups. It reads text, not
// shell, and has no influence on permissions.
//
// It leaves out quotes and other signs of the shell, the folders of a program, all but the last two
// steps of other paths, numbers, and hashes. A word with signs inside is several words:
// "docker-compose" is "docker compose". The words after an operator of the shell are a command of
// their own.
func Words(text string, yield func(word string, group Group)) {
	head := 0 // the number of words of the head so far, including the program
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

// assignment reports whether a word sets a variable.
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

// subcommand reports whether a word may be a subcommand: letters, with dashes and colons between
// them.
func subcommand(w string) bool {
	for i := range len(w) {
		if c := w[i]; !letter(c) && (i == 0 || c != '-' && c != ':' && c != '_' && !digit(c)) {
			return false
		}
	}
	return !identifier(w)
}

// operand yields the words of an operand: the last two steps of a path, without numbers and hashes.
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

// each yields the words between the signs of a word, and returns their number.
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

// identifier reports whether a word is a number or a hash: it has a digit, and only hexadecimal
// digits and signs.
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
