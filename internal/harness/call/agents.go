package call

import (
	"cmp"
	pathpkg "path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/harness"
)

// This file says what tools do that run scripts, give agents prompts, and move the
// session to another folder. The part of such a tool has an access that is not known, so
// what is found here can ask and deny, and allows nothing.

// acts adds to the part of a tool without command and file what the tool does, and adds
// further parts.
func (a *analysis) acts(info harness.ToolInfo) {
	own := &a.parts[len(a.parts)-1]
	a.runs(info, own)
	switch info.Name {
	case "CodeMode":
		if a.ev.Harness != "pi" { // of another harness it is not known that each call of the script is judged
			a.may(info.Name, func(walk func(string, any) []string) { walk("", map[string]any(a.ev.Call.Input)) }, a.mcpField)
		}
	case "CronCreate":
		if a.given("durable", false) {
			own.Access = append(own.Access, a.paths(cardea.Write, a.ofProject(".claude/scheduled_tasks.json"), false)...)
		}
	case "EnterWorktree":
		for _, folder := range a.texts("path") {
			own.MayTouch, own.Coverage = append(own.MayTouch, a.paths(cardea.Unknown, folder, false)...), cardea.Partial
		}
		for _, name := range a.texts("name") {
			a.shell("git worktree add " + bash.Quote(a.ofProject(".claude/worktrees/"+slash(name))))
		}
	case "ExitWorktree":
		line := "git worktree remove "
		if a.given("discard_changes", false) {
			line += "--force "
		}
		if a.given("action", "keep") {
			a.shell(line + bash.Quote(slash(a.ev.Cwd)))
		}
	}
	for _, f := range info.Fields {
		for _, text := range a.texts(f.Name) {
			if line, is := strings.CutPrefix(strings.TrimSpace(text), "!"); is && f.Role == harness.Prompt {
				// A line for a shell, where the harness takes a prompt as it takes typed text.
				a.may(info.Name, func(walk func(string, any) []string) { walk("", line) }, nil)
			}
		}
	}
}

// runs adds what the scripts do that a tool runs: a text, a file, or a workflow of the
// project or the person by its name. What such a script does is not known for certain.
func (a *analysis) runs(info harness.ToolInfo, p *cardea.Part) {
	files := info.FieldsOf(harness.Script)
	if len(files) == 0 {
		return
	}
	p.Coverage = cardea.Partial
	s := scripts{env: a.env(), texts: map[string]string{}, copies: map[string][]string{}, seen: map[string]bool{}}
	run := func(file string, named bool) {
		if s.env.ReadFile != nil && a.ev.Kind.Answered() {
			s.file(p, runFile{file, p.Dir, codeLanguages()["JavaScript"].lines, named}, 1)
		}
	}
	for _, name := range a.texts(files[0]) {
		p.Access = append(p.Access, a.paths(cardea.Read, name, false)...)
		for _, file := range a.paths(cardea.Execute, name, false) {
			p.Access = append(p.Access, file)
			run(file.Path, true)
		}
	}
	for _, name := range a.texts(info.Primary) {
		file := ".claude/workflows/" + name + ".js"
		for _, dir := range []string{a.ofProject(""), slash(a.ev.Cwd), slash(a.world.Home)} { // Cwd: a worktree that the session entered
			run(pathpkg.Join(dir, file), false)
		}
	}
	for _, field := range info.FieldsOf(harness.Code) {
		for _, text := range a.texts(field) {
			f := runFile{path: field, dir: p.Dir, pieces: codeLanguages()["JavaScript"].lines}
			s.add(p, f, s.pieces(f, text), 1)
		}
	}
}

// texts are the texts in the values of a field. What the harness makes of one in a list or
// an object is not known.
func (a *analysis) texts(field string) (out []string) {
	for _, v := range a.values(field) {
		out = append(out, textsIn(v)...)
	}
	return out
}

// given reports whether a field is there and may have another value than one.
func (a *analysis) given(field string, value any) bool {
	return slices.ContainsFunc(a.values(field), func(v any) bool { return v != value })
}

// ofProject is a file of the project's folder, or of the call's where no project is known.
func (a *analysis) ofProject(name string) string {
	return pathpkg.Join(slash(cmp.Or(a.ev.Project, a.ev.Cwd)), name)
}

// textsIn are the texts in a value that are not empty.
func textsIn(v any) (out []string) {
	switch v := v.(type) {
	case string:
		if v != "" {
			out = []string{v}
		}
	case []any:
		for _, e := range v {
			out = append(out, textsIn(e)...)
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			out = append(out, textsIn(v[k])...)
		}
	}
	return out
}
