package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/judge/fakeprovider"
)

// traced runs the hook under strace. It returns the answer, and the system calls of the
// hook and its children that start programs or reach other machines and processes.
func (s *fixture) traced(event, command string) (answer string, calls []string) {
	s.t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		s.t.Fatal("this test needs strace; install it (apt-get install strace)")
	}
	log := filepath.Join(s.t.TempDir(), "trace")
	c := exec.Command(strace, "-f", "-qq", "-e", "trace=execve,execveat,socket,connect,sendto,sendmsg", "-o", log, s.exe("cardea"), "check", "--harness", "claude-code", "--limit", "1m")
	c.Dir, c.Env = s.work, s.env
	c.Stdin = strings.NewReader(
		fmt.Sprintf(`{"session_id":"s","transcript_path":"/t","cwd":%q,"permission_mode":"default","hook_event_name":%q,"tool_name":"Bash","tool_input":{"command":%q}}`, s.work, event, command),
	)
	out, err := c.Output()
	if err != nil {
		s.t.Fatalf("strace: %v: %s", err, out)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\d+ +((?:execve|execveat|socket|connect|sendto|sendmsg)\(.*)$`).FindAllStringSubmatch(string(data), -1) {
		calls = append(calls, m[1])
	}
	return string(out), calls
}

// A call that the guards decide opens no connection and starts no program, for any set-up of
// the judge: no judge is asked, no command for a key runs, and cardea-engine does not start. A
// call that reaches the judge does all of it, which shows that this test detects it.
func TestGuardsContactNobody(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("strace is Linux's")
	}
	s := install(t)
	if err := os.RemoveAll(filepath.Join(s.home, ".config/cardea/policies")); err != nil {
		t.Fatal(err)
	}
	server := fakeprovider.Start(t)
	server.Answer(func(fakeprovider.Asked) fakeprovider.Behaviour {
		return fakeprovider.Behaviour{Text: fakeprovider.Good}
	})
	ran := filepath.Join(s.home, "key-command-ran")
	s.write(filepath.Join(s.home, "key"), fmt.Sprintf("#!/bin/sh\n/bin/touch %s\necho %s\n", ran, fakeprovider.Key))
	s.write(filepath.Join(s.home, ".config/cardea/cardea.yaml"), fmt.Sprintf(
		"judge:\n  enabled: true\n  chain: [{type: openai, endpoint: '%s', api_key_command: [%s]}]\n", server.Endpoint(judge.OpenAI), filepath.Join(s.home, "key")))
	for _, c := range []struct{ event, command, want string }{
		{"PermissionRequest", "git push --force origin main", `"behavior":"deny"`},
		{"PreToolUse", "git push --force origin main", `"permissionDecision":"deny"`},
		{"PreToolUse", "git reset --hard", `"permissionDecision":"ask"`},
		{"PermissionRequest", "git reset --hard; frobnicate", ""},
		{"PermissionRequest", "ls", `"behavior":"allow"`},
		{"PreToolUse", "frobnicate", ""}, // the prompt has not come yet
	} {
		answer, calls := s.traced(c.event, c.command)
		if !strings.Contains(answer, c.want) || c.want == "" && strings.Contains(answer, "behavior") {
			t.Errorf("%s: %s", c.command, answer)
		}
		// The hook itself, which hands over a call whose settings are not compiled yet.
		others := slices.DeleteFunc(slices.Clone(calls), func(call string) bool {
			return strings.HasPrefix(call, `execve("`+s.bin+string(filepath.Separator)) && strings.Contains(call, `"check", "--harness"`)
		})
		if len(calls) == 0 || len(others) > 0 {
			t.Errorf("%s %s: more than the hook itself was started, or something was contacted:\n%s", c.event, c.command, strings.Join(calls, "\n"))
		}
	}
	if asked, others := server.Asked(); len(asked)+others > 0 {
		t.Error("the provider was contacted")
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("the command for the key ran")
	}
	answer, calls := s.traced("PermissionRequest", "frobnicate")
	all := strings.Join(calls, "\n")
	_, port, err := net.SplitHostPort(strings.TrimPrefix(strings.Split(server.Endpoint(judge.OpenAI), "/openai")[0], "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(answer, `"behavior":"allow"`) || !strings.Contains(all, `cardea-engine", ["`) || !strings.Contains(all, `"judge"]`) || !strings.Contains(all, filepath.Join(s.home, "key")) ||
		!strings.Contains(all, "htons("+port+")") {
		t.Errorf("what reaches the judge is not seen: %s\n%s", answer, all)
	}
	if _, err := os.Lstat(ran); err != nil {
		t.Error("the command for the key did not run")
	}
}
