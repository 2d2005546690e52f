package person

import (
	"strings"
	"testing"
)

func TestTypist(t *testing.T) {
	clean := []string{"HOME=/h", "CLAUDECODE="}
	sh, claude := Ancestor{Names: []string{"sh", "sh"}, Environ: []string{"CLAUDECODE=1"}}, Ancestor{Names: []string{"claude"}, Environ: clean}
	bash, term := Ancestor{Names: []string{"bash"}, Environ: clean}, Ancestor{Names: []string{"gnome-terminal"}}
	dirty := Ancestor{Names: []string{"claude"}, Environ: []string{"CLAUDECODE=1"}}
	for _, c := range []struct {
		name string
		all  []Ancestor
		want string
	}{
		{"a person's agent", []Ancestor{sh, claude, bash, term}, ""},
		{"with a launcher", []Ancestor{sh, claude, {Names: []string{"node", "/usr/bin/claude"}, Environ: clean}, bash, term}, ""},
		{"in a tmux", []Ancestor{sh, claude, bash, {Names: []string{"tmux: server", "tmux"}, Environ: clean}}, ""},
		{"no agent at all", []Ancestor{bash, term}, "no agent that is known"},
		{"an agent's agent", []Ancestor{sh, claude, bash, claude, bash}, "an agent started this one (claude)"},
		{"an agent's agent without a shell", []Ancestor{sh, dirty, claude, bash}, "CLAUDECODE was set for claude"},
		{"another agent's", []Ancestor{sh, claude, {Names: []string{"bash"}, Environ: clean}, {Names: []string{"codex"}}}, "(codex)"},
		{"cut off", []Ancestor{sh, dirty}, "CLAUDECODE was set for claude"},
		{"in a tmux of the agent's", []Ancestor{sh, claude, bash, {Names: []string{"tmux: server"}, Environ: []string{"CLAUDE_CODE_ENTRYPOINT=cli"}}}, "CLAUDE_CODE_ENTRYPOINT"},
		{"the environment cannot be seen", []Ancestor{sh, {Names: []string{"claude"}}, {Names: []string{"claude"}}}, "an agent started this one"},
	} {
		err := typist(c.all)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "in a terminal of your own")) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A message counts that came from the nearest agent itself.
func TestFromAgent(t *testing.T) {
	all := []Ancestor{{PID: 5, Names: []string{"sh"}}, {PID: 4, Names: []string{"claude"}}, {PID: 3, Names: []string{"node", "claude"}}, {PID: 2, Names: []string{"bash"}}}
	for by, want := range map[int]bool{4: true, -1: true, 0: false, 5: false, 3: false, 2: false} {
		if err := fromAgent(all, by); (err == nil) != want {
			t.Errorf("from process %d: %v", by, err)
		}
	}
	if fromAgent(all[:1], 5) == nil {
		t.Error("there is no agent, and a message counts")
	}
}
