package updates

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Version is one of semver.org.
type Version struct {
	numbers []int
	before  string // what makes it a pre-release, "" for a release
}

var semver = regexp.MustCompile(`^v?(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})(?:-([0-9A-Za-z.-]{1,64}))?(?:\+[0-9A-Za-z.-]{1,64})?$`)

// ParseVersion reads a version with or without a v before it.
func ParseVersion(text string) (v Version, ok bool) {
	m := semver.FindStringSubmatch(text)
	if m == nil {
		return v, false
	}
	for _, digits := range m[1:4] {
		n, _ := strconv.Atoi(digits) // nine digits at most
		v.numbers = append(v.numbers, n)
	}
	v.before = m[4]
	return v, true
}

// IsRelease reports whether it is no pre-release.
func (v Version) IsRelease() bool { return v.before == "" }

// String is the version as the tags of releases have it.
func (v Version) String() string {
	var words []string
	for _, n := range v.numbers {
		words = append(words, strconv.Itoa(n))
	}
	text := "v" + strings.Join(words, ".")
	if v.before != "" {
		text += "-" + v.before
	}
	return text
}

// Compare orders versions as semver.org does: a pre-release comes before its release.
func (v Version) Compare(w Version) int {
	if c := slices.Compare(v.numbers, w.numbers); c != 0 || v.before == w.before {
		return c
	}
	if v.before == "" || w.before == "" {
		return cmp.Compare(len(w.before), len(v.before))
	}
	return slices.CompareFunc(strings.Split(v.before, "."), strings.Split(w.before, "."), func(a, b string) int {
		x, notX := strconv.Atoi(a)
		y, notY := strconv.Atoi(b)
		switch {
		case notX == nil && notY == nil:
			return cmp.Compare(x, y)
		case notX == nil:
			return -1
		case notY == nil:
			return 1
		}
		return strings.Compare(a, b)
	})
}
