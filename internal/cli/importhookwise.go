package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"cardea.dev/internal/importer"
	"cardea.dev/internal/paths"
	"cardea.dev/packs"
	"github.com/spf13/cobra"
)

func importHookwiseCommand(p Process) *cobra.Command {
	var user bool
	c := importLeaf(p, &cobra.Command{
		Use:   "hookwise [folder] [--user] [--write] [--json]",
		Short: "import the policy and roles of hookwise",
		Long: `Import a .hookwise folder, by default the one in the current folder, or the folder
of an organisation.

policy.yml becomes settings, roles.yml becomes roles.yaml. Answers that hookwise
remembers (rules/*.jsonl) stay where they lie; nothing of them is in force.` + tableHelp,
	}, func(args []string) (*importing, error) { return importHookwise(p, args, user) })
	c.Flags().BoolVar(&user, "user", false, "for all projects, not only this one")
	return c
}

func importHookwise(p Process, args []string, user bool) (*importing, error) {
	from := ".hookwise"
	if len(args) > 0 {
		from = args[0]
	}
	from = within(p.Dir, from)
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("there is no folder %s; name the .hookwise folder", from)
	}
	if len(args) == 0 && !paths.Within(paths.Real(p.Dir), paths.Real(from)) {
		return nil, fmt.Errorf("%s is a link to %s, outside of the project; name that folder, if it is meant", from, paths.Real(from))
	}
	to, err := scopeFolder(p, user)
	if err != nil {
		return nil, err
	}
	i := &importing{tool: "hookwise", dir: to, user: user, next: "next: run \"cardea roles list\" and \"cardea lint\", and register your sessions; see docs/roles.md"}
	if !user {
		i.inside = paths.Real(filepath.Dir(to))
	}
	var failed error
	i.Imported = importer.Hookwise(from, func(name string) []byte {
		path := filepath.Join(from, filepath.FromSlash(name))
		data, err := readSmall(path)
		if err != nil && !os.IsNotExist(err) && failed == nil {
			failed = fmt.Errorf("read %s: %w", path, err)
		}
		return data
	}, packs.Roles().Categories)
	return i, failed
}
