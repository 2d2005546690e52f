// Command dump prints the result of one revision for inputs. scripts/compare copies this
// file into each revision and builds it there, so it may only use what both have.
//
//	dump HOME... < inputs > outputs
//
// An input is a line of JSON, a [ToolCall]. Its output is a line of JSON, a [Result]. Each HOME
// is a home folder with a project "app", and gives one answer. Lines that activate an
// environment of Python run in "app-with-environment", if it exists.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"cardea.dev"
	_ "cardea.dev/internal/base/document/yamltext" // reads YAML
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/policy/remote"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/hook"
)

// ToolCall is one input: a tool of Claude Code and its input as JSON.
type ToolCall struct {
	Tool  string
	Input json.RawMessage
}

// Result holds the parts, the accesses and the answers of a [ToolCall]. Each field holds lines of text.
type Result struct {
	Parts, Accesses, Answers, Reasons string
}

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "dump:", err)
		os.Exit(1)
	}
}

// run answers all inputs in order.
func run(homes []string, in io.Reader, out io.Writer) error {
	var calls []ToolCall
	for d := json.NewDecoder(bufio.NewReader(in)); ; {
		var c ToolCall
		if err := d.Decode(&c); err == io.EOF {
			break
		} else if err != nil {
			return fmt.Errorf("read an input: %w", err)
		}
		calls = append(calls, c)
	}
	memory := inforce.NewMemory(time.Now, func() inforce.ClosingEngine { return remote.Beside("") })
	results, next := make([]Result, len(calls)), make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				results[i] = judge(memory, homes, calls[i])
			}
		})
	}
	for i := range calls {
		next <- i
	}
	close(next)
	workers.Wait()
	w := bufio.NewWriter(out)
	e := json.NewEncoder(w)
	for _, r := range results {
		if err := e.Encode(r); err != nil {
			return fmt.Errorf("write a result: %w", err)
		}
	}
	return w.Flush()
}

// judge judges a call in each home folder. The parts and accesses are those of the first
// one. For a shell line they are also those without knowledge of the disk.
func judge(memory *inforce.Memory, homes []string, c ToolCall) (r Result) {
	var answers, reasons []string
	for i, home := range homes {
		name := filepath.Base(home)
		ev, err := event(home, c)
		if err != nil {
			return Result{Answers: name + " unread: " + err.Error()}
		}
		p := process(home)
		p.Memory = memory.Begin(func(string) {})
		j := hook.NewEvaluation(p, ev)
		v := j.Verdict(context.Background())
		p.Memory.End()
		answers = append(answers, name+" "+v.Effect.String())
		reasons = append(reasons, name+" "+v.By+": "+strings.ReplaceAll(v.Reason, "\n", " "))
		if i == 0 {
			r.Parts, r.Accesses = shown(j.Event.Call.Parts, j.Event.Call.Opaque)
			r.Accesses += flows(j.Event.Call.Flows)
		}
	}
	r.Answers, r.Reasons = strings.Join(answers, "\n"), strings.Join(reasons, "\n")
	var input struct{ Command string }
	if json.Unmarshal(c.Input, &input) == nil && c.Tool == "Bash" {
		a := bash.Analyse(input.Command, bash.Env{Cwd: "/r/w", System: knowledge.System{Home: "/r/w", Roots: []string{"/r/w"}}})
		parts, accesses := shown(a.Parts, a.Opaque)
		r.Parts += "without the disk:\n" + parts
		r.Accesses += "without the disk:\n" + accesses
	}
	replaced := []string{fmt.Sprintf("/proc/%d", os.Getpid()), "/proc/self"}
	if len(homes) > 0 {
		replaced = append(replaced, filepath.Dir(homes[0]), "HOMES")
	}
	own := strings.NewReplacer(replaced...)
	for _, field := range []*string{&r.Parts, &r.Accesses, &r.Reasons} {
		*field = own.Replace(*field)
	}
	return r
}

// event returns the message that Claude Code sends about a call, at a terminal.
func event(home string, c ToolCall) (*cardea.Event, error) {
	app := filepath.Join(home, "app")
	if with := filepath.Join(home, "app-with-environment"); strings.Contains(string(c.Input), "bin/activate") && exists(with) {
		app = with
	}
	input := json.RawMessage(strings.ReplaceAll(string(c.Input), "/home/dev/project", app)) // the project's path in the corpus of real lines
	text, err := json.Marshal(map[string]any{"hook_event_name": cardea.PreToolUse, "session_id": "s", "cwd": app,
		"permission_mode": cardea.ModeDefault, "tool_name": c.Tool, "tool_input": input})
	if err != nil {
		return nil, err
	}
	payload, err := harness.Read(text)
	if err != nil {
		return nil, err
	}
	ev := claudecode.Adapter{}.Parse(payload)
	ev.Harness, ev.Attendance = claudecode.Name, cardea.PersonAttends
	return ev, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// process returns the hook's process in a home folder.
func process(home string) hook.Process {
	env := func(name string) string {
		return map[string]string{"HOME": home, "PATH": "/usr/local/bin:/usr/bin:/bin"}[name]
	}
	machine := project.ThisMachine(env)
	machine.OS, machine.Foreign, machine.Home = "linux", func(string) bool { return false }, func() (string, error) { return home, nil }
	return hook.Process{Program: filepath.Join(home, "cardea"), Engines: policy.Engines{Own: remote.Beside(""), Project: remote.Beside("")},
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Env: env, Dir: filepath.Join(home, "app"), Now: time.Now,
		Machine: machine}
}

// shown returns parts and their accesses as text. An uncertain word has marks in front.
func shown(parts []cardea.Part, opaque []cardea.Opaque) (words, accesses string) {
	var w, a strings.Builder
	spots(&a, "line", opaque)
	for i := range parts {
		p := &parts[i]
		fmt.Fprintf(&w, "%q in %q:", p.Text, p.Dir)
		for _, word := range p.Argv {
			marks := ""
			for mark, is := range map[string]bool{"?": !word.Static, "*": word.MaySplit, "-": word.MayBeOption} {
				if is {
					marks += mark
				}
			}
			w.WriteString(" " + sorted(marks) + fmt.Sprintf("%q", word.Text))
		}
		fmt.Fprintf(&w, " %q %v %q\n", p.Wrappers, p.Elevated, p.ProgramPattern)
		for _, list := range []struct {
			name string
			all  []cardea.Access
		}{{"", p.Access}, {"may ", p.MayTouch}} {
			for _, x := range list.all {
				fmt.Fprintf(&a, "%d %s%v %q %q %q recursive=%v glob=%v names=%v\n", i, list.name, x.Kind, x.Path, x.Host, x.Pattern, x.Recursive, x.Glob, x.MetadataOnly)
			}
		}
		for _, m := range p.MayRun {
			fmt.Fprintf(&a, "%d may run %q\n", i, m.Text)
		}
		fmt.Fprintf(&a, "%d known=%v,%v no-effect=%v\n", i, p.Coverage, p.Knowledge, p.NoEffect)
		spots(&a, fmt.Sprint(i), p.Opaque)
	}
	return w.String(), a.String()
}

// spots writes the codes of opaque spots. Their texts and reasons are for people.
func spots(b *strings.Builder, where string, list []cardea.Opaque) {
	for _, o := range list {
		fmt.Fprintf(b, "%s opaque %s\n", where, o.Code)
	}
}

func flows(list []cardea.Flow) string {
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "flow %s %d to %d\n", f.Kind, f.From, f.To)
	}
	return b.String()
}

func sorted(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(b)
}
