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
	// maxAction is the maximum size of an action in bytes: a pipe takes as much without a
	// reader.
	maxAction = 32 << 10
	// keepDays is the number of days for which logs are stored.
	keepDays = 30
	// maxLog is the maximum size of a day's log in bytes.
	maxLog = 4 << 20
	// ActionCommand is the command of Cardea that performs an action from standard input.
	ActionCommand = "perform-action"
)

// Action is a command that reports an answer: to a log, a desktop, a channel. It must not
// delay or change the answer. So a separate process of Cardea starts it after the answer
// ([Start], [Perform]), in its own session, without input or output. The hook's process
// ends at once, and the separate process enforces the limit and logs the result.
type Action struct {
	// Command is the shell command, Shown the same without secrets.
	Command string `json:"command"`
	Shown   string `json:"shown"`
	// Dir is the command's working folder.
	Dir string `json:"dir"`
	// Log is the folder of the log, "" for no log.
	Log string `json:"log"`
	// Limit is the maximum duration; zero means [limit.Action].
	Limit time.Duration `json:"limit"`
	About
}

// About describes the answer. The command gets it in variables; none of it is the agent's
// text.
type About struct {
	// Trigger is the key of the action in the settings: "on_halt", "violations.BASH-001".
	Trigger string `json:"trigger"`
	Effect  string `json:"effect"`
	Rule    string `json:"rule"`
	Event   string `json:"event"`
	Tool    string `json:"tool"`
	Harness string `json:"harness"`
}

// Start performs an action in a separate process, and does not wait for it. program is
// Cardea's own binary.
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

// StartSelf starts Cardea's own binary in a folder, without input, and does not wait for
// it.
func StartSelf(program, dir string, args ...string) error { return start(program, dir, nil, args) }

// StartAlone starts Cardea's own binary in the root folder, without input and with only
// these variables, and does not wait for it.
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

// Perform runs the action read from in, and logs the result.
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

// runAction runs the command without input and output.
func runAction(j Action) error {
	_, _, err := Process{Shell: j.Command, Dir: j.Dir, Limit: cmp.Or(j.Limit, limit.Action), KeepGroup: true,
		Env: append(os.Environ(), "CLAUDE_PROJECT_DIR="+j.Dir, "CARDEA_TRIGGER="+j.Trigger, "CARDEA_EFFECT="+j.Effect, "CARDEA_RULE="+j.Rule,
			"CARDEA_EVENT="+j.Event, "CARDEA_TOOL="+j.Tool, "CARDEA_HARNESS="+j.Harness)}.Run(context.Background())
	return err
}

// write appends a line to the log of the day.
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
