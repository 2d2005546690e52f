package policy

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"sync"

	"cardea.dev/internal/state"
)

// IndexCache keeps the indexes of policies in the cache folder, each signed with
// the person's key, so that a planted one does not count. The name of a file is
// made with the key, too, since a path may tell a secret.
type IndexCache struct {
	dir, state string
	key        []byte
	asked      bool
	mu         sync.Mutex
	news       map[string]string
}

const (
	indexPurpose     = "index of policies"
	indexNamePurpose = "name of an index of policies"
	// maxIndex is the largest index that is read, in bytes; maxIndexes how many
	// are kept.
	maxIndex   = 16 << 20
	maxIndexes = 512
)

// NewIndexCache makes the cache of a cache folder and a state folder, nil where
// there is none of them.
func NewIndexCache(cache, stateFolder string) *IndexCache {
	if stateFolder == "" || cache == "" {
		return nil
	}
	return &IndexCache{dir: filepath.Join(cache, "policies"), state: stateFolder, news: map[string]string{}}
}

func (c *IndexCache) path(name string) string {
	return filepath.Join(c.dir, hex.EncodeToString(state.Sign(c.key, indexNamePurpose, []byte(name))))
}

// Load gives the index under a name, "" where there is none that this user's
// Cardea wrote.
func (c *IndexCache) Load(name string) string {
	if c == nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked {
		c.key, _ = state.ReadKey(c.state) // writing tells what is wrong with it
		c.asked = true
	}
	if c.key == nil {
		return ""
	}
	text, err := state.ReadSigned(c.path(name), c.key, indexPurpose, name, maxIndex)
	if err != nil {
		return ""
	}
	return string(text)
}

// Keep notes an index that is to be written.
func (c *IndexCache) Keep(name, text string) {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.news[name] = text
	}
}

// Write keeps what is new, until it is late. What is left is new at the next
// call.
func (c *IndexCache) Write(late func() bool) error {
	if c == nil || late() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.news) == 0 {
		return nil
	}
	err := c.writeAll()
	clear(c.news)
	if err != nil {
		return fmt.Errorf("keep the index of policies: %w; every call reads all of them until it can be kept", err)
	}
	return nil
}

func (c *IndexCache) writeAll() error {
	key, err := state.LoadKey(c.state)
	if err != nil {
		return err
	}
	c.key, c.asked = key, true
	if err := state.Prune(c.dir, maxIndexes-len(c.news), maxIndexes-len(c.news)); err != nil {
		return err
	}
	for name, text := range c.news {
		if err := state.WriteSigned(c.path(name), key, indexPurpose, name, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}
