package web_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cardea.dev/internal/testing/sharedtest"
)

// built is the folder in which TestMain builds the programs.
var built string

// asClient is set in the environment of a child that is only a client. The daemon reads the
// child's environment and command line.
const asClient = "CARDEA_TEST_CLIENT"

func TestMain(m *testing.M) {
	if os.Getenv(asClient) != "" {
		client()
		return
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "cardea-web-test-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		built = dir
		if out, err := exec.Command("go", "build", "-o", dir+"/", "cardea.dev/cmd/...").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// asked is a request, and answered its response.
type asked struct {
	Method, URL, Body string
	Header            map[string]string
	Twice             bool `json:",omitempty"`
}

type answered struct {
	Status int
	Body   string
	Error  string
}

// client sends the requests that it reads, over persistent connections.
func client() {
	in := json.NewDecoder(os.Stdin)
	for {
		var a asked
		if in.Decode(&a) != nil {
			return
		}
		_ = json.NewEncoder(os.Stdout).Encode(a.send(http.DefaultClient))
	}
}

func (a asked) send(with *http.Client) (out answered) {
	r, err := http.NewRequest(a.Method, a.URL, strings.NewReader(a.Body))
	if err != nil {
		return answered{Error: err.Error()}
	}
	for name, value := range a.Header {
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Set(name, value)
		}
	}
	resp, err := with.Do(r)
	if err != nil {
		return answered{Error: err.Error()}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		out.Error = err.Error()
	}
	out.Status, out.Body = resp.StatusCode, string(body)
	return out
}

// fixture is an installation: the programs, a person, a project, and a daemon.
type fixture struct {
	t                                         testing.TB
	dir, bin, home, work, run, address, token string
	env                                       []string
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	dir, err := os.MkdirTemp("", "cw") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &fixture{t: t, dir: dir, bin: dir + "/bin", home: dir + "/home", work: dir + "/work", run: dir + "/run"}
	for _, d := range []string{s.bin, s.home, s.work + "/.git", s.run} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"cardea", "cardea-engine"} {
		data, err := os.ReadFile(filepath.Join(built, p))
		if err != nil {
			t.Fatal(err)
		}
		s.write(s.bin+"/"+p, string(data), 0o755)
	}
	s.env = []string{"HOME=" + s.home, "XDG_RUNTIME_DIR=" + s.run, "PATH=" + os.Getenv("PATH")}
	return s
}

func (s *fixture) write(path, text string, mode os.FileMode) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}
}

// daemon starts the daemon, and waits until it reports its address.
func (s *fixture) daemon(args ...string) *exec.Cmd {
	s.t.Helper()
	c := exec.Command(s.bin+"/cardea", append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...)
	c.Dir, c.Env, c.Stderr = s.work, s.env, os.Stderr
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	path := s.run + "/cardea/http"
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if data, err := os.ReadFile(path); err == nil {
			s.address = strings.TrimSpace(string(data))
			break
		}
		if time.Now().After(end) {
			s.t.Fatal("the daemon does not say where it listens")
		}
	}
	token, err := os.ReadFile(s.home + "/.local/state/cardea/http-token")
	if err != nil {
		s.t.Fatal(err)
	}
	s.token = strings.TrimSpace(string(token))
	return c
}

func (s *fixture) url(path string) string { return "http://" + s.address + path }

const hookPath = "/cardea/check?harness=claude-code&limit=1m"

// request returns a valid request.
func (s *fixture) request(method, path, body string) asked {
	h := map[string]string{"Authorization": "Bearer " + s.token}
	if body != "" {
		h["Content-Type"] = "application/json"
	}
	return asked{Method: method, URL: s.url(path), Body: body, Header: h}
}

// caller is a process that sends requests, with the environment of the site.
type caller struct {
	t   testing.TB
	in  *json.Encoder
	out *json.Decoder
	cmd *exec.Cmd
}

func (s *fixture) caller(env ...string) *caller {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	return s.started(exec.Command(self), env...)
}

// started starts a caller with a command.
func (s *fixture) started(c *exec.Cmd, env ...string) *caller {
	s.t.Helper()
	c.Dir, c.Env, c.Stderr = s.work, append(append([]string{asClient + "=1"}, s.env...), env...), os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = in.Close(); _ = c.Wait() })
	return &caller{s.t, json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out)), c}
}

func (c *caller) send(a asked) (out answered) {
	c.t.Helper()
	if err := c.in.Encode(a); err != nil {
		c.t.Fatal(err)
	}
	if err := c.out.Decode(&out); err != nil {
		c.t.Fatal(err)
	}
	return out
}

func (s *fixture) message(event, fields string) string {
	return fmt.Sprintf(`{"session_id":"s","transcript_path":"/t","cwd":%q,"permission_mode":"default","hook_event_name":%q,%s}`, s.work, event, fields)
}

func (s *fixture) bash(command string) string {
	text, _ := json.Marshal(command)
	return s.message("PreToolUse", fmt.Sprintf(`"tool_name":"Bash","tool_input":{"command":%s}`, text))
}

// cold returns the answer of "cardea check".
func (s *fixture) cold(text string, env ...string) (out string, exit int) {
	s.t.Helper()
	c := exec.Command(s.bin+"/cardea", "check", "--harness", "claude-code", "--limit", "1m")
	var b bytes.Buffer
	c.Dir, c.Env, c.Stdin, c.Stdout = s.work, append(s.env, env...), strings.NewReader(text), &b
	if err := c.Run(); c.ProcessState == nil {
		s.t.Fatal(err)
	}
	return b.String(), c.ProcessState.ExitCode()
}

func (s *fixture) forget() {
	s.t.Helper()
	for _, d := range []string{"ledger", "sessions"} {
		if err := os.RemoveAll(s.home + "/.local/state/cardea/" + d); err != nil {
			s.t.Fatal(err)
		}
	}
}

// A hook over HTTP gets the same bytes as from a process, for every recorded payload of
// Claude Code and for malformed messages.
func TestSameBytes(t *testing.T) {
	s := newFixture(t)
	s.write(
		s.home+"/.config/cardea/rules/a.yaml",
		"rules: [{id: ask-make, tool: Bash, match: {command: make}, effect: ask, reason: r}, {id: halt-x, tool: Bash, match: {command: halt}, effect: halt, reason: r}]\n",
		0o600,
	)
	s.write(s.home+"/.claude/settings.json", `{"permissions":{"allow":["Bash(npm test:*)"],"deny":["Bash(terraform:*)"]}}`, 0o600)
	s.write(s.home+"/.config/cardea/cardea.yaml", "permissions: {expand: true}\n", 0o600)
	s.daemon()
	var cases []string
	files, err := filepath.Glob(filepath.Join(sharedtest.Path(t, "payloads", "claude-code"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no payloads", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, string(data))
	}
	for _, command := range []string{
		"ls",
		"git push -f",
		"make",
		"halt",
		"terraform apply",
		"timeout 30 npm test",
		"frobnicate $x",
		"cat ~/.ssh/id_rsa",
		"> Makefile",
		"rm -rf ~",
	} {
		cases = append(cases, s.bash(command))
	}
	cases = append(cases, "{", "[]", "null", `{"a":1,"a":2}`, strings.Repeat("[", 5000), "\xff\xfe", s.bash(strings.Repeat("echo hello; ", 20000)))
	c := s.caller()
	for _, text := range cases {
		s.forget()
		want, exit := s.cold(text)
		s.forget()
		got := c.send(s.request("POST", hookPath, text))
		switch {
		case exit == 0 && (got.Status != 200 || got.Body != want):
			t.Errorf("%.100s:\nHTTP   %+v\ncardea %s", text, got, want)
		case exit != 0 && got.Status != 422:
			t.Errorf("%.100s: %+v, and cardea exits %d", text, got, exit)
		}
	}
}

// cardea answers the calls that the daemon leaves, with the caller's variables and flags.
func TestLeft(t *testing.T) {
	s := newFixture(t)
	ran := s.dir + "/ran"
	s.write(s.home+"/.config/cardea/cardea.yaml", fmt.Sprintf("actions: {on_any_denial: [{command: 'echo \"$PATH,$SOMETHING,$LD_X\" > %s'}]}\nfrom_env: [permissions]\n", ran), 0o600)
	s.env = append(s.env, "LD_X=daemon")
	s.daemon()
	c := s.caller("SOMETHING=else", "CARDEA_PERMISSIONS=1")
	if got := c.send(s.request("POST", hookPath, s.bash("git push --force origin main"))); got.Status != 200 || !strings.Contains(got.Body, `"permissionDecision":"deny"`) {
		t.Errorf("%+v", got)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		// The action has the daemon's PATH, and no variable that a caller could set.
		if data, err := os.ReadFile(ran); err == nil && len(data) > 0 {
			if string(data) != os.Getenv("PATH")+",,\n" {
				t.Errorf("the action had the variables %s", data)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal("the action did not run")
		}
	}
	// A message that is too large for the daemon.
	large := s.message("PreToolUse", `"tool_name":"Write","tool_input":{"file_path":"/etc/passwd","content":"`+strings.Repeat("x", 5<<20)+`"}`)
	want, _ := s.cold(large)
	if got := c.send(s.request("POST", hookPath, large)); got.Status != 200 || got.Body != want || want == "" {
		t.Errorf("large: %+v, and cardea %s", got, want)
	}
}

// The permissions on the agent's command line apply to answers of the daemon and of a process.
func TestCallersFlags(t *testing.T) {
	s := newFixture(t)
	s.write(s.home+"/.config/cardea/cardea.yaml", "permissions: {expand: true}\n", 0o600)
	s.daemon()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ask := func(text string) answered {
		c := exec.Command("bash", "-c", `exec -a claude "$0" --disallowedTools "Bash(frobnicate:*)"`, self)
		text = mustJSON(t, s.request("POST", hookPath, text))
		c.Dir, c.Env, c.Stdin, c.Stderr = s.work, append(s.env, asClient+"=1"), strings.NewReader(text), os.Stderr
		out, err := c.Output()
		var a answered
		if err != nil || json.Unmarshal(out, &a) != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return a
	}
	if got := ask(s.bash("timeout 5 frobnicate x")); !strings.Contains(got.Body, `"permissionDecision":"deny"`) {
		t.Errorf("the daemon: %+v", got)
	}
	s.write(s.home+"/.config/cardea/cardea.yaml", "permissions: {expand: true}\nactions: {on_any_denial: [{command: 'true'}]}\n", 0o600)
	if got := ask(s.bash("timeout 5 frobnicate x")); !strings.Contains(got.Body, `"permissionDecision":"deny"`) {
		t.Errorf("cardea: %+v", got)
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A prompt executes nothing over HTTP either.
func TestNobodyTypes(t *testing.T) {
	s := newFixture(t)
	s.daemon()
	c := s.caller("CLAUDE_CODE_SESSION_ATTENDED=1", "CARDEA_ROLE=full-access")
	for _, prompt := range []string{"/cardea register full-access", "/cardea disable", "/cardea:cardea disable", "/cardea switch full-access"} {
		text, _ := json.Marshal(prompt)
		got := c.send(s.request("POST", hookPath, s.message("UserPromptSubmit", `"prompt":`+string(text))))
		if got.Status != 200 || !strings.Contains(got.Body, "Not done yet") && !strings.Contains(got.Body, "there is no such command") {
			t.Errorf("%s: %+v", prompt, got)
		}
	}
	if found, _ := filepath.Glob(s.home + "/.local/state/cardea/*/registered/*"); len(found) > 0 {
		t.Error("a session is registered: ", found)
	}
}

// A request that is not from the person's own harness is refused.
func TestRefused(t *testing.T) {
	s := newFixture(t)
	s.daemon()
	denied := s.bash("git push --force origin main")
	change := func(do func(a *asked)) asked {
		a := s.request("POST", hookPath, denied)
		do(&a)
		return a
	}
	wrong := make([]byte, 32)
	_, _ = rand.Read(wrong)
	header := func(name, value string) asked { return change(func(a *asked) { a.Header[name] = value }) }
	here := s.caller()
	for name, tt := range map[string]struct {
		request asked
		status  int
	}{
		"no token":                {change(func(a *asked) { delete(a.Header, "Authorization") }), 401},
		"an empty token":          {header("Authorization", "Bearer "), 401},
		"a wrong token":           {header("Authorization", "Bearer "+hex.EncodeToString(wrong)), 401},
		"the token's beginning":   {header("Authorization", "Bearer "+s.token[:63]), 401},
		"the token and more":      {header("Authorization", "Bearer "+s.token+"0"), 401},
		"another scheme":          {header("Authorization", "Basic "+s.token), 401},
		"the token in the URL":    {change(func(a *asked) { delete(a.Header, "Authorization"); a.URL += "&token=" + s.token }), 401},
		"a name of another host":  {header("Host", "evil.example"), 421},
		"that name with the port": {header("Host", "evil.example"+s.address[strings.LastIndex(s.address, ":"):]), 421},
		"another port":            {header("Host", "127.0.0.1:1"), 421},
		"no port":                 {header("Host", "127.0.0.1"), 421},
		"a page":                  {header("Origin", "https://evil.example"), 403},
		"a page without a name":   {header("Origin", "null"), 403},
		"a page of this address":  {header("Origin", "http://"+s.address), 403},
		"a browser":               {header("Sec-Fetch-Site", "same-origin"), 403},
		"a proxy":                 {header("X-Forwarded-For", "10.0.0.1"), 403},
		"a form":                  {header("Content-Type", "text/plain"), 415},
		"no kind of text":         {change(func(a *asked) { delete(a.Header, "Content-Type") }), 415},
		"reading":                 {change(func(a *asked) { a.Method, a.Body = "GET", "" }), 405},
		"asking what is allowed":  {change(func(a *asked) { a.Method, a.Body = "OPTIONS", "" }), 405},
		"no harness":              {change(func(a *asked) { a.URL = s.url("/cardea/check") }), 400},
		"a harness that lets run": {change(func(a *asked) { a.URL = s.url("/cardea/check?harness=copilot-cli") }), 400},
		"settings":                {change(func(a *asked) { a.URL += "&settings=/tmp/x" }), 400},
		"a flag twice":            {change(func(a *asked) { a.URL += "&limit=2s" }), 400},
		"no limit at all":         {change(func(a *asked) { a.URL = s.url("/cardea/check?harness=claude-code&limit=1000h") }), 400},
		"nothing of that name":    {change(func(a *asked) { a.URL = s.url("/cardea") }), 404},
		"too much":                {change(func(a *asked) { a.Body = strings.Repeat("x", 65<<20) }), 413},
	} {
		got := here.send(tt.request)
		// After a message that is too large, the sender may be unable to read the answer.
		if got.Status != tt.status && !(tt.status == 413 && got.Error != "") {
			t.Errorf("%s: %+v, not %d", name, got, tt.status)
		}
		if strings.Contains(got.Body, s.token) || strings.Contains(got.Body, "permissionDecision") {
			t.Errorf("%s: it got %s", name, got.Body)
		}
	}
	// Another home folder, and this test itself, which has another home folder.
	if got := s.caller("HOME=" + s.dir).send(s.request("POST", hookPath, denied)); got.Status != 403 {
		t.Errorf("another home: %+v", got)
	}
	if got := here.send(s.request("POST", hookPath, denied)); got.Status != 200 || !strings.Contains(got.Body, "deny") {
		t.Errorf("in order: %+v", got)
	}
	if got := here.send(asked{Method: "GET", URL: s.url("/healthz")}); got.Status != 200 || got.Body != "ok\n" {
		t.Errorf("healthz: %+v", got)
	}
	if entries, _ := filepath.Glob(s.home + "/.local/state/cardea/ledger/*.jsonl"); len(entries) != 1 {
		t.Error(entries)
	} else if data, _ := os.ReadFile(entries[0]); bytes.Count(data, []byte("\n")) != 1 {
		t.Errorf("what was refused is recorded: %s", data)
	}
	log, err := os.ReadFile(s.home + "/.local/state/cardea/daemon.log")
	if err != nil || !strings.Contains(string(log), "401") || strings.Contains(string(log), s.token) || strings.Contains(string(log), hex.EncodeToString(wrong)) ||
		strings.Contains(string(log), "git push") {
		t.Errorf("the log: %v %s", err, log)
	}
}

// An agent sends its hooks itself. A program that it started is refused.
func TestProgramOfAnAgent(t *testing.T) {
	s := newFixture(t)
	s.daemon()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	as := func(program, name string) string {
		data, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		path := s.dir + "/" + name + "/claude"
		s.write(path, string(data), 0o755)
		return path
	}
	shell := as("/bin/bash", "shell")
	for name, tt := range map[string]struct {
		by   *exec.Cmd
		want int
	}{
		"the agent":              {exec.Command(as(self, "agent")), http.StatusOK},
		"a program of the agent": {exec.Command(shell, "-c", self+"; true"), http.StatusForbidden},
		"one below a shell":      {exec.Command(shell, "-c", "sh -c '"+self+"; true'; true"), http.StatusForbidden},
	} {
		if got := s.started(tt.by).send(s.request("POST", hookPath, s.bash("ls"))); got.Status != tt.want {
			t.Errorf("%s: %+v, want %d", name, got, tt.want)
		}
	}
}

// The daemon compares the resulting folders of the caller's variables, not their values. It
// reports a different folder by the variable's name, never by its value.
func TestFolders(t *testing.T) {
	s := newFixture(t)
	s.write(s.home+"/.config/cardea/rules/a.yaml", "rules: [{id: deny-make, tool: Bash, match: {command: make}, effect: deny, message: r}]\n", 0o600)
	for _, link := range [][2]string{
		{s.home, s.dir + "/link"},
		{s.home + "/.config", s.dir + "/config"},
		{s.home, s.work + "/home"},
		{"/nowhere/at/all", s.dir + "/dangling"},
		{s.dir + "/loop", s.dir + "/loop"},
	} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Fatal(err)
		}
	}
	s.daemon()
	for env, other := range map[string]string{
		"XDG_CONFIG_HOME=" + s.home + "/.config":                  "",
		"XDG_STATE_HOME=" + s.home + "/.local/state/":             "",
		"XDG_CACHE_HOME=/" + s.home + "//.cache":                  "",
		"XDG_DATA_HOME=/elsewhere":                                "",
		"CLAUDE_CONFIG_DIR=" + s.home + "/.claude":                "",
		"CLAUDE_CONFIG_DIR=" + s.dir + "/claude":                  "", // each call has its own
		"XDG_CONFIG_HOME=" + s.home + "/.local/../.config":        "",
		"XDG_CONFIG_HOME=" + s.dir + "/config":                    "",
		"XDG_CONFIG_HOME=":                                        "",
		"XDG_STATE_HOME=":                                         "",
		"XDG_CONFIG_HOME=relative":                                "", // ignored, as in cardea check
		"XDG_RUNTIME_DIR=" + s.run + "/":                          "",
		"XDG_RUNTIME_DIR=" + s.dir + "/home/../run":               "",
		"HOME=" + s.home + "/":                                    "",
		"HOME=/" + s.home + "/./":                                 "",
		"HOME=" + s.dir + "/link":                                 "",
		"HOME=" + s.work + "/home":                                "",
		"HOME=" + s.dir:                                           "HOME",
		"HOME=" + s.dir + "/dangling":                             "HOME",
		"HOME=" + s.dir + "/loop":                                 "HOME",
		"HOME=relative":                                           "HOME",
		"HOME=" + s.home + "\n/x":                                 "HOME",
		"XDG_CONFIG_HOME=" + s.dir + "/other":                     "XDG_CONFIG_HOME",
		"XDG_CONFIG_HOME=" + s.work + "/.config":                  "XDG_CONFIG_HOME",
		"XDG_STATE_HOME=" + s.dir + "/dangling":                   "XDG_STATE_HOME",
		"XDG_CACHE_HOME=" + s.dir + "/other":                      "XDG_CACHE_HOME",
		"XDG_RUNTIME_DIR=" + s.dir:                                "XDG_RUNTIME_DIR",
		"XDG_RUNTIME_DIR=":                                        "XDG_RUNTIME_DIR",
		"XDG_CONFIG_HOME=" + s.home + "/.config/../../work/.conf": "XDG_CONFIG_HOME",
	} {
		name, value, _ := strings.Cut(env, "=")
		caller := s.caller(env)
		for range 2 { // the connection stays
			switch got := caller.send(s.request("POST", hookPath, s.bash("make"))); {
			case other == "" && (got.Status != 200 || !strings.Contains(got.Body, "deny-make")):
				t.Errorf("%s: %+v", env, got)
			case other != "" && (got.Status != 403 || !strings.Contains(got.Body, "by "+other+";") || len(value) > 1 && strings.Contains(got.Body, value)):
				t.Errorf("%s: %+v, not 403 by %s", name, got, other)
			}
		}
	}
	log, err := os.ReadFile(s.home + "/.local/state/cardea/daemon.log")
	if err != nil || !strings.Contains(string(log), "by XDG_STATE_HOME") || strings.Contains(string(log), s.dir+"/other") {
		t.Errorf("the log: %v %s", err, log)
	}
}

// A link through which a caller's variables reach the daemon's folders may change later.
// The daemon's folders apply to the call before, and the next call is refused.
func TestLinkMoves(t *testing.T) {
	s := newFixture(t)
	evil := s.work + "/evil"
	s.write(s.home+"/.config/cardea/rules/a.yaml", "rules: [{id: deny-make, tool: Bash, match: {command: make}, effect: deny, message: r}]\n", 0o600)
	s.write(evil+"/.config/cardea/rules/a.yaml", "rules: [{id: allow-make, tool: Bash, match: {command: make}, effect: allow, message: r}]\n", 0o600)
	s.write(evil+"/.config/cardea/cardea.yaml", "rules: {off: [git-force-push]}\n", 0o600)
	link := s.work + "/link"
	point := func(to string) {
		t.Helper()
		fresh := link + "-"
		if err := os.Symlink(to, fresh); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(fresh, link); err != nil {
			t.Fatal(err)
		}
	}
	point(s.home)
	s.daemon()
	caller := s.caller("HOME="+link, "XDG_CONFIG_HOME="+link+"/.config")
	var stop sync.WaitGroup
	end := make(chan struct{})
	stop.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-end:
				return
			default:
				point([]string{s.home, evil}[n%2])
			}
		}
	})
	answers := 0
	for range 300 {
		switch got := caller.send(s.request("POST", hookPath, s.bash("make"))); {
		case got.Status == 200 && strings.Contains(got.Body, "deny-make"):
			answers++
		case got.Status != 403:
			t.Fatalf("%+v", got)
		}
	}
	close(end)
	stop.Wait()
	if answers == 0 {
		t.Error("no call came through")
	}
	point(evil)
	if got := caller.send(s.request("POST", hookPath, s.bash("make"))); got.Status != 403 || !strings.Contains(got.Body, "by HOME") {
		t.Errorf("%+v", got)
	}
	// The daemon's folders also apply to a call that is left to cardea.
	point(s.home)
	s.write(s.home+"/.config/cardea/cardea.yaml", "actions: {on_any_denial: [{command: 'true'}]}\n", 0o600)
	c := exec.Command(s.bin+"/cardea", "check", "--harness", "claude-code", "--limit", "1m", "--caller", fmt.Sprint(caller.cmd.Process.Pid))
	point(evil)
	c.Dir, c.Env, c.Stdin = s.work, s.env, strings.NewReader(s.bash("make"))
	if out, err := c.Output(); err != nil || !strings.Contains(string(out), "deny-make") {
		t.Errorf("%s, %v", out, err)
	}
}

// Another user of the machine gets no answer. The test needs root to become another user.
func TestAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("this test must run as root, to ask as another user")
	}
	s := newFixture(t)
	s.daemon()
	_, port, _ := net.SplitHostPort(s.address)
	line := fmt.Sprintf(
		"exec 3<>/dev/tcp/127.0.0.1/%s || exit 9; printf 'GET /healthz HTTP/1.1\\r\\nHost: %s\\r\\nAuthorization: Bearer %s\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3",
		port,
		s.address,
		s.token,
	)
	ask := func(uid uint32) string {
		c := exec.Command("bash", "-c", line)
		c.Dir, c.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, _ := c.Output() // it may be cut off while it writes
		return string(out)
	}
	if out := ask(65534); out != "" {
		t.Errorf("another user was told %q", out)
	}
	if out := ask(0); !strings.HasPrefix(out, "HTTP/1.1 200") {
		t.Errorf("this user was told %q", out)
	}
	c := exec.Command("cat", s.home+"/.local/state/cardea/http-token", s.run+"/cardea/http")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := c.Output(); err == nil || len(out) > 0 {
		t.Errorf("another user reads %q", out)
	}
}

// A slow sender, or one that opens connections and sends nothing, keeps no other client out.
func TestSlow(t *testing.T) {
	s := newFixture(t)
	s.daemon()
	var slow []net.Conn
	defer func() {
		for _, c := range slow {
			_ = c.Close()
		}
	}()
	for i := range 600 {
		c, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		slow = append(slow, c)
		if i%6 == 0 {
			if _, err := io.WriteString(c, "POST /cardea/check HTTP/1.1\r\nHost: "+s.address+"\r\nX-A: "); err != nil && i == 0 {
				t.Fatal(err)
			}
		}
	}
	begin := time.Now()
	c := s.caller()
	if got := c.send(s.request("POST", hookPath, s.bash("git push --force origin main"))); !strings.Contains(got.Body, `"permissionDecision":"deny"`) {
		t.Errorf("%+v after %s", got, time.Since(begin))
	}
	// The server does not wait for an incomplete head.
	_ = slow[594].SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadAll(slow[594]); err != nil {
		t.Errorf("a slow connection stays open: %v", err)
	}
}

// A token that others could have read is no longer accepted.
func TestOpenToken(t *testing.T) {
	s := newFixture(t)
	path := s.home + "/.local/state/cardea/http-token"
	for name, put := range map[string]func(){
		"open":    func() { s.write(path, strings.Repeat("ab", 32), 0o644); _ = os.Chmod(path, 0o644) },
		"short":   func() { s.write(path, "ab\n", 0o600) },
		"no hex":  func() { s.write(path, strings.Repeat("x", 64), 0o600) },
		"a link":  func() { _ = os.Symlink("/dev/zero", path) },
		"a pipe":  func() { _ = syscall.Mkfifo(path, 0o600) },
		"no file": func() { _ = os.Mkdir(path, 0o700) },
	} {
		s.write(path, "", 0o600)
		_ = os.Remove(path)
		put()
		c := exec.Command(s.bin+"/cardea", "serve", "--http", "127.0.0.1:0")
		c.Dir, c.Env = s.work, s.env
		out, err := c.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "token") {
			t.Errorf("%s: %v %s", name, err, out)
		}
		_ = os.Remove(path)
	}
	for address, want := range map[string]string{
		"0.0.0.0:0":      "this machine",
		"192.168.0.1:80": "this machine",
		"localhost:80":   "no address",
		"127.0.0.1":      "no address",
		"[::]:0":         "this machine",
		"127.0.0.2:0":    "this machine",
	} {
		c := exec.Command(s.bin+"/cardea", "serve", "--http", address)
		c.Dir, c.Env = s.work, s.env
		if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v %s", address, err, out)
		}
	}
}

// The daemon reports which settings of daemon.http it ignores and why, at the terminal and
// in its log. Doctor reports the same for the running daemon.
func TestNotFollowed(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	const own = "daemon: {http: '127.0.0.1:0'}\n"
	for name, tt := range map[string]struct {
		user, project string
		args, env     []string
		want          string
		ends, quiet   bool
	}{
		"followed":             {user: own, quiet: true},
		"nothing is said":      {quiet: true},
		"off in the settings":  {user: "daemon: {http: 'off'}\n", quiet: true},
		"the same by the flag": {user: own, args: []string{"--http", "127.0.0.1:0"}, quiet: true},
		"off by the flag": {
			user: "daemon: {http: '127.0.0.1:1'}\n",
			args: []string{"--http", "off"},
			want: "daemon.http is 127.0.0.1:1, which is not followed, since --http is off: the daemon listens for HTTP at no address",
		},
		"another one by the flag": {
			user: "daemon: {http: '127.0.0.1:1'}\n",
			args: []string{"--http", "127.0.0.1:0"},
			want: "daemon.http is 127.0.0.1:1, which is not followed, since --http is 127.0.0.1:0: the daemon listens for HTTP at 127.0.0.1:",
		},
		"of a project":             {project: own, want: "/work/.cardea/cardea.yaml:1:16: daemon.http is the person's to give"},
		"misspelt":                 {user: "daemon: {htp: '127.0.0.1:1'}\n", want: `unknown key "htp"`},
		"a broken file":            {user: "daemon: {http: '127.0.0.1:1'\n", want: "not valid YAML"},
		"a variable leads away":    {user: own, env: []string{"XDG_CONFIG_HOME=.config"}, want: "XDG_CONFIG_HOME=.config is not an absolute path"},
		"no address":               {user: "daemon: {http: here}\n", want: `daemon.http, or --http: "here" is no address`, ends: true},
		"another machine's":        {user: "daemon: {http: '10.0.0.1:80'}\n", want: "is not 127.0.0.1 or [::1]", ends: true},
		"the port is taken":        {user: "daemon: {http: '" + taken.Addr().String() + "'}\n", want: "another program has the port", ends: true},
		"control characters in it": {user: "daemon: {http: \"\\e[31mx\"}\n", want: "is no address", ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			s.write(s.home+"/.config/cardea/cardea.yaml", tt.user, 0o600)
			s.write(s.work+"/.cardea/cardea.yaml", tt.project, 0o600)
			c := exec.Command(s.bin+"/cardea", append([]string{"serve"}, tt.args...)...)
			var told strings.Builder
			c.Dir, c.Env, c.Stderr = s.work, append(s.env, tt.env...), &told
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			log := ""
			for end := time.Now().Add(time.Minute); !strings.Contains(log, "does not begin") && !strings.Contains(log, tt.want) || tt.want == "" &&
				!strings.Contains(log, "begins"); time.Sleep(5 * time.Millisecond) {
				if strings.HasPrefix(tt.want, "XDG_") && strings.Contains(log, "a variable that names your folders is not followed") {
					break
				}
				data, _ := os.ReadFile(s.home + "/.local/state/cardea/daemon.log")
				if log = string(data); time.Now().After(end) {
					t.Fatalf("%s\n%s", log, told.String())
				}
			}
			if !tt.ends {
				_ = c.Process.Signal(syscall.SIGTERM)
			}
			if err := c.Wait(); (err != nil) != tt.ends {
				t.Errorf("it ends with %v", err)
			}
			if !strings.Contains(told.String(), tt.want) || tt.quiet && told.String() != "" || strings.ContainsRune(told.String()+log, '\x1b') {
				t.Errorf("told %q, logged %q", told.String(), log)
			}
			if strings.Contains(log, "XDG_CONFIG_HOME=") {
				t.Errorf("the value of a variable is in the log: %s", log)
			}
		})
	}
}

// A second daemon, and doctor, report that the first one ignores daemon.http.
func TestRunsWithoutHTTP(t *testing.T) {
	s := newFixture(t)
	s.write(s.run+"/cardea/http", "127.0.0.1:9\n", 0o600) // left by a daemon that was killed
	if err := os.Chmod(s.run+"/cardea", 0o700); err != nil {
		t.Fatal(err)
	}
	first := exec.Command(s.bin+"/cardea", "serve")
	first.Dir, first.Env = s.work, s.env
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = first.Process.Kill(); _ = first.Wait() })
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if data, _ := os.ReadFile(s.home + "/.local/state/cardea/daemon.log"); strings.Contains(string(data), "begins") {
			if _, err := os.Stat(s.run + "/cardea/http"); err != nil {
				break
			}
		}
		if time.Now().After(end) {
			t.Fatal("it does not begin, or the address of another one stays")
		}
	}
	s.write(s.home+"/.config/cardea/cardea.yaml", "daemon: {http: '127.0.0.1:7'}\n", 0o600)
	run := func(args ...string) string {
		c := exec.Command(s.bin+"/cardea", args...)
		c.Dir, c.Env = s.work, s.env
		out, _ := c.CombinedOutput() // its exit code reports a problem
		return string(out)
	}
	if out := run("serve"); !strings.Contains(out, "runs already") || !strings.Contains(out, "it listens for HTTP at no address, and not at 127.0.0.1:7") {
		t.Error(out)
	}
	if out := run("doctor"); !strings.Contains(out, "daemon.http is 127.0.0.1:7, which is not followed (the daemon: runs): the daemon listens for HTTP at no address") {
		t.Error(out)
	}
	if out := run("doctor", "--json"); !strings.Contains(out, `"http":""`) {
		t.Error(out)
	}
}

// Doctor reports ready only if a harness with its variables gets an answer.
func TestDoctorAsks(t *testing.T) {
	s := newFixture(t)
	s.daemon()
	s.write(s.home+"/.config/cardea/cardea.yaml", "daemon: {http: '"+s.address+"'}\n", 0o600)
	hooks := ""
	for _, event := range []string{"PreToolUse", "PermissionRequest"} {
		hooks += fmt.Sprintf(
			`,%q:[{"matcher":"*","hooks":[{"type":"http","url":"http://%s/cardea/check?harness=claude-code&limit=8s","headers":{"Authorization":"Bearer %s"},"timeout":10,"onFailure":"block"}]}]`,
			event,
			s.address,
			s.token,
		)
	}
	file := s.home + "/.claude/settings.json"
	s.write(file, `{"hooks":{`+hooks[1:]+`}}`, 0o600)
	for name, tt := range map[string]struct {
		env  string
		mode os.FileMode
		want string
	}{
		"the same":                  {"A=b", 0o600, "Claude Code: ready"},
		"the same, written out":     {"XDG_CONFIG_HOME=" + s.home + "/.config/", 0o600, "Claude Code: ready"},
		"another cache":             {"XDG_CACHE_HOME=" + s.dir, 0o600, "403 Forbidden: Cardea: the caller's files are in another folder than the daemon's, by XDG_CACHE_HOME"},
		"another state":             {"XDG_STATE_HOME=" + s.dir, 0o600, "it has another token than the daemon's"},
		"a token for all":           {"A=b", 0o644, "others can read " + file + ", which holds the token of HTTP; run: rm -f " + s.home + "/.local/state/cardea/http-token"},
		"a token that none but one": {"A=b", 0o400, "Claude Code: ready"},
	} {
		if err := os.Chmod(file, tt.mode); err != nil {
			t.Fatal(err)
		}
		c := exec.Command(s.bin+"/cardea", "doctor", "claude")
		c.Dir, c.Env = s.work, append(s.env, tt.env)
		out, _ := c.CombinedOutput() // its exit code reports a problem
		if ready := strings.Contains(string(out), "Claude Code: ready"); !strings.Contains(string(out), tt.want) || ready != strings.HasPrefix(tt.env, "A=") &&
			ready != strings.HasPrefix(tt.env, "XDG_CONFIG") {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// Decisions can be read and followed.
func TestAPI(t *testing.T) {
	s := newFixture(t)
	d := s.daemon()
	c := s.caller()
	get := func(path string) string {
		t.Helper()
		got := c.send(s.request("GET", path, ""))
		if got.Status != 200 {
			t.Fatalf("%s: %+v", path, got)
		}
		return got.Body
	}
	r, err := http.NewRequest("GET", s.url("/v1/decisions/stream"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	following, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer following.Body.Close()
	for range 3 {
		c.send(s.request("POST", hookPath, s.bash("git push --force origin main")))
	}
	c.send(s.request("POST", hookPath, s.bash("ls")))
	lines, found := bufio.NewScanner(following.Body), 0
	for found < 4 && lines.Scan() {
		if text, is := strings.CutPrefix(lines.Text(), "data: "); is {
			var e struct {
				Effect  string
				Genuine bool
			}
			if err := json.Unmarshal([]byte(text), &e); err != nil || !e.Genuine || found < 3 && e.Effect != "deny" {
				t.Errorf("%v %s", err, text)
			}
			found++
		}
	}
	if found != 4 {
		t.Errorf("%d decisions were told", found)
	}
	var list struct {
		Decisions []struct{ Effect, Session string }
	}
	if err := json.Unmarshal([]byte(get("/v1/decisions?limit=3")), &list); err != nil || len(list.Decisions) != 3 || list.Decisions[1].Effect != "deny" {
		t.Errorf("%+v, %v", list, err)
	}
	var status struct {
		HTTP      string `json:"http"`
		Decisions map[string]int
		Projects  []struct {
			Name          string
			Calls, Denied int
		}
		Sessions []struct{ Name, Harness, Project string }
	}
	if err := json.Unmarshal([]byte(get("/v1/status")), &status); err != nil || status.HTTP != s.address || status.Decisions["deny"] != 3 ||
		len(status.Projects) != 1 || status.Projects[0].Calls != 4 || status.Projects[0].Denied != 3 || len(status.Sessions) != 1 || status.Sessions[0].Harness != "claude-code" {
		t.Errorf("%+v, %v", status, err)
	}
	page := get("/metrics")
	for _, want := range []string{
		`cardea_decisions_total{effect="deny",harness="claude-code",decider="rules"} 3`,
		"cardea_decision_seconds_count 4",
		"cardea_http_hook_seconds_bucket{le=\"+Inf\"} 4",
		"# TYPE cardea_decision_seconds histogram",
		"cardea_queue_waiting 0",
		"# TYPE cardea_kept_bytes gauge",
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	get("/v1/health")
	for path, want := range map[string]int{"/v1/decisions?limit=x": 400, "/v1/decisions?limit=100000": 400, "/v1/decisions?foo=1": 400,
		"/v1/decisions?session=a&session=b": 400,
		"/v1/decisions?session=a;limit=1":   400,
		"/v1/decisions/stream?session=a":    400,
		"/v1/status?limit=1":                400,
		"/v1/decisions?session=a&limit=2":   200,
		"/v1/nothing":                       404,
	} {
		if got := c.send(s.request("GET", path, "")); got.Status != want {
			t.Errorf("%s: %+v", path, got)
		}
	}
	// The daemon ends although a client follows, and answers the open requests.
	if err := d.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- d.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("ended: %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("it does not end while somebody follows")
	}
	if _, err := os.Stat(s.run + "/cardea/http"); err == nil {
		t.Error("the address is left")
	}
}

// Open calls are answered when the daemon ends.
func TestEndsGracefully(t *testing.T) {
	s := newFixture(t)
	d := s.daemon()
	var all sync.WaitGroup
	begun := make(chan bool, 100)
	for range 8 {
		c := s.caller()
		all.Go(func() {
			for {
				begun <- true
				got := c.send(s.request("POST", hookPath, s.bash("git push --force origin main")))
				if got.Error != "" && got.Status == 0 {
					if strings.Contains(got.Error, "refused") || strings.Contains(got.Error, "EOF") || strings.Contains(got.Error, "reset") {
						return // it has ended
					}
				}
				if !strings.Contains(got.Body, `"permissionDecision":"deny"`) {
					t.Errorf("%+v", got)
					return
				}
			}
		})
	}
	for range 40 {
		<-begun
	}
	go func() {
		for range begun {
			_ = 0 // the clients go on
		}
	}()
	if err := d.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := d.Wait(); err != nil {
		t.Errorf("ended: %v", err)
	}
	all.Wait()
}

// When its program is replaced, the daemon continues as the new program at the same address.
func TestReplaced(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits until the daemon looks")
	}
	s := newFixture(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	s.daemon("--http", address)
	c := s.caller()
	data, err := os.ReadFile(s.bin + "/cardea-engine")
	if err != nil {
		t.Fatal(err)
	}
	s.write(s.bin+"/new", string(data), 0o755)
	if err := os.Rename(s.bin+"/new", s.bin+"/cardea-engine"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		log, err := os.ReadFile(s.home + "/.local/state/cardea/daemon.log")
		if err == nil && strings.Count(string(log), "http: listens at "+address) == 2 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("it did not start again: %s", log)
		}
	}
	if got := c.send(s.request("POST", hookPath, s.bash("git push --force origin main"))); !strings.Contains(got.Body, `"permissionDecision":"deny"`) {
		t.Errorf("%+v", got)
	}
}
