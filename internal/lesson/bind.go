package lesson

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/state"
)

const (
	// maxBound is how large a file may be to which an allow is bound, in bytes, and
	// maxBoundFiles how many there may be.
	maxBound      = 4 << 20
	maxBoundFiles = 64
)

// digestPrefix says how the digest of a file was made.
const digestPrefix = "sha256:"

// Files are the digests of the files to which an allow of the key is bound, by name as
// in a [Record]. An error says why no allow can count: a file that is run cannot be
// read, or nothing says what an opaque command does.
func (k *Keyer) Files(key *Key) (map[string]string, error) {
	out := map[string]string{}
	if len(key.runs)+len(key.besides) > maxBoundFiles {
		return nil, fmt.Errorf("it runs more than %d files", maxBoundFiles)
	}
	for _, file := range key.runs {
		if err := k.digest(out, file); err != nil {
			return nil, fmt.Errorf("it runs a file that cannot be read: %w", err)
		}
	}
	for _, file := range key.besides {
		_ = k.digest(out, file) // what is no file today is another set of files tomorrow
	}
	if key.hidden && len(out) == 0 {
		return nil, errors.New("it cannot be seen through, and names no file whose content could be remembered")
	}
	return out, nil
}

// digest adds the digest of a file.
func (k *Keyer) digest(out map[string]string, file string) error {
	data, err := state.ReadLinked(file, maxBound)
	if err == nil {
		sum := sha256.Sum256(data)
		out[k.relative(file)] = digestPrefix + hex.EncodeToString(sum[:])
	}
	return err
}

// Used are the digests of the files that a call reads, where it does more than that, as
// those of [Keyer.Files]: kubectl apply -f x.yaml, curl -d @x, cat x.sql | psql. Which of
// them its other commands get to see is not asked. A lesson is not bound to them, for it
// may be about the tests of files that change all day. What runs once is what was approved.
func (k *Keyer) Used(ev *cardea.Event) map[string]string {
	out := map[string]string{}
	doesMore := func(p cardea.Part) bool {
		return slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind != cardea.Read && !a.Nowhere() })
	}
	if !slices.ContainsFunc(ev.Call.Parts, doesMore) {
		return out
	}
	for i := range ev.Call.Parts {
		p := &ev.Call.Parts[i]
		if p.Remote {
			continue // its files are another machine's
		}
		key := Key{}
		key.bindUsed(p)
		for _, file := range key.besides {
			if len(out) < maxBoundFiles {
				_ = k.digest(out, file)
			}
		}
	}
	return out
}

// bindsTo reports whether an allow is bound to exactly these files.
func (r *Record) bindsTo(files map[string]string) bool { return maps.Equal(r.Files, files) }

// names are the sorted names of files.
func names(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }
