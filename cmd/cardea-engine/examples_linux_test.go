package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"cardea.dev/internal/base/person"
	"cardea.dev/internal/config/release"
)

const examples = "../../examples/"

// exampleCommands returns the commands of each example, in order, as a shell runs them.
func exampleCommands(t *testing.T) map[string][]string {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile(examples + name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	out := map[string][]string{}
	var container struct {
		Build struct {
			Dockerfile string
		}
		PostCreateCommand string
	}
	if err := json.Unmarshal(read("devcontainer/devcontainer.json"), &container); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(read("devcontainer/" + container.Build.Dockerfile))) {
		if command, is := strings.CutPrefix(strings.TrimSpace(line), "RUN "); is {
			out["devcontainer"] = append(out["devcontainer"], command)
		}
	}
	out["devcontainer"] = append(out["devcontainer"], container.PostCreateCommand)
	var plays []struct {
		Vars  map[string]string
		Tasks []struct {
			Environment map[string]string
			Command     *struct{ Cmd string }           `yaml:"ansible.builtin.command"`
			URL         *struct{ URL, Dest string }     `yaml:"ansible.builtin.get_url"`
			File        *struct{ Path string }          `yaml:"ansible.builtin.file"`
			Copy        *struct{ Dest, Content string } `yaml:"ansible.builtin.copy"`
		}
	}
	if err := yaml.Unmarshal(read("ansible/cardea.yml"), &plays); err != nil {
		t.Fatal(err)
	}
	for _, task := range plays[0].Tasks {
		command := ""
		switch {
		case task.Command != nil:
			for name, value := range task.Environment {
				command += name + "=" + value + " "
			}
			command += task.Command.Cmd
		case task.URL != nil:
			command = "curl -fsSL '" + strings.ReplaceAll(task.URL.URL, "{{ cardea_releases }}", plays[0].Vars["cardea_releases"]) + "' > " + task.URL.Dest
		case task.File != nil:
			command = "mkdir -p " + task.File.Path
		case task.Copy != nil:
			command = "cat > " + task.Copy.Dest + " <<'END'\n" + task.Copy.Content + "END"
		default:
			t.Errorf("a task of ansible is not known: %+v", task)
		}
		out["ansible"] = append(out["ansible"], command)
	}
	out["ansible"] = append(out["ansible"], "cat /etc/cardea/cardea.yaml")
	var workflow struct {
		Env  map[string]string
		Jobs map[string]struct {
			Env   map[string]string
			Steps []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(read("ci/github.yml"), &workflow); err != nil {
		t.Fatal(err)
	}
	for _, step := range workflow.Jobs["agent"].Steps {
		if step.Run != "" {
			out["github"] = append(out["github"], step.Run)
		}
	}
	out["shell"] = []string{string(read("ci/agent.sh"))}
	return out
}

// The examples install Cardea from a release, without a terminal, as root.
func TestExamples(t *testing.T) {
	all := exampleCommands(t)
	asset := release.Repository + "/releases/latest/download/install.sh"
	for name, commands := range all {
		text := strings.Join(commands, "\n")
		if !strings.Contains(text, asset) || !regexp.MustCompile(`cardea install claude --managed\n`).MatchString(text) || !strings.Contains(text, "cardea doctor") {
			t.Errorf("%s does not install from %s, register and check the hook:\n%s", name, asset, text)
		}
		t.Run(name, func(t *testing.T) { checkExample(t, strings.Join(commands, "\n"), asset) })
	}
}

// checkExample runs the commands of an example twice.
func checkExample(t *testing.T, commands, asset string) {
	text, err := asRoot(t, asset)(commands + "\n" + commands + "\ncat /etc/claude-code/managed-settings.d/50-cardea.json\n")
	if err != nil || strings.Count(text, "wrote /etc/claude-code/managed-settings.d/50-cardea.json") != 1 ||
		strings.Count(text, "nothing to change: Claude Code already calls /usr/local/bin/cardea") != 1 ||
		strings.Count(text, "Claude Code: ready") != 2 || !strings.Contains(text, `"onFailure": "block"`) || strings.Contains(text, "type ") {
		t.Errorf("%v\n%s", err, text)
	}
}

// asRoot returns a function that runs scripts in separate file systems, in which the
// release at an address has the programs of this tree.
func asRoot(t *testing.T, asset string) func(script string) (string, error) {
	above, err := person.Lineage(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range above {
		if f.Agent {
			t.Skip("an agent runs the tests, so nothing can be installed")
		}
	}
	begin := `set -eu
mount -t tmpfs none /root; mount -t tmpfs none /usr/local
mkdir -p /root/o/up /root/o/work /usr/local/bin /usr/local/share
mount -t overlay overlay -o lowerdir=/etc,upperdir=/root/o/up,workdir=/root/o/work /etc
rm -rf /etc/cardea /etc/claude-code
printf '#!/bin/sh\nfor last; do :; done\n[ "$last" = ` + asset + ` ] || exit 1\necho "set -eu; cp ` + built + `/cardea* \$CARDEA_BIN/"\n' > /usr/local/bin/curl
printf '#!/bin/sh\nexec env "$@"\n' > /usr/local/bin/sudo
printf '#!/bin/sh\ncase "$*" in "install -g @anthropic-ai/claude-code") ;; *) exit 1 ;; esac\n' > /usr/local/bin/npm
printf '#!/bin/sh\nif [ "$1" = --version ]; then echo 2.1.400; else echo "claude runs, unattended: ${CARDEA_UNATTENDED-}"; fi\n' > /usr/local/bin/claude
chmod 755 /usr/local/bin/*
cd /
`
	path := filepath.Join(t.TempDir(), "run")
	run := func(script string) (string, error) {
		if err := os.WriteFile(path, []byte(begin+script), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"-m", "--propagation", "private", "bash", path}
		if os.Geteuid() != 0 {
			args = append([]string{"-r"}, args...)
		}
		c := exec.Command("unshare", args...)
		c.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/root"}
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := run(""); err != nil {
		t.Skipf("there are no file systems of one's own here: %v %s", err, out)
	}
	return run
}

// The installed program checks the processes above it: an agent cannot register or remove a
// hook, however it starts the command.
func TestAgentsInstallNothing(t *testing.T) {
	run := asRoot(t, "none")
	const begin = "cp " + "BUILT/cardea* /usr/local/bin/; mkdir /root/agent; cp /bin/bash /root/agent/claude; cp /bin/bash /usr/local/bin/sh2\n"
	for name, tt := range map[string]struct {
		script string
		wrote  bool
	}{
		"a script":                  {"cardea install claude", true},
		"a script, managed":         {"cardea install claude --managed", true},
		"a variable":                {"CLAUDECODE=1 cardea install claude", false},
		"a variable, managed":       {"CLAUDECODE=1 cardea install claude --managed", false},
		"an agent above":            {"/root/agent/claude -c 'cardea install claude; true'", false},
		"an agent above, managed":   {"/root/agent/claude -c 'cardea install claude --managed; true'", false},
		"its variables are cleared": {"/root/agent/claude -c 'env -i PATH=$PATH HOME=/root cardea install claude; true'", false},
		"a variable of one above":   {"CLAUDECODE=1 sh2 -c 'env -i PATH=$PATH HOME=/root cardea install claude; true'", false},
		"flags":                     {"cardea install claude --unattended", false},
		"another program":           {"cardea install claude --binary /usr/local/bin/cardea", false},
		"after an agent's rules": {
			"mkdir -p /root/.config/cardea/rules; echo 'rules: [{id: pa, tool: Bash, match: {command: pa}, effect: allow}]' > /root/.config/cardea/rules/a.yaml; cardea install claude",
			false,
		},
		"a project's rules, managed": {"mkdir -p /root/app/.cardea; echo 'on_error: deny' > /root/app/.cardea/cardea.yaml; cd /root/app; cardea install claude --managed", true},
		"in a temporary folder":      {"mkdir /tmp/x; mount -t tmpfs none /tmp/x; cp /usr/local/bin/cardea* /tmp/x; /tmp/x/cardea install claude; rc=$?; umount /tmp/x; rmdir /tmp/x; exit $rc", false},
		"the root of all":            {"cd /; cardea install claude", true},
		"from the home folder":       {"mkdir -p /root/.local/bin; mv /usr/local/bin/cardea* /root/.local/bin; cd; .local/bin/cardea install claude", true},
		"npm's folder":               {"mkdir -p /root/.local/share/cardea/bin; mv /usr/local/bin/cardea* /root/.local/share/cardea/bin; /root/.local/share/cardea/bin/cardea install claude", true},
		"a link of a package manager": {
			"mkdir -p /usr/local/Cellar/cardea/1.2.3/bin; mv /usr/local/bin/cardea* /usr/local/Cellar/cardea/1.2.3/bin; ln -s " +
				"/usr/local/Cellar/cardea/1.2.3/bin/cardea* /usr/local/bin; cardea install claude | grep -v Cellar; cardea doctor",
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := run(strings.ReplaceAll(begin, "BUILT", built) + "set +e\n" + tt.script)
			if wrote := strings.Contains(out, "wrote /"); wrote != tt.wrote || wrote && err != nil || strings.Contains(out, "type ") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
