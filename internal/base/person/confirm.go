package person

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Check confirms that a person wants what a command is about to do. All commands that lift,
// install, remove, trust or approve something use it.
type Check struct {
	// Attending returns nil if a person is typing, else the reason for doubt. If Attending
	// itself is nil, no person is.
	Attending func() error
	// Code returns a new code. The person types it on Stdin.
	Code  func() string
	Stdin io.Reader
}

// ErrDeclined is the error if the person typed nothing.
var ErrDeclined = errors.New("nothing was typed, so nothing was changed; run the command again and type what it shows")

// Attended returns an error if no person can confirm anything here, else nil.
func (c Check) Attended() error {
	err := errors.New("standard input is no terminal; do this in a terminal of your own")
	if c.Attending != nil {
		err = c.Attending()
	}
	if err != nil {
		return fmt.Errorf("only a person may do this: %w", err)
	}
	return nil
}

// Confirm has the person repeat a code. show displays what they confirm, and prompt
// displays the code. The error says what to do.
func (c Check) Confirm(show func(), prompt func(code string) error) error {
	if err := c.Attended(); err != nil {
		return err
	}
	show()
	code := c.Code()
	if err := prompt(code); err != nil {
		return err
	}
	line, err := ReadLine(c.Stdin, 256)
	if err != nil {
		return fmt.Errorf("read the code: %w", err)
	}
	switch strings.TrimSpace(line) {
	case code:
		return nil
	case "":
		return ErrDeclined
	}
	return errors.New("that is not the code, so nothing was changed; run the command again for another one")
}

// ReadLine reads a line of at most most bytes. It reads nothing after the line, so the next
// reader gets the next line. It returns "" at the end of the input.
func ReadLine(r io.Reader, most int) (string, error) {
	var line []byte
	for b := make([]byte, 1); len(line) < most && !bytes.HasSuffix(line, []byte("\n")); {
		n, err := r.Read(b)
		line = append(line, b[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
	}
	return string(line), nil
}
