package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/decide/policy/remote"
	"cardea.dev/internal/harness"
)

// The hook's program reads no YAML and no archives, and has no commands for people.
// cardea-engine does this work. It replaces this program for a command. It judges a message
// if settings, rules or roles have no compiled form (package inforce), or if the call names
// an archive. It also writes the compiled forms, so that the next call needs no help.

// Another lets another program answer a message, and returns that answer.
type Another func(ctx context.Context, message []byte) (harness.Output, error)

// The largest answer and the largest standard error of cardea-engine, in bytes. Answers can
// repeat what the call would write.
const (
	maxAnswer  = 2 * MaxInput
	maxRemarks = 1 << 20
)

// ByEngine returns an [Another] that starts the cardea-engine in program's folder with the
// same arguments.
func ByEngine(program string, args []string) Another {
	return func(ctx context.Context, message []byte) (harness.Output, error) {
		path, err := remote.Find(program)
		if err != nil {
			return harness.Output{}, err
		}
		p := script.Process{Path: path, Name: program, Args: args, Env: script.WithoutLibraries(os.Environ()), Stdin: message, MaxOutput: maxAnswer, MaxErrors: maxRemarks, KeepGroup: true}
		stdout, stderr, err := p.Run(ctx)
		out := harness.Output{Stdout: stdout, Stderr: stderr}
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == ExitDeny {
			out.Exit, err = ExitDeny, nil
		}
		if err != nil {
			return harness.Output{}, fmt.Errorf("%s: %w", path, err)
		}
		return out, nil
	}
}

// BecomeEngine replaces this process by cardea-engine, to run a command of a person. It
// returns an exit code only on Windows or on failure.
func BecomeEngine(args []string, p Process) int {
	path, err := remote.Find(p.Program)
	if err == nil {
		var code int
		if code, err = script.Become(path, append([]string{p.Program}, args...)); err == nil {
			return code
		}
	}
	return p.exit(err)
}

// ProgramOf returns the path of cardea, for cardea-engine. It is the name that
// cardea-engine was started with, if that is a cardea with this engine in its folder; else
// cardea in the engine's own folder.
func ProgramOf(engine, name string) string {
	if filepath.IsAbs(name) && !strings.HasPrefix(filepath.Base(name), remote.Program) {
		if found, err := remote.Find(name); err == nil && same(found, engine) {
			return name
		}
	}
	return filepath.Join(filepath.Dir(engine), "cardea"+filepath.Ext(engine))
}

func same(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// unlessUnread returns v if all archives of the call were read. Otherwise the verdict is at
// least as strict as for an unreadable file, since what the call writes is uncertain.
func (h *Hook) unlessUnread(v cardea.Verdict, b cardea.Fallback, ev *cardea.Event) cardea.Verdict {
	if !disk.Unread() {
		return v
	}
	f := b.Failed(cardea.BrokenFile, ev.Attended(), "what an archive or a revision in this call holds cannot be read, since cardea-engine does not answer; run \"cardea doctor\"")
	if f.Effect.Stricter(v.Effect) {
		v.Effect, v.By, v.Reason, v.Message = f.Effect, f.By, f.Reason, f.Message
	}
	return v
}

// handOver lets another program answer if this one met a text that it cannot read. If that
// fails, the unread files are treated as broken, as the evaluation already does. The
// returned problem says why.
func (h *Hook) handOver(ctx context.Context, message []byte) (out harness.Output, done bool, issue cardea.Issues) {
	if h.process.Another == nil || !document.Unread() && !disk.Unread() {
		return out, false, nil
	}
	out, err := h.process.Another(ctx, message)
	if err == nil {
		return out, true, nil
	}
	if !document.Unread() {
		// The contents of an archive stay unknown, and are judged as unknown.
		return out, false, cardea.Issues{cardea.Warning("", diagnostic.CodeUnreadable, "", "what an archive holds cannot be read: "+err.Error())}
	}
	return out, false, cardea.Issues{cardea.BrokenFile.Issue("", diagnostic.CodeUnreadable, "", "settings, rules or roles cannot be read: "+err.Error())}
}
