// Package updates determines how a copy of Cardea was installed, which command updates it,
// and which release is the newest. It downloads and changes no program.
package updates

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"unicode"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/release"
)

// Copy is an installed cardea program.
type Copy struct {
	// Program is its path, Real the path with links followed.
	Program, Real string
	// Version is the version recorded by the Go tool, "" if unreadable.
	Version string
	// Way describes how it was installed.
	Way string
	// Line is the command that updates it, "" if none exists. Note is further advice.
	Line, Note string
}

// Machine is a system on which to look for copies.
type Machine struct {
	OS, Arch string
	// Home is the user's home folder, GoBin the folder in which the Go tool installs programs.
	Home, GoBin string
	// Path holds the folders of PATH.
	Path []string
	// IsRoot is set if the user needs no sudo.
	IsRoot bool
	// Ask runs a system program by its absolute path, and returns its output. It returns false
	// if the program is missing or fails.
	Ask func(program string, args ...string) (string, bool)
}

// The newest release, and the names of Cardea in npm and winget.
const (
	latest = release.Repository + "/releases/latest"
	npm    = "@cardea-dev/cardea"
	winget = "Cardea.Cardea"
)

// Copies returns the running program, and other copies on PATH in its order.
func (m Machine) Copies(running string) []Copy {
	out := []Copy{m.Of(running)}
	for _, dir := range m.Path {
		path := filepath.Join(dir, "cardea")
		if m.OS == "windows" {
			path += ".exe"
		}
		info, err := os.Stat(path)
		if !filepath.IsAbs(path) || err != nil || !info.Mode().IsRegular() || m.OS != "windows" && info.Mode().Perm()&0o111 == 0 {
			continue
		}
		if c := m.Of(path); !slices.ContainsFunc(out, func(o Copy) bool { return o.Real == c.Real }) {
			out = append(out, c)
		}
	}
	return out
}

// Of returns the Copy of a program.
func (m Machine) Of(program string) Copy {
	c := Copy{Program: program, Real: program}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		c.Real = real
	}
	info, err := buildinfo.ReadFile(c.Real)
	if err == nil {
		c.Version = info.Main.Version
	}
	switch {
	case c.byPackage(m), c.byFolder(m):
	case err != nil:
		c.Way, c.Note = "in an unknown way", "see "+release.Repository+" for the ways to install it"
	default:
		c.byBuild(m, info)
	}
	return c
}

// databases lists package managers, with the query for the owner of a file and the command
// that installs a package file.
var databases = []struct {
	way, kind, program string
	question           []string
	owner              *regexp.Regexp
	install            string
}{
	{"as a Debian package", "deb", "/usr/bin/dpkg", []string{"-S"}, regexp.MustCompile(`^([a-z0-9][a-z0-9+.-]*)(?::[a-z0-9]+)?: `), "dpkg -i"},
	{"as an RPM package", "rpm", "/usr/bin/rpm", []string{"-qf", "--queryformat", "%{NAME}\n"}, regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9+._-]*)\n`), "rpm -U"},
	{"as an Alpine package", "apk", "/sbin/apk", []string{"info", "-W"}, regexp.MustCompile(` is owned by ([a-z0-9][A-Za-z0-9+._-]*?)-[0-9][^ -]*(?:-r[0-9]+)?\s*$`), "apk add --allow-untrusted"},
}

// byPackage fills c if a package of the system owns the program.
func (c *Copy) byPackage(m Machine) bool {
	if m.OS != "linux" || m.Ask == nil || m.Home != "" && strings.HasPrefix(c.Real, m.Home+"/") {
		return false
	}
	for _, d := range databases {
		out, ok := m.Ask(d.program, append(slices.Clone(d.question), c.Real)...)
		owner := d.owner.FindStringSubmatch(out)
		if !ok || owner == nil {
			continue
		}
		if c.Way = d.way; owner[1] != "cardea" {
			c.Note = "it belongs to the package " + owner[1] + ", which your system's package manager updates"
			return true
		}
		sudo := "sudo "
		if m.IsRoot {
			sudo = ""
		}
		c.Line = `(cd "$(mktemp -d)" && curl -fsSLO ` + latest + `/download/checksums.txt && f=$(sed -n 's/.*  \(cardea_.*_linux_` + m.Arch + `\.` + d.kind +
			`\)$/\1/p' checksums.txt) && curl -fsSLO "` + latest + `/download/$f" && grep -F "  $f" checksums.txt | sha256sum -c - && ` + sudo + d.install + ` "./$f")`
		return true
	}
	return false
}

// byFolder fills c if the program is in a folder of another package manager. At its start,
// npm's cardea copies its programs to a permanent folder, with a file that says so.
func (c *Copy) byFolder(m Machine) bool {
	path := strings.ToLower(strings.ReplaceAll(c.Real, `\`, "/"))
	has := func(part string) bool { return strings.Contains(path, part) }
	mark, _ := state.Read(filepath.Join(filepath.Dir(c.Real), "installed-by"), 64) // most folders have none
	switch {
	case has("/cellar/cardea/"):
		c.Way, c.Line = "by Homebrew", "brew update && brew upgrade cardea"
	case has("/scoop/apps/cardea/"), has("/scoop/shims/"):
		c.Way, c.Line = "by Scoop", "scoop update cardea"
	case has("/microsoft/winget/"):
		c.Way, c.Line = "by winget", "winget upgrade "+winget
	case has("/node_modules/"), has("/.local/share/cardea/bin/"), has("/appdata/local/cardea/bin/"), strings.TrimSpace(string(mark)) == "npm":
		c.Way, c.Line = "by npm", "npm install --global "+npm+`@latest && "$(npm prefix --global)/bin/cardea" version`
		if m.OS == "windows" {
			c.Line = "npm install --global " + npm + `@latest; & "$(npm prefix --global)\cardea.cmd" version`
		}
	default:
		return false
	}
	return true
}

// byBuild fills c from the program's build information. Releases are built with -trimpath
// in a clone; "go install MODULE@VERSION" records no commit.
func (c *Copy) byBuild(m Machine, info *debug.BuildInfo) {
	is := func(key string) bool {
		return slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key && s.Value != "false" })
	}
	_, versioned := ParseVersion(info.Main.Version)
	variable, usual, begin, end := "GOBIN", m.GoBin, "", "go install cardea.dev/cmd/...@latest"
	switch {
	case !is("vcs.revision") && versioned:
		c.Way = "by go install"
	case is("-trimpath") && m.OS == "windows":
		c.Way, c.Note = "from an archive of a release", "unpack the new archive over it: "+latest
		return
	case is("-trimpath"):
		c.Way, variable, usual = "by install.sh, or from an archive of a release", "CARDEA_BIN", filepath.Join(m.Home, ".local", "bin")
		begin, end = "curl -fsSL "+latest+"/download/install.sh | ", "sh"
	default:
		c.Way, begin, end, c.Note = "from a clone", "git pull && ", "go install ./cmd/...", "run it in the clone"
		if m.OS == "windows" {
			begin = "git pull; "
		}
	}
	dir := filepath.Dir(c.Real)
	switch set, can := m.assigned(variable, dir); {
	case dir == usual:
		c.Line = begin + end
	case can:
		c.Line = begin + set + end
	default:
		c.Note = "its folder has characters that cannot be shown; move it to another one"
	}
}

// assigned returns the assignment of a folder to a variable for a POSIX shell or
// PowerShell. It returns false if the folder's name is not printable.
func (m Machine) assigned(variable, dir string) (string, bool) {
	can := !strings.ContainsFunc(dir, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar })
	if m.OS == "windows" {
		return "$env:" + variable + "='" + strings.NewReplacer("'", "''", "’", "’’", "‘", "‘‘", "‚", "‚‚", "‛", "‛‛").Replace(dir) + "'; ", can
	}
	if !regexp.MustCompile(`^[A-Za-z0-9/_.@%+:,-]+$`).MatchString(dir) {
		dir = "'" + strings.ReplaceAll(dir, "'", `'\''`) + "'"
	}
	return variable + "=" + dir + " ", can
}
