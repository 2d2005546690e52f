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
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/decide/policy/remote"
	"cardea.dev/internal/harness"
)

// The hook's program reads no YAML and no archives, and has no commands for people. These
// are cardea-engine's: it takes this program's place for a command, and judges a message
// whose settings, rules or roles have no compiled form (package inforce), or whose call
// names an archive. The forms are written on the way, so that the next call needs no help.

// Another has another program answer a message, and gives its answer.
type Another func(ctx context.Context, message []byte) (harness.Output, error)

// The most that cardea-engine may write as an answer, in bytes. Answers can hold what
// the call would write.
const (
	maxAnswer  = 2 * MaxInput
	maxRemarks = 1 << 20
)

// ByEngine is cardea-engine beside a program, started with the same arguments.
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

// BecomeEngine has cardea-engine carry out a command of a person in the place of this
// program. It comes back with an exit code on Windows, and where it fails.
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

// ProgramOf is the path of cardea, for cardea-engine: the name that it was started
// with, where that is a cardea beside which this program is found, else cardea in its
// own folder.
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

// unlessUnread is a verdict about a call whose archives were read, else at least what
// follows from a file that cannot be read: nothing is sure about what the call writes.
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

// handOver has another program answer, where a text was met that this one cannot read.
// Where that fails, the files that are not read are broken ones, as the judgement has
// them already, and the error says why.
func (h *Hook) handOver(ctx context.Context, message []byte) (out harness.Output, done bool, trouble cardea.Troubles) {
	if h.process.Another == nil || !document.Unread() && !disk.Unread() {
		return out, false, nil
	}
	out, err := h.process.Another(ctx, message)
	if err == nil {
		return out, true, nil
	}
	if !document.Unread() {
		// What an archive holds is not known, and judged as that.
		return out, false, cardea.Troubles{cardea.Warning("", cardea.CodeUnreadable, "", "what an archive holds cannot be read: "+err.Error())}
	}
	return out, false, cardea.Troubles{cardea.BrokenFile.Trouble("", cardea.CodeUnreadable, "", "settings, rules or roles cannot be read: "+err.Error())}
}
