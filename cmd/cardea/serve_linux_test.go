package main

import (
	"os"
	"path/filepath"
	"testing"
)

// At a terminal, the daemon prints where it listens and where its log is, in one line.
func TestServeSaysWhere(t *testing.T) {
	h := newHome(t)
	x := onTerminal(t, h.command("cardea", "serve", "--http", "127.0.0.1:0"), 400, 10)
	x.waits("listens at "+filepath.Join(h.dir, "run/cardea/daemon")+" and http://127.0.0.1:", "; its log is "+filepath.Join(h.dir, ".local/state/cardea/daemon.log")+"; Ctrl-C ends it")
	x.types("\x03")
	x.ends()
	if _, err := os.Stat(filepath.Join(h.dir, ".local/state/cardea/daemon.log")); err != nil {
		t.Error(err)
	}
}
