package hook

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// ThisVersion returns the version of this program, as the ledger records it.
func ThisVersion() string { return ThisBuild().Version }

// Build describes how a program was built. Facts that the Go tool did not record are empty.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	// Date is the time of the commit, in the form of RFC 3339.
	Date string `json:"date,omitempty"`
	// Modified is set if the program was built from more than the commit.
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go,omitempty"`
	Platform string `json:"platform,omitempty"`
}

// ThisBuild returns the build of this program.
func ThisBuild() Build { return thisBuild() }

var thisBuild = sync.OnceValue(func() Build {
	info, _ := debug.ReadBuildInfo()
	return BuildOf(info)
})

// BuildOf returns the build that info describes. A program that was installed as a module
// knows its commit only if the version names it (v0.0.0-20260102150405-0123456789ab).
func BuildOf(info *debug.BuildInfo) Build {
	if info == nil {
		return Build{Version: "(devel)"}
	}
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	b := Build{
		Version: cmp.Or(info.Main.Version, "(devel)"), Commit: setting["vcs.revision"], Date: setting["vcs.time"],
		Modified: setting["vcs.modified"] == "true", Go: info.GoVersion,
	}
	if setting["GOOS"] != "" {
		b.Platform = setting["GOOS"] + "/" + setting["GOARCH"]
	}
	version, _, _ := strings.Cut(b.Version, "+")
	fields := strings.Split(version, "-")
	if n := len(fields); b.Commit == "" && n >= 3 && len(fields[n-1]) == 12 {
		date := fields[n-2][strings.LastIndexByte(fields[n-2], '.')+1:]
		if t, err := time.Parse("20060102150405", date); err == nil {
			b.Commit, b.Date = fields[n-1], t.Format(time.RFC3339)
		}
	}
	return b
}

// Lines returns the build for people, line by line.
func (b Build) Lines() []string {
	lines := []string{"cardea " + b.Version}
	if b.Commit != "" {
		line := strings.TrimSpace("commit " + b.Commit + " " + b.Date)
		if b.Modified {
			line += " with changes"
		}
		lines = append(lines, line)
	}
	if b.Go != "" {
		lines = append(lines, strings.TrimSpace(b.Go+" "+b.Platform))
	}
	return lines
}

// ShowVersion writes the version and returns the exit code.
func ShowVersion(p Process) int {
	for _, l := range ThisBuild().Lines() {
		if _, err := fmt.Fprintln(p.Stdout, Plain(l)); err != nil {
			return p.exit(err)
		}
	}
	return ExitOK
}
