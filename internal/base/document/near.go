package document

import (
	"slices"
	"strings"
)

// Nearest returns the word that s most likely is a misspelling of, "" if none is near.
func Nearest(s string, words []string) string {
	best, limit := "", 1+len(s)/4
	for _, w := range words {
		if d := distance(s, w, limit); d <= limit {
			best, limit = w, d-1
		}
	}
	if best != "" || len(s) < 4 {
		return best
	}
	for _, w := range words { // timeout for timeout_seconds
		if strings.HasPrefix(w, s+"_") {
			return w
		}
	}
	return ""
}

// NearestName returns the name that s most likely is a misspelling of, "" if none is near.
// It ignores case, "_" and "-": user_prompt_submit is near UserPromptSubmit.
func NearestName(s string, names []string) string {
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = plain(n)
	}
	if i := slices.Index(words, Nearest(plain(s), words)); i >= 0 {
		return names[i]
	}
	return ""
}

// distance returns the number of letters to insert, remove, replace or swap with their
// neighbor to get from a to b. It returns limit+1 if that is more than limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
