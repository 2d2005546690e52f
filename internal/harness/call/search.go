package call

import (
	"cmp"
	pathpkg "path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/harness"
)

// search adds the accesses of Grep or Glob: a folder and everything below it, and the files that
// its patterns name there. A pattern that leaves the folder is treated as a folder of its own. Grep
// opens the files that it finds, Glob lists them.
func (a *analysis) search(info harness.ToolInfo) {
	field := "glob"
	if info.Name == "Glob" {
		field = "pattern"
	}
	dirs := a.values("path")
	if len(dirs) == 0 {
		dirs = []any{""}
	}
	for _, v := range dirs {
		dir, _ := v.(string)
		dir = cmp.Or(dir, ".")
		text := info.Name + " " + dir
		access := a.paths(cardea.Read, dir, true)
		for i := range access {
			access[i].Selection = a.selection(access[i].Path)
		}
		for _, p := range a.values(field) {
			pattern, isText := p.(string)
			if !isText && p != nil {
				a.mistyped(harness.Field{Name: field, Role: harness.Pattern}, p)
			}
			if pattern == "" {
				continue
			}
			if leaves(pattern) {
				root, _, _ := strings.Cut(pattern, "*")
				access = append(access, a.paths(cardea.Read, root, true)...)
			}
			access = append(access, a.found(dir, pattern)...)
			text += " " + pattern
		}
		for i := range access {
			access[i].MetadataOnly = info.Name == "Glob"
		}
		a.one(text, access...)
	}
}

// selection returns the files that Grep opens, by its glob and type. Harnesses pass both to
// ripgrep, which leaves out files that .gitignore names (ripgrep's guide, "Automatic filtering").
func (a *analysis) selection(dir string) cardea.Selection {
	s := cardea.Selection{From: dir, KeepsLinks: true, SkipsIgnored: true, Unclear: len(a.values("type")) > 0}
	for _, v := range a.values("glob") {
		text, ok := v.(string)
		s.Unclear = s.Unclear || !ok
		for _, glob := range strings.Fields(text) {
			if except, is := strings.CutPrefix(glob, "!"); is {
				s.Except += except + "\n"
			}
		}
		for _, glob := range globsOf(text) {
			s.Only += glob + "\n"
			s.Except += "!" + glob + "\n"
			s.SkipsIgnored = false // a glob includes ignored files again
		}
	}
	return s
}

// leaves reports whether a pattern may name files outside of the searched folder.
func leaves(pattern string) bool {
	return strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "~") || strings.Contains(pattern, "..")
}

// found returns the files that a search's patterns name, as accesses: below the folder, and below
// the working folder, to which ripgrep's globs with a slash are relative. It returns none for a
// pattern that finds everything, or everything hidden.
func (a *analysis) found(dir, patterns string) (out []cardea.Access) {
	add := func(folder, below string) {
		for _, in := range a.paths(cardea.Read, folder, false) {
			in.Glob, in.Search, in.Pattern = true, true, pathpkg.Join(in.Path, below)
			out = append(out, in)
		}
	}
	for _, glob := range globsOf(patterns) {
		switch {
		case leaves(glob):
			at := a.absolute(glob)
			folder := at[:max(strings.LastIndexByte(at[:strings.IndexAny(at+"*", "*?[")], '/'), 0)]
			add(folder+"/", strings.TrimPrefix(at, folder))
			continue
		case strings.Trim(glob, "*?./") == "":
			continue
		}
		add(dir, "**/"+glob)
		if name := hidden(glob); name != "" {
			add(dir, name)
		}
		if strings.Contains(glob, "/") {
			add(".", glob)
		}
		// Folders of programs in the home folder are hidden, and are also searched.
		if !paths.WithinAny(a.roots(), a.absolute(dir)) {
			add(dir, ".*/"+glob)
		}
	}
	return out
}

// absolute returns the absolute path or pattern of a tool, with ~ replaced by the home folder.
func (a *analysis) absolute(name string) string {
	return knowledge.Absolute(slash(a.ev.Cwd), a.atHome(name))
}

// maxGlobs is the largest number of globs that a search may expand to.
const maxGlobs = 64

// globsOf returns the globs of a search, as harnesses pass them to ripgrep: split at blanks, and at
// commas outside of braces, with the alternatives in braces written out. It leaves out exclusions.
func globsOf(text string) (out []string) {
	for _, one := range append(strings.Fields(text), text) {
		alternatives := []string{one}
		if !strings.Contains(one, "{") {
			alternatives = strings.Split(one, ",")
		}
		for _, alternative := range alternatives {
			for _, glob := range paths.Alternatives(strings.TrimSpace(alternative)) {
				if glob != "" && glob[0] != '!' && len(out) < maxGlobs && !slices.Contains(out, glob) {
					out = append(out, glob)
				}
			}
		}
	}
	return out
}

// hidden returns the name of the hidden file that a leading wildcard matches in ripgrep, and not in
// the shell: .env for *.env, *env, ?env and [.]env.
func hidden(glob string) string {
	folder, name := pathpkg.Split(glob)
	rest := strings.TrimLeft(name, "*?")
	if strings.HasPrefix(name, "[") {
		_, rest, _ = strings.Cut(name, "]")
	}
	if rest == name || rest == "" {
		return ""
	}
	return folder + "." + strings.TrimPrefix(rest, ".")
}
