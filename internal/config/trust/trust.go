// Package trust remembers which files of which project a person accepted.
//
// Trust is in bytes, not in names: a manifest holds the digest of every file
// as the person was shown it, so a file that changes is untrusted again by
// itself, whoever changed it. The manifest lies in the person's state folder
// and is signed with their key, for the path of one project; a project, a
// clone or a copied folder cannot bring one along.
//
// The package knows nothing of what files mean. Who reads a file asks
// [Manifest.Trusts] with what was read, so that there is no time between
// looking and using.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/state"
)

const (
	purpose    = "trust manifest"
	keyPurpose = "key of a project's trust"
	version    = 2
	// maxFile is how much of a manifest is read, in bytes.
	maxFile = 1 << 20
	// maxManifests is how many files of the folder are listed.
	maxManifests = 10000
)

// Manifest is what a person accepted of one project.
type Manifest struct {
	// Project is the project's folder, absolute, links followed.
	Project string
	// Files are digests of contents, by path relative to the project, with
	// slashes.
	Files map[string]string
	// Who accepted them, and when.
	Who  string
	When time.Time
}

// Digest is how a content stands in a manifest.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Trusts reports whether a file was accepted with this content. A nil manifest
// trusts nothing.
func (m *Manifest) Trusts(file string, data []byte) bool {
	return m.Knows(file) && m.Files[file] == Digest(data)
}

// Knows reports whether a file was accepted, in whatever form.
func (m *Manifest) Knows(file string) bool {
	if m == nil {
		return false
	}
	_, known := m.Files[file]
	return known
}

// body is the manifest on disk; signed is the file.
type body struct {
	V       int               `json:"v"`
	Project string            `json:"project"`
	Files   map[string]string `json:"files"`
	Who     string            `json:"who"`
	When    time.Time         `json:"when"`
}

type signed struct {
	Manifest json.RawMessage `json:"manifest"`
	HMAC     string          `json:"hmac"`
}

// Folder is where the manifests of a state folder lie.
func Folder(dir string) string { return filepath.Join(dir, "trust") }

// PathOf is where the manifest of a project lies.
func PathOf(dir, project string) string {
	return filepath.Join(Folder(dir), Digest([]byte(project))+".json")
}

// Load gives the manifest of a project, nil where the person never accepted
// it. An error is about a manifest that cannot be believed; the project is
// not trusted then.
func Load(dir, project string) (*Manifest, error) {
	if dir == "" || project == "" {
		return nil, nil
	}
	m, err := read(dir, PathOf(dir, project))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the trust in %s is not believed: %w; run \"cardea trust init\" there again", project, err)
	case m.Project != project:
		return nil, fmt.Errorf("the trust in %s is not believed: it is for %s; run \"cardea trust init\" there again", project, m.Project)
	}
	return m, nil
}

// read reads a manifest and checks its signature. The error is fs.ErrNotExist
// where there is no file.
func read(dir, name string) (*Manifest, error) {
	data, err := state.Read(name, maxFile)
	if err != nil {
		return nil, err
	}
	key, err := state.ReadKey(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("the key that signed it is gone")
	}
	if err != nil {
		return nil, err
	}
	return open(key, data)
}

// keyOf is the key of one project, derived from the person's.
func keyOf(key []byte, project string) []byte { return state.Sign(key, keyPurpose, []byte(project)) }

// open checks a file's signature before anything in it is believed.
func open(key, data []byte) (*Manifest, error) {
	var s signed
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("its manifest is damaged: %w", err)
	}
	// Which project's key it was signed with stands in the manifest itself.
	// Nothing of it is used before the signature is checked.
	var b body
	if err := json.Unmarshal(s.Manifest, &b); err != nil {
		return nil, fmt.Errorf("its manifest is damaged: %w", err)
	}
	if mac, err := hex.DecodeString(s.HMAC); err != nil || !state.Signed(keyOf(key, b.Project), mac, purpose, s.Manifest) {
		return nil, errors.New("its manifest was not written by your Cardea")
	}
	if b.V != version {
		return nil, fmt.Errorf("its manifest has version %d, which this Cardea does not know", b.V)
	}
	return &Manifest{Project: b.Project, Files: b.Files, Who: b.Who, When: b.When}, nil
}

// Save signs and writes a manifest, by rename. It replaces what was accepted
// of the project before.
func Save(dir string, m *Manifest) error {
	key, err := state.LoadKey(dir)
	if err != nil {
		return err
	}
	inner, err := json.Marshal(body{version, m.Project, m.Files, m.Who, m.When})
	if err != nil {
		return err
	}
	data, err := json.Marshal(signed{inner, hex.EncodeToString(state.Sign(keyOf(key, m.Project), purpose, inner))})
	if err != nil {
		return err
	}
	if len(data) > maxFile {
		return fmt.Errorf("the project has too many files to trust (%d)", len(m.Files))
	}
	if err := state.Write(PathOf(dir, m.Project), append(data, '\n')); err != nil {
		return fmt.Errorf("write the manifest: %w; look at the owner and the space of %s", err, Folder(dir))
	}
	return nil
}

// Revoke forgets a project, and reports whether there was anything to forget.
func Revoke(dir, project string) (bool, error) {
	_ = os.Remove(textsPath(dir, project)) // without the manifest it says nothing
	err := os.Remove(PathOf(dir, project))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// List gives the manifests of all projects, sorted, and what is wrong with
// those that are not believed.
func List(dir string) (all []*Manifest, problems []cardea.Diagnostic) {
	names, err := state.Names(Folder(dir), maxManifests)
	if err != nil {
		return nil, []cardea.Diagnostic{{File: Folder(dir), Code: cardea.CodeUnreadable, Text: err.Error()}}
	}
	sort.Strings(names)
	for _, name := range names {
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		name = filepath.Join(Folder(dir), name)
		m, err := read(dir, name)
		if err == nil && PathOf(dir, m.Project) != name {
			err = errors.New("its manifest lies under another project's name")
		}
		if err != nil {
			problems = append(problems, cardea.Diagnostic{File: name, Code: cardea.CodeUntrusted, Text: err.Error(), Hint: "remove it"})
			continue
		}
		all = append(all, m)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Project < all[j].Project })
	return all, problems
}
