package person

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Check makes sure that a person wants what a command is about to do. All commands
// that lift, install, remove, trust or approve something use it.
type Check struct {
	// Attending says why it is not sure that a person is typing, or nil. A nil
	// function means that nobody is.
	Attending func() error
	// Code is a fresh code, Stdin is where it is typed.
	Code  func() string
	Stdin io.Reader
}

// ErrDeclined is the error where the person typed nothing.
var ErrDeclined = errors.New("nothing was typed, so nothing was changed; run the command again and type what it shows")

// Attended says why nobody can confirm anything here, or nil.
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

// Confirm lets the person repeat a code. show tells them what they confirm, and
// prompt shows the code. The error says what to do.
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

// ReadLine reads a line of at most so many bytes, and nothing after it, so that what reads
// next gets the next line. "" is the end of the input.
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
