package lesson

import (
	"strings"

	"cardea.dev/internal/base/state"
)

// Place is the folder whose lessons the store has.
func (s *Store) Place() Place {
	if s == nil {
		return Place{}
	}
	return s.place
}

// Stamp tells whether the files of a folder changed: it is another one then.
func (p *Place) Stamp() string {
	var all [len(fileNames)]string
	for i := range all {
		all[i] = state.Stamp(p.file(i))
	}
	return strings.Join(all[:], " ")
}

// Indexed reports whether the store has an index. Without one, [Store.Unindexed] has all
// lessons that it knows.
func (s *Store) Indexed() (is bool) {
	s.looking(func() { is = s.head != nil && s.pages != nil })
	return is
}
