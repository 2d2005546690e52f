package bash

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/bash/texts"
	"cardea.dev/internal/knowledge"
)

// This file is about variables from outside of the line. Tokens and passwords
// stand in the environment, and "echo $TOKEN" shows one as well as env does. So
// a line that expands one has no part of which everything is known, whichever
// way the value goes from there.

// noteOutside notes the first variable from outside of the line that it expands.
func (w *walker) noteOutside(name string) {
	if w.shows == "" && texts.PlainName(name) && !openName(name) && w.lookup(name).MayBeOutside() {
		w.shows = name
	}
}

// openName reports variables whose value is no secret: those of the shell and
// the session, and what only sets modes and levels.
func openName(name string) bool {
	switch name {
	case "HOME", "PWD", "OLDPWD", "USER", "LOGNAME", "SHELL", "PATH", "HOSTNAME", "HOSTTYPE", "MACHTYPE", "OSTYPE", "UID", "EUID", "PPID",
		"BASH", "BASH_VERSION", "BASHPID", "SHLVL", "RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME", "LINENO", "REPLY", "IFS", "PIPESTATUS",
		"FUNCNAME", "OPTARG", "OPTIND", "TMPDIR", "TEMP", "TMP", "EDITOR", "VISUAL", "PAGER", "DISPLAY", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV",
		"GOPATH", "GOROOT", "GOBIN", "JAVA_HOME", "NVM_DIR", "CARGO_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
		"XDG_RUNTIME_DIR", "CLAUDE_PROJECT_DIR", "TERM_PROGRAM", "GITHUB_ACTIONS", "MANPATH", "INFOPATH", "WSL_DISTRO_NAME":
		return true
	}
	return knowledge.SafeVariable(name) || strings.HasPrefix(name, "LC_")
}

// errorsMayShow reports a part without effect that may still print a value, in an
// error: ${x:?$TOKEN}, [ "$TOKEN" -gt 0 ].
func errorsMayShow(p *cardea.Part) bool {
	if strings.Contains(p.Text, "?") {
		return true
	}
	if len(p.Argv) > 0 && !slices.Contains([]string{":", "true", "false", "test", "["}, p.Argv[0].Text) {
		// exit "$TOKEN" tells what it was passed.
		return slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return !w.Static })
	}
	compares := []string{"-eq", "-ne", "-gt", "-ge", "-lt", "-le", "-t"}
	return slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return slices.Contains(compares, w.Text) })
}
