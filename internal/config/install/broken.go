package install

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/jsonedit"
)

// The limits of the search in a broken file: the number of places, and the distance from
// the beginning of an entry to its program's name in bytes.
const (
	maxPlaces = 200
	maxEntry  = 4 << 10
)

// salvage removes Cardea's entries from a file that cannot be parsed as a whole. An entry
// is intact if the error is in another place, and is found by its own text.
func (p *Plan) salvage(why error) error {
	data, found := bytes.Clone(p.Before), 0
	for from := 0; found < maxPlaces; {
		at := bytes.Index(bytes.ToLower(data[from:]), []byte("cardea"))
		if at < 0 {
			break
		}
		at += from
		begin, end, ok := enclosingEntry(data, at)
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
	p.note(diagnostic.CodeSyntax, "", fmt.Sprintf("the file is broken (%v): Cardea's %d entries were taken out of it as text, and everything else is as it was, the mistake and the lists around included", why, found))
	return nil
}

// enclosingEntry returns the largest complete object around an offset that is only Cardea's.
func enclosingEntry(data []byte, at int) (begin, end int, ok bool) {
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

// cutEntry removes an entry with one adjacent comma and the white space before it.
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

// byHand returns the lines that the user must check.
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
