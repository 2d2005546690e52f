package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// head is the end of the chain: the last line's day, number and mac, and the size of the day's file
// including it. It has a constant length, so that one write replaces it.
type head struct {
	V    int    `json:"v"`
	Day  string `json:"day"`
	N    int64  `json:"n"`
	Size int64  `json:"size"`
	Last string `json:"last"`
}

// headLen is the length of the head's file, in bytes.
const headLen = 384

// readHead reads the head. ok is false for a file that this ledger did not write; empty is true for
// an empty file.
func readHead(key []byte, f *os.File) (h head, empty, ok bool, err error) {
	buf := make([]byte, headLen+1)
	n, err := f.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return head{}, false, false, err
	}
	if n == 0 {
		return head{}, true, false, nil
	}
	text := bytes.TrimRight(buf[:n], " \n")
	if _, _, ours := unsign(key, "ledger head", text); n != headLen || !ours || !h.parse(text) || h.V != version || !isDay(h.Day) {
		return head{}, false, false, nil
	}
	return h, false, true, nil
}

// writeHead replaces the head.
func writeHead(key []byte, f *os.File, h head) error {
	h.V = version
	line, _ := sign(key, "ledger head", h.append(make([]byte, 0, headLen)))
	line = line[:len(line)-1]
	if len(line) >= headLen {
		return fmt.Errorf("the head has %d bytes", len(line))
	}
	line = append(line, bytes.Repeat([]byte(" "), headLen-1-len(line))...)
	_, err := f.WriteAt(append(line, '\n'), 0)
	return err
}

// parse reads a line that append and sign wrote. It returns false for any other line.
func (h *head) parse(line []byte) bool {
	v, rest, _ := strings.Cut(strings.TrimPrefix(string(line), `{"v":`), `,"day":"`)
	day, rest, _ := strings.Cut(rest, `","n":`)
	n, rest, _ := strings.Cut(rest, `,"size":`)
	size, rest, _ := strings.Cut(rest, `,"last":"`)
	last, _, _ := strings.Cut(rest, `"`)
	var errs [3]error
	h.Day, h.Last = day, last
	h.V, errs[0] = strconv.Atoi(v)
	h.N, errs[1] = strconv.ParseInt(n, 10, 64)
	h.Size, errs[2] = strconv.ParseInt(size, 10, 64)
	return errors.Join(errs[:]...) == nil && bytes.HasPrefix(line, h.append(nil))
}
