package lesson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/state"
)

// fileNames are the files of a folder, in the order of [effects].
var fileNames = [...]string{"allow.jsonl", "deny.jsonl", "ask.jsonl"}

// effects are the effects of the files, in their order.
var effects = [...]cardea.Effect{cardea.Allow, cardea.Deny, cardea.Ask}

const (
	allowFile = 0
	// maxFile is the largest size of a file of lessons, in bytes: more than a million lessons.
	maxFile = 512 << 20
	// smallFile is the largest size in bytes of a file that is read completely, which is as fast as
	// an index.
	smallFile = 16 << 10
	// maxStale is the largest size in bytes of a file that is read completely while its index is
	// stale. Reading the denies and asks of a larger one would delay the call.
	maxStale = 64 << 20
)

// stamps holds the stamps of the files, and at [ownStamp] the number of the list of the user's own
// lines; "" for a missing file.
type stamps [len(fileNames) + 1]string

const ownStamp = len(fileNames)

// ScopeFolder is the folder of a scope, with the means to verify its contents.
type ScopeFolder struct {
	// Dir is the scope's folder. Lessons are in its folder "lessons".
	Dir   string
	Scope cardea.Scope
	// Shared is set for a folder of a project. Others can write there, so an allow applies only if
	// this user's Cardea wrote it or the person accepted it.
	Shared bool
	// State and Cache are the state and the cache folder, "" for none. Key is the user's key, or
	// nil.
	State, Cache string
	Key          []byte
	// Beside holds texts of files by name, which are written into Dir with the first lesson unless
	// they exist. They configure git for the folder.
	Beside map[string]string
	// LastGood returns the last valid form of a broken file, nil for none. Note stores a file that
	// was read without errors.
	LastGood func(path string) []byte
	Note     func(path, text string, when time.Time)
}

// Folder returns the folder of lessons in a scope's folder.
func Folder(dir string) string { return filepath.Join(dir, "lessons") }

func (p *ScopeFolder) file(i int) string { return filepath.Join(Folder(p.Dir), fileNames[i]) }

// Found is a lesson in a file.
type Found struct {
	Record
	ID ID
	// File and Line are the lesson's position, Scope is the scope of its folder.
	File  string
	Line  int
	Scope cardea.Scope
	// Own is set where this user's Cardea wrote the line or the person accepted it, and for every
	// line of a folder that is not shared.
	Own bool
}

// Source returns the position of the lesson, "file:line".
func (f *Found) Source() string { return f.File + ":" + strconv.Itoa(f.Line) }

// Counts reports whether the origin of the lesson lets it apply. An allow applies only if the line
// is the user's own.
func (f *Found) Counts() bool { return f.Own || f.Effect != cardea.Allow }

// Store holds the lessons of one folder, as they are at its first use. It is safe for concurrent
// use.
type Store struct {
	place ScopeFolder
	mu    sync.Mutex
	// looked is set once the files were read.
	looked bool
	stamps stamps
	head   *head
	pages  *pages
	files  [len(fileNames)]*os.File
	// current marks the files that the index covers in their current form.
	current [len(fileNames)]bool
	// extra holds the lessons that are in no page: those of small or changed files, and recently
	// added ones. byHash finds them.
	extra  []Found
	byHash map[uint64][]int
	// issues are the problems with the files.
	issues cardea.Issues
	// stale is set where the index must be rebuilt.
	stale bool
	memo  map[entry]*Found
}

// Open returns the lessons of a folder, or nil for a missing folder. It reads the files at the
// first use.
func Open(p ScopeFolder) *Store {
	if p.Dir == "" || !state.Exists(Folder(p.Dir)) {
		return nil
	}
	return &Store{place: p}
}

// Place returns the folder of the store.
func (s *Store) Place() ScopeFolder {
	if s == nil {
		return ScopeFolder{}
	}
	return s.place
}

// Close closes the files.
func (s *Store) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.files {
		if f != nil {
			_ = f.Close() // it was only read
			s.files[i] = nil
		}
	}
	if s.pages != nil {
		_ = s.pages.file.Close()
		s.pages = nil
	}
	s.looked = false
}

// stampsNow returns the current stamps of the files and of the list of the user's own lines.
func (p *ScopeFolder) stampsNow() (out stamps) {
	for i := range fileNames {
		out[i] = state.Stamp(p.file(i))
	}
	if p.Shared {
		out[ownStamp] = p.ownNumber()
	}
	return out
}

// look determines which files the index covers, and reads the others.
func (s *Store) look() {
	if s.looked {
		return
	}
	s.looked = true
	s.extra, s.byHash, s.issues, s.memo, s.stale = nil, map[uint64][]int{}, nil, map[entry]*Found{}, false
	free := 0
	for end := time.Now().Add(limit.LessonsWritten); !s.compare() && time.Now().Before(end); {
		// If no process is writing, the index stays as it is. A process that has just ended or
		// begun is not writing.
		if !s.place.isLocked() {
			if free++; free > maxTries {
				break
			}
		}
		time.Sleep(writing)
	}
	for i := range fileNames {
		switch {
		case s.stamps[i] == "":
			s.missing(i)
		case s.current[i]:
			s.fromHead(i)
		default:
			s.scan(i)
		}
	}
}

// A process that writes lessons updates the index right afterwards. A lookup waits for this long
// before it looks again, and tries a few times if no process seems to write.
const (
	writing  = 300 * time.Microsecond
	maxTries = 3
)

// compare reads the head of the index and determines which files it covers in their current form.
// It returns false if a file that needs an index has none that covers it.
func (s *Store) compare() bool {
	s.stamps, s.current = s.place.stampsNow(), [len(fileNames)]bool{}
	if s.head = s.place.readHead(); s.head == nil {
		return true // no process is writing
	}
	if s.pages != nil && s.pages.name != s.head.pages {
		_ = s.pages.file.Close() // it was only read
		s.pages = nil
	}
	if s.pages == nil && s.head.pages != "" {
		s.pages, _ = s.place.openPages(s.head.pages)
	}
	all := true
	for i := range fileNames {
		s.current[i] = s.stamps[i] != "" && s.stamps[i] == s.head.stamps[i] && (s.pages != nil || s.head.pages == "") &&
			s.stamps[ownStamp] == s.head.stamps[ownStamp]
		all = all && (s.current[i] || s.head.stamps[i] == "")
	}
	return all
}

// missing handles a file without a stamp: one that is missing or not a regular file.
func (s *Store) missing(i int) {
	if path := s.place.file(i); state.Exists(path) {
		s.unreadable(i, state.ErrDangling)
	}
}

// unreadable records that a file cannot be read, so that its denies and asks are unknown.
func (s *Store) unreadable(i int, err error) {
	d := diagnostic.Diagnostic{File: s.place.file(i), Code: diagnostic.CodeUnreadable, Text: "cannot be read: " + err.Error(), Hint: "mend or remove it"}
	s.issue(i, d, s.fromLastGood(i))
}

// issue records a problem with a file. If denies or asks may be missing, the failure table decides
// the effect; a missing allow has no effect.
func (s *Store) issue(i int, d diagnostic.Diagnostic, stored bool) {
	t := cardea.Issue{Diagnostic: d}
	switch {
	case i == allowFile:
		t.Diagnostic.Severity = diagnostic.LevelWarning
	case stored:
		t.Failure = cardea.StoredForm
		t.Diagnostic.Text += "; its last good form is in force besides"
	default:
		t.Failure = cardea.BrokenFile
	}
	s.issues = append(s.issues, t)
}

// fromHead takes the data about a file from the head: recently added lessons and broken lines.
func (s *Store) fromHead(i int) {
	s.report(i, s.head.broken[i])
	for _, e := range s.head.tail {
		if int(e.file) == i {
			if f, ok := s.at(e); ok {
				s.add(*f)
			}
		}
	}
}

// report records an issue for broken lines.
func (s *Store) report(i int, broken []brokenLine) {
	if len(broken) == 0 {
		return
	}
	stored := s.fromLastGood(i)
	for _, b := range broken {
		s.issue(i, diagnostic.Diagnostic{File: s.place.file(i), Line: b.line, Code: diagnostic.CodeSyntax, Text: b.text,
			Hint: "mend or remove the line; \"cardea lessons list\" shows the others"}, stored)
	}
}

// fromLastGood adds the denies and asks of the last valid form of a file, and reports whether it
// exists.
func (s *Store) fromLastGood(i int) bool {
	if i == allowFile || s.place.LastGood == nil {
		return false
	}
	old := s.place.LastGood(s.place.file(i))
	if old == nil {
		return false
	}
	s.addLines(i, string(old), nil)
	return true
}

// add adds a lesson that is in no page.
func (s *Store) add(f Found) {
	h := hashOf(f.Subject)
	if slices.ContainsFunc(s.byHash[h], func(k int) bool { return s.extra[k].ID == f.ID && s.extra[k].File == f.File }) {
		return
	}
	s.byHash[h] = append(s.byHash[h], len(s.extra))
	s.extra = append(s.extra, f)
}

// scan reads a file that the index does not cover. Denies and asks always apply, whatever the cost
// of reading them; allows of a large file wait for the index.
func (s *Store) scan(i int) {
	path := s.place.file(i)
	f, info, err := s.place.open(i)
	if err != nil {
		s.unreadable(i, err)
		return
	}
	defer f.Close()
	if info.Size() > smallFile {
		s.stale = s.place.keepsIndex()
		if i == allowFile && s.stale {
			return
		}
	}
	text, err := readAll(f, info.Size(), maxStale)
	if err != nil {
		s.unreadable(i, err)
		return
	}
	broken := s.addLines(i, text, s.place.ownLines())
	s.report(i, broken)
	if len(broken) == 0 && i != allowFile && s.place.Note != nil {
		s.place.Note(path, text, info.ModTime())
	}
}

// open opens a file of lessons. In a shared folder, a link is an error.
func (p *ScopeFolder) open(i int) (*os.File, fs.FileInfo, error) {
	if p.Shared {
		return state.Open(p.file(i), os.O_RDONLY)
	}
	return state.OpenLinked(p.file(i))
}

// readAll returns the text of an open file, of at most limit bytes.
func readAll(f *os.File, size, limit int64) (string, error) {
	if size > limit {
		return "", fmt.Errorf("%w: more than %d bytes", state.ErrTooLarge, limit)
	}
	var b strings.Builder
	b.Grow(int(size))
	if _, err := io.Copy(&b, io.LimitReader(f, limit)); err != nil {
		return "", err
	}
	return b.String(), nil
}

// read returns the whole file of an effect, or "" for a missing file.
func (p *ScopeFolder) read(i int) (string, error) {
	f, info, err := p.open(i)
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, state.ErrDangling) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	return readAll(f, info.Size(), maxFile)
}

// addLines adds the lessons of a text. own reports whether a line is the user's own; nil means that
// none is.
func (s *Store) addLines(i int, text string, own func(ID) bool) []brokenLine {
	lines, broken := readLines(text, effects[i])
	for _, l := range lines {
		s.add(Found{Record: l.Record, ID: l.id, File: s.place.file(i), Line: l.number, Scope: s.place.Scope, Own: !s.place.Shared || own != nil && own(l.id)})
	}
	return broken
}

// readLines returns the lessons of a text: each once, without removed ones. Duplicates and unsorted
// lines are not mistakes, since a merge may leave them.
func readLines(text string, effect cardea.Effect) (list []parsedLine, broken []brokenLine) {
	removed, seen := map[string]bool{}, map[ID]bool{}
	for l := range lines(text, effect, &broken) {
		if l.Removes != "" {
			removed[l.Removes] = true
			continue
		}
		if !seen[l.id] {
			seen[l.id] = true
			list = append(list, l)
		}
	}
	if len(removed) > 0 {
		list = slices.DeleteFunc(list, func(l parsedLine) bool { return removed[l.id.String()] })
	}
	return list, broken
}

// parsedLine is a line of a text.
type parsedLine struct {
	Line
	id             ID
	number         int
	offset, length int
}

// lines yields the valid lines of a text.
func lines(text string, effect cardea.Effect, broken *[]brokenLine) iter.Seq[parsedLine] {
	return func(yield func(parsedLine) bool) {
		number, offset := 0, 0
		for offset < len(text) {
			number++
			line := text[offset:]
			next := len(text)
			if end := strings.IndexByte(line, '\n'); end >= 0 {
				line, next = line[:end], offset+end+1
			}
			start := offset
			offset = next
			line = strings.TrimRight(line, "\r")
			if strings.Trim(line, " \t") == "" {
				continue
			}
			l, err := ParseLine(line)
			if err == nil && l.Removes == "" && l.Effect != effect {
				err = fmt.Errorf("a lesson with the effect %s stands in the file of %s", l.Effect, effect)
			}
			if err != nil {
				if len(*broken) < maxBroken {
					*broken = append(*broken, brokenLine{number, "is no lesson: " + err.Error()})
				}
				continue
			}
			if !yield(parsedLine{l, IDOf(line), number, start, len(line)}) {
				return
			}
		}
	}
}

// at reads the lesson of an entry. It returns false if the text there is another one, since the
// file is changing at this moment.
func (s *Store) at(e entry) (*Found, bool) {
	if f, known := s.memo[e]; known {
		return f, f != nil
	}
	f, err := s.opened(int(e.file))
	if err != nil {
		return nil, false
	}
	b := make([]byte, e.length)
	if _, err := f.ReadAt(b, int64(e.offset)); err != nil {
		return nil, false
	}
	line := string(b)
	id := IDOf(line)
	if !bytes.Equal(id[:len(e.id)], e.id[:]) {
		return nil, false
	}
	l, err := ParseLine(line)
	if err != nil || l.Removes != "" {
		return nil, false
	}
	found := &Found{Record: l.Record, ID: id, File: s.place.file(int(e.file)), Line: int(e.line), Scope: s.place.Scope, Own: !s.place.Shared || e.own}
	if len(s.memo) >= maxMemo {
		clear(s.memo)
	}
	s.memo[e] = found
	return found, true
}

// maxMemo is the largest number of lessons of the pages in memory.
const maxMemo = 4096

func (s *Store) opened(i int) (*os.File, error) {
	if s.files[i] == nil {
		f, _, err := s.place.open(i)
		if err != nil {
			return nil, err
		}
		s.files[i] = f
	}
	return s.files[i], nil
}

// Lookup returns the lessons about a subject, whatever their effect and origin. The caller checks
// each with [Record.Matches] and [Found.Counts].
func (s *Store) Lookup(subject string) []*Found {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	h := hashOf(subject)
	var out []*Found
	if s.pages != nil && s.head != nil {
		entries, err := s.pages.find(s.head, h)
		if err != nil {
			s.distrust()
		}
		for _, e := range entries {
			if !s.current[e.file] {
				continue // the file was read as a whole
			}
			f, ok := s.at(e)
			if !ok {
				s.distrust()
				out = nil
				break
			}
			if f.Subject == subject {
				out = append(out, f)
			}
		}
	}
	for _, k := range s.byHash[h] {
		if s.extra[k].Subject == subject {
			out = append(out, &s.extra[k])
		}
	}
	return out
}

// distrust discards the index and reads the files themselves.
func (s *Store) distrust() {
	s.stale = true
	for i := range fileNames {
		if s.current[i] {
			s.current[i] = false
			s.scan(i)
		}
	}
}

// Issues returns the problems with the files.
func (s *Store) Issues() (out cardea.Issues) {
	s.looking(func() { out = s.issues })
	return out
}

// looking calls do with the lock held, after the files were read. It does nothing for a nil store.
func (s *Store) looking(do func()) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	do()
}

// NeedsBuild reports whether the index must be rebuilt. Until then, the allows of large files that
// changed do not apply.
func (s *Store) NeedsBuild() (stale bool) {
	s.looking(func() { stale = s.stale })
	return stale
}

// Unindexed returns the lessons that are in no section of the index: those of small files, of files
// that changed since, and recently added ones. A caller that reads a section must check these one
// by one as well.
func (s *Store) Unindexed() (out []Found) {
	s.looking(func() { out = s.extra })
	return out
}

// All yields all lessons, read from the files themselves, file by file. A file that cannot be read
// yields an error instead.
func (s *Store) All() iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		if s == nil {
			return
		}
		own := s.place.ownLines()
		for i := range fileNames {
			file := s.place.file(i)
			text, err := s.place.read(i)
			if err != nil && !yield(Found{}, err) {
				return
			}
			list, _ := readLines(text, effects[i])
			for _, l := range list {
				f := Found{Record: l.Record, ID: l.id, File: file, Line: l.number, Scope: s.place.Scope, Own: !s.place.Shared || own(l.id)}
				if !yield(f, nil) {
					return
				}
			}
		}
	}
}
