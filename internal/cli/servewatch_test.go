package cli

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/base/logfile"
	"cardea.dev/internal/hook"
)

// The desktop shows what changed, unless the person wants no notifications.
func TestSetUpIsTold(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	var log strings.Builder
	said := ""
	p := ThisProcess("cardea")
	p.Process = hook.ThisProcess("cardea")
	p.Dir = t.TempDir()
	p.Say = func(_ context.Context, title, body string) error { said = title + ": " + body; return nil }
	w := newSetUpWatch(p, logfile.To(&log, time.Now))
	if err := w.tell(t.Context(), "x changed"); err != nil || !strings.Contains(said, "x changed; run cardea doctor") {
		t.Errorf("%q, %v", said, err)
	}
	said = ""
	if err := os.MkdirAll(home+"/.config/cardea", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home+"/.config/cardea/cardea.yaml", []byte("human: {notify: false}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.tell(t.Context(), "x changed"); err != nil || said != "" {
		t.Errorf("it is told although the person wants none: %q, %v", said, err)
	}
	w.process.Say = nil
	if err := w.tell(t.Context(), "x changed"); err != nil {
		t.Error(err)
	}
	if got := w.status()["set_up_changed"]; got != "" {
		t.Errorf("changed without a look: %v", got)
	}
}
