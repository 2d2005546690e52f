package cli

import (
	"cardea.dev/internal/hook"
	"cardea.dev/internal/inforce"
	"cardea.dev/internal/install"
	"cardea.dev/internal/posture"
)

// rememberSetUp keeps how the gate is set up, which a person has just confirmed.
func rememberSetUp(p Process, at install.Places, l *inforce.Loaded) error {
	if at.State == "" {
		return nil
	}
	files, hooks := hook.SetUp(at, l, true)
	return posture.Look(files, hooks, install.Hooks, p.Now()).Save(at.State)
}

// rememberWritten adds files to what is remembered, which a command has just
// written for a person.
func rememberWritten(folder string, files ...string) error {
	was, err := posture.Load(folder)
	if was == nil || err != nil {
		return err
	}
	return was.With(files...).Save(folder)
}
