package state

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"sync"
)

// Indexes caches results derived from other files in the cache folder, so that the next
// call need not compute them: indexes of policies, compiled rules. Each is signed with the
// user's key, so a planted one is ignored. File names also depend on the key, since a path
// may reveal a secret. An index that cannot be verified is treated as missing.
//
// A nil *Indexes caches nothing.
type Indexes struct {
	// what is the kind of the indexes: "policies".
	what, dir, state string
	key              []byte
	asked            bool
	mu               sync.Mutex
	news             map[string]index
	// memory holds what was read or computed before, unless it is nil.
	memory *Memory
}

// index is an index to write.
type index struct {
	text string
	of   [][]byte
}

const (
	// maxIndex is the maximum size of an index in bytes, maxIndexes the maximum number of
	// them.
	maxIndex   = 16 << 20
	maxIndexes = 512
)

// NewIndexes returns the indexes of a kind ("policies") in a cache folder, signed with the
// key of a state folder; nil if either folder is "".
func NewIndexes(what, cache, stateFolder string) *Indexes {
	return (*Memory)(nil).Indexes(what, cache, stateFolder)
}

// Indexes is [NewIndexes], with m as memory so that nothing is read twice.
func (m *Memory) Indexes(what, cache, stateFolder string) *Indexes {
	if stateFolder == "" || cache == "" {
		return nil
	}
	return &Indexes{what: what, dir: filepath.Join(cache, what), state: stateFolder, news: map[string]index{}, memory: m}
}

// memoryName returns the key of an index in the memory, which several folders share.
func (c *Indexes) memoryName(name string) string { return c.dir + "\x00" + c.state + "\x00" + name }

func (c *Indexes) path(name string) string {
	return filepath.Join(c.dir, hex.EncodeToString(Sign(c.key, "name of an index of "+c.what, []byte(name))))
}

// signed returns the texts covered by the signature of an index.
func signed(name string, text []byte, of [][]byte) [][]byte {
	return append(append([][]byte{[]byte(name)}, of...), text)
}

// Load returns the index under a name. It returns "" if this user's Cardea wrote none, or
// made it from other data than of.
func (c *Indexes) Load(name string, of ...[]byte) string {
	if c == nil {
		return ""
	}
	if text, is := c.memory.Made(c.memoryName(name), of...).(string); is {
		return text
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked {
		c.key, _ = ReadKey(c.state) // writing reports errors
		c.asked = true
	}
	if c.key == nil {
		return ""
	}
	all, err := Read(c.path(name), SignatureSize+maxIndex)
	if err != nil || len(all) < SignatureSize {
		return ""
	}
	text := all[SignatureSize:]
	if !Signed(c.key, all[:SignatureSize], "index of "+c.what, signed(name, text, of)...) {
		return ""
	}
	out := string(text)
	c.memory.Keep(c.memoryName(name), out, len(out), of...)
	return out
}

// Keep stores an index for Write, and the data it was made from.
func (c *Indexes) Keep(name, text string, of ...[]byte) {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.news[name] = index{text, of}
		c.memory.Keep(c.memoryName(name), text, len(text), of...)
	}
}

// Forget undoes [Indexes.Keep].
func (c *Indexes) Forget(name string) {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.news, name)
		c.memory.Drop(c.memoryName(name))
	}
}

// Write writes the new indexes, unless late. Those left are written after a later call. It
// skips indexes of data for which withheld returns true, since they hold a secret.
func (c *Indexes) Write(late func() bool, withheld func(of []byte) bool) error {
	if c == nil || late() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, i := range c.news {
		for _, of := range i.of {
			if withheld(of) {
				delete(c.news, name)
			}
		}
	}
	if len(c.news) == 0 {
		return nil
	}
	err := c.writeAll()
	clear(c.news)
	if err != nil {
		return fmt.Errorf("keep the index of %s: %w; every call reads all of them until it can be kept", c.what, err)
	}
	return nil
}

// writeAll signs and writes the new indexes, after pruning old ones. The caller holds the
// lock.
func (c *Indexes) writeAll() error {
	key, err := LoadKey(c.state)
	if err != nil {
		return err
	}
	c.key, c.asked = key, true
	if err := Prune(c.dir, maxIndexes-len(c.news), maxIndexes-len(c.news)); err != nil {
		return err
	}
	for name, i := range c.news {
		signature := Sign(key, "index of "+c.what, signed(name, []byte(i.text), i.of)...)
		if err := Write(c.path(name), append(signature, i.text...)); err != nil {
			return err
		}
	}
	return nil
}
