// Package packs holds the built-in rules. They are written as YAML, for people (bash.yaml,
// git.yaml and so on), in the same language as rules of users. The program has them as a
// table (table.go), which costs nothing to load.
//
// Rules deny what cannot be undone outside of the project. They ask about what loses local
// work, publishes or spends. All are on. The settings packs and rules switch off or change
// packs and rules by id.
package packs

import (
	"sync"

	"cardea.dev/internal/decide/roles"
	"cardea.dev/internal/decide/rules"
)

//go:generate go run ./internal/gen

// Rules returns all built-in rules, in the order of their files. The caller must not change
// their contents.
func Rules() []rules.Rule { return table[:] }

// List returns the list of all built-in rules, which must not be changed.
var List = sync.OnceValue(func() rules.List { return rules.TableOf(table[:]) })

// Roles returns the built-in roles and categories of paths (roles/roles.yaml). The caller
// must not change their contents.
func Roles() roles.Source { return roleTable }
