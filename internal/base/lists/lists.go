// Package lists maps, filters and joins slices, for loops that would otherwise be written
// again in many packages.
package lists

import "slices"

// Of returns the results of of for each entry, in order; nil for an empty list.
func Of[T, U any](all []T, of func(T) U) []U {
	out := slices.Grow([]U(nil), len(all))
	for _, x := range all {
		out = append(out, of(x))
	}
	return out
}

// Where returns the entries for which is returns true, in order; nil if none exist.
func Where[T any](all []T, is func(T) bool) []T {
	var out []T
	for _, x := range all {
		if is(x) {
			out = append(out, x)
		}
	}
	return out
}
