package install

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/jsonedit"
)

// The bounds of the search in a broken file: how many places are looked at,
// and how far an entry may begin before its program's name, in bytes.
const (
	maxPlaces = 200
	maxEntry  = 4 << 10
)

// salvage takes Cardea's entries out of a file that as a whole cannot be read.
// An entry is still whole where the mistake stands elsewhere, and is then
// found by its own text.
func (p *Plan) salvage(why error) error {
	data, found := bytes.Clone(p.Before), 0
	for from := 0; found < maxPlaces; {
		at := bytes.Index(bytes.ToLower(data[from:]), []byte("cardea"))
		if at < 0 {
			break
		}
		at += from
		begin, end, ok := entryAround(data, at)
		if !ok {
			from = at + 1
			continue
		}
		data, from, found = cutEntry(data, begin, end), begin, found+1
	}
	if found == 0 {
		return broken(p.File, byHand(p.Before)+leftAlone, why)
	}
	p.After = data
	p.note(cardea.CodeSyntax, "", fmt.Sprintf("the file is broken (%v): Cardea's %d entries were taken out of it as text, and everything else is as it was, the mistake and the lists around included", why, found))
	return nil
}

// entryAround is the largest whole object around an offset that is nothing but
// Cardea's.
func entryAround(data []byte, at int) (begin, end int, ok bool) {
	for i := max(0, at-maxEntry); i < at; i++ {
		if data[i] != '{' {
			continue
		}
		n, err := jsonedit.ValueAt(data, i)
		if err != nil || n.End <= at {
			continue
		}
		if isOurs(n) || isOurGroup(n) {
			return n.Start, n.End, true
		}
	}
	return 0, 0, false
}

func isOurGroup(n *jsonedit.Node) bool {
	handlers := n.Get("hooks").Elements()
	return len(handlers) > 0 && !slices.ContainsFunc(handlers, func(h *jsonedit.Node) bool { return !isOurs(h) })
}

// cutEntry takes an entry out together with one comma beside it, and with the
// white space before it.
func cutEntry(data []byte, begin, end int) []byte {
	from, to := begin, end
	for from > 0 && strings.IndexByte(" \t\r\n", data[from-1]) >= 0 {
		from--
	}
	switch rest := bytes.TrimLeft(data[end:], " \t\r\n"); {
	case len(rest) > 0 && rest[0] == ',':
		to = len(data) - len(rest) + 1
	case from > 0 && data[from-1] == ',':
		from--
	}
	return append(bytes.Clone(data[:from]), data[to:]...)
}

// byHand names the lines that a person has to look at.
func byHand(data []byte) string {
	var lines []string
	for i, l := range strings.Split(string(data), "\n") {
		if strings.Contains(strings.ToLower(l), "cardea") && len(lines) < 10 {
			lines = append(lines, fmt.Sprint(i+1))
		}
	}
	if len(lines) == 0 {
		return "the name cardea does not stand in it; "
	}
	return "remove by hand the entries that name cardea: line " + strings.Join(lines, ", ") + "; "
}
