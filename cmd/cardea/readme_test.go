package main

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The README shows the program's output, each command in it exists, and each line of its
// table gets that answer.
func TestReadmeIsTrue(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(data)
	s := newSession(t)
	const blocked = "git add . && git push --force"
	s.run(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"`+s.dir+`","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"`+blocked+`"}}`, []string{
		"check",
		"--harness",
		"claude-code",
	})
	s.carriesOut(readme)

	commands := regexp.MustCompile("(?m)`(cardea [^`]+)`|^(cardea .*?)(?: +#.*)?$").FindAllStringSubmatch(readme, -1)
	if len(commands) < 6 {
		t.Errorf("the README has the commands %q alone", commands)
	}
	for _, m := range commands {
		words := regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(m[1]+m[2], -1)[1:]
		for i := range words {
			words[i] = strings.Trim(words[i], `"`)
		}
		if help := s.run("", append(slices.Clone(words), "--help")); s.lastEnding != 0 || !strings.Contains(help, "\n  cardea "+words[0]) || !strings.Contains(help, "Usage:") {
			t.Errorf("cardea %q: exit %d, %s", words, s.lastEnding, help)
		}
	}

	effects := map[string]string{"stopped": "deny", "asked about": "ask", "let through": "allow", "left to the agent's own prompt": "abstain"}
	rows := regexp.MustCompile("(?m)^\\| `(.*)` \\| (.*) \\| .* \\|$").FindAllStringSubmatch(readme, -1)
	for _, row := range rows {
		line := strings.ReplaceAll(row[1], `\|`, "|")
		var is struct{ Effect string }
		out := s.run("", []string{"try", "--json", line})
		if err := json.Unmarshal([]byte(out), &is); err != nil || is.Effect != effects[row[2]] {
			t.Errorf("%s is %s, and not %s: %v", line, is.Effect, row[2], err)
		}
	}
	if len(rows) != 10 {
		t.Errorf("the table has %d lines", len(rows))
	}
}
