package person

import (
	"strings"
	"testing"
)

func TestTypist(t *testing.T) {
	clean := []string{"HOME=/h", "CLAUDECODE="}
	sh, claude := ancestor{names: []string{"sh", "sh"}, environ: []string{"CLAUDECODE=1"}}, ancestor{names: []string{"claude"}, environ: clean}
	bash, term := ancestor{names: []string{"bash"}, environ: clean}, ancestor{names: []string{"gnome-terminal"}}
	dirty := ancestor{names: []string{"claude"}, environ: []string{"CLAUDECODE=1"}}
	for _, c := range []struct {
		name string
		all  []ancestor
		want string
	}{
		{"a person's agent", []ancestor{sh, claude, bash, term}, ""},
		{"with a launcher", []ancestor{sh, claude, {names: []string{"node", "/usr/bin/claude"}, environ: clean}, bash, term}, ""},
		{"in a tmux", []ancestor{sh, claude, bash, {names: []string{"tmux: server", "tmux"}, environ: clean}}, ""},
		{"no agent at all", []ancestor{bash, term}, "no agent that is known"},
		{"an agent's agent", []ancestor{sh, claude, bash, claude, bash}, "an agent started this one (claude)"},
		{"an agent's agent without a shell", []ancestor{sh, dirty, claude, bash}, "CLAUDECODE was set for claude"},
		{"another agent's", []ancestor{sh, claude, {names: []string{"bash"}, environ: clean}, {names: []string{"codex"}}}, "(codex)"},
		{"cut off", []ancestor{sh, dirty}, "CLAUDECODE was set for claude"},
		{"in a tmux of the agent's", []ancestor{sh, claude, bash, {names: []string{"tmux: server"}, environ: []string{"CLAUDE_CODE_ENTRYPOINT=cli"}}}, "CLAUDE_CODE_ENTRYPOINT"},
		{"the environment cannot be seen", []ancestor{sh, {names: []string{"claude"}}, {names: []string{"claude"}}}, "an agent started this one"},
	} {
		err := typist(c.all)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "in a terminal of your own")) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A message counts that came from the nearest agent itself.
func TestFromAgent(t *testing.T) {
	all := []ancestor{{pid: 5, names: []string{"sh"}}, {pid: 4, names: []string{"claude"}}, {pid: 3, names: []string{"node", "claude"}}, {pid: 2, names: []string{"bash"}}}
	for by, want := range map[int]bool{4: true, -1: true, 0: false, 5: false, 3: false, 2: false} {
		if err := fromAgent(all, by); (err == nil) != want {
			t.Errorf("from process %d: %v", by, err)
		}
	}
	if fromAgent(all[:1], 5) == nil {
		t.Error("there is no agent, and a message counts")
	}
}
