package search

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/memory/lesson"
	"cardea.dev/internal/memory/meaning"
)

const (
	// vectorsPurpose is the purpose of the signature of a file of vectors.
	vectorsPurpose = "vectors of lessons"
	// maxSize is the largest size of a file of vectors, in bytes. maxFolders is the largest number of
	// folders of lessons that have one.
	maxSize    = 512 << 20
	maxFolders = 256
	// batchSize is the number of texts that a server gets at once.
	batchSize = 64
)

// digest identifies the text of a lesson.
type digest [sha256.Size]byte

func digestOf(text string) digest { return sha256.Sum256([]byte(text)) }

// vectorFile is the file with the vectors that a server made of the lessons of a folder. It holds
// the digest of each text and its vector, zero for a text without one. It is signed for the model,
// the folder and the length of the vectors, so a file that another program wrote or moved is not
// used.
type vectorFile struct {
	path string
	key  []byte
	name string
	dims int
}

// fileOf returns the file of a folder for a model's vectors of dims numbers.
func fileOf(m model, p *lesson.ScopeFolder, dims int) vectorFile {
	return vectorFile{path: pathOf(p), key: p.Key, name: fmt.Sprintf("%q %d %q", m.id(), dims, p.Dir), dims: dims}
}

// pathOf returns the path of a folder's file, or "" where nothing can be stored. It depends on the
// key, since the path of a folder may reveal a secret.
func pathOf(p *lesson.ScopeFolder) string {
	if p.Cache == "" || len(p.Key) != state.KeySize {
		return ""
	}
	return filepath.Join(p.Cache, "near", fmt.Sprintf("%x", state.Sign(p.Key, "name of the vectors of lessons", []byte(p.Dir))))
}

// read returns the stored vectors. A file that is missing or cannot be trusted has none.
func (f *vectorFile) read() map[digest][]int8 {
	data, err := state.ReadSigned(f.path, f.key, vectorsPurpose, f.name, maxSize)
	if err != nil {
		return nil // the vectors are made again
	}
	out := map[digest][]int8{}
	for size := len(digest{}) + f.dims; len(data) >= size; data = data[size:] {
		v := make([]int8, f.dims)
		for i, x := range data[len(digest{}):size] {
			v[i] = int8(x)
		}
		out[digest(data[:len(digest{})])] = v
	}
	return out
}

// write replaces the stored vectors. One of another length becomes zero.
func (f *vectorFile) write(vectors map[digest][]int8) error {
	size := len(vectors) * (len(digest{}) + f.dims)
	if size > maxSize {
		return fmt.Errorf("store vectors of lessons: %d bytes are too many", size)
	}
	data := make([]byte, 0, size)
	for d, v := range vectors {
		if len(v) != f.dims {
			v = make([]int8, f.dims)
		}
		data = append(data, d[:]...)
		for _, x := range v {
			data = append(data, byte(x))
		}
	}
	return state.WriteSigned(f.path, f.key, vectorsPurpose, f.name, data)
}

// lessonVectors returns a function that returns the vector of a lesson's text. known is false for a
// text whose vector must still be made. A server's vectors are only those stored, since it makes one
// vector for a call.
func lessonVectors(m model, p *lesson.ScopeFolder, dims int) func(context.Context, string) (v []int8, known bool, err error) {
	if m.id() == "" {
		return func(ctx context.Context, text string) ([]int8, bool, error) {
			v, err := m.vectors(ctx, []string{text})
			if err != nil {
				return nil, false, err
			}
			return v[0], true, nil
		}
	}
	file := fileOf(m, p, dims)
	stored := file.read()
	return func(_ context.Context, text string) ([]int8, bool, error) {
		v, known := stored[digestOf(text)]
		return v, known || file.path == "", nil
	}
}

// makeMissing asks a server for the vectors that lessons of a folder lack, and stores them. After a
// failure it stores those that it got. It leaves a folder to a process that is already doing so.
func makeMissing(ctx context.Context, m model, r meaning.Request) error {
	p, err := placeOf(&r)
	path := pathOf(&p)
	if err != nil || path == "" || m.id() == "" {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock, err := state.OpenLocked(path+".lock", 0)
	if errors.Is(err, state.ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	query, err := m.vectors(ctx, []string{r.Text}) // says how long vectors are
	if err != nil || query[0] == nil {
		return err
	}
	file := fileOf(m, &p, len(query[0]))
	vectors, missing := file.ofLessons(p)
	if len(missing) == 0 {
		return nil
	}
	err = ask(ctx, m, missing, vectors)
	return errors.Join(err, state.Prune(filepath.Dir(path), 2*maxFolders, 2*maxFolders), file.write(vectors))
}

// ofLessons returns the stored vectors of the lessons of a folder, and the texts that have none.
func (f *vectorFile) ofLessons(p lesson.ScopeFolder) (vectors map[digest][]int8, missing []string) {
	stored, vectors := f.read(), map[digest][]int8{}
	store := lesson.Open(p)
	defer store.Close()
	for l, err := range store.All() {
		if err != nil {
			continue // as in load
		}
		d := digestOf(l.Subject)
		if v, known := stored[d]; known {
			vectors[d] = v
		} else {
			missing = append(missing, l.Subject)
		}
	}
	slices.Sort(missing)
	return vectors, slices.Compact(missing)
}

// ask adds the vectors of texts.
func ask(ctx context.Context, m model, texts []string, to map[digest][]int8) error {
	for batch := range slices.Chunk(texts, batchSize) {
		made, err := m.vectors(ctx, batch)
		if err != nil {
			return err
		}
		for i, text := range batch {
			to[digestOf(text)] = made[i]
		}
	}
	return nil
}

// similarity returns the cosine of the angle between two vectors of the same length, from −1 to 1.
// It returns 0 if one has no direction.
func similarity(a, b []int8) float32 {
	if len(a) != len(b) {
		return 0
	}
	first, second := dot(a, a), dot(b, b)
	if first == 0 || second == 0 {
		return 0
	}
	return float32(float64(dot(a, b)) / math.Sqrt(float64(first)*float64(second)))
}

// dot returns the inner product of two vectors of the same length.
func dot(a, b []int8) (sum int32) {
	for i, x := range a {
		sum += int32(x) * int32(b[i])
	}
	return sum
}
