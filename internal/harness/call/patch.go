package call

import (
	"strings"
	"unicode"

	"cardea.dev"
)

// header finds the lines of a patch that name files. Readers differ in the marks that end a line
// and in those that they strip as blanks, so a header is found after any of them.
var header = expression(`(?:^|[\n\r\v\f\x1c-\x1e\x{85}\x{2028}\x{2029}])(?:[\t-\r\x1c- \x{85}\pZ\x{FEFF}]|\*\*\* )*\*\*\* (Add File|Update File|Delete File|Move to):`)

// patch adds a part for every file that a patch text touches, in the format of apply_patch (Codex
// CLI and Copilot CLI): "*** Add File:", "*** Update File:", "*** Delete File:" and "*** Move to:"
// lines. The names of a file are the rest of the line, and the rest up to the first mark that may
// end it. A text that names no file is opaque.
func (a *analysis) patch(text string) {
	found := header().FindAllStringSubmatchIndex(text, mostPatched+1)
	updated := -1
	for i, at := range found {
		does, kind := "create ", cardea.Write
		switch text[at[2]:at[3]] {
		case "Update File":
			does, updated = "edit ", len(a.parts)
		case "Delete File":
			does, kind = "delete ", cardea.Delete
		case "Move to":
			does = "move to "
		}
		rest, _, _ := strings.Cut(text[at[1]:], "\n")
		name := strings.TrimFunc(rest, isBlank)
		if i == mostPatched || len(name) > longestName {
			a.opaque = append(a.opaque, cardea.Opaque{Code: cardea.OpaqueTooMany, Text: does + name, Reason: "the patch touches too many files"})
			return
		}
		access := a.paths(kind, name, false)
		if end := strings.IndexFunc(name, endsLine); end >= 0 {
			access = append(access, a.paths(kind, strings.TrimFunc(name[:end], isBlank), false)...)
		}
		a.one(does+name, access...)
		if does == "move to " && updated >= 0 { // the moved file is gone
			p := &a.parts[updated]
			for _, from := range p.Access {
				if from.Kind == cardea.Write {
					from.Kind = cardea.Delete
					p.Access = append(p.Access, from)
				}
			}
		}
	}
	if len(found) == 0 {
		a.opaque = append(a.opaque, cardea.Opaque{Code: cardea.OpaqueInput, Text: "apply_patch", Reason: "the patch names no file"})
		a.one("apply_patch", cardea.Access{Kind: cardea.Unknown})
	}
}

// mostPatched is the largest number of files in a patch, longestName the longest name in it, in
// bytes.
const (
	mostPatched = 1000
	longestName = 1 << 14
)

// isBlank reports whether a reader may strip r from the ends of a line: all white space of Unicode,
// the separators of ASCII, and the byte order mark.
func isBlank(r rune) bool { return unicode.IsSpace(r) || '\x1c' <= r && r <= '\x1f' || r == '\uFEFF' }

// endsLine reports whether r, other than a line feed, ends a line for a reader: the carriage return
// and the separators of Unicode.
func endsLine(r rune) bool { return strings.ContainsRune("\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r) }
