// Package updates tells how a copy of Cardea was installed, which command updates it, and
// which release is the newest. It downloads and changes no program.
package updates

import (
	"cmp"
	"debug/buildinfo"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"unicode"

	"cardea.dev/internal/release"
	"cardea.dev/internal/state"
)

// A Copy is a program cardea, with how it came there.
type Copy struct {
	// Program is its path, Real the file that it leads to.
	Program, Real string
	// Version is as the Go tool wrote it, "" where that cannot be read.
	Version string
	// Way says how it was installed.
	Way string
	// Line updates it, "" where no line can. Note says what else there is to know.
	Line, Note string
}

// A Machine is where copies are looked for.
type Machine struct {
	OS, Arch string
	// Home is the person's home folder, GoBin where the Go tool installs programs.
	Home, GoBin string
	// Path are the folders of PATH.
	Path []string
	// IsRoot is set where the person needs no sudo.
	IsRoot bool
	// Ask runs a program of the system, by its absolute path, and gives what it prints.
	// It reports whether the program is there and succeeds.
	Ask func(program string, args ...string) (string, bool)
}

// Other names of the same releases.
const (
	install = release.Repository + "/releases/latest/download/install.sh"
	module  = "cardea.dev/cmd/...@latest"
	npm     = "@cardea-dev/cardea"
	winget  = "Cardea.Cardea"
)

// Copies are the program that runs, and those on PATH that are other files, in the order
// of PATH.
func (m Machine) Copies(running string) []Copy {
	out := []Copy{m.Of(running)}
	name := "cardea"
	if m.OS == "windows" {
		name = "cardea.exe"
	}
	for _, dir := range m.Path {
		path := filepath.Join(dir, name)
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

// Of tells how a program was installed.
func (m Machine) Of(program string) Copy {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		real = program
	}
	c := Copy{Program: program, Real: real}
	info, err := buildinfo.ReadFile(real)
	if err == nil {
		c.Version = info.Main.Version
	}
	if c.byPackage(m) || c.byFolder(m) {
		return c
	}
	if marked, err := state.Read(filepath.Join(filepath.Dir(real), "installed-by"), 64); err == nil && strings.TrimSpace(string(marked)) == "npm" {
		c.byNpm(m)
		return c
	}
	if info == nil {
		c.Way, c.Note = "in an unknown way", "see "+release.Repository+" for the ways to install it"
		return c
	}
	c.byBuild(m, info)
	return c
}

// databases are the package managers, with the question whose a file is and the command
// that installs a file.
var databases = []struct {
	way, kind string
	programs  []string
	question  []string
	owner     *regexp.Regexp
	install   string
}{
	{"as a Debian package", "deb", []string{"/usr/bin/dpkg"}, []string{"-S"}, regexp.MustCompile(`^([a-z0-9][a-z0-9+.-]*)(?::[a-z0-9]+)?: `), "dpkg -i"},
	{"as an RPM package", "rpm", []string{"/usr/bin/rpm", "/bin/rpm"}, []string{"-qf", "--queryformat", "%{NAME}\n"}, regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9+._-]*)\n`), "rpm -U"},
	{"as an Alpine package", "apk", []string{"/sbin/apk", "/usr/bin/apk"}, []string{"info", "-W"}, regexp.MustCompile(` is owned by ([a-z0-9][A-Za-z0-9+._-]*?)-[0-9][^ -]*(?:-r[0-9]+)?\s*$`), "apk add --allow-untrusted"},
}

// byPackage asks the system's package managers.
func (c *Copy) byPackage(m Machine) bool {
	if m.OS != "linux" || m.Ask == nil || m.Home != "" && strings.HasPrefix(c.Real, m.Home+"/") {
		return false
	}
	for _, d := range databases {
		for _, program := range d.programs {
			out, ok := m.Ask(program, append(slices.Clone(d.question), c.Real)...)
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
			from := release.Repository + "/releases/latest/download"
			c.Line = `(cd "$(mktemp -d)" && curl -fsSLO ` + from + `/checksums.txt && f=$(sed -n 's/.*  \(cardea_.*_` + "linux_" + m.Arch + `\.` + d.kind + `\)$/\1/p' checksums.txt) && curl -fsSLO "` + from +
				`/$f" && grep -F "  $f" checksums.txt | sha256sum -c - && ` + sudo + d.install + ` "./$f")`
			return true
		}
	}
	return false
}

// byFolder knows the folders of other package managers.
func (c *Copy) byFolder(m Machine) bool {
	path := strings.ToLower(strings.ReplaceAll(c.Real, `\`, "/"))
	has := func(part string) bool { return strings.Contains(path, part) }
	switch {
	case has("/cellar/cardea/"):
		c.Way, c.Line = "by Homebrew", "brew update && brew upgrade cardea"
	case has("/scoop/apps/cardea/"), has("/scoop/shims/"):
		c.Way, c.Line = "by Scoop", "scoop update cardea"
	case has("/microsoft/winget/"):
		c.Way, c.Line = "by winget", "winget upgrade "+winget
	case has("/node_modules/"), has("/.local/share/cardea/bin/"), has("/appdata/local/cardea/bin/"):
		c.byNpm(m)
	default:
		return false
	}
	return true
}

// byNpm is for npm's launcher, and for the programs that it copies into a folder that
// stays. It does so when it is started.
func (c *Copy) byNpm(m Machine) {
	c.Way, c.Line = "by npm", "npm install --global "+npm+`@latest && "$(npm prefix --global)/bin/cardea" version`
	if m.OS == "windows" {
		c.Line = "npm install --global " + npm + `@latest; & "$(npm prefix --global)\cardea.cmd" version`
	}
}

// byBuild goes by what the Go tool wrote into the program. Releases are built with
// -trimpath in a clone, and what "go install MODULE@VERSION" builds knows no commit.
func (c *Copy) byBuild(m Machine, info *debug.BuildInfo) {
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	_, versioned := ParseVersion(info.Main.Version)
	dir := filepath.Dir(c.Real)
	variable, from := "", ""
	switch {
	case setting["vcs.revision"] == "" && versioned:
		c.Way, variable, c.Line = "by go install", "GOBIN", "go install "+module
		from = m.GoBin
	case setting["-trimpath"] == "true" && m.OS == "windows":
		c.Way, c.Note = "from an archive of a release", "unpack the new archive over it: "+release.Repository+"/releases/latest"
		return
	case setting["-trimpath"] == "true":
		c.Way, variable, c.Line = "by install.sh, or from an archive of a release", "CARDEA_BIN", "sh"
		from = filepath.Join(m.Home, ".local", "bin")
	default:
		c.Way, variable, c.Line = "from a clone", "GOBIN", "go install ./cmd/..."
		from, c.Note = m.GoBin, "run it in the clone"
	}
	if dir != from {
		c.Line = m.with(variable, dir, c.Line)
	}
	switch {
	case c.Line == "":
		c.Note = "its folder has characters that cannot be shown; move it to another one"
	case variable == "CARDEA_BIN":
		c.Line = "curl -fsSL " + install + " | " + c.Line
	case strings.HasSuffix(c.Line, "./cmd/..."):
		c.Line = "git pull && " + c.Line
		if m.OS == "windows" {
			c.Line = strings.Replace(c.Line, "git pull && ", "git pull; ", 1)
		}
	}
}

// with sets a variable to a folder for a command line, for a POSIX shell or PowerShell. It
// gives "" where the folder cannot be shown as it is.
func (m Machine) with(variable, dir, line string) string {
	if strings.ContainsFunc(dir, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return ""
	}
	if m.OS == "windows" {
		return "$env:" + variable + "='" + strings.NewReplacer("'", "''", "’", "’’", "‘", "‘‘").Replace(dir) + "'; " + line
	}
	plain := regexp.MustCompile(`^[A-Za-z0-9/_.@%+:,-]+$`)
	if !plain.MatchString(dir) {
		dir = "'" + strings.ReplaceAll(dir, "'", `'\''`) + "'"
	}
	return variable + "=" + dir + " " + line
}

// GoBin is the folder in which the Go tool installs programs.
func GoBin(env func(string) string, home string) string {
	path := filepath.SplitList(env("GOPATH"))
	return cmp.Or(env("GOBIN"), filepath.Join(cmp.Or(append(path, filepath.Join(home, "go"))...), "bin"))
}
