package call

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/command/knowledge/form"
)

// maxKeyFiles is the largest number of files in a folder that a pattern may match.
const maxKeyFiles = 64

// findKeys marks the reads of files that hold a private key. It only opens files whose names end
// like those of keys.
func (a *analysis) findKeys(parts []cardea.Part) {
	if a.system.HoldsKey == nil {
		return
	}
	for i := range parts {
		for k := range parts[i].Access {
			if r := &parts[i].Access[k]; r.Kind == cardea.Read && !r.MetadataOnly && r.Path != "" && (!parts[i].Remote || r.Redirect) {
				r.HoldsKey = a.readsKey(r) && !logsInWith(&parts[i], r)
			}
		}
		for _, file := range sentFiles(&parts[i]) {
			if files.EndsLikeKey(file) && a.system.HoldsKey(file) {
				parts[i].Access = append(parts[i].Access, cardea.Access{Kind: cardea.Read, Path: file, HoldsKey: true})
			}
		}
	}
}

func (a *analysis) readsKey(r *cardea.Access) bool {
	if !r.Glob {
		return files.EndsLikeKey(r.Path) && a.system.HoldsKey(r.Path)
	}
	if a.system.Names == nil {
		return false
	}
	names, _ := a.system.Names(r.Path)
	fits := func(name string) bool { return files.EndsLikeKey(name) && paths.MayBeNamed(path.Base(r.Pattern), name) }
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !fits(name) })
	return slices.ContainsFunc(names[:min(len(names), maxKeyFiles)], func(name string) bool { return a.system.HoldsKey(path.Join(r.Path, name)) })
}

// logsInWith reports whether a program uses the key in a file only to log in: each word that names
// the file is the value of an option for that.
func logsInWith(p *cardea.Part, r *cardea.Access) bool {
	options, ok := knowledge.WordsOf(form.LogsInWith, p.Program())
	if !ok || r.Redirect {
		return false
	}
	uses := 0
	for k := 1; k < len(p.Argv); k++ {
		option, value, joined := strings.Cut(p.Argv[k].Text, "=")
		if !joined {
			option, value = p.Argv[k-1].Text, p.Argv[k].Text
		}
		at := knowledge.Absolute(p.Dir, value)
		switch names := at == r.Path || at == r.Spelled; {
		case names && knowledge.Matches(options, option):
			uses++
		case names, strings.Contains(value, path.Base(r.Path)):
			return false
		}
	}
	return uses > 0
}
