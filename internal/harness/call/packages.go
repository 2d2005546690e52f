package call

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// packageFile is the file with the scripts of a Node package.
const packageFile = "package.json"

// packageJSON holds the fields of a package.json that are used here.
type packageJSON struct {
	Scripts    map[string]any
	Workspaces any
}

// packageScripts returns a reader of the scripts of a package.json that a part runs.
func packageScripts(p *cardea.Part) func(text string) []piece {
	return func(text string) []piece {
		var file packageJSON
		if json.Unmarshal([]byte(text), &file) != nil {
			return nil
		}
		var out []piece
		names := named(p)
		for _, name := range names {
			if line, ok := file.Scripts[name].(string); ok {
				if !slices.ContainsFunc(names, func(n string) bool { return name == "pre"+n || name == "post"+n }) {
					line += passed(p, name)
				}
				out = append(out, piece{text: line, line: lineOf(text, name)})
			}
		}
		return out
	}
}

// passed returns the words that a part adds to the line of its script: those after --, or after the
// name of the script or the subcommand.
func passed(p *cardea.Part, name string) string {
	at := func(word string) int {
		return 1 + slices.IndexFunc(p.Argv, func(w cardea.Word) bool { return w.Static && w.Text == word })
	}
	var b strings.Builder
	if from := cmp.Or(at("--"), at(name), at(p.Command[min(1, len(p.Command)-1)])); from > 1 {
		for _, w := range p.Argv[from:] {
			b.WriteString(" " + bash.Quote(w.Text))
		}
	}
	return b.String()
}

// lineOf returns the line of a JSON text with a key of the scripts, 0 if it is not found.
func lineOf(text, key string) int {
	from := max(strings.Index(text, `"scripts"`), 0)
	at := strings.Index(text[from:], `"`+key+`"`)
	if at < 0 {
		return 0
	}
	return 1 + strings.Count(text[:from+at], "\n")
}

// workspaces returns the folders whose package.json a part uses: the folder itself, or the
// workspaces that it names, by their folders or by names that end like their folders.
func (s *scripts) workspaces(p *cardea.Part, dir string) []string {
	names := optionValues(p, form.RunsInWorkspaceOfOption)
	if _, name := recipeWords(p); name != "" {
		names = append(names, name)
	}
	if len(names) == 0 {
		return []string{dir}
	}
	var file packageJSON
	if text, err := s.read(path.Join(dir, packageFile)); err == nil {
		_ = json.Unmarshal([]byte(text), &file) // without it, the usual folders are used
	}
	folders := textsIn(file.Workspaces) // a list, or an object with one
	if len(folders) == 0 {
		folders = []string{"packages/*", "apps/*"} // pnpm has its own in another file
	}
	var out []string
	for _, name := range names {
		out = append(out, knowledge.Absolute(dir, name))
		for _, folder := range folders {
			if parent, each := strings.CutSuffix(folder, "/*"); each {
				folder = path.Join(parent, path.Base(name))
			}
			if path.Base(folder) == path.Base(name) && len(out) <= maxScripts {
				out = append(out, knowledge.Absolute(dir, folder))
			}
		}
	}
	return out
}
