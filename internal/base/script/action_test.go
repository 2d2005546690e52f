//go:build unix

package script

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func perform(t *testing.T, j Action) record {
	t.Helper()
	data, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	if err := Perform(strings.NewReader(string(data))); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(j.Log, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no log: %v", err)
	}
	text, err := os.ReadFile(files[len(files)-1])
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var r record
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPerform(t *testing.T) {
	dir, log := t.TempDir(), filepath.Join(t.TempDir(), "actions")
	about := About{Trigger: "on_halt", Effect: "halt", Rule: "R", Event: "PreToolUse", Tool: "Bash", Harness: "claude-code"}
	r := perform(t, Action{Command: "pwd > out; echo $CARDEA_TRIGGER $CARDEA_EFFECT $CARDEA_RULE $CARDEA_EVENT $CARDEA_TOOL $CARDEA_HARNESS >> out; cat >> out; echo said",
		Shown: "shown", Dir: dir, Log: log, About: about})
	if r.Exit != 0 || r.TimedOut || r.Command != "shown" || r.About != about || r.V != 1 || r.When.IsZero() {
		t.Errorf("%+v", r)
	}
	out, _ := os.ReadFile(filepath.Join(dir, "out"))
	if string(out) != dir+"\non_halt halt R PreToolUse Bash claude-code\n" {
		t.Errorf("%q", out)
	}
	if r := perform(t, Action{Command: "exit 7", Dir: dir, Log: log}); r.Exit != 7 {
		t.Errorf("%+v", r)
	}
	if r := perform(t, Action{Command: "true", Dir: dir + "/none", Log: log}); r.Exit != -1 || r.Error == "" {
		t.Errorf("%+v", r)
	}
	begin := time.Now()
	if r := perform(t, Action{Command: "trap '' TERM; sleep 300", Dir: dir, Log: log, Limit: 200 * time.Millisecond}); !r.TimedOut || time.Since(begin) > 10*time.Second {
		t.Errorf("%+v after %s", r, time.Since(begin))
	}
	if err := Perform(strings.NewReader("x")); err == nil {
		t.Error("no job")
	}
	if err := Perform(strings.NewReader(`{"command": "true"}`)); err != nil {
		t.Errorf("without a log: %v", err)
	}
}

// TestLogIsBounded checks the limits of the log, in days and in size.
func TestLogIsBounded(t *testing.T) {
	log := t.TempDir()
	for i := range 40 {
		name := time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC).Format("2006-01-02") + ".jsonl"
		if err := os.WriteFile(filepath.Join(log, name), []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	perform(t, Action{Command: "true", Log: log})
	files, _ := filepath.Glob(filepath.Join(log, "*.jsonl"))
	if len(files) != keepDays {
		t.Errorf("%d days are kept", len(files))
	}
	today := files[len(files)-1]
	if err := os.WriteFile(today, make([]byte, maxLog+1), 0o600); err != nil {
		t.Fatal(err)
	}
	data, _ := json.Marshal(Action{Command: "true", Log: log})
	if err := Perform(strings.NewReader(string(data))); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(today); info.Size() != maxLog+1 {
		t.Errorf("the log grows to %d", info.Size())
	}
	if err := os.Remove(today); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(today, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Perform(strings.NewReader(string(data))); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a log that is a folder: %v", err)
	}
}

func TestStart(t *testing.T) {
	dir := t.TempDir()
	stub := filepath.Join(dir, "cardea")
	if err := os.WriteFile(stub, []byte("#!/bin/sh\necho $1 > "+dir+"/word; cat > "+dir+"/job.tmp; mv "+dir+"/job.tmp "+dir+"/job; sleep 30\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := Start(stub, Action{Command: "x", Dir: dir, About: About{Rule: "R"}}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it waits for %s", took)
	}
	for range 100 {
		if _, err := os.Stat(dir + "/job"); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	word, _ := os.ReadFile(dir + "/word")
	job, _ := os.ReadFile(dir + "/job")
	var j Action
	if err := json.Unmarshal(job, &j); err != nil || strings.TrimSpace(string(word)) != ActionCommand || j.Command != "x" || j.Rule != "R" {
		t.Errorf("%s %s %v", word, job, err)
	}
	if err := Start(dir+"/none", Action{Dir: dir}); err == nil {
		t.Error("a program that is not there")
	}
	if err := Start(stub, Action{Command: strings.Repeat("x", maxAction)}); err == nil {
		t.Error("a job that does not fit")
	}
}
