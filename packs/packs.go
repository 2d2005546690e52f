// Package packs holds the built-in rules. They are written as YAML, for people
// (bash.yaml, git.yaml and so on), in the language that everybody's rules are
// written in; the program has them as a table (table.go), which costs nothing
// to load.
//
// Rules deny what cannot be undone beyond the project, and ask for what loses
// local work, publishes or spends. All are on; each pack and rule can be
// switched off or changed by id, in the settings packs and rules.
package packs

import (
	"sync"

	"cardea.dev/internal/decide/roles"
	"cardea.dev/internal/decide/rules"
)

//go:generate go run ./internal/gen

// Rules are all built-in rules, in the order of their files. The caller must
// not change what they hold.
func Rules() []rules.Rule { return table[:] }

// List is the list of all built-in rules. Nobody may change it.
var List = sync.OnceValue(func() rules.List { return rules.TableOf(table[:]) })

// Roles are the built-in roles and categories of paths (roles/roles.yaml). The caller
// must not change what they hold.
func Roles() roles.Source { return roleTable }
