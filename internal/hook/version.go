package hook

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"sync"
)

// ThisVersion is the version of this program, as the ledger keeps it.
func ThisVersion() string { return thisVersion() }

var thisVersion = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
})

// VersionLines tells what the Go tool wrote into the binary.
func VersionLines(info *debug.BuildInfo, ok bool) []string {
	if !ok {
		return []string{"cardea (built without module information)"}
	}
	version := cmp.Or(info.Main.Version, "(devel)")
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	lines := []string{"cardea " + version, info.GoVersion + " " + setting["GOOS"] + "/" + setting["GOARCH"]}
	if rev := setting["vcs.revision"]; rev != "" {
		line := "commit " + rev + " " + setting["vcs.time"]
		if setting["vcs.modified"] == "true" {
			line += " with changes"
		}
		lines = append(lines, line)
	}
	return lines
}

// ShowVersion writes the version.
func ShowVersion(p Process) int {
	info, ok := debug.ReadBuildInfo()
	for _, l := range VersionLines(info, ok) {
		if _, err := fmt.Fprintln(p.Stdout, Plain(l)); err != nil {
			p.Warn(err.Error())
			return ExitError
		}
	}
	return ExitOK
}
