package remote

import (
	"os"
	"path/filepath"
)

// process is a process that this one started.
type process struct{ *os.Process }

// launch starts a program with three files. Without the one variable no program
// starts properly.
func launch(path string, in, out, errs *os.File) (*process, error) {
	p, err := os.StartProcess(path, []string{path, Policies}, &os.ProcAttr{Dir: filepath.Dir(path), Env: []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")},
		Files: []*os.File{in, out, errs}})
	return &process{p}, err
}

// kill ends the process.
func (p *process) kill() { _ = p.Kill() } // it is gone where this fails

// bury waits until the process is gone.
func (p *process) bury() { _, _ = p.Wait() }
