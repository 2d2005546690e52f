package provider

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/script"
)

// maxKey is the longest key, in bytes.
const maxKey = 8 << 10

// keys finds the keys of providers: in the environment, else by a command. The output of a command
// is kept in memory for the process, and never reported.
type keys struct {
	machine Machine
	// turn holds the outputs of commands, by command. Its receiver may read it or run a command.
	turn chan map[string]string
}

func newKeys(m Machine) *keys {
	k := &keys{machine: m, turn: make(chan map[string]string, 1)}
	k.turn <- map[string]string{}
	return k
}

// lookup returns a variable of the environment.
func (k *keys) lookup(name string) string {
	for _, pair := range k.machine.Environ {
		if n, v, _ := strings.Cut(pair, "="); n == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// optional reports whether a provider works without a key.
func optional(p judge.Provider) bool { return p.Type == judge.Ollama || p.Type == judge.Compatible }

// possible returns an error if there can be no key. It runs nothing.
func (k *keys) possible(p judge.Provider) error {
	if optional(p) || len(p.KeyCommand) > 0 || p.KeyShell != "" || k.lookup(p.Variable()) != "" {
		return nil
	}
	return &providerError{cause: judge.NoKey, unsent: true, why: fmt.Sprintf("it has no key; set %s, or api_key_command in judge.chain", p.Variable())}
}

// get returns the key of a provider, "" for one that needs none.
func (k *keys) get(ctx context.Context, p judge.Provider) (string, error) {
	if v := p.Variable(); v != "" {
		if key := k.lookup(v); key != "" {
			return key, usable(key, "the key in "+v)
		}
	}
	if len(p.KeyCommand) == 0 && p.KeyShell == "" {
		return "", nil
	}
	name := strings.Join(append(p.KeyCommand, p.KeyShell), "\x00")
	select {
	case printed := <-k.turn:
		defer func() { k.turn <- printed }()
		if key, ok := printed[name]; ok {
			return key, nil
		}
		key, err := k.run(ctx, p)
		if err == nil {
			printed[name] = key
		}
		return key, err
	case <-ctx.Done():
		return "", &providerError{cause: judge.TimedOut, unsent: true, why: "there was no time left to get its key"}
	}
}

// run runs a command for a key. Its error output is not reported, since it may contain the key.
func (k *keys) run(ctx context.Context, p judge.Provider) (string, error) {
	run := script.Process{Shell: p.KeyShell, Dir: k.machine.Dir, Env: k.searched(), Stdin: []byte{}, Limit: limit.KeyCommand, MaxOutput: maxKey}
	if len(p.KeyCommand) > 0 {
		run.Path, run.Args = k.find(p.KeyCommand[0]), p.KeyCommand[1:]
	}
	if len(p.KeyCommand) > 0 && run.Path == "" {
		return "", &providerError{cause: judge.NoKey, unsent: true, why: fmt.Sprintf("api_key_command: there is no program %q in the folders of PATH outside of the project", p.KeyCommand[0])}
	}
	out, _, err := run.Run(ctx)
	if err != nil {
		return "", &providerError{cause: judge.NoKey, unsent: true, why: "api_key_command failed: " + briefly(err)}
	}
	key := strings.TrimSpace(string(out))
	return key, usable(key, "what api_key_command printed")
}

// usable returns an error for a key that cannot be sent in a header.
func usable(key, what string) error {
	wrong := key == "" || len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
	if wrong {
		return &providerError{cause: judge.NoKey, unsent: true, why: what + " is no key: it is empty, or has other than printable characters"}
	}
	return nil
}

// searched returns the environment with a PATH without folders of the project. The agent could put
// a program there that would run in place of the person's.
func (k *keys) searched() []string {
	var out []string
	for _, pair := range k.machine.Environ {
		if name, value, _ := strings.Cut(pair, "="); isPath(name) {
			pair = name + "=" + strings.Join(k.folders(value), string(filepath.ListSeparator))
		}
		out = append(out, pair)
	}
	return out
}

func isPath(name string) bool {
	return name == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(name, "PATH")
}

// folders returns the folders of a PATH that are absolute and outside of the project.
func (k *keys) folders(value string) []string {
	project := real(k.machine.Project)
	return slices.DeleteFunc(filepath.SplitList(value), func(dir string) bool {
		rel, err := filepath.Rel(project, real(dir))
		inside := err == nil && filepath.IsLocal(rel)
		return !filepath.IsAbs(dir) || k.machine.Project != "" && inside
	})
}

// real returns a folder with its links resolved, or unchanged if it does not exist.
func real(dir string) string {
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		return r
	}
	return filepath.Clean(dir)
}

// find returns the path of a program on the PATH, or "".
func (k *keys) find(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	for _, pair := range k.machine.Environ {
		variable, value, _ := strings.Cut(pair, "=")
		if !isPath(variable) || filepath.Base(name) != name {
			continue
		}
		for _, dir := range k.folders(value) {
			if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return p
			}
		}
	}
	return ""
}
