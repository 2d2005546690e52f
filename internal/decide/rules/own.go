package rules

import (
	"slices"

	"cardea.dev/internal/base/pathglob"
)

// Own is a thing of the gate's own, wherever on this machine it lies: a person
// may keep their settings in another folder, behind a link, and only the program
// knows where it was started from.
type Own string

// The gate's own things.
const (
	// OwnSettings are the files and folders that say what agents may do, as
	// they were read, and the state.
	OwnSettings Own = "settings"
	// OwnFolder are the scopes' folders, alone.
	OwnFolder Own = "folder"
	// OwnKey is the key that signs what the gate keeps, the token of HTTP, and the folder of
	// what has secrets of its own.
	OwnKey Own = "key"
	// OwnPrograms are the program itself and those beside it that it starts.
	OwnPrograms Own = "programs"
	// OwnBin is the folder in which they lie, alone.
	OwnBin Own = "bin"
)

// OwnInTests is where the gate's own things lie in inline tests.
func OwnInTests(o Own) []string {
	return map[Own][]string{
		OwnSettings: {"/home/user/dotfiles/cardea", "/home/user/.local/state/cardea"},
		OwnFolder:   {"/home/user/dotfiles/cardea"},
		OwnKey:      {"/home/user/.local/state/cardea/key", "/home/user/.local/state/cardea/http-token", "/home/user/.local/state/cardea/supervisors"},
		OwnPrograms: {"/opt/gate/cardea", "/opt/gate/cardea-hook", "/opt/gate/cardea-engine"},
		OwnBin:      {"/opt/gate"},
	}[o]
}

// touchesOwn reports whether an access touches one of the gate's own things: it
// is the thing, or lies below it, or a folder above it is deleted, or read as a
// whole. Neither a look at names nor a search through the whole home folder is
// about them. In a bin of many programs what lies beside the gate's is not.
func (c *call) touchesOwn(look *look, n *pathglob.Named) bool {
	if n.MetadataOnly {
		return false
	}
	things := look.own
	if !n.Glob && !n.Recursive {
		things = look.ownPlain
	}
	return slices.ContainsFunc(things, func(g *pathglob.Glob) bool { return g.Touches(n) || g.LiesBelow(n) })
}

// own are the gate's own things as globs, those of folders with all below them.
func (c *call) own(o Own) []*pathglob.Glob {
	if c.d.settings.Own == nil {
		return nil
	}
	return kept(&c.owned, o, func() (list []*pathglob.Glob) {
		pl := c.at()
		for _, path := range c.d.settings.Own(o) {
			thing := c.d.settings.Keys.thing(pl, path)
			if list = append(list, thing[0]); o == OwnSettings || o == OwnKey {
				list = append(list, thing[1])
			}
		}
		return list
	})
}
