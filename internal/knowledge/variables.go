package knowledge

import (
	"slices"
	"strings"

	"cardea.dev"
)

// VariableClass says what setting a variable can do. The dangerous names execute
// something, preload code, redirect configuration or change how programs are
// found; they are collected from the manuals of the programs that read them.
func VariableClass(name string) cardea.EnvClass {
	switch {
	case dangerousName(name):
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

// Claims reports whether a program takes a variable as its own (the variables of
// packs/commands).
func Claims(program, variable string) bool {
	p := programOf(program)
	return p != nil && slices.ContainsFunc(p.Source.Variables, func(v string) bool { return fits(variable, v) })
}

var dangerousPrefixes = [...]string{
	"LD_", "DYLD_", "BASH", "GIT_", "NPM_CONFIG_", "YARN_", "PNPM_", "PYTHON", "PERL", "RUBY",
	"JAVA_", "_JAVA", "JDK_JAVA", "MAVEN_", "GRADLE_", "NODE_", "CARGO_", "RUSTC", "RUSTUP_", "GO", "CGO_",
	"AWS_", "AZURE_", "GOOGLE_", "CLOUDSDK_", "KUBE", "DOCKER_", "HELM_", "TF_", "ANSIBLE_", "PIP_", "UV_", "POETRY_",
	"PG", "MYSQL_", "SSH_", "GPG_", "GNUPG", "XDG_", "LESS", "CARDEA_", "CLAUDE_", "COPILOT_", "CODEX_", "MALLOC_", "GLIBC_", "GCONV_", "ZSH_",
	"GH_", "GLAB_", "GITLAB_", "HOMEBREW_", "COMPOSE_", "CONTAINER_", "CONTAINERS_", "BUILDX_", "BUILDKIT_", "DOTNET_", "BUNDLE_", "GEM_", "CONDA",
	"COMPOSER_", "PULUMI_", "PKR_", "PACKER_", "VAULT_", "CONSUL_", "NOMAD_", "DENO_", "BUN_", "PYTEST_", "RUFF_", "BLACK_", "ESLINT_", "RPM_",
	"OPENSSL_", "TMUX", "REDISCLI_", "NIX_", "BAT_", "MAGICK_", "AWK", "JQ_", "PHP", "SQLITE_", "EXIFTOOL_",
}

var dangerousSuffixes = [...]string{"_PROXY", "_proxy", "_COMMAND", "_PAGER", "_EDITOR", "_OPTIONS", "_OPTS", "_PRELOAD", "_WRAPPER", "_LAUNCHER", "_PERL", "RCFILE", "RCPATH",
	"_MODULE", "_MODULES", "_MODULE_FILE", "_LIBRARY", "_BINARY", "_PROFILER", "_PROCESS_START", "_PREFIX_CMD"}

// dangerousName reports names that change what programs do or how they are
// found.
func dangerousName(name string) bool {
	switch name {
	case "PATH", "IFS", "LANGUAGE", "ENV", "BASH_ENV", "BASHOPTS", "SHELLOPTS", "SHELL", "CDPATH", "PROMPT_COMMAND", "PS0", "PS1",
		"PS2", "PS3", "PS4", "HOME", "USER", "LOGNAME", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "FCEDIT",
		"SUDO_EDITOR", "SUDO_ASKPASS", "TMPDIR", "FPATH", "fpath", "MODULE_PATH", "BASH_LOADABLES_PATH",
		"GLOBIGNORE", "HISTFILE", "INPUTRC", "MAIL", "MAILPATH", "TERMINFO", "TERMCAP", "LOCPATH", "NLSPATH",
		"HOSTALIASES", "RES_OPTIONS", "LOCALDOMAIN", "MAKEFLAGS", "MAKEFILES", "CC", "CXX", "LD", "AR", "CFLAGS",
		"LDFLAGS", "CPPFLAGS", "CONFIG_SHELL", "CONFIG_SITE", "HUSKY", "HUSKY_SKIP_HOOKS",
		"PRE_COMMIT_ALLOW_NO_CONFIG", "MANPATH", "MANOPT", "GREP_OPTIONS", "TAR_OPTIONS", "RSYNC_RSH",
		"RSYNC_CONNECT_PROG", "CVS_RSH", "SVN_SSH", "CLASSPATH", "R_PROFILE", "R_HOME", "LUA_INIT", "LUA_PATH",
		"LUA_CPATH", "DENO_DIR", "BUN_INSTALL", "VIRTUAL_ENV", "CONDA_PREFIX", "WINEPREFIX", "DISPLAY",
		"WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "command_not_found_handle", "EXECIGNORE", "POSIXLY_CORRECT",
		"BASH_COMPAT", "BASH_XTRACEFD", "RIPGREP_CONFIG_PATH", "FZF_DEFAULT_COMMAND", "FZF_DEFAULT_OPTS", "PRELOAD",
		"SSLKEYLOGFILE", "CURL_HOME", "WGETRC", "NETRC", "GZIP", "BZIP", "BZIP2", "XZ_OPT", "XZ_DEFAULTS", "ZSTD_CLEVEL", "UNZIP", "ZIPINFO",
		"ZIPOPT", "ZIP", "TAPE", "MANROFFOPT", "XML_CATALOG_FILES", "SGML_CATALOG_FILES", "MAGIC", "POSIX_ME_HARDER", "APT_CONFIG", "BOTO_CONFIG",
		"DYNAMIC_CONFIG", "VIMINIT", "EXINIT", "GVIMINIT", "MYVIMRC", "DJANGO_SETTINGS_MODULE", "FLASK_APP", "CCACHE_PREFIX", "FFREPORT", "ZDOTDIR", "HARNESS_PERL":
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
		"CGO_ENABLED", "GOTRACEBACK", "LS_COLORS", "LOG_LEVEL", "LOGLEVEL", "VERBOSE", "SOURCE_DATE_EPOCH", "DEBIAN_FRONTEND":
		return true
	}
	return false
}
