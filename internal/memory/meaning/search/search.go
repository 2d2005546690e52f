// Package search finds lessons by meaning, in the process of cardea-engine. Each scope's folder has
// an index of vectors in the cache folder, with a group for each tool, role and effect. A stale
// index still answers. A process of its own rebuilds it, so that no call waits for it.
package search

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/memory/lesson"
	"cardea.dev/internal/memory/meaning"
	"cardea.dev/internal/memory/vectorindex"
)

const (
	// maxRequest is the largest size of a request, in bytes.
	maxRequest = 1 << 20
	// maxFew is the number of lessons up to which there is no index.
	maxFew = 200
	// maxNew is the largest number of unindexed lessons that a call compares.
	maxNew = 1000
	// batchSize is the number of lessons whose vectors are made at once.
	batchSize = 64
	// maxIndexes is the largest number of stored indexes.
	maxIndexes = 256
	// version changes with the labels and groups of indexes.
	version = "1"
)

// Serve answers requests, one a line, until the input ends. If an index is stale, it starts a
// process to rebuild it after the answer.
func Serve(in io.Reader, out io.Writer) error {
	lines, started := bufio.NewScanner(in), map[string]bool{}
	lines.Buffer(nil, maxRequest)
	for lines.Scan() {
		r, err := read(lines.Bytes())
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit.Near)
		reply, err := answer(ctx, r)
		cancel()
		if err != nil {
			reply = meaning.Reply{Error: err.Error()}
		}
		if err := json.NewEncoder(out).Encode(reply); err != nil {
			return err
		}
		if reply.Stale && !started[r.Dir] {
			started[r.Dir] = true
			if err := startBuild(r); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// startBuild starts another process that builds an index.
func startBuild(r meaning.Request) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r.Text = "" // the index is for all
	request, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return script.Detach(self, request, meaning.IndexArgument)
}

// ServeIndex builds the index that a request needs.
func ServeIndex(in io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(in, maxRequest))
	if err != nil {
		return err
	}
	r, err := read(data)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit.NearIndex)
	defer cancel()
	m, err := modelOf(r.Embedder)
	if err != nil {
		return err
	}
	return build(ctx, m, r)
}

func read(data []byte) (r meaning.Request, err error) {
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("read a request: %w", err)
	}
	return r, nil
}

// folderVectors holds the lessons of a folder.
type folderVectors struct {
	lesson.ScopeFolder
	model model
}

func placeOf(m model, r *meaning.Request) (folderVectors, error) {
	key, err := state.ReadKey(r.State)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return folderVectors{}, err
	}
	return folderVectors{lesson.ScopeFolder{Dir: r.Dir, Shared: r.Shared, State: r.State, Cache: r.Cache, Key: key}, m}, nil
}

// effects are the effects of lessons. Each is searched by itself, so that a thousand allows do not
// hide an ask.
var effects = [...]cardea.Effect{cardea.Ask, cardea.Deny, cardea.Allow}

func answer(ctx context.Context, r meaning.Request) (meaning.Reply, error) {
	m, err := modelOf(r.Embedder)
	if err != nil {
		return meaning.Reply{}, err
	}
	return find(ctx, m, r)
}

// find returns the lessons that a request asks for.
func find(ctx context.Context, m model, r meaning.Request) (reply meaning.Reply, err error) {
	if !(r.Threshold > 0) {
		return reply, nil
	}
	query, err := m.vectors(ctx, []string{r.Text})
	if err != nil || query[0] == nil {
		return reply, err
	}
	p, err := placeOf(m, &r)
	if err != nil {
		return reply, err
	}
	reply.Named, reply.Stale, err = p.find(ctx, query[0], &r)
	return reply, err
}

// find returns the near lessons of a folder. stale means that the index must be rebuilt.
func (p folderVectors) find(ctx context.Context, query []int8, r *meaning.Request) (out []meaning.Named, stale bool, err error) {
	store := lesson.Open(p.ScopeFolder)
	if store == nil {
		return nil, false, nil
	}
	defer store.Close()
	roles := []string{r.Role, lesson.AnyRole}
	if r.Role == "" || r.Role == lesson.AnyRole {
		roles = roles[1:]
	}
	unindexed := store.Unindexed()
	// Comparing a few lessons with the call takes less time than reading an index.
	few := p.model.quick() && len(unindexed) <= maxFew && !store.Indexed() && !store.NeedsBuild()
	if p.keeps() && !few {
		if out, stale = p.findIndexed(query, r, roles); !stale {
			return out, false, nil
		}
	}
	if !p.model.quick() {
		return out, stale, nil // a server makes only one vector for a call
	}
	seen := map[string]bool{}
	for _, n := range out {
		seen[n.ID] = true
	}
	for i := range unindexed[:min(maxNew, len(unindexed))] {
		f := &unindexed[i]
		if f.Tool != r.Tool || !slices.Contains(roles, f.Role) || seen[f.ID.String()] {
			continue
		}
		v, err := p.model.vectors(ctx, []string{f.Subject})
		if err != nil {
			return nil, false, err
		}
		if s := vectorindex.Similarity(query, v[0]); s >= r.Threshold {
			out = append(out, meaning.Named{Subject: f.Subject, ID: f.ID.String(), Similarity: s})
		}
	}
	slices.SortStableFunc(out, func(a, b meaning.Named) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return out, stale, nil
}

// findIndexed asks the index, for each role and effect by itself.
func (p folderVectors) findIndexed(query []int8, r *meaning.Request, roles []string) (out []meaning.Named, stale bool) {
	x, err := vectorindex.Open(p.path(), p.Key, p.source(), len(query))
	if err != nil {
		// Whatever the defect, a new index may be better.
		return nil, true
	}
	defer x.Close()
	stale = !x.Current(p.Stamp())
	for _, role := range roles {
		for _, effect := range effects {
			hits, err := x.Search(group(r.Tool, role, effect), query, r.Threshold, r.Wanted)
			if err != nil {
				stale = true // another program changed it
				continue
			}
			for _, h := range hits {
				id, subject := split(h.Label)
				out = append(out, meaning.Named{Subject: subject, ID: id, Similarity: h.Similarity})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b meaning.Named) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return out, stale
}

// keeps reports whether an index can be stored.
func (p folderVectors) keeps() bool { return p.Cache != "" && len(p.Key) == state.KeySize }

// path returns the path of a place's index. Its name depends on the key, since a path may reveal a
// secret.
func (p folderVectors) path() string {
	return filepath.Join(p.folder(), fmt.Sprintf("%x", state.Sign(p.Key, "name of an index by meaning", []byte(p.Dir))))
}

func (p folderVectors) folder() string { return filepath.Join(p.Cache, "near") }

// source returns a description of the indexed data, without the files' content.
func (p folderVectors) source() string { return version + " " + p.model.id() + " " + p.Dir }

// group returns the name of a group of an index.
func group(tool, role string, effect cardea.Effect) string {
	return tool + "\x00" + role + "\x00" + effect.String()
}

// label returns the label of a lesson in an index.
func label(f *lesson.Found) string { return f.ID.String() + f.Subject }

func split(label string) (id, subject string) {
	n := min(len(label), 2*len(lesson.ID{}))
	return label[:n], label[n:]
}

// build rebuilds the index for a request if it is stale. It leaves a folder to a process that is
// already building it.
func build(ctx context.Context, m model, r meaning.Request) error {
	p, err := placeOf(m, &r)
	if err != nil || !p.keeps() {
		return err
	}
	if err := os.MkdirAll(p.folder(), 0o700); err != nil {
		return err
	}
	lock, err := state.OpenLocked(p.path()+".lock", 0)
	if errors.Is(err, state.ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	stamp := p.Stamp() // before reading, so that later changes make it stale
	groups, dims, err := p.groups(ctx, stamp)
	if err != nil || dims == 0 {
		return err
	}
	if err := state.Prune(p.folder(), 2*maxIndexes, 2*maxIndexes); err != nil {
		return err
	}
	return vectorindex.Write(p.path(), p.Key, p.source(), stamp, dims, groups)
}

// groups returns the lessons of a folder with their vectors, by tool, role and effect. dims is the
// length of a vector. It is 0 if there is no vector, or if the existing index already covers the
// lessons.
func (p folderVectors) groups(ctx context.Context, stamp string) (groups []vectorindex.Group, dims int, err error) {
	store := lesson.Open(p.ScopeFolder)
	defer store.Close()
	byName, batch := map[string]*vectorindex.Group{}, make([]lesson.Found, 0, batchSize)
	current := false
	finish := func() error {
		texts := make([]string, len(batch))
		for i := range batch {
			texts[i] = batch[i].Subject
		}
		vectors, err := p.model.vectors(ctx, texts)
		if err != nil {
			return err
		}
		for i, v := range vectors {
			if v == nil || dims != 0 && len(v) != dims {
				continue
			}
			if dims == 0 {
				dims = len(v)
				current = p.current(stamp, dims)
			}
			put(byName, &batch[i], v)
		}
		batch = batch[:0]
		return nil
	}
	for f, err := range store.All() {
		if err == nil {
			if batch = append(batch, f); len(batch) == batchSize {
				err = finish()
			}
		}
		if err != nil || current {
			return nil, 0, err
		}
	}
	if err := finish(); err != nil || current {
		return nil, 0, err
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		groups = append(groups, sorted(byName[name], dims))
	}
	return groups, dims, nil
}

// put adds a lesson to its group.
func put(byName map[string]*vectorindex.Group, f *lesson.Found, v []int8) {
	name := group(f.Tool, f.Role, f.Effect)
	g := byName[name]
	if g == nil {
		g = &vectorindex.Group{Name: name}
		byName[name] = g
	}
	g.Labels = append(g.Labels, label(f))
	g.Vectors = append(g.Vectors, v...)
}

// sorted sorts a group by the texts of the lessons, so that similar ones are on few pages.
func sorted(g *vectorindex.Group, dims int) vectorindex.Group {
	order := make([]int, len(g.Labels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		_, first := split(g.Labels[a])
		_, second := split(g.Labels[b])
		return strings.Compare(first, second)
	})
	out := vectorindex.Group{Name: g.Name, Labels: make([]string, 0, len(order)), Vectors: make([]int8, 0, len(g.Vectors))}
	for _, i := range order {
		out.Labels = append(out.Labels, g.Labels[i])
		out.Vectors = append(out.Vectors, g.Vectors[i*dims:][:dims]...)
	}
	return out
}

// current reports whether there is an index that covers the lessons in this state.
func (p folderVectors) current(stamp string, dims int) bool {
	x, err := vectorindex.Open(p.path(), p.Key, p.source(), dims)
	if err != nil {
		return false
	}
	defer x.Close()
	return x.Current(stamp) && x.Check() == nil
}
