package call

import (
	"iter"
	"strings"
	"unicode"

	"cardea.dev"
)

// patch adds a part for every file that a patch text touches, in the format of
// apply_patch (Codex CLI and Copilot CLI): "*** Add File:", "*** Update File:",
// "*** Delete File:" and "*** Move to:" lines. A text that names no file is
// opaque.
func (a *analysis) patch(text string) {
	found := 0
	updated := -1
	for verb, names := range headers(text) {
		if found++; found > 1000 || len(names[0]) > longestName {
			a.opaque = append(a.opaque, cardea.Opaque{Code: cardea.OpaqueTooMany, Text: verb + " " + names[len(names)-1], Reason: "the patch touches too many files"})
			return
		}
		name, kind := names[0], cardea.Write
		if verb == "delete" {
			kind = cardea.Delete
		}
		var access []cardea.Access
		for _, n := range names {
			access = append(access, a.paths(kind, n, false)...)
		}
		if verb == "update" {
			updated = len(a.parts)
		}
		a.one(map[string]string{"add": "create ", "update": "edit ", "delete": "delete ", "move": "move to "}[verb]+name, access...)
		if verb == "move" && updated >= 0 { // the file that is moved away is gone
			p := &a.parts[updated]
			for _, from := range p.Access[:len(p.Access):len(p.Access)] {
				if from.Kind == cardea.Write {
					from.Kind = cardea.Delete
					p.Access = append(p.Access, from)
				}
			}
		}
	}
	if found == 0 {
		a.opaque = append(a.opaque, cardea.Opaque{Code: cardea.OpaqueInput, Text: "apply_patch", Reason: "the patch names no file"})
		a.one("apply_patch", cardea.Access{Kind: cardea.Unknown})
	}
}

// longestName is how many bytes a name in a patch may have.
const longestName = 1 << 14

// headers finds the lines of a patch that name files. Readers differ in which marks end
// a line and which they strip as blanks, so a header counts behind any of them, and its
// names are the rest of the line, and the rest up to the first such mark.
func headers(text string) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for line := range strings.SplitSeq(text, "\n") {
			for more := true; more; {
				var before string
				if before, line, more = strings.Cut(line, "*** "); !more {
					break
				}
				blanks := before[len(strings.TrimRightFunc(before, isBlank)):]
				if len(blanks) < len(before) && !strings.ContainsFunc(blanks, endsLine) {
					continue // within a line
				}
				verb, rest, ok := patchVerb(line)
				if !ok {
					continue
				}
				names := []string{strings.TrimFunc(rest, isBlank)}
				if i := strings.IndexFunc(names[0], endsLine); i >= 0 {
					names = append(names, strings.TrimFunc(names[0][:i], isBlank))
				}
				if !yield(verb, names) {
					return
				}
			}
		}
	}
}

// patchVerb reads what stands behind the stars of a header.
func patchVerb(s string) (verb, name string, ok bool) {
	for _, h := range [...]struct{ verb, head string }{
		{"add", "Add File:"}, {"update", "Update File:"}, {"delete", "Delete File:"}, {"move", "Move to:"},
	} {
		if rest, found := strings.CutPrefix(s, h.head); found {
			return h.verb, rest, true
		}
	}
	return "", "", false
}

// isBlank reports what some reader strips from the ends of a line: every white space of
// Unicode, the separators of ASCII, and the byte order mark.
func isBlank(r rune) bool { return unicode.IsSpace(r) || '\x1c' <= r && r <= '\x1f' || r == '\uFEFF' }

// endsLine reports what ends a line for some reader: besides the line feed the carriage
// return and the separators of Unicode.
func endsLine(r rune) bool { return strings.ContainsRune("\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r) }
