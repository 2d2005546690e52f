package web

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"cardea.dev/internal/base/state"
)

// tokenSize is the length of the token in characters: 32 random bytes in hex.
const tokenSize = 64

// Token returns the token in a state folder, and makes one if it is missing. It fails if
// others could read the file, since the token is then no secret.
func Token(folder string) (string, error) {
	if folder == "" {
		return "", errors.New("there is no state folder for the token of HTTP; set HOME or XDG_STATE_HOME")
	}
	path := state.TokenPath(folder)
	err := state.PrivateFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeToken(path); err == nil {
			err = state.PrivateFile(path)
		}
	}
	if err != nil {
		return "", fmt.Errorf("the token of HTTP: %w; remove the file, and run \"cardea install claude --http\" again for a new one", err)
	}
	text, err := state.Read(path, tokenSize+1)
	if err != nil {
		return "", fmt.Errorf("read the token of HTTP: %w", err)
	}
	token := string(text[:min(len(text), tokenSize)])
	if raw, err := hex.DecodeString(token); err != nil || len(raw) != tokenSize/2 || len(text) > tokenSize && text[tokenSize] != '\n' {
		return "", fmt.Errorf("the token of HTTP in %s is damaged; remove the file, and run \"cardea install claude --http\" again for a new one", path)
	}
	return token, nil
}

// makeToken writes a new token. Creating a link does not replace a file, so the first of
// several processes wins.
func makeToken(path string) error {
	raw := make([]byte, tokenSize/2)
	_, _ = rand.Read(raw) // it ends the process if it cannot read random bytes
	fresh := path + "-" + hex.EncodeToString(raw[:4])
	if _, err := rand.Read(raw); err != nil {
		return err
	}
	if err := state.Write(fresh, append([]byte(hex.EncodeToString(raw)), '\n')); err != nil {
		return err
	}
	defer os.Remove(fresh)
	if err := os.Link(fresh, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
