package call

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/command/knowledge"
)

// gitHooks returns the hooks that a git command starts in a folder: files in the repository's
// folder of hooks, and commands in the files of programs that run hooks. It never starts git
// itself.
func (s *scripts) gitHooks(p *cardea.Part, dir string) []runFile {
	hooks := named(p)
	if len(hooks) == 0 || s.env.IsDir == nil {
		return nil
	}
	root, common := s.repository(dir)
	if root == "" {
		return nil
	}
	var out []runFile
	for _, folder := range append(s.hookFolders(p, root, common), path.Join(root, ".husky")) {
		if !s.env.IsDir(folder) {
			continue
		}
		for _, hook := range hooks {
			file := path.Join(folder, hook)
			out = append(out, runFile{file, root, language(file, file), false})
		}
	}
	for _, name := range []string{"lefthook.yml", ".lefthook.yml", "lefthook.yaml", "lefthook.json"} {
		out = append(out, runFile{path.Join(root, name), root, lefthook(hooks), false})
	}
	return append(out, runFile{path.Join(root, ".pre-commit-config.yaml"), root, preCommit(hooks), false})
}

// repository returns the working tree around a folder, and the git folder that all working trees of
// the repository share.
func (s *scripts) repository(dir string) (root, common string) {
	for ; ; dir = path.Dir(dir) {
		git := path.Join(dir, ".git")
		switch {
		case s.env.IsDir(git):
			return dir, git
		case s.env.IsNew != nil && !s.env.IsNew(git):
			text, err := s.read(git)
			own, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir:")
			if err != nil || !ok {
				return "", ""
			}
			own = knowledge.Absolute(dir, strings.TrimSpace(own))
			if text, err = s.read(path.Join(own, "commondir")); err == nil {
				own = knowledge.Absolute(own, strings.TrimSpace(text))
			}
			return dir, own
		case dir == "/" || dir == ".":
			return "", ""
		}
	}
}

var hooksPath = expression(`(?im)(?:^|\]|core\.)[ \t]*hookspath[ \t]*=[ \t]*"?([^"\n\r#;]+)`)

// hookFolders returns the folders in which git looks for hooks: from the line, else the repository,
// else the user's configuration. Included configuration files are not read.
func (s *scripts) hookFolders(p *cardea.Part, root, common string) []string {
	var settings []string
	for _, o := range p.Options {
		if o.Name == "-c" && o.Static {
			settings = append(settings, o.Value)
		}
	}
	for _, file := range []string{path.Join(common, "config"), path.Join(s.env.Home, ".gitconfig"), path.Join(s.env.Home, ".config/git/config")} {
		if text, err := s.read(file); err == nil {
			settings = append(settings, text)
		}
	}
	for _, text := range settings {
		all := hooksPath().FindAllStringSubmatch(text, -1)
		if len(all) == 0 {
			continue
		}
		folder := strings.TrimSpace(all[len(all)-1][1]) // the last setting applies
		if rest, ok := strings.CutPrefix(folder, "~/"); ok {
			folder = path.Join(s.env.Home, rest)
		}
		return []string{knowledge.Absolute(root, folder)}
	}
	return []string{path.Join(common, "hooks")}
}

// lefthook returns a reader of the commands that lefthook runs for hooks.
func lefthook(hooks []string) func(text string) []piece {
	return func(text string) (out []piece) {
		top := document.Read("", []byte(text)).Top().Map()
		for _, hook := range hooks {
			out = append(out, commandsIn(top.Get(hook))...)
		}
		return out
	}
}

// commandsIn returns the commands at any key "run" of a value.
func commandsIn(v document.Value) (out []piece) {
	if v.IsMap() {
		m := v.Map()
		for _, key := range m.Keys() {
			if item := m.Get(key); key == "run" && !item.IsMap() && !item.IsList() {
				out = append(out, piece{text: item.Text(), line: item.Line()})
			} else {
				out = append(out, commandsIn(item)...)
			}
		}
	} else if v.IsList() {
		for _, item := range v.Items() {
			out = append(out, commandsIn(item)...)
		}
	}
	return out
}

// preCommit returns a reader of the commands of a project's own hooks in pre-commit's file.
func preCommit(hooks []string) func(text string) []piece {
	return func(text string) []piece {
		var out []piece
		for _, repo := range document.Read("", []byte(text)).Top().Map().List("repos") {
			r := repo.Map()
			if r.Text("repo") != "local" {
				continue
			}
			for _, hook := range r.List("hooks") {
				h := hook.Map()
				stages := h.Texts("stages")
				runs := len(stages) == 0 && slices.Contains(hooks, "pre-commit")
				for _, stage := range stages {
					runs = runs || slices.Contains(hooks, stage) || slices.Contains(hooks, "pre-"+stage)
				}
				if language := h.Text("language"); runs && (language == "system" || language == "script" || language == "unsupported") {
					out = append(out, piece{text: h.Text("entry"), line: h.Get("entry").Line()})
				}
			}
		}
		return out
	}
}
