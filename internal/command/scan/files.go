package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

// maxEntries is the number of entries of a folder up to which all of it is searched.
const maxEntries = 1 << 20

// Files searches files, and folders with everything in them. It skips folders named .git
// and symlinks, unless a path names one. It returns an error for a path that does not
// exist. Any other file that cannot be searched is among the gaps.
func Files(ctx context.Context, r *redact.Redactor, dir string, paths []string) (Result, error) {
	var jobs []job
	var out Result
	for _, path := range paths {
		at := path
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
		info, err := os.Stat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return Result{}, fmt.Errorf("there is no file or folder %s", path)
		}
		if err != nil {
			return Result{}, err
		}
		w := walk{result: &out}
		w.entry(at, path, info.Mode(), true)
		jobs = append(jobs, w.jobs...)
	}
	out.add(all(ctx, jobs, func(j job) Result { return readAndSearch(r, j) }))
	return out, ctx.Err()
}

// job is a file to be searched: its path, and the name by which it is reported.
type job struct{ path, name string }

// walk collects the files below a path.
type walk struct {
	jobs   []job
	result *Result
}

// entry adds one file or folder to the jobs, or to the gaps if it is neither. named is
// set for a path that the caller gave.
func (w *walk) entry(path, name string, mode fs.FileMode, named bool) {
	switch {
	case mode.IsDir() && filepath.Base(path) == ".git" && !named:
	case mode.IsDir():
		w.folder(path, name)
	case mode.IsRegular():
		w.jobs = append(w.jobs, job{path, name})
	case mode&fs.ModeSymlink != 0:
		w.result.Links++
	default:
		w.result.Gaps = append(w.result.Gaps, Gap{name, "it is no file, but a pipe, socket or device"})
	}
}

func (w *walk) folder(path, name string) {
	list, err := state.Entries(path, maxEntries)
	if err != nil {
		w.result.Gaps = append(w.result.Gaps, Gap{name, reason(err)})
	}
	if len(list) == maxEntries {
		w.result.Gaps = append(w.result.Gaps, Gap{name, "it has too many files"})
	}
	for _, e := range list {
		w.entry(filepath.Join(path, e.Name()), filepath.Join(name, e.Name()), e.Type(), false)
	}
}

// reason returns why a file cannot be read, without its name.
func reason(err error) string {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// readAndSearch reads a file and searches it.
func readAndSearch(r *redact.Redactor, j job) Result {
	data, why := contents(j.path)
	if why != "" {
		return Result{Gaps: []Gap{{j.name, why}}}
	}
	return searchFile(r, j.name, data)
}

// contents returns the contents of a file, or why they cannot be read.
func contents(path string) (data []byte, why string) {
	f, info, err := state.OpenLinked(path)
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	if why := tooLarge(info.Size()); why != "" {
		return nil, why
	}
	data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, reason(err)
	}
	return data, tooLarge(int64(len(data)))
}

// all runs jobs concurrently, and joins their results in the order of the jobs.
func all[T any](ctx context.Context, jobs []T, do func(T) Result) Result {
	results := make([]Result, len(jobs))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(len(jobs), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := range next {
				results[i] = do(jobs[i])
			}
		})
	}
	for i := range jobs {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	var out Result
	for _, r := range results {
		out.add(r)
	}
	return out
}
