package importer_test

import (
	"strings"
	"testing"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/config/importer"
)

func TestPermitter(t *testing.T) {
	const on, off = "permissions:\n  expand: true\n", "permissions:\n  expand: false\n"
	for _, tt := range []struct {
		env        map[string]string
		file, text string
		want       string
		told       []string
	}{
		{nil, "", "", "", []string{"so Permitter was off"}},
		{map[string]string{"PERMITTER_ENABLED": "1"}, "", "", on, nil},
		{map[string]string{"PERMITTER_ENABLED": "0", "PERMITTER_STRICT": "0"}, "", "", "permissions:\n  strict: false\n  expand: false\n", []string{"only 1 switched", "does not go as far"}},
		{
			map[string]string{"PERMITTER_ENABLED": "1", "PERMITTER_STRICT": "1", "PERMITTER_DEBUG": "1", "PERMITTER_LOG": "/x"},
			"",
			"",
			"permissions:\n  strict: true\n  expand: true\nfrom_env:\n  - PERMITTER_DEBUG\n  - PERMITTER_LOG\n",
			[]string{"taken off", `which "/x" is not`},
		},
		{map[string]string{"PERMITTER_ENABLED": "1", "PERMITTER_LOG": "/x/p.log"}, "", "", on + "from_env:\n  - PERMITTER_LOG\n", []string{"PERMITTER_LOG: taken over", "ledger"}},
		{nil, "s.json", `{"env":{"PERMITTER_ENABLED":1},"hooks":["node permitter.js"]}`, on, []string{"s.json:1: the hook of Permitter: changed"}},
		{nil, "s.json", `{"hooks":["node permitter.js"]}`, on, nil},
		{nil, "s.json", `{"env":{"ENSEMBLE_PERMITTER_DISABLE":"1"},"hooks":["node permitter.js"]}`, "", []string{"was off"}},
		{nil, "s.json", `{"enabledPlugins":{"ensemble-permitter@x":false}}`, "", []string{"was off"}},
		{nil, "s.json", `[`, "", []string{"was off"}},
		{nil, ".bashrc", "#export PERMITTER_ENABLED=1\n", "", []string{"was off"}},
		{nil, ".bashrc", "export PERMITTER_ENABLED=1 PERMITTER_COLOUR=red\nexport PERMITTER_COLOUR=red", on, []string{"PERMITTER_COLOUR: left out"}},
		{nil, ".config/fish", "set -gx PERMITTER_ENABLED 1\n", on, nil},
	} {
		got := importer.Permitter(func(name string) string { return tt.env[name] }, tt.file, []byte(tt.text))
		if text := settingsOf(t, got); text != tt.want {
			t.Errorf("%v %s: %q, want %q", tt.env, tt.text, text, tt.want)
		}
		for _, want := range tt.told {
			if table := tableOf(got); !strings.Contains(table, want) {
				t.Errorf("%v %s: no %q in\n%s", tt.env, tt.text, want, table)
			}
		}
	}
	if got := importer.Permitter(func(string) string { return "" }, "s.json", []byte("[")); !diagnostic.HasError(got.Problems) {
		t.Error("what is no JSON is no mistake")
	}
}
