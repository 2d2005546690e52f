package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/decide/rolepaths"
	"cardea.dev/internal/decide/roles"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/hook"
	"github.com/spf13/cobra"
)

func rolesCommand(p Process) *cobra.Command {
	return group("roles", "list the roles of agents, and see what one may do",
		`A role says what an agent may read and write. Twelve are built in; roles.yaml adds
others, or redefines them. See docs/roles.md.`,
		jsonOn(p, registrarHere, &cobra.Command{Use: "list [--json]", Short: "list all roles", Long: "List all roles with what they are for and where they are defined.", Args: noArguments},
			func(d sessionRegistrar, _ []string, asJSON bool) error { return rolesList(p, d, asJSON) }),
		jsonOn(p, registrarHere, &cobra.Command{Use: "show ROLE [--json]", Short: "show a role's description and paths", Args: oneArgument,
			Long: "Show what a role is for, and which paths it may read and write. Categories of\npaths stand with the globs that they mean here."},
			func(d sessionRegistrar, args []string, asJSON bool) error { return rolesShow(p, d, args[0], asJSON) }),
		rolesTestCommand(p))
}

// roleListing is a role for people and its JSON.
type roleListing struct {
	Name        string           `json:"name"`
	Group       string           `json:"group"`
	Description string           `json:"description"`
	Definitions []roleDefinition `json:"definitions"`
}

type roleDefinition struct {
	Scope   cardea.Scope `json:"scope"`
	Source  string       `json:"source"`
	Trusted bool         `json:"trusted"`
	Paths   rolePaths    `json:"paths"`
}

type rolePaths struct {
	AllowWrite []string `json:"allow_write"`
	DenyWrite  []string `json:"deny_write"`
	AllowRead  []string `json:"allow_read"`
	DenyRead   []string `json:"deny_read"`
}

func roleListingOf(set roles.Set, name string) roleListing {
	out := roleListing{Name: name}
	for _, def := range set.Of(name) {
		if def.Trusted && out.Description == "" {
			out.Group, out.Description = def.Group, strings.Join(strings.Fields(def.Description), " ")
		}
		out.Definitions = append(out.Definitions, roleDefinition{def.Scope, def.Source, def.Trusted,
			rolePaths{roles.Texts(def.Paths.AllowWrite), roles.Texts(def.Paths.DenyWrite), roles.Texts(def.Paths.AllowRead), roles.Texts(def.Paths.DenyRead)}})
	}
	return out
}

// rolesList lists all roles.
func rolesList(p Process, d sessionRegistrar, asJSON bool) error {
	set := d.Loaded.Roles()
	list := listOf(set.Names(), func(name string) roleListing { return roleListingOf(set, name) })
	return p.answer(asJSON, list, func(s *screen) {
		group := "none"
		for _, r := range list {
			if r.Group != group {
				group = r.Group
				s.printf("%s\n", painted{bold, cmp.Or(group, "of files")})
			}
			source := either(r.Definitions[0].Scope == cardea.ScopeBuiltin, "built in", r.Definitions[0].Source)
			s.printf("  %-18s %s\n%21s%s\n", r.Name, hook.FirstSentence(r.Description), "", painted{faint, source})
		}
		showDiagnostics(s, d.Loaded.RolesProblems())
	})
}

// rolesShow shows a role's description and paths.
func rolesShow(p Process, d sessionRegistrar, name string, asJSON bool) error {
	set := d.Loaded.Roles()
	if !set.Has(name) {
		return unknownRole(set, name)
	}
	r := roleListingOf(set, name)
	return p.answer(asJSON, r, func(s *screen) {
		s.printf("%s  %s\n", painted{bold, r.Name}, painted{faint, r.Group})
		s.block("  ", r.Description)
		for _, def := range set.Of(name) {
			s.printf("\n  %s  %s\n", def.Scope.String(), painted{faint, def.Source})
			s.printIf(!def.Trusted, "    only its denials count, since the project is not trusted\n")
			for _, list := range []struct {
				key   string
				globs []roles.Glob
				style style
			}{{"deny_write", def.Paths.DenyWrite, red}, {"allow_write", def.Paths.AllowWrite, green}, {"deny_read", def.Paths.DenyRead, red}, {"allow_read", def.Paths.AllowRead, green}} {
				for i, g := range list.globs {
					s.printf("    %-12s %s\n", painted{list.style, fmt.Sprintf("%-12s", onlyIf(i == 0, list.key))}, g.Shown())
				}
			}
		}
	})
}

func unknownRole(set roles.Set, name string) error {
	return wrongUsage{fmt.Errorf("there is no role %q; use one of %s", name, strings.Join(set.Names(), ", "))}
}

// rolesTestCommand returns the command "roles test".
func rolesTestCommand(p Process) *cobra.Command {
	var f tryFlags
	var depth int
	c := jsonOn(p, registrarHere, &cobra.Command{
		Use:   "test --role ROLE [path or command] [--json]",
		Short: "see what a role may do with a path, a command, or the whole project",
		Long: `Without an argument, show the project as a tree: what the role may write, what it
may only read, and what it may do neither with. With a path that exists, show the
same for it. With a command, show what the gate would decide for an agent with the
role; "cardea try --role ROLE" shows more.`,
		Example: `  cardea roles test --role tester
  cardea roles test --role coder src/app.ts
  cardea roles test --role coder "sed -i s/a/b/ tests/app.test.ts"`,
		Args: atMostOneArgument,
	}, func(d sessionRegistrar, args []string, asJSON bool) error {
		return rolesTest(p, d, f, depth, strings.Join(args, ""), asJSON)
	})
	c.Flags().StringVar(&f.role, "role", "", "the role")
	c.Flags().IntVar(&depth, "depth", 3, "how many levels of folders the tree shows")
	return c
}

// rolesTest shows what a role may do with a path, a command, or the project if text is "".
func rolesTest(p Process, d sessionRegistrar, f tryFlags, depth int, text string, asJSON bool) error {
	l, pl := d.Loaded, d.Place
	if f.role == "" {
		return wrongUsage{errors.New("name a role with --role: " + strings.Join(l.Roles().Names(), ", "))}
	}
	if !l.Roles().Has(f.role) {
		return unknownRole(l.Roles(), f.role)
	}
	path := within(p.Dir, text)
	if text != "" && !state.Exists(path) && (strings.ContainsAny(text, " \t|;&<>") || !strings.ContainsAny(text, "/.")) {
		f.tool, f.harness, f.event, f.json = "Bash", claudecode.Name, string(cardea.PreToolUse), asJSON
		f.verbose = true
		return try(p, f, text)
	}
	if text == "" {
		path = pl.Project
	}
	t := roleTree{decider: l.RolePaths(f.role), project: pl.Project, depth: depth}
	t.walk(path, 0)
	return p.answer(asJSON, notNil(t.rows), func(s *screen) {
		for _, r := range t.rows {
			s.printf("%s %*s%s\n", painted{r.style(), fmt.Sprintf("%-7s", r.word())}, 2*r.level, "", r.name)
		}
		s.printIf(t.cut, "%s\n", painted{faint, fmt.Sprintf("more than %d entries; name a folder to see the others", maxRows)})
		s.printf("%s\n", painted{faint, "write: may be written without a question. ask: the role says nothing, so a question may come. read: may only be read. -: neither."})
	})
}

// maxRows is the most entries of a tree.
const maxRows = 400

// roleTree is a tree of files with the permissions of a role.
type roleTree struct {
	decider *rolepaths.Decider
	project string
	depth   int
	rows    []roleRow
	cut     bool
}

// roleRow holds what the role may do with an entry.
type roleRow struct {
	Path  string        `json:"path"`
	Read  cardea.Effect `json:"read"`
	Write cardea.Effect `json:"write"`
	name  string
	level int
}

func (r roleRow) word() string {
	switch {
	case r.Write == cardea.Allow:
		return "write"
	case r.Write == cardea.Abstain:
		return "ask"
	case r.Read == cardea.Deny:
		return "-"
	}
	return "read"
}

func (r roleRow) style() style {
	return map[string]style{"write": green, "ask": yellow, "read": faint, "-": red}[r.word()]
}

// walk adds the rows of a path and of the entries below it.
func (t *roleTree) walk(path string, level int) {
	if len(t.rows) >= maxRows {
		t.cut = true
		return
	}
	row := roleRow{Path: path, name: filepath.Base(path), level: level}
	info, err := os.Lstat(path)
	about := path
	if err == nil && info.IsDir() {
		about = filepath.Join(path, "file") // a folder shows the permissions for files in it
		row.name += "/"
	}
	a := t.decider.About(t.project, about)
	row.Read, row.Write = a.Read, a.Write
	t.rows = append(t.rows, row)
	if err != nil || !info.IsDir() || level >= t.depth {
		return
	}
	entries, _ := state.Entries(path, maxRows)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" || e.Name() == "node_modules" })
	for _, e := range entries {
		t.walk(filepath.Join(path, e.Name()), level+1)
	}
}
