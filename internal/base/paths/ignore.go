package paths

import "strings"

// Ignore is a list of patterns as gitignore(5) has them. The last one that names a path
// decides about it.
type Ignore []ignored

type ignored struct {
	pattern Pattern
	// negated takes back what patterns in front name; folder names folders alone.
	negated, folder bool
}

// NewIgnore reads a list, a pattern a line. all is false where a line cannot be read; it is
// left out then.
func NewIgnore(text string) (list Ignore, all bool) {
	all = true
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.TrimRight(line, " \t\r")
		if line == "" || line[0] == '#' {
			continue
		}
		var one ignored
		if back := strings.TrimLeft(line, " \t"); strings.HasPrefix(back, "!") {
			line = back // rather one that brings back than one that does not
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

// Names reports whether the list names a path below its folder, or a folder above the path.
// The first segments of the path, as many as given, were asked for, so that the list does
// not matter to them. known is false where no pattern says anything about the path.
func (list Ignore) Names(path []string, given int, folder bool) (named, known bool) {
	for n := given + 1; n <= len(path); n++ {
		for _, one := range list {
			if (!one.folder || folder || n < len(path)) && one.pattern.Match(path[:n]) {
				named, known = !one.negated, true
			}
		}
		if named && n < len(path) {
			return true, true // nothing brings back a file of a folder that is left out
		}
	}
	return named, known
}
