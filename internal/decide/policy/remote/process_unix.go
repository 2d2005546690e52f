//go:build unix

package remote

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// process is a process that this one started. Package os would start another one
// first, to see whether the system has handles of processes, which takes as long
// as the start itself.
type process struct {
	pid int

	mu     sync.Mutex
	buried bool
}

// launch starts a program with three files.
func launch(path string, in, out, errs *os.File) (*process, error) {
	pid, err := syscall.ForkExec(path, []string{path, Policies}, &syscall.ProcAttr{Dir: filepath.Dir(path), Env: []string{},
		Files: []uintptr{in.Fd(), out.Fd(), errs.Fd()}})
	if err != nil {
		return nil, &os.PathError{Op: "start", Path: path, Err: err}
	}
	return &process{pid: pid}, nil
}

// kill ends the process, unless it is buried: its number may be another's then.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.buried {
		_ = syscall.Kill(p.pid, syscall.SIGKILL) // it is gone where this fails
	}
}

// bury waits until a process that was killed is gone.
func (p *process) bury() {
	p.mu.Lock()
	p.buried = true
	p.mu.Unlock()
	for {
		if _, err := syscall.Wait4(p.pid, nil, 0, nil); err != syscall.EINTR {
			return
		}
	}
}
