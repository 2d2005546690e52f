package importer

import (
	"strings"
	"testing"
)

func TestPermitter(t *testing.T) {
	for _, tt := range []struct {
		env        map[string]string
		file, text string
		want       string
		notes      []string
	}{
		{nil, "", "", "", []string{"so Permitter was off"}},
		{map[string]string{"PERMITTER_ENABLED": "1"}, "", "", "permissions: {expand: true}", nil},
		{map[string]string{"PERMITTER_ENABLED": "0", "PERMITTER_STRICT": "0"}, "", "", "permissions: {expand: false, strict: false}", []string{"only 1 switched", "does not go as far"}},
		{map[string]string{"PERMITTER_ENABLED": "1", "PERMITTER_STRICT": "1", "PERMITTER_DEBUG": "1", "PERMITTER_LOG": "/x"}, "", "", "permissions: {expand: true, strict: true}", []string{"CARDEA_DEBUG", "ledger"}},
		{nil, "s.json", `{"env":{"PERMITTER_ENABLED":1},"hooks":["node permitter.js"]}`, "permissions: {expand: true}", []string{"s.json:1:41: Permitter is started here"}},
		{nil, "s.json", `{"enabledPlugins":{"ensemble-permitter@x":false}}`, "", []string{"was off"}},
		{nil, "s.json", `[`, "", []string{"s.json:1:2: not valid JSON", "was off"}},
		{nil, ".bashrc", "#export PERMITTER_ENABLED=1\n", "", []string{"was off"}},
		{nil, ".config/fish", "set -gx PERMITTER_ENABLED 1\n", "permissions: {expand: true}", nil},
	} {
		got := Permitter(func(name string) string { return tt.env[name] }, tt.file, []byte(tt.text))
		if text := strings.Join(got.Settings, "\n"); text != tt.want {
			t.Errorf("%v %s: %q, want %q", tt.env, tt.text, text, tt.want)
		}
		if len(got.Notes) != len(tt.notes) {
			t.Errorf("%v %s: %v", tt.env, tt.text, got.Notes)
			continue
		}
		for i, n := range tt.notes {
			if !strings.Contains(got.Notes[i].String(), n) {
				t.Errorf("%v %s: %q, want %q", tt.env, tt.text, got.Notes[i], n)
			}
		}
	}
}
