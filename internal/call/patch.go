package call

import (
	"strings"

	"cardea.dev"
)

// patch adds a part for every file that a patch text touches, in the format of
// apply_patch (Codex CLI and Copilot CLI): "*** Add File:", "*** Update File:",
// "*** Delete File:" and "*** Move to:" lines. A text that names no file is
// opaque.
func (a *analysis) patch(text string) {
	found := 0
	text = strings.ReplaceAll(text, "\r", "\n")
	updated := -1
	for len(text) > 0 {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		line = strings.TrimRight(line, " \t")
		verb, name, ok := patchLine(line)
		if !ok {
			continue
		}
		if found++; found > 1000 {
			a.opaque = append(a.opaque, cardea.Opaque{Code: cardea.OpaqueTooMany, Text: line, Reason: "the patch touches too many files"})
			return
		}
		switch verb {
		case "add":
			a.one("create "+name, a.paths(cardea.Write, name, false)...)
		case "update":
			updated = len(a.parts)
			a.one("edit "+name, a.paths(cardea.Write, name, false)...)
		case "delete":
			a.one("delete "+name, a.paths(cardea.Delete, name, false)...)
		case "move":
			a.one("move to "+name, a.paths(cardea.Write, name, false)...)
			if updated >= 0 { // the file that is moved away is gone
				p := &a.parts[updated]
				for _, from := range p.Access[:len(p.Access):len(p.Access)] {
					if from.Kind == cardea.Write {
						from.Kind = cardea.Delete
						p.Access = append(p.Access, from)
					}
				}
			}
		}
	}
	if found == 0 {
		a.opaque = append(a.opaque, cardea.Opaque{Code: cardea.OpaqueInput, Text: "apply_patch", Reason: "the patch names no file"})
		a.one("apply_patch", cardea.Access{Kind: cardea.Unknown})
	}
}

// patchLine reads a header line of a patch. Leading blanks count, since a
// lenient reader strips them.
func patchLine(line string) (verb, name string, ok bool) {
	line = strings.TrimLeft(line, " \t")
	for _, h := range [...]struct{ verb, head string }{
		{"add", "*** Add File:"}, {"update", "*** Update File:"}, {"delete", "*** Delete File:"}, {"move", "*** Move to:"},
	} {
		if rest, found := strings.CutPrefix(line, h.head); found {
			return h.verb, strings.TrimSpace(rest), true
		}
	}
	return "", "", false
}
