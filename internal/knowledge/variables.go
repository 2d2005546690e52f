package knowledge

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/knowledge/form"
)

// VariableClass says what setting a variable can do. The dangerous names execute
// something, preload code, redirect configuration or change how programs are
// found; they are collected from the manuals of the programs that read them.
func VariableClass(name string) cardea.EnvClass {
	switch {
	case dangerousName(name), specialInZsh(name):
		return cardea.EnvDangerous
	case SafeVariable(name):
		return cardea.EnvSafe
	}
	// npm takes its variables in any case.
	if len(name) > len("npm_config_") && strings.EqualFold(name[:len("npm_config_")], "npm_config_") {
		return cardea.EnvDangerous
	}
	for _, p := range dangerousPrefixes {
		if strings.HasPrefix(name, p) {
			return cardea.EnvDangerous
		}
	}
	for _, s := range dangerousSuffixes {
		if strings.HasSuffix(name, s) {
			return cardea.EnvDangerous
		}
	}
	return cardea.EnvUnknown
}

// AssignmentClass says what setting a variable to a value can do. Some names that
// choose a program are harmless with the values that choose none: GIT_PAGER=cat.
// known is whether the value is.
func AssignmentClass(name, value string, known bool) cardea.EnvClass {
	if integerInZsh(name) && !(known && strings.Trim(value, "0123456789") == "") {
		return cardea.EnvDangerous
	}
	if known && slices.Contains(harmlessValues(name), value) {
		return cardea.EnvSafe
	}
	return VariableClass(name)
}

// harmlessValues are the values with which a variable that chooses a program
// chooses none that does anything.
func harmlessValues(name string) []string {
	switch {
	case name == "PAGER", name == "MANPAGER", strings.HasSuffix(name, "_PAGER"):
		return []string{"", "cat"}
	case name == "EDITOR", name == "VISUAL", strings.HasSuffix(name, "_EDITOR"):
		return []string{"true", ":"}
	case name == "GIT_MERGE_AUTOEDIT":
		return []string{"no", "yes"}
	}
	return nil
}

// Holding says what the value of a variable is to those who read it.
type Holding uint8

// What a variable holds.
const (
	HoldsText      Holding = iota
	HoldsCommand           // a line for a shell, or a program with its words
	HoldsExpansion         // a text in which a shell expands commands
)

// VariableHolds says whether the value of a variable runs: because a shell or a program takes
// it for a command, or because a shell expands it.
func VariableHolds(name string) Holding {
	switch name {
	case "PS0", "PS1", "PS2", "PS4", "ENV", "BASH_ENV", "PROMPT", "PROMPT2", "PROMPT3", "PROMPT4", "RPROMPT", "RPS1", "prompt":
		return HoldsExpansion
	case "PROMPT_COMMAND", "EDITOR", "VISUAL", "FCEDIT", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "GIT_EXTERNAL_DIFF", "GIT_SSH", "SVN_SSH",
		"RSYNC_RSH", "CVS_RSH", "NULLCMD", "READNULLCMD":
		return HoldsCommand
	}
	for _, ending := range [...]string{"_EDITOR", "_PAGER", "_COMMAND", "_ASKPASS"} {
		if strings.HasSuffix(name, ending) {
			return HoldsCommand
		}
	}
	return HoldsText
}

// specialInZsh reports the variables that zsh ties to its own state, and that bash has not: what
// sets one changes which programs are found, what stands for a name or for a redirection alone,
// or fails (zshparam(1), zshmodules(1) of zsh/parameter). A test compares them with zsh's own list.
func specialInZsh(name string) bool {
	switch name {
	case "ARGC", "argv", "status", "pipestatus", "path", "fpath", "cdpath", "fignore", "FIGNORE", "mailpath", "manpath", "module_path", "psvar", "PSVAR",
		"watch", "WATCH", "WATCHFMT", "zsh_eval_context", "zsh_scheduled_events", "NULLCMD", "READNULLCMD", "STTY", "TMPPREFIX", "USERNAME", "GID", "EGID",
		"prompt", "PROMPT", "PROMPT2", "PROMPT3", "PROMPT4", "RPROMPT", "RPROMPT2", "RPS1", "RPS2", "SPROMPT", "POSTEDIT", "PROMPT_EOL_MARK",
		"HISTCHARS", "histchars", "WORDCHARS", "KEYBOARD_HACK", "TTYIDLE", "TRY_BLOCK_ERROR", "TRY_BLOCK_INTERRUPT",
		"aliases", "galiases", "saliases", "builtins", "commands", "dirstack", "functions", "functions_source", "patchars", "reswords",
		"dis_aliases", "dis_galiases", "dis_saliases", "dis_builtins", "dis_functions", "dis_functions_source", "dis_patchars", "dis_reswords",
		"funcfiletrace", "funcsourcetrace", "funcstack", "functrace", "history", "historywords", "jobdirs", "jobstates", "jobtexts", "keymaps", "widgets",
		"modules", "nameddirs", "options", "parameters", "termcap", "terminfo", "userdirs", "usergroups", "sysparams", "errnos", "langinfo":
		return true
	}
	return strings.HasSuffix(name, "_functions") // chpwd_functions and other hooks
}

// integerInZsh reports the variables that zsh keeps as integers and bash does not: what is
// assigned is evaluated as arithmetic, which can execute a command in a subscript.
func integerInZsh(name string) bool {
	switch name {
	case "COLUMNS", "LINES", "HISTSIZE", "SAVEHIST", "LISTMAX", "KEYTIMEOUT", "MAILCHECK", "SHLVL", "PERIOD", "DIRSTACKSIZE", "REPORTTIME", "BAUD", "LOGCHECK", "TMOUT":
		return true
	}
	return false
}

// HarmlessToUnset reports names that only add code, options or folders to what
// programs do without them: taking one away takes no protection away.
func HarmlessToUnset(name string) bool {
	switch name {
	case "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PERL5LIB", "PERL5OPT", "RUBYOPT", "RUBYLIB", "GEM_PATH",
		"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES",
		"DYLD_LIBRARY_PATH", "BASH_ENV", "VIRTUAL_ENV", "CONDA_PREFIX", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PAGER", "PAGER",
		"PYTEST_ADDOPTS", "LUA_PATH", "LUA_CPATH", "R_LIBS", "PIP_USER", "NPM_CONFIG_PREFIX", "npm_config_prefix":
		return true
	}
	return false
}

// IsCode reports whether a value may be something that a program runs or takes as an
// option: a path, an option, the name of a program that runs code. What only the program
// itself knows by its name is harmless with other values alone.
func IsCode(value string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\n,;='\"", r) }), func(word string) bool {
		switch {
		case strings.Contains(word, "://") && !strings.HasPrefix(strings.ToLower(word), "file:"):
			return false // an address
		case len(word) > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9') && word[1] != '.':
			return true
		case strings.ContainsAny(word, "`$~\\"), strings.Contains(word, "/") && strings.Trim(word, "0123456789/") != "":
			return true
		}
		return runsCode(word)
	})
}

func runsCode(program string) bool {
	for _, p := range []form.Property{form.Shell, form.ForeignShell, form.RunsCode, form.RunsPackages, form.RunsByName, form.ProjectFiles} {
		if Has(p, program) {
			return true
		}
	}
	return IsInterpreter(program)
}

// Claims reports whether a program takes a variable as its own (the variables of
// packs/commands).
func Claims(program, variable string) bool {
	p := programOf(program)
	return p != nil && slices.ContainsFunc(p.Source.Variables, func(v string) bool { return fits(variable, v) })
}

var dangerousPrefixes = [...]string{
	"LD_", "DYLD_", "BASH", "GIT_", "npm_", "NPM_CONFIG_", "YARN_", "COREPACK_", "PNPM_", "PYTHON", "PERL", "RUBY",
	"JAVA_", "_JAVA", "MAVEN_", "GRADLE_", "NODE_", "CARGO_", "__CARGO_", "RUST", "GO", "CGO_", "GCCGO", "PKG_CONFIG",
	"AWS_", "AZURE_", "CLOUDSDK_", "KUBE", "DOCKER_", "HELM_", "TF_", "ANSIBLE_", "PIP_", "UV_", "POETRY_",
	"PG", "MYSQL_", "SSH_", "GPG_", "GNUPG", "XDG_", "LESS", "CARDEA_", "CLAUDE_", "COPILOT_", "CODEX_", "MALLOC_", "GLIBC_", "GCONV_", "ZSH_",
	"GH_", "GLAB_", "GITLAB_", "HOMEBREW_", "COMPOSE_", "CONTAINER_", "CONTAINERS_", "BUILDX_", "BUILDKIT_", "DOTNET_", "BUNDLE_", "GEM_", "CONDA",
	"COMPOSER_", "PULUMI_", "PKR_", "PACKER_", "VAULT_", "CONSUL_", "NOMAD_", "DENO_", "BUN_", "PYTEST_", "RUFF_", "BLACK_", "ESLINT_", "RPM_",
	"RAKE", "IRB", "R_", "LUA", "MODULEBUILDRC", "JDK_", "JRE_", "SBT_", "LEIN_", "ANT_", "KOTLIN_", "SCALA_", "GROOVY_", "CLOJURE_",
	"TEXMF", "TEXINPUTS", "TEXFONTS", "TEXFORMATS", "TEXPOOL", "TEXEDIT", "TEXPSHEADERS", "BIBINPUTS", "BSTINPUTS", "MFINPUTS", "MPINPUTS", "KPATHSEA_", "MAKETEX", "MKTEX", "openout_", "openin_", "shell_escape", "MISE_", "RTX_", "ASDF_", "VOLTA_", "PYENV_", "RBENV_", "NODENV_",
	"JENV_", "PLENV_", "NVM_", "FNM_", "N_PREFIX", "SDKMAN_", "PIPX_", "PIPENV_", "PDM_", "HATCH_", "RYE_", "VIRTUALENV_", "SETUPTOOLS_", "DISTUTILS_", "PSQL",
	"OPENSSL_", "TMUX", "REDISCLI_", "NIX_", "BAT_", "MAGICK_", "AWK", "JQ_", "PHP", "SQLITE_", "EXIFTOOL_",
}

var dangerousSuffixes = [...]string{"_PROXY", "_proxy", "_COMMAND", "_PAGER", "_EDITOR", "_OPTIONS", "_OPTS", "_PRELOAD", "_WRAPPER", "_LAUNCHER", "_PERL", "RCFILE", "RCPATH",
	"_MODULE", "_MODULES", "_MODULE_FILE", "_LIBRARY", "_BINARY", "_PROFILER", "_PROCESS_START", "_PREFIX_CMD"}

// dangerousName reports names that change what programs do or how they are
// found.
func dangerousName(name string) bool {
	switch name {
	case "PATH", "IFS", "LANGUAGE", "ENV", "BASH_ENV", "BASHOPTS", "SHELLOPTS", "SHELL", "CDPATH", "DIRSTACK", "FUNCNEST", "TEXTDOMAIN", "TEXTDOMAINDIR", "PROMPT_COMMAND", "PS0", "PS1",
		"PS2", "PS3", "PS4", "HOME", "USER", "LOGNAME", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "FCEDIT",
		"SUDO_EDITOR", "SUDO_ASKPASS", "TMPDIR", "FPATH", "fpath", "MODULE_PATH", "BASH_LOADABLES_PATH",
		"GLOBIGNORE", "HISTFILE", "INPUTRC", "MAIL", "MAILPATH", "TERMINFO", "TERMCAP", "LOCPATH", "NLSPATH",
		"HOSTALIASES", "RES_OPTIONS", "LOCALDOMAIN", "MAKEFLAGS", "MAKEFILES", "CC", "CXX", "LD", "AR", "AS", "NM", "FC", "F77", "CPP", "RANLIB", "CFLAGS", "CXXFLAGS", "FFLAGS",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "INIT_CWD",
		"LDFLAGS", "CPPFLAGS", "CONFIG_SHELL", "CONFIG_SITE", "HUSKY", "HUSKY_SKIP_HOOKS",
		"PRE_COMMIT_ALLOW_NO_CONFIG", "MANPATH", "MANOPT", "GREP_OPTIONS", "TAR_OPTIONS", "RSYNC_RSH",
		"RSYNC_CONNECT_PROG", "CVS_RSH", "SVN_SSH", "CLASSPATH", "DENO_DIR", "BUN_INSTALL", "VIRTUAL_ENV", "CONDA_PREFIX", "WINEPREFIX", "DISPLAY",
		"WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "command_not_found_handle", "EXECIGNORE", "POSIXLY_CORRECT",
		"BASH_COMPAT", "BASH_XTRACEFD", "RIPGREP_CONFIG_PATH", "FZF_DEFAULT_COMMAND", "FZF_DEFAULT_OPTS", "PRELOAD",
		"SSLKEYLOGFILE", "CURL_HOME", "WGETRC", "NETRC", "GZIP", "BZIP", "BZIP2", "XZ_OPT", "XZ_DEFAULTS", "ZSTD_CLEVEL", "UNZIP", "ZIPINFO",
		"ZIPOPT", "ZIP", "TAPE", "MANROFFOPT", "XML_CATALOG_FILES", "SGML_CATALOG_FILES", "MAGIC", "POSIX_ME_HARDER", "APT_CONFIG", "BOTO_CONFIG",
		"DYNAMIC_CONFIG", "VIMINIT", "EXINIT", "GVIMINIT", "MYVIMRC", "DJANGO_SETTINGS_MODULE", "FLASK_APP", "CCACHE_PREFIX", "FFREPORT", "ZDOTDIR", "HARNESS_PERL", "HARNESS_PERL_SWITCHES", "HARNESS_SUBCLASS":
		return true
	}
	return false
}

// SafeVariable reports names that no program takes as anything but a plain value:
// modes, levels, locales, colours and CI markers.
func SafeVariable(name string) bool {
	switch name {
	case "NODE_ENV", "CI", "DEBUG", "FORCE_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "COLORTERM",
		"COLUMNS", "LINES", "LANG", "TZ", "LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES",
		"LC_NUMERIC", "LC_TIME", "LC_MONETARY", "RAILS_ENV", "RACK_ENV", "APP_ENV", "FLASK_ENV", "DJANGO_DEBUG",
		"MIX_ENV", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONIOENCODING", "PYTHONHASHSEED", "PYTHONUTF8",
		"RUST_BACKTRACE", "RUST_LOG", "RUST_TEST_THREADS", "CARGO_TERM_COLOR", "GOMAXPROCS", "GOOS", "GOARCH",
		"CGO_ENABLED", "GOTRACEBACK", "LS_COLORS", "LOG_LEVEL", "LOGLEVEL", "V", "VERBOSE", "PY_COLORS", "COMPOSE_PROJECT_NAME",
		"GIT_AUTHOR_DATE", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_TERMINAL_PROMPT",
		"GIT_OPTIONAL_LOCKS", "PYTHONNOUSERSITE", "PIP_NO_INPUT", "PIP_DISABLE_PIP_VERSION_CHECK", "CARGO_INCREMENTAL", "RUST_MIN_STACK", "RUST_TEST_NOCAPTURE", "DOCKER_BUILDKIT",
		"BUILDKIT_PROGRESS", "HOMEBREW_NO_AUTO_UPDATE", "GH_PROMPT_DISABLED", "GH_NO_UPDATE_NOTIFIER", "TF_IN_AUTOMATION", "TF_INPUT", "SOURCE_DATE_EPOCH", "DEBIAN_FRONTEND":
		return true
	}
	return false
}
