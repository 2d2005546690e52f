package readonly_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/decide/readonly"
	"cardea.dev/internal/harness/call"
)

// place is a machine with a home, a project in it and a folder for temporary
// files.
type place struct{ home, project, temp string }

func newPlace(t *testing.T) place {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := place{filepath.Join(base, "home"), filepath.Join(base, "home", "app"), filepath.Join(base, "tmp")}
	for _, f := range []string{p.project + "/README.md", p.project + "/src/a.go", p.project + "/conf/x.yaml", p.project + "/keys/server.pem", p.home + "/.bashrc", p.temp + "/x",
		p.project + "/.git/HEAD", p.project + "/.git/config", p.project + "/.git/objects/x"} {
		write(t, f, "")
	}
	for name, to := range map[string]string{"out": p.home + "/.bashrc", "in": p.project + "/README.md"} {
		if err := os.Symlink(to, p.project+"/links-"+name); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (p place) decider() *readonly.Decider {
	return readonly.New(readonly.Options{Home: p.home, Temp: []string{p.temp}, Path: "/usr/bin:/bin"})
}

// event returns a call of one program with accesses.
func (p place) event(access ...cardea.Access) *cardea.Event {
	part := cardea.Part{
		ShellFacts:   cardea.ShellFacts{Text: "cat x", Argv: []cardea.Word{{Text: "cat", Static: true}, {Text: "x", Static: true}}, Dir: p.project, Coverage: cardea.Complete},
		CommandFacts: cardea.CommandFacts{Command: []string{"cat"}, Knowledge: cardea.Complete, Access: access},
	}
	return &cardea.Event{Kind: cardea.PreToolUse, Cwd: p.project, Project: p.project,
		Call: &cardea.Call{Tool: "Bash", Known: true, Parts: []cardea.Part{part}}}
}

func read(path string) cardea.Access { return cardea.Access{Kind: cardea.Read, Path: path} }

func TestPlaces(t *testing.T) {
	p := newPlace(t)
	deep := func(path string) cardea.Access {
		return cardea.Access{Kind: cardea.Read, Path: path, Recursive: true}
	}
	glob := func(dir, pattern string) cardea.Access {
		return cardea.Access{Kind: cardea.Read, Path: dir, Glob: true, Pattern: dir + "/" + pattern}
	}
	names := func(a cardea.Access) cardea.Access { a.MetadataOnly = true; return a }
	for _, c := range []struct {
		name   string
		access cardea.Access
		want   string // part of the refusal, "" for allowed
	}{
		{"a file of the project", read(p.project + "/README.md"), ""},
		{"one that is not there", read(p.project + "/nothing"), ""},
		{"a temporary file", read(p.temp + "/x"), ""},
		{"a file of the home folder", read(p.home + "/.bashrc"), "outside of the working tree"},
		{"names of the home folder", names(read(p.home)), ""},
		{"names of all that is there", names(deep("/")), ""},
		{"names of a private folder", names(deep(p.home + "/.ssh")), "may be private"},
		{"attributes of a private file", names(read(p.home + "/.aws/credentials")), "may be private"},
		{"names by a pattern for hidden folders", names(cardea.Access{Kind: cardea.Read, Path: p.home, Glob: true, Pattern: p.home + "/.s*"}), "may be private"},
		{"names by a pattern", names(cardea.Access{Kind: cardea.Read, Path: p.home, Glob: true, Pattern: p.home + "/s*"}), ""},
		{"names of another machine", names(read("/net/x.test/a")), "another machine"},
		{"a path that is not known", read(""), "not known what it reads"},
		{"a secret", read(p.project + "/keys/server.pem"), "secret"},
		{"names beside a secret", names(deep(p.project)), ""},
		{"a secret by its spelling", cardea.Access{Kind: cardea.Read, Path: p.project + "/README.md", Spelled: p.project + "/.env"}, "secret"},
		{"an example", read(p.project + "/.env.example"), ""},
		{"everything with a secret", deep(p.project), "secret"},
		{"everything with a secret below", deep(p.project + "/keys"), "secret"},
		{"everything without one", deep(p.project + "/src"), ""},
		{"a pattern without one", glob(p.project+"/src", "*.go"), ""},
		{"a pattern that reaches one", glob(p.project+"/keys", "*"), "secret"},
		{"a pattern that does not", glob(p.project+"/keys", "*.go"), ""},
		{"a pattern for hidden files", glob(p.project, ".e*"), "secret"},
		{"a link that leaves", glob(p.project, "links-*"), "a link leads out"},
		{"a link that stays", glob(p.project, "links-in*"), ""},
		{"a file of the system", read("/etc/passwd"), ""},
		{"one that not everybody reads", read("/etc/shadow"), "secret"},
		{"the environment of a process", read("/proc/self/environ"), "inside of a process"},
		{"files of a process", read("/proc/1/root/etc/shadow"), "secret"},
		{"another process's folder", read("/proc/1/cwd/x"), "inside of a process"},
		{"what the kernel says", read("/proc/meminfo"), ""},
		{"all of the system", deep("/etc"), "more of the system"},
		{"a device", read("/dev/sda"), "outside"},
		{"a write", cardea.Access{Kind: cardea.Write, Path: p.project + "/x"}, "writes"},
		{"a write to nothing", cardea.Access{Kind: cardea.Write, Path: "/dev/null", Redirect: true}, ""},
		{"a delete", cardea.Access{Kind: cardea.Delete, Path: p.project + "/x"}, "deletes"},
		{"a file that is run", cardea.Access{Kind: cardea.Execute, Path: p.project + "/x"}, "runs"},
		{"a host of the line", cardea.Access{Kind: cardea.Network, Host: "x.test"}, "host"},
		{"a host that is not known", cardea.Access{Kind: cardea.Network}, "host"},
		{"a host of the configuration", cardea.Access{Kind: cardea.Network, Configured: true}, ""},
		{"anything", cardea.Access{Kind: cardea.Unknown}, "anything"},
	} {
		ev := p.event(c.access)
		d := p.decider()
		why := d.Refusal(ev, 0)
		ops, err := d.Decide(context.Background(), ev)
		if err != nil || (why == "") != (c.want == "") || !strings.Contains(why, c.want) || (len(ops) == 1) != (c.want == "") {
			t.Errorf("%s: refused with %q, %d opinions, %v; want %q", c.name, why, len(ops), err, c.want)
		}
	}
}

func TestWhatTheCallSays(t *testing.T) {
	p := newPlace(t)
	for name, change := range map[string]func(*cardea.Event){
		"faults":          func(ev *cardea.Event) { ev.Faults = []cardea.Opaque{{Text: "x"}} },
		"an opaque call":  func(ev *cardea.Event) { ev.Call.Opaque = []cardea.Opaque{{Reason: "x"}} },
		"an opaque part":  func(ev *cardea.Event) { ev.Call.Parts[0].Opaque = []cardea.Opaque{{Reason: "x"}} },
		"a long command":  func(ev *cardea.Event) { ev.Call.Input = map[string]any{"command": strings.Repeat("x", 10_001)} },
		"a shell of find": func(ev *cardea.Event) { ev.Call.Parts[0].Wrappers = []string{"find", "sh"} },
		"no sandbox":      func(ev *cardea.Event) { ev.Call.Unsandboxed = true },
		"coverage":        func(ev *cardea.Event) { ev.Call.Parts[0].Coverage = cardea.Partial },
		"knowledge":       func(ev *cardea.Event) { ev.Call.Parts[0].Knowledge = cardea.Partial },
		"elevated":        func(ev *cardea.Event) { ev.Call.Parts[0].Elevated = true },
		"sudo in env": func(ev *cardea.Event) {
			ev.Call.Parts[0].Elevated, ev.Call.Parts[0].Wrappers = true, []string{"env", "sudo"}
		},
		"remote":         func(ev *cardea.Event) { ev.Call.Parts[0].Remote = true },
		"a variable":     func(ev *cardea.Event) { ev.Call.Parts[0].Assigns = []cardea.Assign{{Name: "X"}} },
		"a dynamic name": func(ev *cardea.Event) { ev.Call.Parts[0].Argv[0].Static = false },
		"a list":         func(ev *cardea.Event) { ev.Unreadable = []string{"./README.*"} },
		"a list of all":  func(ev *cardea.Event) { ev.Unreadable = []string{"**"} },
		"another's write": func(ev *cardea.Event) {
			ev.Call.Parts = append(ev.Call.Parts, cardea.Part{CommandFacts: cardea.CommandFacts{Access: []cardea.Access{{Kind: cardea.Write, Path: p.project + "/README.md"}}}})
		},
		"a tool":         func(ev *cardea.Event) { ev.Call.Tool, ev.Call.Parts[0].Argv = "mcp__x__read", nil },
		"a home project": func(ev *cardea.Event) { ev.Project = p.home; ev.Cwd = p.home },
	} {
		ev := p.event(read(p.project + "/README.md"))
		if why := p.decider().Refusal(ev, 0); why != "" {
			t.Fatalf("refused without a reason: %s", why)
		}
		change(ev)
		if why := p.decider().Refusal(ev, 0); why == "" {
			t.Errorf("%s: it is allowed", name)
		}
	}
	ev := p.event(read(p.project + "/README.md"))
	ev.Call.Parts[0].Elevated, ev.Call.Parts[0].Wrappers = true, []string{"env"} // env -C
	if why := p.decider().Refusal(ev, 0); why != "" {
		t.Errorf("in another folder: %s", why)
	}
	ev = p.event(read(p.project + "/README.md"))
	ev.Call.Tool, ev.Call.Parts[0].Argv = "Read", nil
	if why := p.decider().Refusal(ev, 0); why != "" {
		t.Errorf("the tool Read: %s", why)
	}
	if ops, err := p.decider().Decide(context.Background(), &cardea.Event{}); ops != nil || err != nil {
		t.Error(ops, err)
	}
}

// A program in a folder that the agent may write is not the known one.
func TestPlantedPrograms(t *testing.T) {
	p := newPlace(t)
	write(t, p.project+"/bin/cat", "")
	for path, want := range map[string]bool{"/usr/bin:/bin": true, p.project + "/bin:/usr/bin": false, "/usr/bin:" + p.project + "/bin": true, ".:/usr/bin": false, "": true, ":/usr/bin": false} {
		d := readonly.New(readonly.Options{Home: p.home, Path: path})
		if why := d.Refusal(p.event(read(p.project+"/README.md")), 0); (why == "") != want {
			t.Errorf("PATH=%s: %q", path, why)
		}
	}
}

func TestGit(t *testing.T) {
	p := newPlace(t)
	git := func(dir string, options ...cardea.Option) *cardea.Event {
		ev := p.event()
		part := &ev.Call.Parts[0]
		part.Command, part.Argv, part.Dir, part.Options = []string{"git", "status"}, []cardea.Word{{Text: "git", Static: true}, {Text: "status", Static: true}}, dir, options
		return ev
	}
	refusal := func(ev *cardea.Event) string { return p.decider().Refusal(ev, 0) }
	if why := refusal(git(p.project + "/src")); why != "" {
		t.Fatal(why)
	}
	for text, want := range map[string]string{
		"[core]\n\tbare = false\n[remote \"origin\"]\n\turl = x\n\tfetch = y\n[branch \"main\"]\n\tremote = origin\n": "",
		"[core]\n\tfsmonitor = ./evil\n":                   "core.fsmonitor",
		"[core] fsmonitor = ./evil\n":                      "[core] fsmonitor",
		"[core]\n\tfsmonitor = true\n":                     "",
		"[CORE]\n\tFSMonitor = ./evil\n":                   "core.fsmonitor",
		"[core]\n\tpager = ./evil\n":                       "core.pager",
		"[diff \"x\"]\n\ttextconv = ./evil\n":              "diff.textconv",
		"[diff]\n\texternal = ./evil\n":                    "diff.external",
		"[diff]\n\trenames = true\n":                       "",
		"[filter \"x\"]\n\tclean = ./evil\n":               "filter.clean",
		"[include]\n\tpath = ../evil\n":                    "include.path",
		"[includeIf \"gitdir:x\"]\n\tpath = ../evil\n":     "includeif.path",
		"[alias]\n\tst = !./evil\n":                        "alias.st",
		"[core]\n\tworktree = /\n":                         "core.worktree",
		"[extensions]\n\tpartialClone = origin\n":          "extensions.partialclone",
		"[remote \"origin\"]\n\tpromisor = true\n":         "remote.promisor",
		"[log]\n\tshowSignature = true\n":                  "log.showsignature",
		"[core]\n\tautocrlf = x\\\n\tfsmonitor = ./evil\n": "autocrlf",
		"[core\n": "[core",
		"[remote \"a]b\"]\n\turl = x\n[core]\n\tpager = evil": "a]b",
		"[core] fsmonitor = \"sh evil.sh; false\" # ]\n":      "[core]",
		"[core]\n\thookspath = hk # x\n":                      "hookspath",
		"[lfs \"extension.x\"]\n\tclean = sh evil\n":          "lfs.clean",
		"[diff]\n\torderFile = x\n":                           "diff.orderfile",
	} {
		write(t, p.project+"/.git/config", text)
		if why := refusal(git(p.project)); (why == "") != (want == "") || !strings.Contains(why, want) {
			t.Errorf("%q: refused with %q, want %q", text, why, want)
		}
	}
	write(t, p.project+"/.git/config", "")
	write(t, p.project+"/.husky/x", "")
	write(t, p.project+"/.git/config", "[core]\n\thooksPath = .husky\n")
	if why := refusal(git(p.project)); why != "" {
		t.Error(why)
	}
	write(t, p.project+"/.husky/post-index-change", "")
	if why := refusal(git(p.project)); !strings.Contains(why, "hook") {
		t.Errorf("a hook: %q", why)
	}
	write(t, p.project+"/.git/config", "")
	write(t, p.project+"/nested/.git/config", "")
	write(t, p.project+"/bare/HEAD", "")
	write(t, p.project+"/bare/objects/x", "")
	option := func(name, value string) cardea.Option {
		return cardea.Option{Name: name, Value: value, Static: value != ""}
	}
	for name, ev := range map[string]*cardea.Event{
		"a nested repository":     git(p.project + "/nested"),
		"a bare repository":       git(p.project + "/bare"),
		"outside":                 git(p.temp),
		"a folder not known":      git(""),
		"-C elsewhere":            git(p.project, option("-C", p.temp)),
		"-C nested":               git(p.project, option("-C", "nested")),
		"-C not known":            git(p.project, option("-C", "")),
		"a configuration":         git(p.project, option("-c", "x=y")),
		"another repository":      git(p.project, option("--git-dir", "x")),
		"-C to the home folder":   git(p.project, option("-C", "~")),
		"-C out by dots":          git(p.project, option("-C", "../..")),
		"a write to .git":         written(git(p.project), p.project+"/.git/config"),
		"a write to nobody knows": written(git(p.project), ""),
	} {
		if why := refusal(ev); why == "" {
			t.Errorf("%s: allowed", name)
		}
	}
	if why := refusal(git(p.project, option("-C", "src"))); why != "" {
		t.Error(why)
	}
	for name, file := range map[string]string{"elsewhere": "/.git/commondir", "alternates": "/.git/objects/info/alternates"} {
		write(t, p.project+file, "/x")
		if why := refusal(git(p.project)); !strings.Contains(why, "elsewhere") {
			t.Errorf("%s: %q", name, why)
		}
		if err := os.Remove(p.project + file); err != nil {
			t.Fatal(err)
		}
	}
	write(t, p.project+"/.git/index", "DIRC\x00\x00\x00\x02\x00\x00\x00\x01")
	if why := refusal(git(p.project)); !strings.Contains(why, "index") {
		t.Errorf("an index that ends early: %q", why)
	}
	write(t, p.project+"/.git/index", "DIRC\x00\x00\x00\x02\x00\x00\x00\x00"+strings.Repeat("\x00", 20))
	if why := refusal(git(p.project)); why != "" {
		t.Error(why)
	}
	write(t, p.project+"/.gitmodules", "")
	if why := refusal(git(p.project)); !strings.Contains(why, "submodules") {
		t.Errorf("submodules: %q", why)
	}
}

func written(ev *cardea.Event, path string) *cardea.Event {
	ev.Call.Parts = append(ev.Call.Parts, cardea.Part{CommandFacts: cardea.CommandFacts{Access: []cardea.Access{{Kind: cardea.Write, Path: path, Redirect: true}}}})
	return ev
}

// A linked worktree belongs to a repository outside of it.
func TestWorktrees(t *testing.T) {
	p := newPlace(t)
	main := p.home + "/main/.git"
	write(t, main+"/config", "")
	write(t, main+"/worktrees/w/HEAD", "")
	write(t, main+"/worktrees/w/commondir", "../..\n")
	if err := os.RemoveAll(p.project + "/.git"); err != nil {
		t.Fatal(err)
	}
	ev := p.event()
	ev.Call.Parts[0].Command = []string{"git", "status"}
	ev.Call.Parts[0].Argv[0].Text = "git"
	for text, want := range map[string]string{
		"gitdir: " + main + "/worktrees/w\n": "",
		"gitdir: " + p.temp + "/evil\n":      "something else",
		"gitdir: ../x\n":                     "cannot be read",
		"x":                                  "cannot be read",
		"gitdir: " + p.temp + "/r/.git/worktrees/w\n":   "may write",
		"gitdir: " + main + "/worktrees/../worktrees\n": "cannot be read",
	} {
		write(t, p.project+"/.git", text)
		if why := p.decider().Refusal(ev, 0); (why == "") != (want == "") || !strings.Contains(why, want) {
			t.Errorf("%q: %q, want %q", text, why, want)
		}
	}
	write(t, p.project+"/.git", "gitdir: "+main+"/worktrees/w\n")
	write(t, main+"/worktrees/w/commondir", p.temp+"/evil/.git\n")
	if why := p.decider().Refusal(ev, 0); !strings.Contains(why, "another repository") {
		t.Errorf("a worktree with another common folder: %q", why)
	}
	write(t, main+"/worktrees/w/commondir", "../..\n")
	write(t, main+"/worktrees/w/config.worktree", "[core]\n\tfsmonitor = ./x\n")
	if why := p.decider().Refusal(ev, 0); !strings.Contains(why, "fsmonitor") {
		t.Errorf("the worktree's own configuration: %q", why)
	}
}

// A program that a project can configure is trusted only without a configuration file.
func TestConfiguredByTheProject(t *testing.T) {
	p := newPlace(t)
	event := func(dir string, configs ...string) *cardea.Event {
		ev := p.event()
		ev.Call.Parts[0].Dir, ev.Call.Parts[0].Configs = dir, configs
		return ev
	}
	sub := p.project + "/src"
	for _, c := range []struct{ name, file, dir, config, want string }{
		{"none there", "", sub, ".npmrc", ""},
		{"beside", "src/.npmrc", sub, ".npmrc", "the project configures it"},
		{"above", ".npmrc", sub, ".npmrc", "the project configures it"},
		{"in a folder", ".cargo/config.toml", sub, ".cargo", "the project configures it"},
		{"below", "src/deep/.tool", sub, ".tool", ""},
		{"git's own", "", sub, ".git", ""},
		{"outside of the work", "", p.temp, ".npmrc", "may be configured"},
		{"where it runs is not known", "", "", ".npmrc", "may be configured"},
	} {
		if c.file != "" {
			write(t, p.project+"/"+c.file, "x")
		}
		why := p.decider().Refusal(event(c.dir, c.config), 0)
		if c.want == "" && why != "" || !strings.Contains(why, c.want) {
			t.Errorf("%s: %q, want %q", c.name, why, c.want)
		}
	}
	write(t, p.project+"/.git/config", "[core]\n\tfsmonitor = ./x\n")
	if why := p.decider().Refusal(event(sub, ".git"), 0); !strings.Contains(why, "may execute") {
		t.Errorf("git's configuration: %q", why)
	}
}

// Addresses are shown only if neither the repository's nor the person's configuration has a
// password.
func TestRemotesWithPasswords(t *testing.T) {
	remote := func(p place, words ...string) string {
		ev := p.event()
		part := &ev.Call.Parts[0]
		part.Command, part.Argv = append([]string{"git"}, words[:1]...), []cardea.Word{{Text: "git", Static: true}}
		for _, w := range words {
			part.Argv = append(part.Argv, cardea.Word{Text: w, Static: true})
		}
		return p.decider().Refusal(ev, 0)
	}
	for url, secret := range map[string]bool{"https://github.com/a/b.git": false, "git@github.com:a/b.git": false, "ssh://git@github.com/a/b": false,
		"https://x:y@github.com/a/b": true, "https://ghp_x@github.com/a/b": true, "ssh://u:p@host/x": true} {
		p := newPlace(t)
		write(t, p.project+"/.git/config", "[remote \"origin\"]\n\turl = "+url+"\n")
		if why := remote(p, "remote", "-v"); (why != "") != secret {
			t.Errorf("remote -v with %s: %q", url, why)
		}
		if why := remote(p, "status"); why != "" {
			t.Errorf("status with %s: %q", url, why)
		}
	}
	p := newPlace(t)
	write(t, p.home+"/.gitconfig", "[url \"https://token@github.com/\"]\n\tinsteadOf = https://github.com/\n")
	if why := remote(p, "remote", "-v"); why == "" {
		t.Error("insteadOf with a token")
	}
}

// The options -c and -C of a subcommand are not git's own.
func TestGitOptionsOfSubcommands(t *testing.T) {
	p := newPlace(t)
	for _, c := range []struct {
		words  []string
		option cardea.Option
		ok     bool
	}{
		{[]string{"git", "diff", "-C"}, cardea.Option{Name: "-C", Word: 2}, true},
		{[]string{"git", "log", "-c"}, cardea.Option{Name: "-c", Word: 2}, true},
		{[]string{"git", "rev-parse", "--git-dir"}, cardea.Option{Name: "--git-dir", Word: 2}, true},
		{[]string{"git", "-c", "core.pager=id", "log"}, cardea.Option{Name: "-c", Value: "core.pager=id", Static: true, Word: 1}, false},
		{[]string{"git", "-C", "/nowhere", "log"}, cardea.Option{Name: "-C", Value: "/nowhere", Static: true, Word: 1}, false},
	} {
		ev := p.event()
		part := &ev.Call.Parts[0]
		part.Command, part.Argv, part.Options = []string{"git", "log"}, nil, []cardea.Option{c.option}
		for _, w := range c.words {
			part.Argv = append(part.Argv, cardea.Word{Text: w, Static: true})
		}
		if why := p.decider().Refusal(ev, 0); (why == "") != c.ok {
			t.Errorf("%q: %q", c.words, why)
		}
	}
}

func TestHiddenFilesOfASearch(t *testing.T) {
	p := newPlace(t)
	write(t, p.project+"/app/.env", "X=1")
	write(t, p.project+"/app/a.go", "")
	search := cardea.Access{Kind: cardea.Read, Path: p.project + "/app", Recursive: true, SkipsHidden: true}
	all := search
	all.SkipsHidden = false
	d := p.decider()
	refusal := func(a cardea.Access) string { return d.Refusal(p.event(a), 0) }
	if why := refusal(search); why != "" {
		t.Error(why)
	}
	if why := refusal(all); !strings.Contains(why, ".env") {
		t.Errorf("with hidden files: %q", why)
	}
	for _, name := range []string{"/.ignore", "/.gitignore", "/app/.rgignore", "/app/.ignore", "/.git/info/exclude"} {
		for text, free := range map[string]bool{"*.log\n# !x\n": true, "!.env\n": false, "x\n  !.env": false, "\ufeff!.env": false} {
			write(t, p.project+name, text)
			if why := refusal(search); (why == "") != free {
				t.Errorf("%s with %q: %q", name, text, why)
			}
		}
		if err := os.Remove(p.project + name); err != nil {
			t.Fatal(err)
		}
	}
	write(t, p.project+"/app/in/.env", "")
	write(t, p.project+"/app/in/.git/info/exclude", "!.env")
	if refusal(search) == "" {
		t.Error("the excludes of a repository below are passed over")
	}
	if err := os.RemoveAll(p.project + "/app/in/.git"); err != nil {
		t.Fatal(err)
	}
	write(t, p.project+"/app/in/.git", "gitdir: ../x")
	if refusal(search) == "" {
		t.Error("a file .git below is passed over")
	}
	if err := os.RemoveAll(p.project + "/app/in"); err != nil {
		t.Fatal(err)
	}
	write(t, p.project+"/app/id_rsa", "x")
	if why := refusal(search); why == "" {
		t.Error("a key that is not hidden is free")
	}
}

// A search by name is free if no file of that name is a secret, even with secrets in the
// same folder.
func TestFilesOfAName(t *testing.T) {
	p := newPlace(t)
	for _, f := range []string{"/app/.env", "/app/deep/a.go", "/app/deep/server.pem", "/app/b.go"} {
		write(t, p.project+f, "")
	}
	d := p.decider()
	named := func(pattern string) string {
		return d.Refusal(p.event(cardea.Access{Kind: cardea.Read, Path: p.project + "/app", Glob: true, Pattern: p.project + "/app/**/" + pattern}), 0)
	}
	for pattern, free := range map[string]bool{"*.go": true, "*": false, ".e*": false, "*.pem": false, "*.p?m": false, "[a-z]*": false, "*.{go,pem}": true} {
		if why := named(pattern); (why == "") != free {
			t.Errorf("%s: %q", pattern, why)
		}
	}
	if err := os.Symlink(p.home+"/.bashrc", p.project+"/app/deep/x.go"); err != nil {
		t.Fatal(err)
	}
	if named("*.go") == "" {
		t.Error("a link out of the work is passed over")
	}
}

func TestTrackedSecrets(t *testing.T) {
	p := newPlace(t)
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", p.project, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	if err := os.RemoveAll(p.project + "/.git"); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	git("add", "README.md", "keys/server.pem")
	d := p.decider()
	refusal := func(line string) string {
		ev := &cardea.Event{Kind: cardea.PreToolUse, Cwd: p.project, Project: p.project, Call: &cardea.Call{Tool: "Bash", Known: true, Input: map[string]any{"command": line}}}
		ev = call.Analyse(ev, knowledge.System{Home: p.home, Resolve: paths.Resolve, IsDir: disk.IsDir, TopLevel: disk.TopLevel, PlainNames: disk.PlainNames})
		return d.Refusal(ev, 0)
	}
	shows := []string{
		"git diff",
		"git show HEAD~1",
		"git log -p",
		"git log -U3",
		"git reflog -p",
		"git stash show -p",
		"git grep -h x HEAD",
		"git cat-file -p abc",
		"git format-patch --stdout --root",
		"git range-diff a b c",
		"git log -L1,2:README.md",
		"git show",
		"git show --stat",
		"git show -s abc",
		"git status -v",
		"git status -vv",
		"git log --check",
		"git diff --stat --check",
		"git reflog --check",
	}
	names := []string{
		"git status",
		"git log --oneline -5",
		"git diff --stat",
		"git diff --name-only HEAD",
		"git branch -a",
		"git ls-files",
		"git blame README.md",
		"git rev-parse HEAD",
		"git log --stat",
	}
	for _, line := range append(shows, names...) {
		if why := refusal(line); why != "" {
			t.Errorf("%s: %s", line, why)
		}
	}
	write(t, p.project+"/conf/.env", "X=1")
	git("add", "-f", "conf/.env")
	for _, line := range shows {
		if why := refusal(line); !strings.Contains(why, "secret") {
			t.Errorf("%s shows a secret: %q", line, why)
		}
	}
	for _, line := range names {
		if why := refusal(line); why != "" {
			t.Errorf("%s: %s", line, why)
		}
	}
}

// A repository with parts in another place, or that another git would read differently, is
// not trusted.
func TestCraftedRepositories(t *testing.T) {
	p := newPlace(t)
	d := p.decider()
	ev := p.event()
	ev.Call.Parts[0].Command = []string{"git", "status"}
	ev.Call.Parts[0].Argv[0].Text = "git"
	empty, end := "DIRC\x00\x00\x00\x02\x00\x00\x00\x00", strings.Repeat("\x00", 20)
	for text, free := range map[string]bool{
		empty + end:                           true,
		empty + "TREE\x00\x00\x00\x01x" + end: true,
		empty + "TREE\x00\x00\x00\x01xUNTR\x00\x00\x00\x00" + end:      true,
		empty + "link\x00\x00\x00\x00" + end:                           false,
		empty + "ZZZZ\x00\x00\x00\x00link\x00\x00\x00\x00" + end:       false,
		empty + "TREE\x00\x00\x00\x00link\x00\x00\x00\x00" + end:       false,
		empty + "TREE\xff\xff\xff\xff" + end:                           false,
		empty + "TREE\x00\x00\x00\x09x" + end:                          false,
		empty + "EOIE\x00\x00\x00\x18" + strings.Repeat("x", 24) + end: false,
		empty + "sdir\x00\x00\x00\x00" + end:                           false,
		empty + "TRE" + end:                                            false,
	} {
		write(t, p.project+"/.git/index", text)
		if why := d.Refusal(ev, 0); (why == "") != free {
			t.Errorf("%q: %q", text, why)
		}
	}
	write(t, p.project+"/.git/index", empty+end)
	for _, name := range []string{"objects", "refs", "packed-refs", "objects/pack", "objects/ab", "info"} {
		at := p.project + "/.git/" + name
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		cached := at + "-kept"
		moved := os.Rename(at, cached) == nil
		if err := os.Symlink(p.temp, at); err != nil {
			t.Fatal(err)
		}
		if why := d.Refusal(ev, 0); !strings.Contains(why, "elsewhere") {
			t.Errorf("%s as a link: %q", name, why)
		}
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
		if moved {
			if err := os.Rename(cached, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	if why := d.Refusal(ev, 0); why != "" {
		t.Error(why)
	}
}
