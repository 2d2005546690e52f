package testrun

import (
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(InMemory(m)) }

func TestPick(t *testing.T) {
	t.Setenv("CARDEA_LONG", "")
	if Long() || Pick(1, 2) != 1 {
		t.Error("a run is long by default")
	}
	t.Setenv("CARDEA_LONG", "1")
	if !Long() || Pick(1, 2) != 2 {
		t.Error("CARDEA_LONG=1 has no effect")
	}
}

func TestOnDisk(t *testing.T) {
	if dir := OnDisk(t); strings.HasPrefix(dir, "/dev/") {
		t.Error(dir)
	}
}

func TestInMemory(t *testing.T) {
	if dir := t.TempDir(); strings.HasPrefix(os.TempDir(), "/dev/shm/") && !runsPrograms(dir) {
		t.Error("programs cannot be started in ", dir)
	}
}
