package bash

import (
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge"
)

// mounts holds the folders of this machine that a container can see, and its working folder.
type mounts struct {
	at  []mount
	dir string
}

type mount struct{ source, target string }

// option reads an option of a container client: -v SOURCE:TARGET, --mount
// type=bind,source=S,target=T, -w FOLDER. The value may be the next word.
func (m *mounts) option(cwd string, words []field) {
	name, value, joined := strings.Cut(words[0].Text, "=")
	if !strings.HasPrefix(name, "--") && len(name) > 2 { // -v/x:/y
		name, value, joined = words[0].Text[:2], words[0].Text[2:], true
	}
	if !joined && len(words) > 1 {
		value = words[1].Text
		if !words[1].Static { // "$(pwd)":/x
			value = strings.NewReplacer(`"`, "", "$(pwd)", cwd, "`pwd`", cwd).Replace(value)
		}
	}
	switch name {
	case "-w", "--workdir":
		m.dir = value
	case "-v", "--volume":
		if source, rest, ok := strings.Cut(value, ":"); ok {
			target, _, _ := strings.Cut(rest, ":")
			m.add(cwd, source, target)
		}
	case "--mount":
		fields := map[string]string{}
		for _, f := range strings.Split(value, ",") {
			key, text, _ := strings.Cut(f, "=")
			fields[key] = text
		}
		m.add(cwd, fields["source"]+fields["src"], fields["target"]+fields["dst"]+fields["destination"])
	}
}

// add records a mounted folder. A source without a slash is a volume and is skipped.
func (m *mounts) add(cwd, source, target string) {
	if !strings.HasPrefix(target, "/") || !strings.Contains(source, "/") && !strings.HasPrefix(source, ".") {
		return
	}
	if source = knowledge.Absolute(cwd, source); source != "" {
		m.at = append(m.at, mount{source, target})
	}
}

// potential returns the parts of a command in the container that may access the mounted
// folders, with the paths of this machine.
func (m *mounts) potential(env Env, words []field) []cardea.Part {
	if len(m.at) == 0 || len(words) == 0 || env.depth >= maxPotentialDepth {
		return nil
	}
	if env.Cwd = m.dir; env.Cwd == "" {
		env.Cwd = m.at[0].target // usually the image works there
	}
	resolve := env.System.Resolve
	env.depth++
	env.System = knowledge.System{Resolve: func(p string) string { return m.source(p, resolve) }}
	text, _ := spelled(words)
	parts := Analyse(text, env).Parts
	for i := range parts {
		parts[i].Access, parts[i].MayTouch = reaching(parts[i].Access), reaching(parts[i].MayTouch)
		parts[i].Dir, parts[i].Start, parts[i].Opaque = "", -1, nil
	}
	return parts
}

// source returns the path of this machine for a path of the container, or "" if it has none.
func (m *mounts) source(p string, resolve func(string) string) string {
	for i := len(m.at) - 1; i >= 0; i-- {
		at := m.at[i].source
		switch {
		case paths.Within(m.at[i].target, p):
			at = strings.TrimSuffix(at, "/") + "/" + strings.TrimPrefix(p[len(strings.TrimSuffix(m.at[i].target, "/")):], "/")
		case !paths.Within(p, m.at[i].target):
			continue
		}
		if at = knowledge.Absolute("/", at); resolve != nil {
			return resolve(at)
		}
		return at
	}
	return ""
}

// reaching returns the accesses to files with a known path.
func reaching(list []cardea.Access) []cardea.Access {
	var out []cardea.Access
	for _, a := range list {
		if a.Path != "" {
			a.Spelled = ""
			out = append(out, a)
		}
	}
	return out
}
