// Package trust records which files of which project the user accepted.
//
// Trust covers bytes, not names: a manifest holds the digest of every file as shown to the
// user. So any change of a file makes it untrusted. The manifest is in the user's state
// folder, and is signed with their key for the path of one project. A project, a clone or a
// copied folder cannot contain a valid one.
//
// The package does not interpret files. A reader of a file calls [Manifest.Trusts] with the
// data that it read, so that checked and used data are the same.
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

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/state"
)

const (
	purpose    = "trust manifest"
	keyPurpose = "key of a project's trust"
	version    = 2
	// maxFile is the maximum size of a manifest in bytes.
	maxFile = 1 << 20
	// maxManifests is the maximum number of manifests to list.
	maxManifests = 10000
)

// Manifest holds what a user accepted of one project.
type Manifest struct {
	// Project is the absolute path of the project's folder, with links followed.
	Project string
	// Files maps paths in the project, with slashes, to digests.
	Files map[string]string
	// Who and When are the user and the time of the acceptance.
	Who  string
	When time.Time
}

// Digest returns the digest of data as in a manifest.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Trusts reports whether a file was accepted with this content. A nil manifest
// trusts nothing.
func (m *Manifest) Trusts(file string, data []byte) bool {
	return m.Knows(file) && m.Files[file] == Digest(data)
}

// Knows reports whether a file was accepted in any form.
func (m *Manifest) Knows(file string) bool {
	if m == nil {
		return false
	}
	_, known := m.Files[file]
	return known
}

// body is the content of a manifest file; signed is the file.
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

// Folder returns the folder of the manifests in a state folder.
func Folder(dir string) string { return filepath.Join(dir, "trust") }

// PathOf returns the path of a project's manifest.
func PathOf(dir, project string) string {
	return filepath.Join(Folder(dir), Digest([]byte(project))+".json")
}

// Load returns the manifest of a project, nil if the user never accepted it. It fails if
// the manifest cannot be verified; the project is then untrusted.
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

// read reads a manifest and checks its signature. If there is no file, the error is
// fs.ErrNotExist.
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

// keyOf returns the key of one project, derived from the user's.
func keyOf(key []byte, project string) []byte { return state.Sign(key, keyPurpose, []byte(project)) }

// open checks a file's signature before it trusts the content.
func open(key, data []byte) (*Manifest, error) {
	var s signed
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("its manifest is damaged: %w", err)
	}
	// The manifest itself names the project whose key signed it. Nothing else is used before
	// the signature is checked.
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

// Save signs and writes a manifest by rename. It replaces the previous manifest of the
// project.
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

// Revoke removes a project's manifest, and reports whether there was one.
func Revoke(dir, project string) (bool, error) {
	_ = os.Remove(textsPath(dir, project)) // useless without the manifest
	err := os.Remove(PathOf(dir, project))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// List returns the manifests of all projects, sorted, and the problems of those that cannot
// be verified.
func List(dir string) (all []*Manifest, problems []diagnostic.Diagnostic) {
	names, err := state.Names(Folder(dir), maxManifests)
	if err != nil {
		return nil, []diagnostic.Diagnostic{{File: Folder(dir), Code: diagnostic.CodeUnreadable, Text: err.Error()}}
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
			problems = append(problems, diagnostic.Diagnostic{File: name, Code: diagnostic.CodeUntrusted, Text: err.Error(), Hint: "remove it"})
			continue
		}
		all = append(all, m)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Project < all[j].Project })
	return all, problems
}
