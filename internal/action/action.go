// Package action runs commands after an answer was given.
//
// An action tells somebody: a log, a desktop, a channel. It must not be able to
// delay or change the answer that it is about. So it is started when the answer
// has been written, in a session of its own with nothing to read and nowhere to
// write, by a process of Cardea's own that stands between ([Start], [Perform]):
// the hook's process ends at once, and somebody is still there to end the
// command when its time is over, and to write down how it ended.
package action

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// Limit is how long a command may take.
	Limit = time.Minute
	// maxJob is how large a job may be, in bytes: what a pipe takes without a
	// reader.
	maxJob = 32 << 10
	// keepDays is how long the log of a day is kept.
	keepDays = 30
	// maxLog is how large the log of a day may grow, in bytes.
	maxLog = 4 << 20
	// Word is the command of Cardea's that performs a job from standard input.
	Word = "perform-action"
)

// Job is a command to run.
type Job struct {
	// Command is what the shell runs, Shown the same without secrets.
	Command string `json:"command"`
	Shown   string `json:"shown"`
	// Dir is the folder in which it runs.
	Dir string `json:"dir"`
	// Log is the folder of the log, "" for none.
	Log string `json:"log"`
	// Limit is how long it may take; zero is [Limit].
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

// Start has a job performed by a process of its own, and does not wait for it.
// program is Cardea's own binary.
func Start(program string, j Job) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if len(data) > maxJob {
		return fmt.Errorf("start the action %s: it is larger than %d bytes", j.Trigger, maxJob)
	}
	cmd := exec.Command(program, Word)
	cmd.Dir = j.Dir
	apart(cmd)
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

// Perform runs the job that stands on standard input, and writes down how it
// ended.
func Perform(in io.Reader) error {
	var j Job
	if err := json.NewDecoder(io.LimitReader(in, maxJob+1)).Decode(&j); err != nil {
		return fmt.Errorf("read the action: %w", err)
	}
	begin := time.Now()
	r := record{V: 1, When: begin.UTC(), Command: j.Shown, About: j.About}
	err := run(j)
	r.Millis = time.Since(begin).Milliseconds()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		r.TimedOut, r.Exit = true, -1
	case errors.As(err, &exit):
		r.Exit = exit.ExitCode()
	case err != nil:
		r.Error, r.Exit = err.Error(), -1
	}
	return write(j.Log, r)
}

// run runs the command with nothing to read and nowhere to write.
func run(j Job) error {
	limit := j.Limit
	if limit <= 0 {
		limit = Limit
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := shell(ctx, j.Command)
	cmd.Dir = j.Dir
	cmd.Env = append(os.Environ(), "CLAUDE_PROJECT_DIR="+j.Dir, "CARDEA_TRIGGER="+j.Trigger, "CARDEA_EFFECT="+j.Effect, "CARDEA_RULE="+j.Rule,
		"CARDEA_EVENT="+j.Event, "CARDEA_TOOL="+j.Tool, "CARDEA_HARNESS="+j.Harness)
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
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
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		prune(dir)
	case !info.Mode().IsRegular():
		return fmt.Errorf("log the action: %s is no regular file", path)
	case info.Size() > maxLog:
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("log the action: %w", err)
	}
	_, err = f.Write(append(bytes.TrimSpace(data), '\n'))
	return errors.Join(err, f.Close())
}

// prune removes the oldest logs.
func prune(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".jsonl") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	for _, n := range names[:max(0, len(names)-keepDays+1)] {
		_ = os.Remove(filepath.Join(dir, n)) // what stays is removed another day
	}
}
