package script

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Server is a child that reads requests from its standard input and writes answers to its
// standard output, until it is killed or its input ends.
type Server struct {
	In  io.WriteCloser
	Out io.ReadCloser

	cmd  *exec.Cmd
	ctx  context.Context // done when the server is killed
	kill context.CancelFunc
}

// StartServer starts a server. It gets two pipes and nothing else of this process: no
// variables, no files, no working folder.
func StartServer(path string, args ...string) (*Server, error) {
	seal()
	ctx, kill := context.WithCancel(context.Background())
	s := &Server{cmd: exec.CommandContext(ctx, path, args...), ctx: ctx, kill: kill}
	s.cmd.Dir, s.cmd.Env = filepath.Dir(path), []string{}
	if runtime.GOOS == "windows" {
		s.cmd.Env = []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")} // programs need it to start
	}
	group(s.cmd)
	var inErr, outErr error
	s.In, inErr = s.cmd.StdinPipe()
	s.Out, outErr = s.cmd.StdoutPipe()
	err := errors.Join(inErr, outErr)
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		kill()
		return nil, err
	}
	go func() {
		<-ctx.Done()
		_ = s.cmd.Wait() // closes the pipes; the error says only that it was killed
	}()
	return s, nil
}

// Kill kills the server.
func (s *Server) Kill() { s.kill() }

// Killed reports whether the server was killed.
func (s *Server) Killed() bool { return s.ctx.Err() != nil }

// Pid returns the server's process number.
func (s *Server) Pid() int { return s.cmd.Process.Pid }
