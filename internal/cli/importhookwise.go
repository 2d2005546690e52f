package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/importer"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/memory/lesson"
	"cardea.dev/packs"
	"github.com/spf13/cobra"
)

// importHookwiseCommand returns the command "import hookwise".
func importHookwiseCommand(p Process) *cobra.Command {
	var user bool
	c := importLeaf(p, &cobra.Command{
		Use:   "hookwise [folder] [--user] [--write] [--json]",
		Short: "import the policy and roles of hookwise",
		Long: `Import a .hookwise folder, by default the one in the current folder, or the folder
of an organisation.

policy.yml becomes settings, roles.yml becomes roles.yaml. Answers that hookwise
remembers (rules/*.jsonl) become lessons that nobody here has accepted: what denies
and asks counts, what allows counts when "cardea trust update" accepts it.` + tableHelp,
	}, func(args []string) (*importing, error) { return importHookwise(p, args, user) })
	c.Flags().BoolVar(&user, "user", false, "for all projects, not only this one")
	return c
}

// hookwiseAnswers turns answers that hookwise remembers into lessons.
type hookwiseAnswers struct {
	process  Process
	redactor *redact.Redactor
	place    place
	keyer    *lesson.Keyer
	// user is set if the lessons are for all projects.
	user bool
}

func answersHere(p Process, user bool) *hookwiseAnswers {
	a := &hookwiseAnswers{process: p, redactor: redact.New(), place: locate(p, "", "", p.Dir), user: user}
	key, _ := state.LoadKey(a.place.State) // without a key, answers with secrets are left out and reported
	a.keyer = lesson.NewKeyer(a.redactor, key, a.place.Project)
	return a
}

// sampleSecret replaces the mark of a secret that hookwise removed. If Cardea removes it
// again, the call has the same key.
const sampleSecret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz" // cardea:allow-secret

// lessons returns the lines of the lessons for an answer.
func (h *hookwiseAnswers) lessons(a importer.RememberedAnswer) ([]string, error) {
	effect, err := cardea.ParseEffect(a.Effect)
	if err != nil {
		return nil, err
	}
	if h.user && effect == cardea.Allow {
		return nil, errors.New("in your own folder it would count at once, and nobody here has accepted it; import it in its project")
	}
	m, err := tryFlags{tool: a.Tool, harness: "claude-code", event: string(cardea.PreToolUse)}.message(h.process, strings.ReplaceAll(a.Input, redact.Mark, sampleSecret))
	if err != nil {
		return nil, err
	}
	ev := m.event.With(func(e *cardea.Event) {
		if e.Project, e.Home = h.place.Project, h.place.Dirs.Home; a.Role != "*" {
			e.Role = a.Role
		}
	})
	drafts, err := h.keyer.DraftsOf(hook.Analysis(h.place.Dirs.Home, h.process.IsSet)(ev), effect)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, d := range drafts {
		if strings.Contains(d.Subject.String(), redact.Mark+"#") {
			return nil, errors.New("a secret was taken out of it where Cardea takes none out, so it can never be the same call")
		}
		if a.Role == "*" {
			d.Role = h.redactor.Text(lesson.AnyRole)
		}
		if effect != cardea.Allow {
			d.Dir = h.redactor.Text(lesson.AnyDir)
		}
		d.By, d.Who, d.Reason, d.When = lesson.ByPerson, h.redactor.Text("hookwise"), h.redactor.Text(a.Reason), a.When.UTC().Truncate(time.Second)
		for _, d.Kind = range kinds(effect, d.Kind) {
			text, err := d.Text()
			if err != nil {
				return nil, err
			}
			out = append(out, text)
		}
	}
	return out, nil
}

// kinds returns the kinds of changes for which a lesson of hookwise applies. hookwise's
// keys have no kind. A deny applies whether the file exists now or not; an ask always does.
func kinds(effect cardea.Effect, kind string) []string {
	if effect == cardea.Deny && (kind == lesson.Create || kind == lesson.Edit) {
		return []string{lesson.Create, lesson.Edit}
	}
	return []string{kind}
}

// importHookwise reads a .hookwise folder, the one in args or in the working folder.
func importHookwise(p Process, args []string, user bool) (*importing, error) {
	i, from, err := importFolder(p, args, ".hookwise", user)
	if err != nil {
		return nil, err
	}
	i.tool, i.next = "hookwise", "next: run \"cardea roles list\" and \"cardea rules lint\", and register your sessions; see docs/roles.md"
	var failed error
	i.Imported = importer.Hookwise(from, func(name string) []byte {
		path := filepath.Join(from, filepath.FromSlash(name))
		data, err := readSmall(path)
		if err != nil && !os.IsNotExist(err) && failed == nil {
			failed = fmt.Errorf("read %s: %w", path, err)
		}
		return data
	}, packs.Roles().Categories, answersHere(p, user).lessons)
	return i, failed
}
