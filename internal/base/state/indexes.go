package state

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"sync"
)

// Indexes keeps in the cache folder what the program made of other files, so that it
// need not be made again at the next call: indexes of policies, compiled rules. Each
// is signed with the person's key, so that a planted one does not count. The name of
// a file is made with the key, too, since a path may tell a secret. What cannot be
// believed is not there.
//
// A nil *Indexes keeps nothing.
type Indexes struct {
	// what says of what they are: "policies".
	what, dir, state string
	key              []byte
	asked            bool
	mu               sync.Mutex
	news             map[string]index
	// memory has what was read or made before; nil: nothing is kept there.
	memory *Memory
}

// index is an index that is to be written.
type index struct {
	text string
	of   [][]byte
}

const (
	// maxIndex is the largest index that is read, in bytes; maxIndexes how many
	// are kept.
	maxIndex   = 16 << 20
	maxIndexes = 512
)

// NewIndexes are the indexes of something ("policies") in a cache folder, signed with
// the key of a state folder; nil where there is none of them.
func NewIndexes(what, cache, stateFolder string) *Indexes {
	return (*Memory)(nil).Indexes(what, cache, stateFolder)
}

// Indexes is [NewIndexes], of which nothing is read twice.
func (m *Memory) Indexes(what, cache, stateFolder string) *Indexes {
	if stateFolder == "" || cache == "" {
		return nil
	}
	return &Indexes{what: what, dir: filepath.Join(cache, what), state: stateFolder, news: map[string]index{}, memory: m}
}

// memoryName is the name of an index in a memory, which has those of other folders, too.
func (c *Indexes) memoryName(name string) string { return c.dir + "\x00" + c.state + "\x00" + name }

func (c *Indexes) path(name string) string {
	return filepath.Join(c.dir, hex.EncodeToString(Sign(c.key, "name of an index of "+c.what, []byte(name))))
}

// signed are the texts that the signature of an index is made of.
func signed(name string, text []byte, of [][]byte) [][]byte {
	return append(append([][]byte{[]byte(name)}, of...), text)
}

// Load gives the index under a name, "" where there is none that this user's Cardea
// wrote, or where it was made of something else than of.
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
		c.key, _ = ReadKey(c.state) // writing tells what is wrong with it
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

// Keep notes an index that is to be written, and what it was made of.
func (c *Indexes) Keep(name, text string, of ...[]byte) {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.news[name] = index{text, of}
		c.memory.Keep(c.memoryName(name), text, len(text), of...)
	}
}

// Forget takes back what [Indexes.Keep] noted.
func (c *Indexes) Forget(name string) {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.news, name)
		c.memory.Drop(c.memoryName(name))
	}
}

// Write keeps what is new, until it is late. What is left is new at the next call.
// withheld reports what must not be written, since it holds a secret.
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
