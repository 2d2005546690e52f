// Package post stores who may answer for a team. The hook writes it, and both ends of the
// supervisor's socket read it.
package post

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cardea.dev/internal/base/person"
	"cardea.dev/internal/base/state"
)

const (
	postPurpose   = "supervisor of a team"
	socketPurpose = "socket of a supervisor"
	maxPost       = 16 << 10
	// maxPosts and keepPosts limit the number of teams with a post.
	maxPosts, keepPosts = 256, 128
	// SecretSize is the length of a secret in bytes.
	SecretSize = 32
)

// Post names the supervisor of a team.
type Post struct {
	// Team is the team's name, "" for the sessions of no team.
	Team string `json:"team"`
	// Session is the session whose agent answers, "" for a program that a person started.
	Session string `json:"session"`
	// Process is the harness of that session, or the program. The process that listens is this one,
	// or below it.
	Process person.Running `json:"process"`
	// Secret is the secret that both sides must know.
	Secret []byte `json:"secret"`
	// By is who appointed the supervisor, as in records, and At the time.
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// Folder is the folder of posts in the state folder. Agents cannot read it, since a post has a
// secret.
const Folder = "supervisors"

// Posts are the posts of a state folder.
type Posts struct {
	// State is the state folder, Runtime the folder for sockets.
	State, Runtime string
}

// ErrNone is the error for a team without a supervisor.
var ErrNone = errors.New("the team has no supervisor")

// Appoint stores a post with a new secret. It replaces the team's last post.
func (p Posts) Appoint(post Post) (Post, error) {
	key, err := state.LoadKey(p.State)
	if err != nil {
		return post, err
	}
	post.Secret = make([]byte, SecretSize)
	_, _ = rand.Read(post.Secret) // ends the process rather than fail
	path := p.path(key, post.Team)
	if err := state.Prune(filepath.Dir(path), maxPosts, keepPosts); err != nil {
		return post, err
	}
	if err := state.WriteSignedJSON(path, key, postPurpose, post.Team, post); err != nil {
		return post, fmt.Errorf("keep who is the supervisor: %w", err)
	}
	return post, nil
}

// Of returns a team's post. The error is [ErrNone] for a team without a post, and for a post whose
// process has ended.
func (p Posts) Of(team string) (Post, error) {
	key, err := state.ReadKey(p.State)
	if err != nil {
		return Post{}, ErrNone // nothing was signed yet
	}
	post, err := read(p.path(key, team), key, team)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Post{}, ErrNone
	case err != nil:
		return Post{}, fmt.Errorf("read who is the supervisor: %w; a person makes one again", err)
	case !post.Process.Alive():
		return Post{}, ErrNone
	}
	return post, nil
}

// Held returns the post whose process is this process, or one above it.
func (p Posts) Held() (Post, error) {
	key, err := state.ReadKey(p.State)
	if err != nil {
		return Post{}, ErrNone
	}
	above, err := person.Lineage(os.Getpid())
	if err != nil {
		return Post{}, err
	}
	names, err := state.Names(p.folder(), maxPosts)
	if err != nil {
		return Post{}, err
	}
	for _, name := range names {
		all, err := state.Read(filepath.Join(p.folder(), name), state.SignatureSize+maxPost)
		var claimed Post
		if err != nil || len(all) < state.SignatureSize || json.Unmarshal(all[state.SignatureSize:], &claimed) != nil {
			continue
		}
		post, err := read(p.path(key, claimed.Team), key, claimed.Team)
		if err == nil && Descends(above, post.Process) {
			return post, nil
		}
	}
	return Post{}, ErrNone
}

// Dismiss ends a post, unless another one replaced it.
func (p Posts) Dismiss(post Post) error {
	now, err := p.Of(post.Team)
	if err != nil || !bytes.Equal(now.Secret, post.Secret) {
		return nil // it is over already
	}
	key, err := state.ReadKey(p.State)
	if err != nil {
		return err
	}
	return os.Remove(p.path(key, post.Team))
}

// OfSession returns the post of a session's agent.
func (p Posts) OfSession(team, session string) (Post, bool) {
	post, err := p.Of(team)
	return post, err == nil && session != "" && post.Session == session
}

func read(path string, key []byte, team string) (Post, error) {
	text, err := state.ReadSigned(path, key, postPurpose, team, maxPost)
	if err != nil {
		return Post{}, err
	}
	var post Post
	if err := json.Unmarshal(text, &post); err != nil || post.Team != team || len(post.Secret) != SecretSize || post.Process.PID <= 1 {
		return Post{}, state.ErrForged
	}
	return post, nil
}

func (p Posts) folder() string { return filepath.Join(p.State, Folder) }

// path returns the path of a team's post. A name is a digest, since teams are named by files that
// others write.
func (p Posts) path(key []byte, team string) string {
	return filepath.Join(p.folder(), hex.EncodeToString(state.Sign(key, postPurpose, []byte(team)))[:40]+".signed")
}

// Socket returns the path of a team's socket. Its name is short, since the system limits the whole
// path to about a hundred letters.
func (p Posts) Socket(team string) (string, error) {
	key, err := state.ReadKey(p.State)
	if err != nil {
		return "", err
	}
	if p.Runtime == "" {
		return "", errors.New("there is no folder for sockets; set HOME or XDG_RUNTIME_DIR")
	}
	return filepath.Join(p.Runtime, "supervisor", hex.EncodeToString(state.Sign(key, socketPurpose, []byte(team)))[:16]), nil
}

// Descends reports whether a process is among others.
func Descends(all []person.Forebear, from person.Running) bool {
	return slices.ContainsFunc(all, func(f person.Forebear) bool { return f.Running == from })
}
