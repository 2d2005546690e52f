package cli

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand(p Process) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "show the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			info, ok := debug.ReadBuildInfo()
			out := screenOn(p.Stdout, p.Env)
			for _, l := range versionLines(info, ok) {
				out.printf("%s\n", l)
			}
			return out.err
		},
	}
}

// thisVersion is the version of this program, as the ledger keeps it.
func thisVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// versionLines tells what the Go tool wrote into the binary.
func versionLines(info *debug.BuildInfo, ok bool) []string {
	if !ok {
		return []string{"cardea (built without module information)"}
	}
	version := info.Main.Version
	if version == "" {
		version = "(devel)"
	}
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
