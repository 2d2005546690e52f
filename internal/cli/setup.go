package cli

import (
	"cmp"
	"slices"
	"time"

	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/config/setup"
	"cardea.dev/internal/hook"
	"github.com/spf13/cobra"
)

// setUp returns the files that set the gate up, with withProject also the hooks of the project.
func setUp(p Process, s harnessPaths, withProject bool) []string {
	return hook.SetUp(s.At, load(p, &s.Place, nil), withProject)
}

// remembering looks at the set-up before a command changes it for a person, who typed a
// code. The returned function records what changed since. Earlier changes stay changes
// until "cardea accept". first is set for a command that makes the first record. It makes
// none if hooks exist already, since their record was lost.
func (p Process) remembering(first bool) func() error {
	s := harnessPathsOf(p)
	was, err := setup.Load(s.At.State)
	if s.At.State == "" || err != nil || was == nil && (!first || hook.Installed(s.At)) { // doctor reports an error
		return func() error { return nil }
	}
	var before []string
	if was == nil {
		was = &setup.Snapshot{When: p.Now()}
	} else {
		before = was.Changed(setUp(p, s, true), install.Hooks)
	}
	return func() error {
		return was.Look(setUp(p, s, true), before, install.Hooks, redact.New(), was.When).Save(s.At.State)
	}
}

// acceptCommand returns the command "accept".
func acceptCommand(p Process) *cobra.Command {
	return cautious(&cobra.Command{
		Use:   "accept",
		Short: "accept how the gate is set up now",
		Long: `Show what changed in the set-up of the gate without Cardea, and accept it by typing
a code: the hooks in the settings of harnesses, the programs that they start, the
plugin, and the settings, rules and policies of the machine, your organisation and
you. "cardea doctor" and each session name these files until you do.

What a command of Cardea changes after you typed a code is accepted already.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return accept(p) },
	})
}

// accept shows the changes of the set-up, and records it if the person confirms it.
func accept(p Process) error {
	if err := p.needsPerson(); err != nil {
		return err
	}
	s := harnessPathsOf(p)
	p.tell(s.Place.Issues)
	if s.At.State == "" {
		return errNoTrust
	}
	was, err := setup.Load(s.At.State)
	if was == nil {
		err = cmp.Or(err, error(errorText("it is not remembered how you set the gate up: you never installed Cardea here, or the record was removed")))
		was = &setup.Snapshot{}
	}
	now := was.Look(setUp(p, s, false), nil, install.Hooks, redact.New(), p.Now())
	changes := slices.DeleteFunc(compared(was.Files, now.Files), func(f projectFile) bool { return f.State == "accepted" })
	if err == nil && len(changes) == 0 {
		return p.say("nothing changed since " + was.When.Format(time.DateOnly))
	}
	if err := p.byPerson("accept "+cmp.Or(onlyIf(len(changes) > 0, count(len(changes), "change")+" of the set-up"), "the set-up as it is"), func(out *screen) {
		if err != nil {
			out.printf("%s; so all files are shown as new\n", err)
		}
		for i, f := range changes {
			before, after := was.Texts[f.Path], now.Texts[f.Path]
			showFiles(out, "", changes[i:i+1])
			showDifference(out, before, after, before != "" || after != "" && f.State == "new")
		}
	}); err != nil {
		return err
	}
	if err := now.Save(s.At.State); err != nil {
		return err
	}
	return p.say("accepted " + count(len(changes), "change"))
}
