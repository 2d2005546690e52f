// Package search finds lessons by meaning, in the process of cardea-engine. It reads the lessons of
// a scope's folder and compares the vector of each one with that of the call. The built-in table
// makes a vector in microseconds, so its vectors are not stored. The vectors of a server are stored
// in the cache folder. A process of its own asks the server for missing ones, so that no call waits
// for them.
package search

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/memory/lesson"
	"cardea.dev/internal/memory/meaning"
)

const (
	// maxRequest is the largest size of a request, in bytes.
	maxRequest = 1 << 20
	// maxFew is the largest number of lessons of a folder of which all near ones are returned.
	maxFew = 200
)

// Serve answers requests, one a line, until the input ends. If a server must still make vectors, it
// starts a process for that after the answer. It reads the lessons of a folder once.
func Serve(in io.Reader, out io.Writer) error {
	lines, started, known := bufio.NewScanner(in), map[string]bool{}, folders{}
	lines.Buffer(nil, maxRequest)
	for lines.Scan() {
		r, err := read(lines.Bytes())
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit.Near)
		reply, err := known.answer(ctx, r)
		cancel()
		if err != nil {
			reply = meaning.Reply{Error: err.Error()}
		}
		if err := json.NewEncoder(out).Encode(reply); err != nil {
			return err
		}
		if reply.Stale && !started[r.Dir] {
			started[r.Dir] = true
			if err := startMaking(r); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// startMaking starts another process that makes the missing vectors of a folder.
func startMaking(r meaning.Request) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	request, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return script.Detach(self, request, meaning.VectorsArgument)
}

// ServeVectors makes the missing vectors of the folder of a request, and stores them.
func ServeVectors(in io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(in, maxRequest))
	if err != nil {
		return err
	}
	r, err := read(data)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit.NearVectors)
	defer cancel()
	m, err := modelOf(r.Embedder)
	if err != nil {
		return err
	}
	return makeMissing(ctx, m, r)
}

func read(data []byte) (r meaning.Request, err error) {
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("read a request: %w", err)
	}
	return r, nil
}

// candidate is a lesson with its vector.
type candidate struct {
	meaning.Named
	role   string
	effect cardea.Effect
	vector []int8
}

// folder holds the lessons of a scope's folder that are about the tool and for the role of a
// request.
type folder struct {
	lessons []candidate
	// few is set for a folder with at most [maxFew] lessons of all tools and roles.
	few bool
	// stale is set where a server must still make vectors.
	stale bool
}

// folders holds the folders read so far, by requests without text.
type folders map[meaning.Request]*folder

func (s folders) answer(ctx context.Context, r meaning.Request) (meaning.Reply, error) {
	m, err := modelOf(r.Embedder)
	if err != nil {
		return meaning.Reply{}, err
	}
	return s.find(ctx, m, r)
}

// find returns the lessons that a request asks for.
func (s folders) find(ctx context.Context, m model, r meaning.Request) (reply meaning.Reply, err error) {
	if !(r.Threshold > 0) {
		return reply, nil
	}
	query, err := m.vectors(ctx, []string{r.Text})
	if err != nil || query[0] == nil {
		return reply, err
	}
	same := r
	same.Text = ""
	f := s[same]
	if f == nil {
		if f, err = load(ctx, m, &r, len(query[0])); err != nil {
			return reply, err
		}
		s[same] = f
	}
	return meaning.Reply{Named: f.near(query[0], &r), Stale: f.stale}, nil
}

// load reads the lessons of the folder of a request. dims is the length of the call's vector.
func load(ctx context.Context, m model, r *meaning.Request, dims int) (*folder, error) {
	p, err := placeOf(r)
	if err != nil {
		return nil, err
	}
	vectors, total, f := lessonVectors(m, &p, dims), 0, &folder{}
	roles := rolesOf(r)
	store, broken := lesson.Open(p), false
	defer store.Close()
	for l, err := range store.All() {
		if err != nil {
			broken = true // the hook reports it
			continue
		}
		total++
		if l.Tool != r.Tool || !slices.Contains(roles, l.Role) {
			continue
		}
		v, known, err := vectors(ctx, l.Subject)
		if err != nil {
			return nil, err
		}
		f.stale = f.stale || !known
		f.lessons = append(f.lessons, candidate{meaning.Named{Subject: l.Subject, ID: l.ID.String()}, l.Role, l.Effect, v})
	}
	if broken { // an unread lesson may ask or deny
		f.lessons = slices.DeleteFunc(f.lessons, func(c candidate) bool { return c.effect == cardea.Allow })
	}
	f.few = total <= maxFew
	return f, nil
}

func placeOf(r *meaning.Request) (lesson.ScopeFolder, error) {
	key, err := state.ReadKey(r.State)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return lesson.ScopeFolder{}, err
	}
	return lesson.ScopeFolder{Dir: r.Dir, Shared: r.Shared, State: r.State, Cache: r.Cache, Key: key}, nil
}

// rolesOf returns the roles whose lessons a request asks for.
func rolesOf(r *meaning.Request) []string {
	if r.Role == "" || r.Role == lesson.AnyRole {
		return []string{lesson.AnyRole}
	}
	return []string{r.Role, lesson.AnyRole}
}

// near returns the lessons near to a vector, the most similar first.
func (f *folder) near(query []int8, r *meaning.Request) []meaning.Named {
	var near []candidate
	for _, c := range f.lessons {
		if c.Similarity = similarity(query, c.vector); c.Similarity >= r.Threshold {
			near = append(near, c)
		}
	}
	if !f.few {
		near = nearest(near, rolesOf(r), r.Wanted)
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return lists.Of(near, func(c candidate) meaning.Named { return c.Named })
}

// effects are the effects of lessons.
var effects = [...]cardea.Effect{cardea.Ask, cardea.Deny, cardea.Allow}

// nearest returns the nearest lessons of each role and effect, at most wanted, so that a thousand
// allows do not hide an ask.
func nearest(near []candidate, roles []string, wanted int) (out []candidate) {
	for _, role := range roles {
		for _, effect := range effects {
			group := lists.Where(near, func(c candidate) bool { return c.role == role && c.effect == effect })
			slices.SortStableFunc(group, func(a, b candidate) int {
				return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), strings.Compare(a.Subject, b.Subject))
			})
			out = append(out, group[:min(wanted, len(group))]...)
		}
	}
	return out
}
