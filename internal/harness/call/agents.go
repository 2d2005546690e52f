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

// This file analyses tools that run scripts, give agents prompts, and move the session to another
// folder. The part of such a tool has an unknown access, so the results here can ask and deny, but
// not allow.

// acts adds the effects of a tool without command and file to its part, and adds further parts.
func (a *analysis) acts(info harness.ToolInfo) {
	own := &a.parts[len(a.parts)-1]
	a.runs(info, own)
	switch info.Name {
	case "CodeMode":
		if a.ev.Harness != "pi" { // it is unknown whether another harness has each call of the script judged
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
				// A line for a shell, for a harness that treats a prompt as typed text.
				a.may(info.Name, func(walk func(string, any) []string) { walk("", line) }, nil)
			}
		}
	}
}

// runs adds the effects of the scripts that a tool runs: a text, a file, or a workflow of the
// project or the person by its name. These effects are never certain.
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
		for _, dir := range []string{a.ofProject(""), slash(a.ev.Cwd), slash(a.system.Home)} { // Cwd: a worktree that the session entered
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

// texts returns the texts in the values of a field. It is unknown how the harness reads texts in a
// list or an object.
func (a *analysis) texts(field string) (out []string) {
	for _, v := range a.values(field) {
		out = append(out, textsIn(v)...)
	}
	return out
}

// given reports whether a field has a value other than the given one.
func (a *analysis) given(field string, value any) bool {
	return slices.ContainsFunc(a.values(field), func(v any) bool { return v != value })
}

// ofProject returns the path of a file in the project's folder, or in the call's if there is no
// project.
func (a *analysis) ofProject(name string) string {
	return pathpkg.Join(slash(cmp.Or(a.ev.Project, a.ev.Cwd)), name)
}

// textsIn returns the nonempty texts in a value.
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
