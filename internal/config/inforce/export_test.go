package inforce

import (
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/config/trusted"
	"cardea.dev/internal/decide/policy"
)

const MaxIssues = maxIssues

func (l *Loaded) LastGood() *project.LastGood      { return &l.cached }
func (l *Loaded) Scripts() trusted.AcceptedProject { return l.scripts() }
func (l *Loaded) Builtins() (policy.Folder, bool)  { return l.builtins() }
