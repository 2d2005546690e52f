package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"cardea.dev/internal/base/peer"
	attending "cardea.dev/internal/base/person"
	"cardea.dev/internal/cli"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/hook/control"
	"cardea.dev/internal/hook/daemon"
	"cardea.dev/internal/testing/testrun"
)

// daemonVariable names the socket of the daemon that answers a script's calls. The other
// variables are the script's machine folders.
const daemonVariable = "TEST_DAEMON"

// asked is the header of a call to a test's daemon.
type asked struct{ Program, System, Managed string }

// byDaemon lets the daemon answer a call as cardea-hook does. is is false if the daemon
// leaves the call. stdin then repeats what was read of standard input.
func byDaemon(p cli.Process, socket string, args []string) (exit int, stdin io.Reader, is bool) {
	message, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	stdin = bytes.NewReader(message)
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	call, err := control.CheckRequest{Args: args, Dir: dir, Variables: control.VariablesOf(os.Environ()), Message: message}.Bytes()
	if err != nil {
		return 0, stdin, false // it is too long
	}
	head, _ := json.Marshal(asked{p.Program, os.Getenv("TEST_SYSTEM"), os.Getenv("TEST_MANAGED")})
	conn, err := net.Dial("unix", socket)
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	if _, err := conn.Write(append(append(head, '\n'), call...)); err != nil {
		panic(err)
	}
	a, err := control.ReadAnswer(conn)
	if err != nil {
		return 0, stdin, false
	}
	_, _ = os.Stdout.Write(a.Stdout)
	_, _ = os.Stderr.Write(a.Stderr)
	return a.Exit, stdin, true
}

// scriptDaemon answers the calls of scripts, with a cache between them.
type scriptDaemon struct {
	t              *testing.T
	memory         *inforce.Memory
	answered, left atomic.Int64
}

// inProcess is a policy engine in this process.
type inProcess struct{ rego.Engine }

func (inProcess) Close() {}

func (d *scriptDaemon) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			if err := d.attend(conn); err != nil {
				d.t.Error(err)
			}
		}()
	}
}

func (d *scriptDaemon) attend(conn net.Conn) error {
	var head asked
	line := []byte{}
	for one := make([]byte, 1); !bytes.HasSuffix(line, []byte("\n")); line = append(line, one...) {
		if _, err := conn.Read(one); err != nil {
			return err
		}
	}
	c, err := control.ReadCall(conn)
	if err == nil {
		err = json.Unmarshal(line, &head)
	}
	if err != nil {
		return err
	}
	pid, err := peer.PID(conn)
	if err != nil {
		return err
	}
	p := cli.ThisProcess(head.Program).Process
	if head.System != "" {
		p.Machine.System, p.Machine.Guarded = head.System, nil
	}
	if head.Managed != "" {
		p.Managed = head.Managed
	}
	a, err := daemon.Local{Process: p, Memory: d.memory, Lines: func() [][]string { return attending.CommandLinesAbove(pid) }}.Check(c, time.Time{})
	var left control.LeftError
	switch {
	case errors.As(err, &left):
		d.left.Add(1)
		_, err = conn.Write(control.Leaves(string(left)))
	case err == nil:
		d.answered.Add(1)
		_, err = conn.Write(a.Bytes())
	}
	return err
}

// TestScriptsByDaemon runs the scripts again with a daemon that answers their hooks, and
// keeps its cache between the calls of all scripts.
func TestScriptsByDaemon(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "cd") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", dir+"/s")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := &scriptDaemon{t: t, memory: inforce.NewMemory(time.Now, func() inforce.ClosingEngine { return inProcess{} })}
	go d.serve(l)
	files, err := filepath.Glob("../../testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool {
		text, err := os.ReadFile(f)
		return err != nil || !strings.Contains(string(text), "cardea check")
	})
	every, chosen := testrun.Pick(4, 1), []string{}
	for i := 0; i < len(files); i += every {
		chosen = append(chosen, files[i])
	}
	t.Run("scripts", func(t *testing.T) {
		testscript.Run(t, testscript.Params{Files: chosen, RequireExplicitExec: true, RequireUniqueNames: true, Condition: condition, Cmds: scriptCommands(t),
			Setup: func(env *testscript.Env) error {
				env.Setenv(daemonVariable, dir+"/s")
				return clean(env)
			}})
	})
	text := fmt.Sprintf("%d calls were answered by the daemon, %d were left", d.answered.Load(), d.left.Load())
	// A few scripts are not a fair sample of the calls that a daemon leaves.
	most := d.answered.Load() >= d.left.Load() || !testrun.Long()
	if t.Log(text); !most || d.answered.Load() < int64(len(chosen)) {
		t.Error(text)
	}
}
