//go:build unix

package script

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "s.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\npwd; echo $CARDEA_SIGNAL\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "plain.sh")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\necho x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	never := func(why string) any {
		return map[string]any{"ok": false, "ran": false, "error": why, "timed_out": false}
	}
	ended := func(why, output string, code int) any {
		return map[string]any{"ok": false, "error": why, "timed_out": false, "exit_code": code, "output": output, "success": false}
	}
	for _, tt := range []struct {
		name   string
		script Signal
		stdin  string
		want   any
	}{
		{"text", Signal{Command: "echo '  a b  '"}, "", "a b"},
		{"nothing", Signal{Command: "true"}, "", ""},
		{"JSON", Signal{Command: `echo '{"a": [1, true]}'`}, "", map[string]any{"a": []any{json.Number("1"), true}}},
		{"two values are text", Signal{Command: "echo 1 2"}, "", "1 2"},
		{"a number", Signal{Command: "echo 12"}, "", json.Number("12")},
		{"standard input", Signal{Command: "cat"}, "\"event\"", "event"},
		{"standard input that is not read", Signal{Command: "echo x"}, strings.Repeat("y", 1<<20), "x"},
		{"no text", Signal{Command: `printf '\377a'`}, "", "\uFFFDa"},
		{"a file, in its folder", Signal{Name: "s", File: script, Dir: dir}, "", dir + "\ns"},
		{"failed", Signal{Command: "echo out; echo why >&2; exit 3"}, "", ended("exit status 3: why", "out", 3)},
		{"failed without a word", Signal{Command: "exit 3"}, "", ended("exit status 3", "", 3)},
		{"too much", Signal{Command: "yes"}, "", Failed("it says more than 1048576 bytes", false)},
		{"a file that is not there", Signal{File: dir + "/none"}, "", never("fork/exec " + dir + "/none: no such file or directory")},
		{"a file that may not be executed", Signal{File: plain}, "", never("fork/exec " + plain + ": permission denied; make it executable: chmod +x")},
		{"killed", Signal{Command: "kill -9 $$"}, "", ended("signal: killed", "", -1)},
	} {
		r := runSignal(context.Background(), tt.script, []byte(tt.stdin))
		if !reflect.DeepEqual(r.Value, tt.want) {
			t.Errorf("%s: %#v", tt.name, r.Value)
		}
		if _, failed := tt.want.(map[string]any); r.OK == (failed && tt.name != "JSON") {
			t.Errorf("%s: ok %v", tt.name, r.OK)
		}
		if v, _ := r.Value.(map[string]any); r.Unstarted != (v["ran"] == false) {
			t.Errorf("%s: unstarted %v", tt.name, r.Unstarted)
		}
	}
}

// TestTimeIsStored checks that a hanging script ends with its whole group at its limit or the
// caller's.
func TestTimeIsStored(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	hang := Signal{Name: "hang", Command: "sleep 300 & echo $! $$ >> " + pids + "; trap '' TERM; sleep 300"}
	begin := time.Now()
	limited := hang
	limited.Limit = 200 * time.Millisecond
	r := runSignal(context.Background(), limited, nil)
	if v, _ := r.Value.(map[string]any); v["timed_out"] != true || v["ok"] != false || r.OK {
		t.Errorf("%v", r.Value)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	all := Gather(ctx, []Signal{hang, {Name: "quick", Command: "echo 1"}}, nil)
	if v, _ := all["hang"].Value.(map[string]any); v["timed_out"] != true || all["quick"].Value != json.Number("1") {
		t.Errorf("%v", all)
	}
	if took := time.Since(begin); took > 60*time.Second {
		t.Errorf("took %s", took)
	}
	data, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range strings.Fields(string(data)) {
		runs := func() bool { // the kernel needs a moment to end a killed process
			status, err := os.ReadFile("/proc/" + pid + "/status")
			return err == nil && !strings.Contains(string(status), "Z (zombie)")
		}
		for end := time.Now().Add(30 * time.Second); runs() && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
		if runs() {
			t.Errorf("process %s is still there", pid)
		}
	}
}

// TestTogether runs scripts that wait until all have begun.
func TestTogether(t *testing.T) {
	var all []Signal
	dir := t.TempDir()
	for _, name := range strings.Split("abcdefgh", "") {
		all = append(all, Signal{Name: name, Limit: time.Minute,
			Command: "cd " + dir + " && touch " + name + "; until [ -e a -a -e b -a -e c -a -e d -a -e e -a -e f -a -e g -a -e h ]; do sleep 0.1; done; echo " + name})
	}
	got := Gather(context.Background(), all, nil)
	for name, r := range got {
		if r.Value != name || !r.OK || r.Took <= 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if len(got) != 8 {
		t.Errorf("%d results", len(got))
	}
}
