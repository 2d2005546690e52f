package install

import (
	"runtime"
	"strings"
)

// The hook is written as one line for a shell. It is the only form that every
// harness runs: several drop a list of arguments without a word, start the bare
// program, and let every call run.

// plain are the characters besides letters and digits that no shell takes for
// anything but themselves.
const plain = "_-./:,@%+"

// shellLine is a program with its arguments as the line of a shell. The shell of
// Claude Code on Windows is that of Git, which takes slashes.
func shellLine(key, program string, args []string) string {
	powershell := key == "powershell"
	if !powershell && runtime.GOOS == "windows" {
		program = strings.ReplaceAll(program, `\`, "/")
	}
	var b strings.Builder
	for i, w := range append([]string{program}, args...) {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch {
		case !strings.ContainsFunc(w, func(r rune) bool { return !isPlain(r) }) && w != "":
			b.WriteString(w)
		case powershell && i == 0:
			b.WriteString("& '" + strings.ReplaceAll(w, "'", "''") + "'")
		case powershell:
			b.WriteString("'" + strings.ReplaceAll(w, "'", "''") + "'")
		default:
			b.WriteString("'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'") // fish reads '\'' otherwise
		}
	}
	return b.String()
}

func isPlain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(plain, r)
}

// shutLine is a hook's line that denies where its program fails, in one of the ways above.
func shutLine(line, shut string) string {
	if shut == shutWrapped {
		return shellLine("", "sh", []string{"-c", line + shutInside})
	}
	return line + shut
}

// withoutShut is a hook's line without what is there for the case that its program fails.
func withoutShut(line string) string {
	if words := shellWords(line); len(words) == 3 && words[0] == "sh" && words[1] == "-c" && strings.HasSuffix(words[2], shutInside) {
		return strings.TrimSuffix(words[2], shutInside)
	}
	return strings.TrimSuffix(strings.TrimSuffix(line, shutMute), shutSaying)
}

// shellWords are the words of a line that a person or shellLine wrote, quotes off.
// It knows quotes and no more: what else a shell would do stands in the words as
// it is written.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	begun, quote := false, rune(0)
	for _, r := range strings.TrimPrefix(strings.ReplaceAll(line, `'\''`, "\x00"), "& ") {
		switch {
		case r == 0:
			word.WriteByte('\'')
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}
