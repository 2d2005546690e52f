package lesson

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

// Draft is a lesson before it is written. Its texts from a call or a person are redacted.
type Draft struct {
	Effect                   cardea.Effect
	Tool, Subject, Role, Dir redact.Text
	Kind                     string
	Unsandboxed              bool
	By                       string
	Who, Reason              redact.Text
	When, Expires            time.Time
	// Files are the result of [Keyer.Files].
	Files map[string]string
	Judge JudgeVersion
}

// Text returns the line of the draft, without the line's end.
func (d *Draft) Text() (string, error) {
	l := d.line()
	text := l.text()
	if _, err := ParseLine(text); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotTeachable, err)
	}
	return text, nil
}

func (d *Draft) line() Line {
	return Line{Record: Record{Effect: d.Effect, Tool: d.Tool.String(), Subject: d.Subject.String(), Role: d.Role.String(), Dir: d.Dir.String(),
		Kind: d.Kind, Unsandboxed: d.Unsandboxed, By: d.By, Who: d.Who.String(), Reason: d.Reason.String(), When: d.When, Expires: d.Expires,
		Files: d.Files, Model: d.Judge.Model, Prompt: d.Judge.Prompt, Policy: d.Judge.Policy}}
}

// Redrafted returns a draft of a lesson for another folder. It returns an error if the lesson holds
// a possible secret.
func Redrafted(r *redact.Redactor, old *Record) (Draft, error) {
	text := r.Text
	d := Draft{Effect: old.Effect, Tool: text(old.Tool), Subject: text(old.Subject), Role: text(old.Role), Dir: text(old.Dir), Kind: old.Kind,
		Unsandboxed: old.Unsandboxed, By: old.By, Who: text(old.Who), Reason: text(old.Reason), When: old.When, Expires: old.Expires, Files: old.Files,
		Judge: JudgeVersion{old.Model, old.Prompt, old.Policy}}
	if back := d.line(); back.text() != (&Line{Record: *old}).text() || slices.ContainsFunc(names(old.Files), func(name string) bool { return len(r.Find(name)) > 0 }) {
		return d, fmt.Errorf("%w: it holds what looks like a secret", ErrNotTeachable)
	}
	return d, nil
}

// ErrNotTeachable is the cause of errors about calls from which no lesson can be made.
var ErrNotTeachable = errors.New("it cannot be remembered")

// DraftsOf returns the lessons for a decision about the call of an event: one for a command line,
// one for each file of a patch. The caller adds who decided, when and why. An error gives the
// reason why the decision applies once and is not remembered. The caller ensures that it is a
// decision: an answer to an ask, and the opinion of a guard, are not lessons.
//
// A deny or ask of an agent without a role applies to every role.
func (k *Keyer) DraftsOf(ev *cardea.Event, effect cardea.Effect) ([]Draft, error) {
	var out []Draft
	for _, key := range k.Keys(ev) {
		if !key.Teaches {
			continue
		}
		d := Draft{Effect: effect, Tool: k.redactor.Text(key.Tool), Subject: k.redactor.Text(key.Subject), Role: k.redactor.Text(key.Role),
			Dir: k.redactor.Text(key.Dir), Kind: key.Kind, Unsandboxed: key.Unsandboxed}
		if effect == cardea.Allow {
			if key.Refusal != "" {
				return nil, fmt.Errorf("%w: %s", ErrNotTeachable, key.Refusal)
			}
			files, err := k.Files(&key)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrNotTeachable, err)
			}
			d.Files = files
		} else if key.Role == "" {
			d.Role = k.redactor.Text(AnyRole)
		}
		same := d.Tool.String() == key.Tool && d.Subject.String() == key.Subject && d.Dir.String() == key.Dir
		if !same || key.Dir == "" || slices.ContainsFunc(names(d.Files), func(name string) bool { return len(k.redactor.Find(name)) > 0 }) {
			return nil, fmt.Errorf("%w: its folder or its words cannot be written down", ErrNotTeachable)
		}
		out = append(out, d)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: nothing in it names it", ErrNotTeachable)
	}
	return out, nil
}

// Writer changes the lessons of a folder.
type Writer struct {
	place    ScopeFolder
	sections []Section
	// unsynced are open files whose end is not on the disk yet.
	unsynced []*os.File
}

// NewWriter returns a writer for a place, which updates the index with these sections. It needs a
// state folder and a key.
func NewWriter(p ScopeFolder, sections ...Section) (*Writer, error) {
	if p.Dir == "" {
		return nil, errors.New("there is no folder for lessons of this scope")
	}
	if p.State == "" || len(p.Key) != state.KeySize {
		return nil, errors.New("there is no state folder, or no key in it, to write lessons with; set HOME or XDG_STATE_HOME")
	}
	return &Writer{place: p, sections: sections}, nil
}

// lock keeps other processes from changing the folder until release is called.
func (w *Writer) lock(wait time.Duration) (release func(), err error) {
	path := w.place.lockPath()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := state.OpenLocked(path, wait)
	if err != nil {
		return nil, fmt.Errorf("lock the lessons of %s: %w", w.place.Dir, err)
	}
	return func() { _ = f.Close() }, nil
}

func (p *ScopeFolder) lockPath() string { return filepath.Join(p.State, "lessons", p.name()+".lock") }

// isLocked reports whether a process is changing the folder.
func (p *ScopeFolder) isLocked() bool {
	if p.State == "" || len(p.Key) != state.KeySize {
		return false
	}
	f, _, err := state.Open(p.lockPath(), os.O_RDWR)
	if err != nil {
		return false // the folder was never changed
	}
	defer f.Close()
	return errors.Is(state.Lock(f, 0), state.ErrBusy)
}

// Teach stores lessons. When it returns without an error, they are on the disk. Known lessons are
// not written twice.
func (w *Writer) Teach(drafts ...Draft) error {
	lines := make([]Line, len(drafts))
	for i := range drafts {
		lines[i] = drafts[i].line()
		lines[i].When = lines[i].When.UTC().Truncate(time.Second)
		if _, err := ParseLine(lines[i].text()); err != nil {
			return fmt.Errorf("%w: %w", ErrNotTeachable, err)
		}
	}
	release, err := w.lock(limit.Lessons)
	if err != nil {
		return err
	}
	err = w.add(lines)
	release()
	return errors.Join(err, w.sync()) // the disk may be slow, and no other process needs to wait for it
}

// add writes lessons that are not known yet, and updates the index. The caller holds the lock, and
// syncs.
func (w *Writer) add(lines []Line) error {
	var add [len(fileNames)][]string
	now := Open(w.place)
	defer now.Close()
	for i := range lines {
		if file := slices.Index(effects[:], lines[i].Effect); !now.holds(&lines[i].Record) {
			add[file] = append(add[file], lines[i].text())
		}
	}
	before := w.place.stampsNow()
	// The id of an allow is recorded first: without its line it has no effect.
	var ids []ID
	for _, list := range add {
		for _, line := range list {
			ids = append(ids, IDOf(line))
		}
	}
	if err := w.own(ids); err != nil {
		return err
	}
	if err := w.place.begin(); err != nil {
		return err
	}
	var tail []entry
	for i, list := range add {
		if len(list) == 0 {
			continue
		}
		more, err := w.append(i, list)
		if err != nil {
			return err
		}
		tail = append(tail, more...)
	}
	return w.follow(before, tail)
}

// begin creates the folder of lessons, and the missing files beside it.
func (p *ScopeFolder) begin() error {
	if err := os.MkdirAll(Folder(p.Dir), p.folderMode()); err != nil {
		return err
	}
	for name, text := range p.Beside {
		path := filepath.Join(p.Dir, name)
		if state.Exists(path) {
			continue
		}
		if err := state.Replace(path, []byte(text), func(f *os.File) error { return f.Chmod(0o644) }); err != nil {
			return err
		}
	}
	return nil
}

// holds reports whether an equivalent lesson is already active.
func (s *Store) holds(r *Record) bool {
	return slices.ContainsFunc(s.Lookup(r.Subject), func(f *Found) bool {
		return f.Own && f.Effect == r.Effect && f.Tool == r.Tool && f.Role == r.Role && f.Dir == r.Dir && f.Kind == r.Kind && f.Unsandboxed == r.Unsandboxed &&
			f.By == r.By && f.Expires.Equal(r.Expires) && f.bindsTo(r.Files) && f.Model == r.Model && f.Prompt == r.Prompt && f.Policy == r.Policy
	})
}

// own records lines as the user's own. The caller holds the lock, and syncs.
func (w *Writer) own(ids []ID) error {
	if !w.place.Shared {
		return nil
	}
	known := w.place.ownLines()
	var b []byte
	for _, id := range ids {
		if !known(id) {
			b = append(b, w.place.ownEntry(id)...)
		}
	}
	if len(b) == 0 {
		return nil
	}
	path := w.place.ownPath()
	f, info, err := state.Open(path, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return err
	}
	// A process that ended while it wrote may have left half an entry.
	if rest := info.Size() % int64(ownSize); rest != 0 {
		err = f.Truncate(info.Size() - rest)
	}
	if p := &w.place; err == nil && p.ownNumber() == "" { // the existing list is forged
		err = f.Truncate(0)
		b = append(p.newOwn(), b...)
	}
	if err == nil {
		_, err = f.Write(b)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	w.unsynced = append(w.unsynced, f)
	return nil
}

// keepOnDisk closes a file once its contents and its name are on the disk.
func keepOnDisk(f *os.File) error {
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(f.Name()))
}

func syncFolder(dir string) error {
	d, err := state.OpenFolder(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // not every file system supports this
	return d.Close()
}

// append adds lines to a file. A small file is sorted again. In a large file the lines wait at the
// end for the next build; append then returns their entries.
func (w *Writer) append(i int, list []string) ([]entry, error) {
	p := &w.place
	path := p.file(i)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case p.Shared && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file; replace or remove it", path)
	case info.Size() > smallFile:
		return w.appendLarge(i, list)
	}
	text, err := p.read(i)
	if err != nil {
		return nil, err
	}
	if after := sorted(text, list, effects[i]); after != text {
		return nil, w.replace(i, after)
	}
	return nil, nil
}

// sorted returns a text with further lines, sorted and unique. A text with broken lines keeps its
// order, so that a person finds them.
func sorted(text string, more []string, effect cardea.Effect) string {
	var broken []brokenLine
	for range lines(text, effect, &broken) {
	}
	if len(broken) > 0 {
		if len(more) == 0 {
			return text
		}
		return strings.TrimSuffix(text, "\n") + "\n" + strings.Join(more, "\n") + "\n"
	}
	all := append(strings.Split(text, "\n"), more...)
	for i := range all {
		all[i] = strings.TrimRight(all[i], "\r")
	}
	all = slices.DeleteFunc(all, func(l string) bool { return strings.Trim(l, " \t") == "" })
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, "\n") + "\n"
}

func (p *ScopeFolder) folderMode() fs.FileMode {
	if p.Shared {
		return 0o755
	}
	return 0o700
}

// replace replaces a file and syncs it. Other users of the project can read its lessons.
func (w *Writer) replace(i int, text string) error {
	return w.replaceBy(i, func(f *os.File) error {
		_, err := f.WriteString(text)
		return err
	})
}

// replaceBy replaces a file by the output of write.
func (w *Writer) replaceBy(i int, write func(*os.File) error) error {
	path := w.place.realFile(i)
	err := state.Replace(path, nil, func(f *os.File) error {
		err := write(f)
		if err == nil && w.place.Shared {
			err = f.Chmod(0o644)
		}
		if err == nil {
			err = f.Sync()
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncFolder(filepath.Dir(path))
}

// realFile returns the target of a link, so that writing does not replace the link. In a shared
// folder it returns the file itself.
func (p *ScopeFolder) realFile(i int) string {
	path := p.file(i)
	if p.Shared {
		return path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// appendLarge writes lines at the end of a file.
func (w *Writer) appendLarge(i int, list []string) ([]entry, error) {
	p := &w.place
	f, info, err := state.Open(p.realFile(i), os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	size := info.Size()
	var b []byte
	if last := make([]byte, 1); size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if last[0] != '\n' {
			b = append(b, '\n')
		}
	}
	var tail []entry
	for _, line := range list {
		id := IDOf(line)
		e := entry{hash: hashOf(subjectOf(line)), offset: uint64(size) + uint64(len(b)), length: uint32(len(line)), file: uint8(i), own: p.Shared}
		copy(e.id[:], id[:])
		tail = append(tail, e)
		b = append(append(b, line...), '\n')
	}
	if _, err := f.Write(b); err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", p.file(i), err), f.Close())
	}
	w.unsynced = append(w.unsynced, f)
	return tail, nil
}

// sync waits until the appended data is on the disk. It comes last, so that a lookup in the
// meantime finds a matching index.
func (w *Writer) sync() error {
	var errs []error
	for _, f := range w.unsynced {
		errs = append(errs, keepOnDisk(f))
	}
	w.unsynced = nil
	return errors.Join(errs...)
}

// subjectOf returns the subject of a line that was just written.
func subjectOf(line string) string {
	l, _ := ParseLine(line)
	return l.Subject
}

// follow updates the index with the lines written since the stamps were taken. It rebuilds an index
// that did not cover the files as they were, or that has many added lines.
func (w *Writer) follow(before stamps, tail []entry) error {
	p := &w.place
	if !p.keepsIndex() {
		return nil
	}
	h, now := p.readHead(), p.stampsNow()
	if h == nil {
		h = &head{}
	}
	for i := range fileNames {
		if now[i] == before[i] {
			continue
		}
		if info, err := os.Stat(p.file(i)); err != nil || info.Size() <= smallFile {
			continue // no index covers it
		}
		if h.stamps[i] == "" || h.stamps[i] != before[i] {
			return w.rebuild()
		}
	}
	switch {
	case len(tail) == 0 && h.pages == "":
		return nil
	case h.stamps[ownStamp] != before[ownStamp] || len(h.tail)+len(tail) > maxTail:
		return w.rebuild()
	}
	for _, e := range tail {
		h.lines[e.file]++
		e.line = h.lines[e.file]
		h.tail = append(h.tail, e)
		h.stamps[e.file] = now[e.file]
	}
	h.stamps[ownStamp] = now[ownStamp]
	return p.writeHead(h)
}

// rebuild rebuilds the index, if one is needed. The lessons are stored even if that fails.
func (w *Writer) rebuild() error {
	if !w.place.keepsIndex() {
		return nil
	}
	_, err := w.build()
	return err
}

// Build sorts the files and rebuilds the index. With a wait of 0 it leaves that to a process that
// holds the lock: the error is [state.ErrBusy].
func (w *Writer) Build(wait time.Duration) (Built, error) {
	release, err := w.lock(wait)
	if err != nil {
		return Built{}, err
	}
	defer release()
	return w.build()
}

// Remove removes the lessons with these ids, and returns their number. In a project's folder a line
// records the removal, since another branch may still have the lesson.
func (w *Writer) Remove(ids []ID, by string, who redact.Text, when time.Time) (int, error) {
	release, err := w.lock(limit.Lessons)
	if err != nil {
		return 0, err
	}
	defer release()
	gone := map[ID]bool{}
	for _, id := range ids {
		gone[id] = true
	}
	if err := w.disown(gone); err != nil {
		return 0, err
	}
	removed := 0
	for i := range fileNames {
		text, err := w.place.read(i)
		if err != nil {
			return removed, err
		}
		n := 0
		after := strings.Split(text, "\n")
		for k, line := range after {
			id := IDOf(strings.TrimRight(line, "\r"))
			if !gone[id] {
				continue
			}
			n++
			after[k] = ""
			if w.place.Shared && w.place.Scope == cardea.ScopeProject {
				l := Line{Record: Record{By: by, Who: who.String(), When: when.UTC().Truncate(time.Second)}, Removes: id.String()}
				after[k] = l.text()
			}
		}
		if n > 0 {
			if err := w.replace(i, sorted(strings.Join(after, "\n"), nil, effects[i])); err != nil {
				return removed, err
			}
		}
		removed += n
	}
	return removed, w.rebuild()
}

// disown removes lines from the user's own. The caller holds the lock.
func (w *Writer) disown(gone map[ID]bool) error {
	if !w.place.Shared {
		return nil
	}
	path := w.place.ownPath()
	data, err := state.Read(path, int64(maxOwn))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	stored := append(make([]byte, 0, len(data)), w.place.newOwn()...)
	if !w.place.numbers(data) {
		data = nil
	}
	for data = data[min(ownSize, len(data)):]; len(data) >= ownSize; data = data[ownSize:] {
		if !gone[ID(data[:len(ID{})])] {
			stored = append(stored, data[:ownSize]...)
		}
	}
	return state.Replace(path, stored, func(f *os.File) error { return f.Sync() })
}

// Accept records lines of others as the user's own, since the person has seen them.
func (w *Writer) Accept(ids []ID) error {
	release, err := w.lock(limit.Lessons)
	if err != nil {
		return err
	}
	if err = w.own(ids); err == nil {
		err = w.rebuild()
	}
	release()
	return errors.Join(err, w.sync())
}
