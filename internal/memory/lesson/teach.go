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

// Draft is a lesson before it is written. What came from a call or a person is redacted
// text.
type Draft struct {
	Effect                   cardea.Effect
	Tool, Subject, Role, Dir redact.Text
	Kind                     string
	Unsandboxed              bool
	By                       string
	Who, Reason              redact.Text
	When, Expires            time.Time
	// Files are those of [Keyer.Files].
	Files map[string]string
	Judge Judge
}

// Text is the line that the draft becomes, without the line's end.
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

// Redrafted is a lesson that is to be written into another folder. An error says that
// it holds what looks like a secret.
func Redrafted(r *redact.Redactor, old *Record) (Draft, error) {
	text := r.Text
	d := Draft{Effect: old.Effect, Tool: text(old.Tool), Subject: text(old.Subject), Role: text(old.Role), Dir: text(old.Dir), Kind: old.Kind,
		Unsandboxed: old.Unsandboxed, By: old.By, Who: text(old.Who), Reason: text(old.Reason), When: old.When, Expires: old.Expires, Files: old.Files,
		Judge: Judge{old.Model, old.Prompt, old.Policy}}
	if back := d.line(); back.text() != (&Line{Record: *old}).text() || slices.ContainsFunc(names(old.Files), func(name string) bool { return len(r.Find(name)) > 0 }) {
		return d, fmt.Errorf("%w: it holds what looks like a secret", ErrNotTeachable)
	}
	return d, nil
}

// ErrNotTeachable is the cause of errors about calls of which no lesson can be made.
var ErrNotTeachable = errors.New("it cannot be remembered")

// DraftsOf are the lessons that a decision about the call of an event makes: one for a
// command line, one for each file of a patch. They lack who decided, when and why. An
// error says why the decision counts once and is not remembered. Who calls it makes sure
// that the decision is one: an answer to an ask, and what a guard said, is no lesson.
//
// A deny and an ask of an agent without a role count for every role.
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
	place    Place
	sections []Section
	// unsynced are open files whose end is not on the disk yet.
	unsynced []*os.File
}

// NewWriter changes the lessons of a place, and keeps its index current with these
// sections in it. It needs a state folder and a key.
func NewWriter(p Place, sections ...Section) (*Writer, error) {
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

func (p *Place) lockPath() string { return filepath.Join(p.State, "lessons", p.name()+".lock") }

// isLocked reports whether a process changes the folder just now.
func (p *Place) isLocked() bool {
	if p.State == "" || len(p.Key) != state.KeySize {
		return false
	}
	f, _, err := state.Open(p.lockPath(), os.O_RDWR)
	if err != nil {
		return false // nobody has ever changed it
	}
	defer f.Close()
	return errors.Is(state.Lock(f, 0), state.ErrBusy)
}

// Teach keeps lessons. When it returns without an error, they are on the disk and
// nothing but their removal loses them. What is known already is not written twice.
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
	return errors.Join(err, w.sync()) // the disk may be slow, and nobody else waits for it
}

// add writes lessons that are not known yet, and tells the index of them. Who calls it
// holds the lock, and syncs.
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
	// The right of an allow to count comes first: without its line it means nothing.
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

// begin makes the folder of lessons, and the files beside it that are not there yet.
func (p *Place) begin() error {
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

// holds reports whether a lesson that says the same is in force already.
func (s *Store) holds(r *Record) bool {
	return slices.ContainsFunc(s.Lookup(r.Subject), func(f *Found) bool {
		return f.Own && f.Effect == r.Effect && f.Tool == r.Tool && f.Role == r.Role && f.Dir == r.Dir && f.Kind == r.Kind && f.Unsandboxed == r.Unsandboxed &&
			f.By == r.By && f.Expires.Equal(r.Expires) && f.bindsTo(r.Files) && f.Model == r.Model && f.Prompt == r.Prompt && f.Policy == r.Policy
	})
}

// own adds lines to those that are the user's. Who calls it holds the lock, and syncs.
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
	if p := &w.place; err == nil && p.ownNumber() == "" { // what stands there is nobody's list
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

// keepOnDisk closes a file when what was written is on the disk, and its name.
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
	_ = d.Sync() // not every file system knows this
	return d.Close()
}

// append adds lines to a file: a small file is sorted anew, at the end of a large one
// they wait for the next build. It gives their entries then.
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

// sorted is a text with further lines, each line once and in order. A text with lines
// that are no lessons keeps its order, so that a person finds what is wrong.
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

func (p *Place) folderMode() fs.FileMode {
	if p.Shared {
		return 0o755
	}
	return 0o700
}

// replace writes a file anew and keeps it on the disk. Who shares a project reads its
// lessons.
func (w *Writer) replace(i int, text string) error {
	return w.replaceBy(i, func(f *os.File) error {
		_, err := f.WriteString(text)
		return err
	})
}

// replaceBy is replace by what write writes.
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

// realFile is where a link of the person leads, so that writing does not replace it. In
// a shared folder it is the file itself.
func (p *Place) realFile(i int) string {
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

// sync waits until what was appended is on the disk. That comes last: who looks in the
// meantime finds an index that knows it.
func (w *Writer) sync() error {
	var errs []error
	for _, f := range w.unsynced {
		errs = append(errs, keepOnDisk(f))
	}
	w.unsynced = nil
	return errors.Join(errs...)
}

// subjectOf is the subject of a line that was just written.
func subjectOf(line string) string {
	l, _ := ParseLine(line)
	return l.Subject
}

// follow tells the index of what was written since the stamps were taken. An index that
// did not know the files as they were, or that has many lines at their ends, is made
// again.
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
			continue // no index knows it
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

// rebuild makes the index anew, where one is needed. What is kept is kept without it.
func (w *Writer) rebuild() error {
	if !w.place.keepsIndex() {
		return nil
	}
	_, err := w.build()
	return err
}

// Build sorts the files and makes the index anew. With a wait of 0 it leaves that to
// another process that is at it: the error is [state.ErrBusy].
func (w *Writer) Build(wait time.Duration) (Built, error) {
	release, err := w.lock(wait)
	if err != nil {
		return Built{}, err
	}
	defer release()
	return w.build()
}

// Remove removes the lessons with these ids, and gives how many there were. In a
// project's folder a line stays that says so, since another branch may still have the
// lesson.
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

// disown takes lines from those that are the user's. Who calls it holds the lock.
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
	kept := append(make([]byte, 0, len(data)), w.place.newOwn()...)
	if !w.place.numbers(data) {
		data = nil
	}
	for data = data[min(ownSize, len(data)):]; len(data) >= ownSize; data = data[ownSize:] {
		if !gone[ID(data[:len(ID{})])] {
			kept = append(kept, data[:ownSize]...)
		}
	}
	return state.Replace(path, kept, func(f *os.File) error { return f.Sync() })
}

// Accept makes lines of others count as if this user's Cardea had written them: the
// person has seen them.
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
