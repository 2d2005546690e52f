package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/ask/supervisor/post"
)

// earlierRoot is where scripts/sample-state made the samples. Signed records contain the
// paths of their subjects.
const earlierRoot = "/tmp/cardea-sample"

const earlierState = "home/.local/state/cardea/"

// kindOfState is a kind of file that outlives a process.
type kindOfState struct {
	// files is a pattern for them in a sample.
	files string
	// writers are the source files that write them.
	writers string
	// read reads them with today's program and returns its output, which must contain want. It
	// is nil if nothing reads them, or later versions do not need them.
	read func(s *fixture) string
	want string
}

// command runs a command.
func command(words ...string) func(*fixture) string {
	return func(s *fixture) string { return s.run("", words...) }
}

// before returns the answer to a call of a session.
func before(session, line string) func(*fixture) string {
	return func(s *fixture) string {
		return s.run(fmt.Sprintf(`{"session_id":%q,"cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%q}}`, session, s.work, line),
			"check", "--harness", "claude-code", "--limit", "1m")
	}
}

// changed writes a file of the sample before it reads.
func changed(name, text string, read func(*fixture) string) func(*fixture) string {
	return func(s *fixture) string {
		s.write(filepath.Join(earlierRoot, name), text)
		return read(s)
	}
}

// kindsOfState are all kinds. Commands that change nothing come first.
var kindsOfState = []kindOfState{
	{earlierState + "key", "", command("audit", "verify"), "intact"},
	{earlierState + "ledger/head", "memory/ledger/ledger.go memory/ledger/group.go", command("audit", "verify"), "intact"},
	{earlierState + "ledger/????-??-??.jsonl", "memory/ledger/write.go", command("audit", "search", "--limit", "100"), "rules:no-frob"},
	{earlierState + "ledger/spool/*.json", "memory/ledger/spool.go", command("audit", "search", "--limit", "100"), "  ls -la"},
	{earlierState + "trust/*.json", "config/trust/trust.go", command("trust", "list"), "/tmp/cardea-sample/app  2 files"},
	{earlierState + "registered/*.signed", "memory/session/registration.go", command("status", "--session-id", "s3"), "Disabled:"},
	{earlierState + "prompts/*.txt", "", nil, ""},
	{earlierState + "candidates/*.signed", "memory/candidate/candidate.go", command("lessons", "candidates"), "make report"},
	{earlierState + "lessons/*.own", "memory/lesson/teach.go hook/learn.go", command("lessons", "list"), "local, allowed by root"},
	{"app/.cardea/local/lessons/allow.jsonl", "memory/lesson/teach.go", command("lessons", "list"), "allow  make other"},
	{"home/.config/cardea/overrides.yaml", "cli/override.go", command("override", "list"), `allow "make x"`},
	{"home/.config/cardea/org/.synced/*.json", "config/org/store.go", command("sync", "acme"), "there is no /tmp/cardea-sample/acme"},
	{"home/.config/cardea/org/acme/rules/*.yaml", "config/org/store.go", before("s9", "acme"), `"permissionDecision":"deny"`},
	{earlierState + "queue/queue.db", "ask/queue/store/store.go", command("queue"), "nothing waits for you\n"},
	{earlierState + "posture", "config/setup/setup.go", before("s8", "frob x"), "changed since you set the gate up on 2026-"},
	{earlierState + "install/*.json", "config/install/memory.go config/install/file.go config/install/typedcommand.go", nil, ""}, // internal/config/install
	{earlierState + "compile/*", "config/install/sandbox.go", command("doctor"), "the sandbox of Claude Code has"},
	{earlierState + "heartbeat/claude-code", "memory/session/heartbeat.go", command("doctor"), "last call by the harness"},
	{earlierState + "judge/usage", "ask/judge/usage/usage.go", nil, ""}, // internal/ask/judge/usage
	{earlierState + "judge/agreement", "hook/adaptive.go", nil, ""},     // internal/hook
	{earlierState + "evidence/*", "memory/evidence/evidence.go", before("s9", "git commit -m x"), `"permissionDecision":"deny"`},
	{earlierState + "tracked/*", "config/project/checkedout.go", before("s9", "pb x"), ""},
	{earlierState + "sessions/*.json", "memory/session/session.go", before("s1", "ls"), `"permissionDecision":"allow"`},
	{earlierState + "supervisors/*.signed", "ask/supervisor/post/post.go", func(s *fixture) string {
		p, err := post.Posts{State: filepath.Join(earlierRoot, earlierState)}.Of("alpha")
		return fmt.Sprint(p.Team, p.By, err)
	}, post.ErrNone.Error()}, // it was read, and its process has ended
	{"home/.cache/cardea/policies/*", "", before("s9", "danger"), "guarded by a policy"},
	{"home/.cache/cardea/rules/*", "", before("s9", "frob x"), "no frobbing"},
	{"home/.cache/cardea/lessons/*", "memory/lesson/build.go memory/lesson/index.go", before("s9", "make other"), `"permissionDecision":"allow"`},
	{earlierState + "http-token", "hook/daemon/web/token.go", nil, ""},
	{earlierState + "lastgood/*", "config/project/lastgood.go",
		changed("home/.config/cardea/rules/mine.yaml", "rules: [{id: no-frob, effect: dney}]\n", before("s7", "frob x")), "its last good form is in force"},
	{earlierState + "lastgood/projects/*", "", changed("app/.cardea/rules/r.yaml", "rules: [{id: pa, effect: dney}]\n", before("s6", "pa x")), "its last good form is in force"},
	{earlierState + "trust/*.texts", "config/trust/texts.go",
		changed("app/.cardea/rules/r.yaml", "rules: [{id: pb, tool: Bash, match: {command: pb}, effect: allow}]\n", command("trust", "verify")), "changed"},
	{earlierState + "ledger-retained/stub.json", "memory/ledger/retain.go",
		changed("home/.config/cardea/cardea.yaml", "ledger: {dir: "+earlierRoot+"/"+earlierState+"ledger-retained}\n", command("audit", "verify")), "removed by retention, up to 2026-01-02"},
	{earlierState + "actions/*.jsonl", "base/script/action.go", nil, ""}, // for people
	{earlierState + "daemon.log", "base/logfile/logfile.go", nil, ""},    // for people
	{earlierState + "daemon-started", "hook/startdaemon.go", nil, ""},
}

// notStored are source files that write files that no later version reads: files of people
// and of projects, sockets and their addresses, notes for at most a day, and a server's
// vectors of lessons, which are made again.
var notStored = strings.Fields(`cli/configset.go cli/init.go cli/judgeeval.go cli/policyfmt.go cli/servehttp.go testing/coldstart/main.go
	hook/setup.go hook/trace.go memory/meaning/search/vectors.go base/peer/peer.go memory/session/grant.go memory/session/pause.go base/state/lock.go`)

// State of an earlier version can be read. scripts/sample-state makes the samples.
func TestEarlierState(t *testing.T) {
	versions, err := filepath.Glob("../../testdata/earlier-state/*")
	if err != nil || len(versions) == 0 {
		t.Fatal("no samples; run scripts/sample-state", err)
	}
	for _, version := range versions {
		t.Run(filepath.Base(version), func(t *testing.T) { readEarlier(t, version) })
	}
}

func readEarlier(t *testing.T, version string) {
	if err := os.RemoveAll(earlierRoot); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(earlierRoot, 0o700); err != nil { // in /tmp, which others may write
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(earlierRoot) })
	if out, err := exec.Command("cp", "-R", version+"/.", earlierRoot).CombinedOutput(); err != nil {
		t.Fatalf("%s%v", out, err)
	}
	if out, err := exec.Command("chmod", "-R", "go-rwx", earlierRoot).CombinedOutput(); err != nil {
		t.Fatalf("%s%v", out, err)
	}
	s := &fixture{t: t, bin: built, home: earlierRoot + "/home", work: earlierRoot + "/app"}
	s.env = []string{"HOME=" + s.home, "PATH=/usr/bin:/bin", "XDG_RUNTIME_DIR=" + earlierRoot + "/run", "TERM=dumb"}
	s.write(s.work+"/.git/x", "")
	for _, k := range kindsOfState {
		found, err := filepath.Glob(filepath.Join(version, k.files))
		if err != nil || len(found) == 0 {
			t.Errorf("there is no sample of %s %v", k.files, err)
		}
		if k.read == nil {
			continue
		}
		if out := k.read(s); !strings.Contains(out, k.want) || strings.Contains(out, "begun anew") {
			t.Errorf("%s: %s", k.files, out)
		}
	}
}

// Every source file that writes files belongs to a kind with a sample, or to notStored.
func TestKindsOfState(t *testing.T) {
	writes := regexp.MustCompile(`state\.(Write[A-Za-z]*|Replace|OpenLocked)\(|O_CREATE`)
	var known []string
	for _, k := range kindsOfState {
		known = append(known, strings.Fields(k.writers)...)
	}
	known = append(known, notStored...)
	seen := 0
	err := filepath.WalkDir("../../internal", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !writes.Match(text) {
			return err
		}
		if seen++; !slices.Contains(known, strings.TrimPrefix(path, "../../internal/")) {
			t.Errorf("%s writes files: add their kind to kindsOfState, and a sample of them to scripts/sample-state", path)
		}
		return nil
	})
	if err != nil || seen < 20 {
		t.Errorf("%d files write, %v", seen, err)
	}
}
