package readonly

import (
	"cardea.dev"
	"cardea.dev/internal/gitindex"
	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/knowledge/files"
	"cardea.dev/internal/knowledge/form"
)

// does reports whether the subcommand of a part has a property.
func does(property form.Property, p *cardea.Part) bool {
	return len(p.Command) > 1 && knowledge.HasWith(property, p.Command[0], func(sub string) bool { return sub == p.Command[1] })
}

// secrets reports whether an index may list a file whose name is that of a
// secret. Names that only end like a key do not count: keys of tests are tracked
// everywhere.
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

// maxIndex bounds the index that is looked through, in bytes.
const maxIndex = 8 << 20
