// Package importer translates the configuration of other tools into Cardea's.
// It writes no file: it returns texts, and says for every piece what became of
// it, since a rule that silently changes its meaning is worse than no rule.
//
// What tightens is taken over as widely as it was meant. What allows is taken
// over only in a form that cannot allow more than before, or is left out and
// reported.
package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"cardea.dev"
)

// Imported is what an import gives.
type Imported struct {
	// Rules is a file of rules, "" where there are none.
	Rules string
	// Count is the number of rules in it.
	Count int
	// Settings are lines for the person's cardea.yaml; they are shown, never
	// written.
	Settings []string
	// Notes are what the person should know: what was left out, changed, or
	// did nothing until now. A note that is no warning is a mistake in the
	// file.
	Notes []cardea.Diagnostic
}

// mark begins every file that an import wrote, with the digest of the rest.
const mark = "# Imported by cardea import bouncer, digest "

// Seal puts the mark before the text of a file.
func Seal(text string) string { return mark + digest(text) + "\n" + text }

// Untouched reports whether a file is one that an import wrote and nobody
// changed since, so that another import may replace it.
func Untouched(file string) bool {
	head, text, ok := strings.Cut(file, "\n")
	return ok && head == mark+digest(text)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// quoted is text as a YAML scalar in single quotes, or in double quotes where
// it has characters that single ones cannot hold.
func quoted(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff
	}) {
		return doubleQuoted(s)
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

func doubleQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
