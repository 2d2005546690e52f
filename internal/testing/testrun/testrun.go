// Package testrun sets how much a run of the tests may cost. By default tests take
// samples, so that the whole suite is quick. With CARDEA_LONG=1 they run everything:
// .ci/run sets it for most packages, .ci/run --full for all.
package testrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Long reports whether the tests run everything.
func Long() bool { return os.Getenv("CARDEA_LONG") != "" }

// Pick returns short, or long in a long run.
func Pick(short, long int) int {
	if Long() {
		return long
	}
	return short
}

// disk is the folder for temporary folders before InMemory.
var disk = os.TempDir()

// OnDisk returns a temporary folder that is not in memory, for tests that treat a path
// below /dev in another way.
func OnDisk(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(disk, "cardea-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	below := filepath.Join(dir, "001") // as deep as that of t.TempDir
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	return below
}

// InMemory runs the tests of a package, and returns the exit code for TestMain. Their
// temporary folders are in memory if the system has such a folder: creating a file there
// takes a tenth of the time.
func InMemory(m *testing.M) int {
	dir, err := os.MkdirTemp("/dev/shm", "cardea-test-")
	if err != nil {
		return m.Run()
	}
	defer os.RemoveAll(dir)
	// Some tests start bash as another user.
	if os.Chmod(dir, 0o755) == nil && runsPrograms(dir) {
		os.Setenv("TMPDIR", dir)
	}
	return m.Run()
}

// runsPrograms reports whether programs in a folder can be started. Some systems forbid
// it in memory.
func runsPrograms(dir string) bool {
	file := filepath.Join(dir, "program")
	defer os.Remove(file)
	return os.WriteFile(file, []byte("#!/bin/sh\n"), 0o700) == nil && exec.Command(file).Run() == nil
}
