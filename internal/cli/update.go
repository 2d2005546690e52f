package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/config/release/updates"
	"cardea.dev/internal/config/setup"
	"github.com/spf13/cobra"
)

// updateCommand returns the command "update".
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
		RunE: func(*cobra.Command, []string) error {
			pl := locate(p, "", "", p.Dir)
			home, goPath := pl.Dirs.Home, append(filepath.SplitList(p.Env("GOPATH")), filepath.Join(pl.Dirs.Home, "go"))
			m := updates.Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Home: home, GoBin: cmp.Or(p.Env("GOBIN"), filepath.Join(goPath[0], "bin")),
				Path: filepath.SplitList(p.Env("PATH")), IsRoot: os.Geteuid() == 0, Ask: askSystem}
			copies := m.Copies(p.Program)
			if check {
				if err := p.checkFeed(copies[0]); err != nil {
					return err
				}
			}
			title := "this copy: "
			for _, c := range copies {
				p.showCopy(title, c)
				title = "also on PATH: "
			}
			if setup.Stored(pl.State) {
				fmt.Fprintln(p.Stdout, "afterwards: cardea accept, which remembers the new program; until then every session tells of the change")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&check, "check", false, "read the list of releases, and tell whether one is newer")
	return c
}

// askSystem runs a package manager of the system, and returns its output.
func askSystem(program string, args ...string) (string, bool) {
	out, _, err := script.Process{Path: program, Args: args, Limit: limit.Version, MaxOutput: 1 << 12,
		Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}, Dir: "/"}.Run(context.Background())
	return string(out), err == nil
}

// checkFeed writes whether there is a newer release.
func (p Process) checkFeed(c updates.Copy) error {
	newest, err := updates.Newest(context.Background(), cmp.Or(p.Env("CARDEA_UPDATE_URL"), updates.Feed))
	if err != nil {
		return errorText("the list of releases: " + err.Error() + "; try again later, or name a mirror with CARDEA_UPDATE_URL")
	}
	than := "; the version of this copy is not known"
	if this, known := updates.ParseVersion(c.Version); known {
		than = [...]string{", which is older than this copy", ", which is this copy", ", which is newer than this copy"}[1+newest.Compare(this)]
	}
	fmt.Fprintf(p.Stdout, "newest release: %s%s\n", newest, than)
	return nil
}

func (p Process) showCopy(title string, c updates.Copy) {
	fmt.Fprintf(p.Stdout, "%s%s, %s, installed %s\n", title, Plain(c.Program), Plain(cmp.Or(c.Version, "version not known")), c.Way)
	for _, l := range [][2]string{{"leads to", c.Real}, {"to update", c.Line}, {"note", c.Note}} {
		if l[1] != "" && l[1] != c.Program {
			fmt.Fprintf(p.Stdout, "  %s: %s\n", l[0], Plain(l[1]))
		}
	}
}
