package inforce

import (
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/project"
	"cardea.dev/internal/script/trusted"
)

const MaxTroubles = maxTroubles

func (l *Loaded) LastGood() *project.LastGood     { return &l.kept }
func (l *Loaded) Scripts() trusted.Place          { return l.scripts() }
func (l *Loaded) Builtins() (policy.Folder, bool) { return l.builtins() }
