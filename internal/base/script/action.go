package script

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/state"
)

const (
	// maxAction is how large an action may be, in bytes: what a pipe takes without a
	// reader.
	maxAction = 32 << 10
	// keepDays is how long the log of a day is kept.
	keepDays = 30
	// maxLog is how large the log of a day may grow, in bytes.
	maxLog = 4 << 20
	// ActionCommand is the command of Cardea's that performs an action from standard
	// input.
	ActionCommand = "perform-action"
)

// Action is a command that tells somebody of an answer: a log, a desktop, a
// channel. It must not delay or change the answer. So it is started when the answer
// has been written, in a session of its own with nothing to read and nowhere to
// write, by a process of Cardea's own that stands between ([Start], [Perform]): the
// hook's process ends at once, and somebody is still there to end the command when
// its time is over, and to write down how it ended.
type Action struct {
	// Command is what the shell runs, Shown the same without secrets.
	Command string `json:"command"`
	Shown   string `json:"shown"`
	// Dir is the folder in which it runs.
	Dir string `json:"dir"`
	// Log is the folder of the log, "" for none.
	Log string `json:"log"`
	// Limit is how long it may take; zero is [limit.Action].
	Limit time.Duration `json:"limit"`
	About
}

// About is what an action is about. It is told to the command in variables;
// none of it is the agent's text.
type About struct {
	// Trigger is the key under which the action stands: "on_halt",
	// "violations.BASH-001".
	Trigger string `json:"trigger"`
	Effect  string `json:"effect"`
	Rule    string `json:"rule"`
	Event   string `json:"event"`
	Tool    string `json:"tool"`
	Harness string `json:"harness"`
}

// Start has an action performed by a process of its own, and does not wait for it.
// program is Cardea's own binary.
func Start(program string, j Action) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if len(data) > maxAction {
		return fmt.Errorf("start the action %s: it is larger than %d bytes", j.Trigger, maxAction)
	}
	cmd := exec.Command(program, ActionCommand)
	cmd.Dir = j.Dir
	detach(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the action %s: %w", j.Trigger, err)
	}
	_, err = in.Write(data)
	return errors.Join(err, in.Close(), cmd.Process.Release())
}

// StartSelf starts Cardea's own binary in a folder, with nothing to read, and does not
// wait for it.
func StartSelf(program, dir string, args ...string) error { return start(program, dir, nil, args) }

// StartAlone starts Cardea's own binary in the root folder, with nothing to read and with
// these variables alone, and does not wait for it.
func StartAlone(program string, env []string, args ...string) error {
	return start(program, string(filepath.Separator), append([]string{}, env...), args)
}

func start(program, dir string, env, args []string) error {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, env
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", strings.Join(args, " "), err)
	}
	return cmd.Process.Release()
}

// record is a line of the log.
type record struct {
	V        int       `json:"v"`
	When     time.Time `json:"when"`
	Command  string    `json:"command"`
	Exit     int       `json:"exit"`
	TimedOut bool      `json:"timed_out"`
	Error    string    `json:"error,omitempty"`
	Millis   int64     `json:"ms"`
	About
}

// Perform runs the action that stands on standard input, and writes down how it
// ended.
func Perform(in io.Reader) error {
	var j Action
	if err := json.NewDecoder(io.LimitReader(in, maxAction+1)).Decode(&j); err != nil {
		return fmt.Errorf("read the action: %w", err)
	}
	begin := time.Now()
	r := record{V: 1, When: begin.UTC(), Command: j.Shown, About: j.About}
	err := runAction(j)
	r.Millis = time.Since(begin).Milliseconds()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, ErrTime):
		r.TimedOut, r.Exit = true, -1
	case errors.As(err, &exit):
		r.Exit = exit.ExitCode()
	case err != nil:
		r.Error, r.Exit = err.Error(), -1
	}
	return write(j.Log, r)
}

// runAction runs the command with nothing to read and nowhere to write.
func runAction(j Action) error {
	_, _, err := Process{Shell: j.Command, Dir: j.Dir, Limit: cmp.Or(j.Limit, limit.Action), KeepGroup: true,
		Env: append(os.Environ(), "CLAUDE_PROJECT_DIR="+j.Dir, "CARDEA_TRIGGER="+j.Trigger, "CARDEA_EFFECT="+j.Effect, "CARDEA_RULE="+j.Rule,
			"CARDEA_EVENT="+j.Event, "CARDEA_TOOL="+j.Tool, "CARDEA_HARNESS="+j.Harness)}.Run(context.Background())
	return err
}

// write adds a line to the log of the day.
func write(dir string, r record) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("log the action: %w", err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, r.When.Format("2006-01-02")+".jsonl")
	if _, err := os.Lstat(path); err != nil {
		if err := state.Prune(dir, keepDays-1, keepDays-1); err != nil {
			return fmt.Errorf("log the action: %w", err)
		}
	}
	f, info, err := state.Open(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return fmt.Errorf("log the action: %w", err)
	}
	if info.Size() > maxLog {
		return f.Close()
	}
	_, err = f.Write(append(data, '\n'))
	return errors.Join(err, f.Close())
}
