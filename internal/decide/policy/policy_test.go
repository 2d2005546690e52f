package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/decide/policy/sample"
	"cardea.dev/internal/testing/testrun"
)

// here returns engines with OPA in this process.
func here() Engines { return Engines{Own: rego.Engine{}, Project: rego.Engine{}} }

// memory is a cache that trusts its content.
type memory struct {
	mu    sync.Mutex
	texts map[string]string
	loads int
}

func (m *memory) Load(name string, _ ...[]byte) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.loads++
	return m.texts[name]
}

func (m *memory) Keep(name, text string, _ ...[]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.texts == nil {
		m.texts = map[string]string{}
	}
	m.texts[name] = text
}

func wordsOf(w string) (string, bool) {
	switch w {
	case "bash":
		return "Bash", true
	case "Bash", "Read", "Write":
		return w, true
	}
	return w, false
}

// place is a folder of policies on disk.
type place struct {
	t      testing.TB
	dir    string
	lib    *Library
	folder Folder
}

func newPlace(t testing.TB, files map[string]string) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir(), lib: &Library{Tool: wordsOf, Engines: here()}}
	p.folder = Folder{Dir: p.dir, Scope: cardea.ScopeUser}
	for name, text := range files {
		p.write(name, text)
	}
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) policies() *Policies {
	return New(p.lib, Options{Folders: func(*cardea.Event) []Folder { return []Folder{p.folder} }})
}

// decide returns the rules that decided, and the error.
func (p *place) decide(ev *cardea.Event) (string, error) {
	p.t.Helper()
	ops, err := p.policies().Plain().Decide(context.Background(), ev)
	var out []string
	for _, o := range ops {
		out = append(out, o.Effect.String()+":"+o.Rule)
	}
	return strings.Join(out, " "), err
}

func bash(command string) *cardea.Event {
	return &cardea.Event{Kind: cardea.PreToolUse, Cwd: "/", Call: &cardea.Call{Tool: "Bash", Name: "Bash", Known: true, Input: map[string]any{"command": command},
		Parts: []cardea.Part{{ShellFacts: cardea.ShellFacts{Text: command, Coverage: cardea.Complete}}}}}
}

// routed returns a policy that denies everything that is routed to it.
func routed(name, routing string) string {
	return "# METADATA\n# scope: package\n# custom:\n#   routing:\n" + routing + "package cardea.policies." + name + "\n\nimport rego.v1\n\ndeny contains {\"rule_id\": \"" + name +
		"\", \"reason\": \"no\"}\n"
}

func events(list string) string { return "#     required_events: " + list + "\n" }
func tools(list string) string  { return "#     required_tools: " + list + "\n" }

func TestRouting(t *testing.T) {
	p := newPlace(t, map[string]string{
		"bash.rego":        routed("bash", events("[PreToolUse]")+tools("[Bash]")),
		"alias.rego":       routed("alias", events("[PreToolUse]")+tools("[bash]")),
		"any.rego":         routed("any", events("[PreToolUse]")),
		"glob.rego":        routed("glob", events("[PreToolUse]")+tools(`["mcp__git*"]`)),
		"full.rego":        routed("full", events("[PreToolUse]")+tools(`["mcp__db__run"]`)),
		"post.rego":        routed("post", events("[PostToolUse]")+tools("[Bash]")),
		"prompt.rego":      routed("prompt", events("[UserPromptSubmit]")),
		"prompt_tool.rego": routed("prompt_tool", events("[UserPromptSubmit]")+tools("[Bash]")),
		"every.rego":       routed("every", events(`["*"]`)),
		"star.rego":        routed("star", events("[Stop]")+tools(`["*"]`)),
		"none.rego":        routed("none", tools("[Bash]")),
		"x_test.rego":      routed("x_test", events("[PreToolUse]")),
		"deep/er/d.rego":   routed("deep", events("[PreToolUse]")+tools("[Read]")),
		".hidden/h.rego":   routed("hidden", events("[PreToolUse]")),
	})
	tool := func(name string) *cardea.Event {
		return &cardea.Event{Kind: cardea.PreToolUse, Call: &cardea.Call{Tool: name, Name: name}}
	}
	kind := func(k cardea.Kind, ev *cardea.Event) *cardea.Event { ev.Kind = k; return ev }
	for _, tt := range []struct {
		name string
		ev   *cardea.Event
		want string
	}{
		{"Bash", bash("x"), "alias any bash every"},
		{"the same as asked about", kind(cardea.PermissionRequest, bash("x")), "alias any bash every"},
		{"in the file of a skill", kind(cardea.PreSkillShellCommand, bash("x")), "alias any bash every"},
		{"after", kind("PostToolUse", bash("x")), "every post"},
		{"Monitor runs commands, too", tool("Monitor"), "alias any bash every"},
		{"Read", tool("Read"), "any deep every"},
		{"MCP by glob", tool("mcp__github__get"), "any every glob"},
		{"MCP by name", tool("mcp__db__run"), "any every full"},
		{"MCP by another name", tool("mcp__db__runs"), "any every"},
		{"a name with a slash", tool("mcp__git/x"), "any every glob"},
		{"a prompt", &cardea.Event{Kind: "UserPromptSubmit"}, "every prompt"},
		{"all tools, and no tool", &cardea.Event{Kind: "Stop"}, "every star"},
		{"an event of tomorrow", &cardea.Event{Kind: "Tomorrow"}, "every"},
	} {
		for range 2 { // the second time from the cache
			ops, _ := p.policies().Plain().Decide(context.Background(), tt.ev)
			seen := map[string]bool{}
			for _, o := range ops {
				seen[o.Rule] = true
			}
			if got := strings.Join(slices.Sorted(maps.Keys(seen)), " "); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
			}
		}
	}
}

// Only routed files, and the files that they refer to, are read and compiled.
func TestOnlyRoutedFilesAreCompiled(t *testing.T) {
	p := newPlace(t, map[string]string{
		"a.rego": "# METADATA\n# scope: package\n# custom: {routing: {required_events: [PreToolUse], required_tools: [Bash]}}\npackage " +
			"cardea.policies.a\nimport rego.v1\nimport data.cardea.lib.one\ndeny contains {\"rule_id\": one.name} if true\n",
		"one.rego":   "package cardea.lib.one\nimport rego.v1\nname := data.cardea.lib.two.name\n",
		"two.rego":   "package cardea.lib.two\nimport rego.v1\nname := \"from two\"\n",
		"three.rego": "package cardea.lib.three\nimport rego.v1\nname := 1\n",
		"other.rego": routed("other", events("[PreToolUse]")+tools("[Read]")),
	})
	var compiled string
	pol := New(p.lib, Options{Folders: func(*cardea.Event) []Folder { return []Folder{p.folder} },
		Trace: func(s Step) {
			if s.What == "compile" {
				compiled = s.Detail
			}
		}})
	ops, err := pol.Plain().Decide(context.Background(), bash("x"))
	if err != nil || len(ops) != 1 || ops[0].Rule != "from two" || compiled != "3 of 5 files" {
		t.Errorf("%+v, %v, compiled %s", ops, err, compiled)
	}
}

// Changes are seen, in a process that stays and in the next one, with or without the index.
func TestReload(t *testing.T) {
	cache := &memory{}
	p := newPlace(t, map[string]string{"a.rego": routed("a", events("[PreToolUse]"))})
	p.lib.Cache = cache
	expect := func(when, want string) {
		t.Helper()
		if got, err := p.decide(bash("x")); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", when, got, err, want)
		}
		cold := *p
		cold.lib = &Library{Tool: wordsOf, Cache: cache, Engines: here()}
		if got, err := cold.decide(bash("x")); got != want || err != nil {
			t.Errorf("%s, in a new process: %q, %v; want %q", when, got, err, want)
		}
		cold.lib = &Library{Tool: wordsOf, Cache: cache, Engines: here(), Recheck: time.Hour}
		cold.lib.Warm(bash("x"), cold.folder)
		if got, err := cold.decide(bash("x")); got != want || err != nil {
			t.Errorf("%s, in a new process that read ahead: %q, %v; want %q", when, got, err, want)
		}
	}
	expect("at first", "deny:a")
	p.write("b.rego", routed("b", events("[PreToolUse]")))
	expect("a new file", "deny:a deny:b")
	// Same length and same time: only the time of the inode's change differs.
	path := filepath.Join(p.dir, "b.rego")
	info, _ := os.Stat(path)
	time.Sleep(150 * time.Millisecond)
	expect("settled", "deny:a deny:b")
	p.write("b.rego", strings.ReplaceAll(routed("b", events("[PreToolUse]")), `"b"`, `"c"`))
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	expect("changed in place", "deny:a deny:c")
	p.write("b.rego", routed("b", events("[Stop]")))
	expect("routed elsewhere", "deny:a")
	if err := os.Remove(filepath.Join(p.dir, "a.rego")); err != nil {
		t.Fatal(err)
	}
	expect("removed", "")
	time.Sleep(150 * time.Millisecond)
	expect("the index is believed", "")
	// A policy that was routed when the index was made is compiled ahead. Only its current
	// text applies.
	p.write("a.rego", routed("a", events("[PreToolUse]")))
	expect("back", "deny:a")
	time.Sleep(150 * time.Millisecond)
	expect("back in the index", "deny:a")
	p.write("a.rego", routed("q", events("[PreToolUse]")))
	expect("another text", "deny:q")
	time.Sleep(150 * time.Millisecond)
	expect("another text in the index", "deny:q")
	if err := os.Remove(filepath.Join(p.dir, "a.rego")); err != nil {
		t.Fatal(err)
	}
	expect("removed after it was routed", "")
	p.write("lib.rego", "package cardea.lib.x\nimport rego.v1\nname := \"one\"\n")
	p.write("a.rego", strings.Replace(routed("a", events("[PreToolUse]")), `"rule_id": "a"`, `"rule_id": data.cardea.lib.x.name`, 1))
	expect("a library", "deny:one")
	p.write("lib.rego", "package cardea.lib.x\nimport rego.v1\nname := \"two\"\n")
	expect("the library changed", "deny:two")
	// While a listing is valid, no file is checked again.
	p.lib.Recheck = time.Hour
	p.decide(bash("x"))
	p.write("a.rego", routed("z", events("[PreToolUse]")))
	if got, _ := p.decide(bash("x")); got != "deny:two" {
		t.Errorf("within the time of a look: %s", got)
	}
}

// A byte order mark hides nothing, and an empty file decides nothing. A broken file asks,
// whatever other files there are.
func TestMarksAndEmptyFiles(t *testing.T) {
	cache := &memory{}
	p := newPlace(t, map[string]string{"marked.rego": "\uFEFF" + routed("m", events("[PreToolUse]")), "empty.rego": "", "blank.rego": "\n \t\n",
		"comments.rego": "# METADATA\n# custom: [\n#package x\n", "mark.rego": "\uFEFF# later\n"})
	p.lib.Cache = cache
	expect := func(when, want string, broken bool) {
		t.Helper()
		for _, lib := range []*Library{p.lib, {Tool: wordsOf, Cache: cache, Engines: here()}} {
			p.lib = lib
			if got, err := p.decide(bash("x")); got != want || (err != nil) != broken {
				t.Errorf("%s: %q, %v; want %q", when, got, err, want)
			}
		}
	}
	expect("nothing is broken", "deny:m", false)
	time.Sleep(150 * time.Millisecond)
	expect("by the index", "deny:m", false)
	for name, text := range map[string]string{"a word": "x", "a mark within": "# x\n\uFEFFpackage x\n", "a package without end": "package", "no text": "\x00", "a lone brace": "# x\n}"} {
		p.write("empty.rego", text)
		if got, err := p.decide(bash("x")); err == nil {
			t.Errorf("%s: a file that is broken does not ask: %q", name, got)
		}
	}
	p.write("empty.rego", "\uFEFF"+routed("y", events("[Stop]"))+"{{{")
	expect("broken behind a mark, and routed elsewhere", "deny:m", false)
}

// An index that is damaged or of another version is made again.
func TestIndexIsNotBelieved(t *testing.T) {
	cache := &memory{}
	p := newPlace(t, map[string]string{"a.rego": routed("a", events("[PreToolUse]"))})
	time.Sleep(150 * time.Millisecond)
	p.lib.Cache = cache
	p.decide(bash("x"))
	whole := cache.texts[cacheName(p.folder)]
	if !strings.Contains(whole, "cardea.policies.a") {
		t.Fatalf("no index: %q", whole)
	}
	for _, text := range []string{"", "x", strings.Replace(whole, indexVersion, "0", 1), whole[:len(whole)/2], strings.ReplaceAll(whole, "\t", " ")} {
		cache.texts[cacheName(p.folder)] = text
		p.lib = &Library{Tool: wordsOf, Cache: cache, Engines: here()}
		if got, err := p.decide(bash("x")); got != "deny:a" || err != nil {
			t.Errorf("index %q: %s, %v", text, got, err)
		}
	}
}

// Links are followed, those of a project only within it, and cycles end.
func TestLinks(t *testing.T) {
	outside := newPlace(t, map[string]string{"o.rego": routed("o", events("[PreToolUse]")), "dir/d.rego": routed("d", events("[PreToolUse]"))})
	p := newPlace(t, map[string]string{"real/r.rego": routed("r", events("[PreToolUse]"))})
	for name, to := range map[string]string{"o.rego": filepath.Join(outside.dir, "o.rego"), "dir": filepath.Join(outside.dir, "dir"),
		"in.rego": filepath.Join(p.dir, "real", "r.rego"), "loop": p.dir} {
		if err := os.Symlink(to, filepath.Join(p.dir, name)); err != nil {
			t.Skip(err)
		}
	}
	got, err := p.decide(bash("x"))
	for _, want := range []string{"deny:o", "deny:d", "deny:r"} {
		if !strings.Contains(got, want) || err != nil {
			t.Errorf("the person's: %s, %v", got, err)
		}
	}
	linked := filepath.Join(t.TempDir(), "policies")
	if err := os.Symlink(outside.dir, linked); err != nil {
		t.Fatal(err)
	}
	away := &place{t: t, lib: &Library{Tool: wordsOf, Engines: here()}, folder: Folder{Dir: linked, Scope: cardea.ScopeUser, Inside: filepath.Dir(linked)}}
	if got, err := away.decide(bash("x")); got != "" || err == nil {
		t.Errorf("a folder that is a link out of the project: %s, %v", got, err)
	}
	p.folder.Inside, p.lib = p.dir, &Library{Tool: wordsOf, Engines: here()}
	got, err = p.decide(bash("x"))
	var issues cardea.Issues
	if strings.Contains(got, "deny:o") || strings.Contains(got, "deny:d") || !strings.Contains(got, "deny:r") || !errors.As(err, &issues) ||
		!strings.Contains(issues.Error(), "link out of the project") {
		t.Errorf("a project's: %s, %v", got, err)
	}
}

// Bad files of a project only affect the project.
func TestHostileFolders(t *testing.T) {
	for name, make := range map[string]func(p *place){
		"a large file":       func(p *place) { p.write("x.rego", strings.Repeat("# x\n", maxFile/3)) },
		"a folder as a file": func(p *place) { os.MkdirAll(filepath.Join(p.dir, "x.rego"), 0o755) },
		"binary":             func(p *place) { p.write("x.rego", "\x00\xff\xfe") },
		"deep":               func(p *place) { p.write(strings.Repeat("d/", maxDepth+2)+"x.rego", "package x") },
		"recursion": func(p *place) {
			p.write("x.rego", strings.Replace(routed("x", events("[PreToolUse]")), "deny contains", "f(a) := f(a)\n\ndeny contains", 1))
		},
		"nested brackets": func(p *place) {
			p.write("x.rego", "package x\n\na := "+strings.Repeat("[", 200_000))
		},
		"events that are a map": func(p *place) { p.write("x.rego", routed("x", events("{a: b}"))) },
	} {
		p := newPlace(t, map[string]string{"good.rego": routed("good", events("[PreToolUse]"))})
		make(p)
		begin := time.Now()
		got, err := p.decide(bash("x"))
		if !strings.Contains(got, "deny:good") {
			t.Errorf("%s: the others do not speak: %q, %v", name, got, err)
		}
		if name != "a folder as a file" && err == nil {
			t.Errorf("%s is not told", name)
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
}

// An evaluation without end, or with too much memory, asks.
func TestEvaluationIsBounded(t *testing.T) {
	for name, body := range map[string]string{
		"time":   "some a in numbers.range(1, 100000)\n\tsome b in numbers.range(1, 100000)\n\ta * b == -1",
		"memory": "x := [y | some a in numbers.range(1, 3000); some b in numbers.range(1, 3000); y := sprintf(\"%d %d some text that is long enough\", [a, b])]\n\tcount(x) == -1",
		"text":   "s := concat(\"\", [\"aaaaaaaaaa\" | some a in numbers.range(1, 100000)])\n\tcount(replace(s, \"a\", s)) == -1",
	} {
		p := newPlace(t, map[string]string{"a.rego": strings.Replace(routed("a", events("[PreToolUse]")), "\"no\"}", "\"no\"} if {\n\t"+body+"\n}", 1)})
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		begin := time.Now()
		_, err := p.policies().Plain().Decide(ctx, bash("x"))
		cancel()
		var issues cardea.Issues
		if !errors.As(err, &issues) || issues[0].Failure != cardea.BrokenPolicy || !(strings.Contains(issues.Error(), "takes too") || strings.Contains(issues.Error(), "larger than")) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s took %s", name, took)
		}
		runtime.GC()
	}
}

func many(t testing.TB, n int) *place {
	p := newPlace(t, sample.Files(n))
	p.lib.Recheck = time.Hour
	return p
}

func TestConcurrentEvaluations(t *testing.T) {
	p := many(t, 50)
	p.lib.Recheck = time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	var group sync.WaitGroup
	for i := range 64 {
		group.Add(1)
		go func() {
			defer group.Done()
			for n := range 20 {
				command := fmt.Sprintf("x danger%d y", (i+n)%5)
				ops, err := p.policies().Plain().Decide(ctx, bash(command))
				want := 0
				if (i+n)%5 < 3 {
					want = 1
				}
				if err != nil || len(ops) != want {
					t.Errorf("%s: %+v, %v", command, ops, err)
				}
				if i == 0 && n == 10 {
					p.write("p40.rego", strings.Replace(sample.Files(41)["p40.rego"], "Write", "Read", 1))
				}
			}
		}()
	}
	group.Wait()
}

// A process that runs for ever does not grow. CARDEA_EVALUATIONS=1000000 takes some
// minutes.
func TestMemoryStaysFlat(t *testing.T) {
	warm, runs := 2_000, testrun.Pick(6_000, 20_000)
	if n, err := strconv.Atoi(os.Getenv("CARDEA_EVALUATIONS")); err == nil {
		warm, runs = 10_000, n
	}
	p := many(t, 50)
	d := p.policies().Plain()
	resident := func() uint64 {
		runtime.GC()
		debug.FreeOSMemory()
		if data, err := os.ReadFile("/proc/self/statm"); err == nil {
			var size, pages uint64
			if n, _ := fmt.Sscan(string(data), &size, &pages); n == 2 {
				return pages * uint64(os.Getpagesize())
			}
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var before uint64
	for i := range runs {
		if i == warm {
			before = resident()
		}
		ev := bash(fmt.Sprintf("x danger%d %d", i%5, i))
		ev.Call.Name = fmt.Sprintf("name%d", i) // the agent can invent names
		if _, err := d.Decide(context.Background(), ev); err != nil {
			t.Fatal(err)
		}
	}
	after := resident()
	t.Logf("%d bytes after %d evaluations, %d after %d", before, warm, after, runs)
	if float64(after) > 1.1*float64(before)+2<<20 {
		t.Errorf("%d bytes after %d evaluations, %d after %d", after, runs, before, warm)
	}
}

func BenchmarkWarm(b *testing.B) {
	for _, n := range []int{3, 10, 50, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := many(b, n)
			d := p.policies().Plain()
			ev := bash("cd src && npm test")
			if _, err := d.Decide(context.Background(), ev); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := d.Decide(context.Background(), ev); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCold measures a new process that finds the index.
func BenchmarkCold(b *testing.B) {
	for _, n := range []int{3, 50, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := many(b, n)
			time.Sleep(150 * time.Millisecond)
			cache := &memory{}
			p.lib.Cache = cache
			if _, err := p.decide(bash("x")); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				p.lib = &Library{Tool: wordsOf, Cache: cache, Engines: here()}
				if _, err := p.decide(bash("cd src && npm test")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A folder without time to read it asks, and is read in several calls.
func TestFoldersAreReadBitByBit(t *testing.T) {
	files := map[string]string{"good.rego": routed("good", events("[PreToolUse]"))}
	big := "package lib.x\n\nimport rego.v1\n\n" + strings.Repeat("y := {\"a\": [1, 2, 3]} if input.b == {\"c\": 4}\n\n", 3000)
	for i := range 12 {
		files[fmt.Sprintf("x%02d.rego", i)] = big
	}
	p := newPlace(t, files)
	time.Sleep(150 * time.Millisecond)
	cache := &memory{}
	calls := 0
	for ; calls < 60; calls++ {
		p.lib = &Library{Tool: wordsOf, Cache: cache, Engines: here()}
		ctx, cancel := context.WithTimeout(context.Background(), 400*time.Millisecond)
		ops, err := p.policies().Plain().Decide(ctx, bash("x"))
		cancel()
		if err == nil {
			if len(ops) != 1 {
				t.Errorf("%+v", ops)
			}
			break
		}
		if !strings.Contains(err.Error(), "there was no time") && !strings.Contains(err.Error(), "takes too long") {
			t.Fatalf("call %d: %v", calls, err)
		}
	}
	if calls == 0 || calls == 60 {
		t.Errorf("read after %d calls", calls)
	}
}
