package install

import (
	"runtime"
	"strings"
)

// The hook is one line for a shell, the only form that every harness runs. Several silently
// drop a list of arguments, start the program without them, and let every call run.

// plain are the characters, in addition to letters and digits, that are literal in every
// shell.
const plain = "_-./:,@%+"

// shellLine returns a program with its arguments as a shell line. Claude Code on Windows
// uses the shell of Git, which needs slashes.
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
			b.WriteString("'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'") // fish reads '\'' differently
		}
	}
	return b.String()
}

func isPlain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(plain, r)
}

// shutLine returns a hook's line that denies if its program fails. shut is one of the
// constants in table.go.
func shutLine(line, shut string) string {
	if shut == shutWrapped {
		return shellLine("", "sh", []string{"-c", line + shutInside})
	}
	return line + shut
}

// withoutShut returns a hook's line without the part added by shutLine.
func withoutShut(line string) string {
	if words := shellWords(line); len(words) == 3 && words[0] == "sh" && words[1] == "-c" && strings.HasSuffix(words[2], shutInside) {
		return strings.TrimSuffix(words[2], shutInside)
	}
	return strings.TrimSuffix(strings.TrimSuffix(line, shutMute), shutSaying)
}

// shellWords splits a shell line into words without quotes. It knows only quotes; other
// shell syntax stays as written.
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
