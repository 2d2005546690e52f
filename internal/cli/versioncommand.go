package cli

import (
	"cardea.dev/internal/hook"
	"github.com/spf13/cobra"
)

func versionCommand(p Process) *cobra.Command {
	c := &cobra.Command{Use: "version [--json]", Short: "show the version, the commit and its date", Args: noArguments}
	return withJSON(c, func(_ []string, asJSON bool) error {
		if asJSON {
			return encode(p, hook.ThisBuild())
		}
		return ended(hook.ShowVersion(p.Process))
	})
}
