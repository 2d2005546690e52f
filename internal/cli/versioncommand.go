package cli

import (
	"cardea.dev/internal/hook"
	"github.com/spf13/cobra"
)

func versionCommand(p Process) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "show the version",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			return ended(hook.ShowVersion(p.Process))
		},
	}
}
