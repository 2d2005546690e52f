// Package lists makes one list of another: of what a function makes of each entry, or of some of them.
package lists

import "slices"

// Of returns what of makes of each entry, in their order; nil for an empty list.
func Of[T, U any](all []T, of func(T) U) []U {
	out := slices.Grow([]U(nil), len(all))
	for _, x := range all {
		out = append(out, of(x))
	}
	return out
}

// Where returns the entries for which is holds, in their order; nil if it holds for no entry.
func Where[T any](all []T, is func(T) bool) []T {
	var out []T
	for _, x := range all {
		if is(x) {
			out = append(out, x)
		}
	}
	return out
}
