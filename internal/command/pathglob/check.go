package pathglob

import (
	"strings"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
)

// Check reports syntax in glob that other tools have and these globs do not support.
func Check(at document.Value, glob string) {
	switch {
	case strings.ContainsAny(glob, "{}"):
		at.Problem(diagnostic.CodeBadPattern, "write one entry for each", "globs have no braces: %q", glob)
	case strings.HasPrefix(glob, "!"):
		at.Problem(diagnostic.CodeBadPattern, "name what the rule is about", "globs cannot be negated: %q", glob)
	case strings.HasPrefix(glob, "~") && glob != "~" && !strings.HasPrefix(glob, "~/"):
		at.Problem(diagnostic.CodeBadPattern, "use ~/ or an absolute path", "homes of other users cannot be named: %q", glob)
	}
}
