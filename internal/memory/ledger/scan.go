package ledger

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// This file reads a day from its end, in pieces that are searched concurrently. Most lines match no
// query, as their bytes show. Only the others are parsed.

// piece is the number of bytes that are searched at once.
const piece = 1 << 20

// candidate is a line that may match a query.
type candidate struct {
	text []byte
	form written
	// wrong is set where the line cannot be read.
	wrong bool
}

// scan yields the lines of the first size bytes of a file that may match a query, the last first.
// It leaves out a last line without end and lines that are too long. buffers holds the read
// buffers.
func scan(r io.ReaderAt, size int64, q *Query, buffers *sync.Pool, yield func(*candidate) bool) error {
	seek := q.seek()
	return eachLine(r, size, buffers, func(line []byte) (candidate, bool) {
		if !seek.mayAnswer(line) {
			return candidate{}, false
		}
		c := candidate{text: bytes.Clone(line)}
		form, err := parse(c.text)
		c.form, c.wrong = form, err != nil
		return c, true
	}, yield)
}

// eachLine yields the results of take for the lines of the first size bytes of a file, the last
// first. Several goroutines call take, which must not keep the line.
func eachLine[T any](r io.ReaderAt, size int64, buffers *sync.Pool, take func(line []byte) (T, bool), yield func(*T) bool) error {
	type result struct {
		found []T
		err   error
	}
	workers := runtime.GOMAXPROCS(0)
	pieces := make(chan chan result, workers)
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		defer close(pieces)
		for left := size; left > 0; {
			begin, end := max(0, left-piece), left
			left = begin
			done := make(chan result, 1)
			select {
			case pieces <- done:
			case <-stop:
				return
			}
			running.Go(func() {
				found, err := look(r, begin, end, size, take, buffers)
				done <- result{found, err}
			})
		}
	})
	defer running.Wait()
	defer close(stop)
	for done := range pieces {
		all := <-done
		if all.err != nil {
			return all.err
		}
		for i := len(all.found) - 1; i >= 0; i-- {
			if !yield(&all.found[i]) {
				return nil
			}
		}
	}
	return nil
}

// look returns the results of take for the lines that begin between two offsets of a file.
func look[T any](r io.ReaderAt, begin, end, size int64, take func(line []byte) (T, bool), buffers *sync.Pool) ([]T, error) {
	from, to := max(0, begin-1), min(size, end+maxLine)
	space, _ := buffers.Get().(*[]byte)
	if space == nil {
		space = new([]byte)
		*space = make([]byte, piece+maxLine+1)
	}
	defer buffers.Put(space)
	buf := (*space)[:to-from]
	if n, err := r.ReadAt(buf, from); err != nil && (!errors.Is(err, io.EOF) || n < len(buf)) {
		return nil, err
	}
	at := 0
	if begin > 0 { // the byte before shows whether a line begins here
		i := bytes.IndexByte(buf, '\n')
		if i < 0 {
			return nil, nil
		}
		at = i + 1
	}
	var found []T
	for at < int(end-from) {
		i := bytes.IndexByte(buf[at:], '\n')
		if i < 0 {
			break // the file's last line, or one that is too long
		}
		line := buf[at : at+i]
		if at += i + 1; len(line) >= maxLine {
			continue
		}
		if x, is := take(line); is {
			found = append(found, x)
		}
	}
	return found, nil
}

// seek holds the texts that appear in every line that matches a query.
type seek struct {
	// The line must have every text of all, and one of any.
	all, any []string
	// folded holds ASCII texts in lower case, which must appear in any case.
	folded []string
	since  string
}

// seek returns the texts that a match must have. It may require less than the query.
func (q *Query) seek() (s seek) {
	word := func(list *[]string, text string) {
		if text = plainRun(text); text != "" {
			*list = append(*list, text)
		}
	}
	rule := q.Rule[strings.IndexByte(q.Rule, ':')+1:]
	for _, text := range []string{q.id, q.Session, q.Decider, q.Role, q.Harness, q.By, rule} {
		word(&s.all, text)
	}
	word(&s.folded, strings.ToLower(q.Tool))
	word(&s.folded, strings.ToLower(q.Text))
	for _, e := range q.Effects {
		s.any = append(s.any, `"`+e.String()+`"`)
	}
	if q.id == "" && !q.Since.IsZero() {
		s.since = q.Since.UTC().Format(timeForm)
	}
	return s
}

// plainRun returns the longest piece of a text that JSON does not change: ASCII without escaped
// characters.
func plainRun(text string) string {
	longest := ""
	for run := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune("\"\\/", r) }) {
		if len(run) > len(longest) {
			longest = run
		}
	}
	return longest
}

// mayAnswer reports whether a line can match. It leaves two kinds of lines to the parser: lines
// with characters escaped that the ledger never escapes, and lines with a letter that becomes an
// ASCII one in lower case (the Kelvin sign, I with a dot).
func (s *seek) mayAnswer(line []byte) bool {
	if s.since != "" {
		if at, is := timeOf(line); is && at < s.since {
			return false
		}
	}
	for _, text := range s.all {
		if !bytes.Contains(line, []byte(text)) && !unusual(line) {
			return false
		}
	}
	if len(s.any) > 0 && !slices.ContainsFunc(s.any, func(text string) bool { return bytes.Contains(line, []byte(text)) }) && !unusual(line) {
		return false
	}
	for _, text := range s.folded {
		if !containsFolded(line, text) && !unusual(line) && !bytes.Contains(line, []byte("\u212a")) && !bytes.Contains(line, []byte("\u0130")) {
			return false
		}
	}
	return true
}

func unusual(line []byte) bool {
	return bytes.Contains(line, []byte(`\u`)) || bytes.Contains(line, []byte(`\/`))
}

// timeOf returns the time of a line that begins as the ledger writes it.
func timeOf(line []byte) (string, bool) {
	const key = `","time":"`
	i := bytes.Index(line[:min(len(line), 64)], []byte(key))
	if i < 0 || !bytes.HasPrefix(line, []byte(`{"v":1,"id":"`)) || len(line) < i+len(key)+len(timeForm) {
		return "", false
	}
	at := string(line[i+len(key):][:len(timeForm)])
	_, err := time.Parse(timeForm, at)
	return at, err == nil
}

// containsFolded reports whether a line contains an ASCII text, ignoring case. The text is in lower
// case.
func containsFolded(line []byte, text string) bool {
	// Looking for the rarest letter first rejects most lines early.
	at := strings.LastIndexAny(text, "zqjxkvwybpgf")
	at = max(at, 0)
	for _, c := range [...]byte{text[at], upperOf(text[at])} {
		for from := at; from < len(line); {
			i := bytes.IndexByte(line[from:], c)
			if i < 0 {
				break
			}
			if begin := from + i - at; begin+len(text) <= len(line) && equalFolded(line[begin:begin+len(text)], text) {
				return true
			}
			from += i + 1
		}
		if c == upperOf(c) {
			break
		}
	}
	return false
}

func upperOf(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}

func equalFolded(b []byte, text string) bool {
	for i := range b {
		if b[i] != text[i] && (b[i] != upperOf(text[i])) {
			return false
		}
	}
	return true
}
