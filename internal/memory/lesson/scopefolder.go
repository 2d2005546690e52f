package lesson

import (
	"strings"

	"cardea.dev/internal/base/state"
)

// Place returns the folder of the store.
func (s *Store) Place() ScopeFolder {
	if s == nil {
		return ScopeFolder{}
	}
	return s.place
}

// Stamp returns a value that changes with the files of the folder.
func (p *ScopeFolder) Stamp() string {
	var all [len(fileNames)]string
	for i := range all {
		all[i] = state.Stamp(p.file(i))
	}
	return strings.Join(all[:], " ")
}

// Indexed reports whether the store has an index. Without one, [Store.Unindexed] returns all known
// lessons.
func (s *Store) Indexed() (is bool) {
	s.looking(func() { is = s.head != nil && s.pages != nil })
	return is
}
