package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"cardea.dev"
	"cardea.dev/internal/document"
	"cardea.dev/internal/document/yamledit"
	"cardea.dev/internal/inforce"
	"cardea.dev/internal/install"
	"cardea.dev/internal/paths"
	"cardea.dev/internal/permissionlist"
	"cardea.dev/internal/person"
	"cardea.dev/internal/state"
)

// offerExpansion asks a person at a terminal whether what the harness's own lists
// allow shall count for the parts of a line, which is what they most want of a gate.
// It asks where the lists allow something and the person has not said yet.
func offerExpansion(p Process, h install.Harness, s site, out *screen) error {
	l := load(p, &s.Place, nil)
	found := 0
	for i := range l.Permissions {
		if e := &l.Permissions[i]; e.Effect == cardea.Allow && e.Form != permissionlist.Nothing && e.Counts(h.Name) {
			found++
		}
	}
	if found == 0 || s.Place.Dirs.User == "" || !p.attended() || saidOfExpansion(l) {
		return nil
	}
	path := filepath.Join(s.Place.Dirs.User, "cardea.yaml")
	err := p.byKey("and Enter to write permissions: {expand: true} into "+path+", or Enter alone to leave it", func(out *screen) {
		out.printf("\n%s of %s's lists allow something. Expanded, an entry for npm test also allows \"timeout 30 npm test && git status\".\n", entries(int64(found)), h.Title)
	})
	if errors.Is(err, person.ErrDeclined) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := state.ReadLinked(path, document.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = []byte(settingsTemplate(true)), nil
	}
	if err != nil {
		return fmt.Errorf("read your settings: %w", err)
	}
	edited, result, err := yamledit.Set(string(text), []string{"permissions", "expand"}, "true")
	if err != nil || result == yamledit.Kept {
		return errors.Join(fmt.Errorf("%s was not changed; write permissions: {expand: true} there by hand", path), err)
	}
	remember := p.remembering(false)
	if err := state.Write(paths.Real(path), []byte(edited)); err != nil {
		return fmt.Errorf("write your settings: %w", err)
	}
	out.printf("wrote permissions: {expand: true} into %s\n", path)
	return cmp.Or(remember(), out.err)
}

// saidOfExpansion reports whether some settings say whether lists are expanded.
func saidOfExpansion(l *inforce.Loaded) bool {
	_, said := l.Given("permissions.expand")
	return said || l.Expands()
}
