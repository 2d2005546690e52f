package readonly

import (
	"cardea.dev/internal/command/gitindex"
	"cardea.dev/internal/command/knowledge/files"
)

// secrets reports whether an index may list a file with the name of a secret. Names that
// only end like a key do not matter, since test keys are tracked in many projects.
func secrets(x gitindex.Index) bool {
	f := x.Find(func(name string, mode uint32) bool {
		return mode == gitindex.Folder || files.MayHoldSecret("/"+name) && !files.EndsLikeKey(name)
	})
	return f.Such || f.Broken || f.Elsewhere
}

// links reports whether an index may link to another repository.
func links(x gitindex.Index) bool {
	f := x.Find(func(_ string, mode uint32) bool { return mode == gitindex.Link })
	return f.Such || f.Broken || f.Elsewhere
}

// maxIndex is the largest index that is searched, in bytes.
const maxIndex = 8 << 20
