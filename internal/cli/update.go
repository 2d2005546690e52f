package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"cardea.dev/internal/limit"
	"cardea.dev/internal/posture"
	"cardea.dev/internal/release/updates"
	"cardea.dev/internal/script"
	"github.com/spf13/cobra"
)

func updateCommand(p Process) *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use:   "update",
		Short: "show which command updates this copy of Cardea",
		Long: `Update shows how this copy of Cardea was installed, and the command that updates
it. It names other copies on PATH. It downloads and changes nothing.

With --check it reads the list of releases, and tells whether one is newer than
this copy: from ` + updates.Feed + `,
or from the address in CARDEA_UPDATE_URL, such as a mirror. That is a list in Atom,
or an object with a tag_name. It is read only then. Proxies are used as
HTTPS_PROXY and NO_PROXY say.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			pl := locate(p, "", "", p.Dir)
			m := updates.Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Home: pl.Dirs.Home, GoBin: updates.GoBin(p.Env, pl.Dirs.Home),
				Path: filepath.SplitList(p.Env("PATH")), IsRoot: os.Geteuid() == 0, Ask: askSystem}
			copies := m.Copies(p.Program)
			if check {
				if err := p.checkFeed(copies[0]); err != nil {
					return err
				}
			}
			showCopies(p.Stdout, copies)
			if posture.Kept(pl.State) {
				fmt.Fprintln(p.Stdout, "afterwards: cardea accept, which remembers the new program; until then every session tells of the change")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&check, "check", false, "read the list of releases, and tell whether one is newer")
	return c
}

// askSystem asks a package manager of the system.
func askSystem(program string, args ...string) (string, bool) {
	if _, err := os.Stat(program); err != nil {
		return "", false
	}
	out, _, err := script.Process{Path: program, Args: args, Limit: limit.Version, MaxOutput: 1 << 12,
		Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}, Dir: "/"}.Run(context.Background())
	return string(out), err == nil
}

// checkFeed tells whether there is a newer release.
func (p Process) checkFeed(c updates.Copy) error {
	ctx, cancel := untilEnded()
	defer cancel()
	newest, err := updates.Newest(ctx, cmp.Or(p.Env("CARDEA_UPDATE_URL"), updates.Feed))
	if err != nil {
		return errorText("the list of releases: " + err.Error() + "; try again later, or name a mirror with CARDEA_UPDATE_URL")
	}
	this, known := updates.ParseVersion(c.Version)
	switch text := "newest release: " + newest.String(); {
	case !known:
		fmt.Fprintln(p.Stdout, text+"; the version of this copy is not known")
	case newest.Compare(this) > 0:
		fmt.Fprintln(p.Stdout, text+", which is newer than this copy")
	case newest.Compare(this) < 0:
		fmt.Fprintln(p.Stdout, text+", which is older than this copy")
	default:
		fmt.Fprintln(p.Stdout, text+", which is this copy")
	}
	return nil
}

// showCopies shows copies, the one that runs first.
func showCopies(w io.Writer, copies []updates.Copy) {
	for i, c := range copies {
		title := "also on PATH: "
		if i == 0 {
			title = "this copy: "
		}
		version := cmp.Or(c.Version, "version not known")
		fmt.Fprintf(w, "%s%s, %s, installed %s\n", title, Plain(c.Program), Plain(version), c.Way)
		if c.Real != c.Program {
			fmt.Fprintf(w, "  leads to: %s\n", Plain(c.Real))
		}
		if c.Line != "" {
			fmt.Fprintf(w, "  to update: %s\n", c.Line)
		}
		if c.Note != "" {
			fmt.Fprintf(w, "  note: %s\n", c.Note)
		}
	}
}
