package config

import (
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"cardea.dev/internal/userkey"
)

// indexCache keeps the indexes of policies in the cache folder, each signed with
// the person's key, so that a planted one does not count. The name of a file is
// made with the key, too, since a path may tell a secret.
type indexCache struct {
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

// newIndexCache makes the cache of a place, nil where nothing is kept.
func newIndexCache(w Where) *indexCache {
	if w.State == "" || w.Dirs.Cache == "" {
		return nil
	}
	return &indexCache{dir: filepath.Join(w.Dirs.Cache, "policies"), state: w.State, news: map[string]string{}}
}

func (c *indexCache) path(name string) string {
	return filepath.Join(c.dir, hex.EncodeToString(userkey.Sign(c.key, indexNamePurpose, []byte(name))))
}

// Load gives the index under a name, "" where there is none that this user's
// Cardea wrote.
func (c *indexCache) Load(name string) string {
	if c == nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked {
		c.key, _ = userkey.Read(c.state) // writing tells what is wrong with it
		c.asked = true
	}
	if c.key == nil {
		return ""
	}
	f, err := openFile(c.path(name))
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIndex {
		return ""
	}
	all := make([]byte, info.Size())
	if _, err := io.ReadFull(f, all); err != nil || len(all) < signature || !userkey.Signed(c.key, all[:signature], indexPurpose, []byte(name), all[signature:]) {
		return ""
	}
	return string(all[signature:])
}

// Keep notes an index that is to be written.
func (c *indexCache) Keep(name, text string) {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.news[name] = text
	}
}

// write keeps what is new, until it is late. What is left is new at the next
// call.
func (c *indexCache) write(late func() bool) error {
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

func (c *indexCache) writeAll() error {
	key, err := userkey.Load(c.state)
	if err != nil {
		return err
	}
	c.key, c.asked = key, true
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	if err := prune(c.dir, maxIndexes-len(c.news)); err != nil {
		return err
	}
	for name, text := range c.news {
		data := append(userkey.Sign(key, indexPurpose, []byte(name), []byte(text)), text...)
		if err := replaceFile(c.path(name), data, time.Now()); err != nil {
			return err
		}
	}
	return nil
}
