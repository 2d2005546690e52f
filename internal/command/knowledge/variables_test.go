package knowledge

import (
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// TestVariables checks variables of each class, each with a value. They come from the
// documents that list the environment of programs.
func TestVariables(t *testing.T) {
	classes := map[cardea.EnvClass]string{
		cardea.EnvDangerous: `GOFLAGS=-v GOPROXY=x GOTOOLCHAIN=x GODEBUG=x GOPRIVATE=x GCCGO=x CC=x CXX=x FC=x AR=x PKG_CONFIG=x PKG_CONFIG_PATH=x CGO_CFLAGS=x
			npm_config_script_shell=x NPM_CONFIG_PREFIX=x npm_execpath=x NODE_EXTRA_CA_CERTS=x INIT_CWD=x COREPACK_ROOT=x
			PIP_INDEX_URL=x PIP_REQUIRE_VIRTUALENV=x VIRTUALENV_PYTHON=x SETUPTOOLS_USE_DISTUTILS=x REQUESTS_CA_BUNDLE=x SSL_CERT_FILE=x
			CARGO_HOME=x CARGO_BUILD_RUSTC=x RUSTC_WRAPPER=x RUSTDOC=x RUSTFLAGS=x RUSTUP_TOOLCHAIN=x __CARGO_TEST_ROOT=x
			RUBYOPT=x GEM_HOME=x BUNDLE_GEMFILE=x RAKEOPT=x IRBRC=x R_PROFILE_USER=x R_ENVIRON=x R_LIBS_SITE=x LUA_INIT_5_4=x LUA_PATH=x
			PERL5DB=x PERL5OPT=x HARNESS_PERL_SWITCHES=x MODULEBUILDRC=x JAVA_HOME=x JDK_JAVA_OPTIONS=x MAVEN_ARGS=x GRADLE_USER_HOME=x SBT_OPTS=x
			TEXINPUTS=x TEXINPUTS_latex=x TEXMFHOME=x TEXFONTS=x TEXFORMATS=x TEXPOOL=x TEXEDIT=x TEXPSHEADERS=x MFINPUTS=x MPINPUTS=x HARNESS_SUBCLASS=x
			KPATHSEA_DEBUG=x BIBINPUTS=x BSTINPUTS=x openout_any=a shell_escape=t MKTEXPK=x MISE_ENV=x ASDF_DATA_DIR=x VOLTA_HOME=x PYENV_VERSION=x
			NVM_DIR=x RBENV_VERSION=x PSQLRC=x PSQL_EDITOR=x PGSERVICEFILE=x PGPASSFILE=x PATH=cat HOME=x GIT_PAGER=less GIT_PAGER=./cat
			GIT_EDITOR=cat PAGER=sh MANPAGER=true VISUAL=x GIT_MERGE_AUTOEDIT=x GIT_DIR=x COMPOSE_FILE=x CXXFLAGS=x`,
		cardea.EnvSafe: `GIT_PAGER=cat GIT_PAGER= PAGER=cat MANPAGER=cat GH_PAGER=cat AWS_PAGER= GIT_EDITOR=true EDITOR=: VISUAL=true GIT_SEQUENCE_EDITOR=:
			GIT_MERGE_AUTOEDIT=no PY_COLORS=0 COMPOSE_PROJECT_NAME=x GIT_AUTHOR_DATE=x GIT_COMMITTER_EMAIL=x GIT_TERMINAL_PROMPT=0 V=1
			CARGO_TERM_COLOR=x RUST_BACKTRACE=1 CGO_ENABLED=0 PYTHONUNBUFFERED=1`,
		cardea.EnvUnknown: `PORT=1 TEXT=hello TEST_INPUTS=1 HARNESS_MODE=1 FOO=1 API_KEY=x MYTEX=1 RACK=1 ASDF=1 NVM=1 DATABASE_URL=x GREETING=cat pager=cat`,
	}
	for want, list := range classes {
		for _, s := range strings.Fields(list) {
			name, value, _ := strings.Cut(s, "=")
			if got := AssignmentClass(name, value, true); got != want {
				t.Errorf("%s is %d, want %d", s, got, want)
			}
		}
	}
	for _, s := range []string{"GIT_PAGER", "GIT_EDITOR", "PAGER"} {
		if AssignmentClass(s, "cat", false) != cardea.EnvDangerous || VariableClass(s) != cardea.EnvDangerous {
			t.Errorf("%s without a known value is not dangerous", s)
		}
	}
}

// TestVariableListsHaveNoIdleEntry checks that every name, beginning and ending in the
// lists has an effect: no other entry covers it.
func TestVariableListsHaveNoIdleEntry(t *testing.T) {
	begins, _ := WordsOf(form.VariableKinds, "dangerous_begin")
	for i, p := range begins {
		for k, q := range begins {
			if i != k && strings.HasPrefix(p, q) {
				t.Errorf("%q needs no entry beside %q", p, q)
			}
		}
	}
	ends, _ := WordsOf(form.VariableKinds, "dangerous_end")
	for i, s := range ends {
		for k, q := range ends {
			if i != k && strings.HasSuffix(s, q) {
				t.Errorf("%q needs no entry beside %q", s, q)
			}
		}
	}
}

func TestIsCode(t *testing.T) {
	for value, want := range map[string]bool{
		"./x": true, "/x": true, "a/b": true, "~": true, "a ~/b": true, "--require": true, "-x": true, "a -r b": true, "node": true, "python3.12": true,
		"bash": true, "npx": true, "make": true, "a=b/c": true, "x,./y": true, "a;sh": true, "$X": true, "`x`": true, "file:///x": true, `C:\x`: true, "-": false,
		"": false, "1": false, "-1": false, "-.5": false, "true": false, "fast": false, "a,b": false, "a b": false, "2020/01/31": false,
		"http://localhost:3000/x": false, "postgres://u@h/db": false, "10:30": false, "a.b-c_d": false, "test": false, "production": false,
	} {
		if got := IsCode(value); got != want {
			t.Errorf("IsCode(%q) is %v", value, got)
		}
	}
}

// TestHarmlessToUnset checks that a variable that may be unset adds code, options or
// folders, and that one that protects may not be unset.
func TestHarmlessToUnset(t *testing.T) {
	for _, name := range []string{"NODE_OPTIONS", "PYTHONPATH", "LD_PRELOAD", "GIT_DIR", "RUBYOPT"} {
		if !HarmlessToUnset(name) || VariableClass(name) != cardea.EnvDangerous {
			t.Error(name)
		}
	}
	names := strings.Fields("PATH HOME IFS GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL PYTHONSAFEPATH NPM_CONFIG_IGNORE_SCRIPTS CARDEA_UNATTENDED CLAUDE_CODE_X " +
		"GOFLAGS http_proxy HTTPS_PROXY GNUPGHOME KUBECONFIG AWS_PROFILE DOCKER_HOST XDG_CONFIG_HOME")
	if i := slices.IndexFunc(names, HarmlessToUnset); i >= 0 {
		t.Error(names[i])
	}
}
