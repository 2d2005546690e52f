package rules

import (
	"slices"

	"cardea.dev/internal/command/pathglob"
)

// Own is a kind of the gate's own files, independent of their place on this machine. A
// person may store settings in another folder, or link to them, and only the program knows
// its own path.
type Own string

// Kinds of the gate's own files.
const (
	// OwnSettings are the files and folders that define what agents may do, as they were
	// read, and the state.
	OwnSettings Own = "settings"
	// OwnFolder are the folders of the scopes, without their contents.
	OwnFolder Own = "folder"
	// OwnKey is the key that signs what the gate stores, the token of HTTP, and the folder
	// with other secrets.
	OwnKey Own = "key"
	// OwnPrograms are the program and the others in its folder that it starts.
	OwnPrograms Own = "programs"
	// OwnBin is the folder of the programs, without its contents.
	OwnBin Own = "bin"
)

// OwnInTests returns the paths of the gate's own files in inline tests.
func OwnInTests(o Own) []string {
	return map[Own][]string{
		OwnSettings: {"/home/user/dotfiles/cardea", "/home/user/.local/state/cardea"},
		OwnFolder:   {"/home/user/dotfiles/cardea"},
		OwnKey:      {"/home/user/.local/state/cardea/key", "/home/user/.local/state/cardea/http-token", "/home/user/.local/state/cardea/supervisors"},
		OwnPrograms: {"/opt/gate/cardea", "/opt/gate/cardea-hook", "/opt/gate/cardea-engine"},
		OwnBin:      {"/opt/gate"},
	}[o]
}

// touchesOwn reports whether an access touches one of the gate's own files: the file itself
// or a path below it. Deleting or recursively reading a folder above also does. Reading
// names, or searching the whole home folder, does not. Other files in the folder of the
// programs do not match.
func (c *evaluation) touchesOwn(look *look, n *pathglob.Named) bool {
	if n.MetadataOnly {
		return false
	}
	things := look.own
	if !n.Glob && !n.Recursive {
		things = look.ownPlain
	}
	return slices.ContainsFunc(things, func(g *pathglob.Glob) bool { return g.Touches(n) || g.LiesBelow(n) })
}

// own returns the globs of the gate's own files of a kind. For settings and keys they
// include everything below.
func (c *evaluation) own(o Own) []*pathglob.Glob {
	if c.d.settings.Own == nil {
		return nil
	}
	return cached(&c.owned, o, func() (list []*pathglob.Glob) {
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
