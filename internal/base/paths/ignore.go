package paths

import "strings"

// Ignore is a list of patterns as in gitignore(5). The last pattern that matches a path
// decides.
type Ignore []ignored

type ignored struct {
	pattern Pattern
	// negated is set for patterns that undo earlier ones, folder for those that match only
	// folders.
	negated, folder bool
}

// NewIgnore parses a list with one pattern per line. all is false if a line is malformed;
// such lines are skipped.
func NewIgnore(text string) (list Ignore, all bool) {
	all = true
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.TrimRight(line, " \t\r")
		if line == "" || line[0] == '#' {
			continue
		}
		var one ignored
		if back := strings.TrimLeft(line, " \t"); strings.HasPrefix(back, "!") {
			line = back // prefer to include a path again over ignoring it
		}
		line, one.negated = strings.CutPrefix(line, "!")
		line, one.folder = strings.CutSuffix(line, "/")
		for _, segment := range Segments(line) {
			all = all && WellFormed(segment)
		}
		if !all || line == "" {
			all = false
			continue
		}
		if !strings.Contains(line, "/") {
			one.pattern = Pattern{AnyDepth}
		}
		one.pattern = one.pattern.Join(line)
		list = append(list, one)
	}
	return list, all
}

// Names reports whether the list ignores a path below its folder, or a folder above the
// path. The user requested the first given segments of the path, so the list does not apply
// to them. known is false if no pattern matches the path.
func (list Ignore) Names(path []string, given int, folder bool) (named, known bool) {
	for n := given + 1; n <= len(path); n++ {
		for _, one := range list {
			if (!one.folder || folder || n < len(path)) && one.pattern.Match(path[:n]) {
				named, known = !one.negated, true
			}
		}
		if named && n < len(path) {
			return true, true // a pattern cannot include a file of an ignored folder again
		}
	}
	return named, known
}
