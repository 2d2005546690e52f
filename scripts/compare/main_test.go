package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlantedDifference builds the dumper twice, once with a gate that asks instead of
// allowing, and an analysis that loses a part.
func TestPlantedDifference(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay := plant(t, root, dir, map[string][2]string{
		"internal/hook/evaluation.go": {"\n\treturn v\n}\n\n// Untold", "\n\tif v.Effect == cardea.Allow {\n\t\tv.Effect = cardea.Ask\n\t}\n\treturn v\n}\n\n// Untold"},
		dumper + "/main.go":           {"\tfor i := range parts {", "\tfor i := range min(1, len(parts)) {"},
	})
	homes, err := makeHomes(t.Context(), filepath.Join(dir, "homes"), []string{"empty"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	inputs := []testInput{bashInput("ls"), bashInput("zzz"), bashInput("zzz; yyy > f")}
	var stdin bytes.Buffer
	for _, in := range inputs {
		if err := json.NewEncoder(&stdin).Encode(in.toolCall); err != nil {
			t.Fatal(err)
		}
	}
	var results [2][]result
	for i, flags := range [][]string{nil, {"-overlay", overlay}} {
		program := filepath.Join(dir, "dump"+strings.Repeat("-planted", i))
		if err := build(t.Context(), root, program, flags...); err != nil {
			t.Fatal(err)
		}
		if results[i], err = dump(t.Context(), program, homes, stdin.Bytes(), len(inputs)); err != nil {
			t.Fatal(err)
		}
	}
	if c := newReport(inputs, results[0], results[0]).counts["test"]; c.inputs != 3 || c.parts+c.accesses+c.answers != 0 {
		t.Errorf("the same results: %+v", c)
	}
	r := newReport(inputs, results[0], results[1])
	if c := r.counts["test"]; c.inputs != 3 || c.parts != 1 || c.accesses != 1 || c.answers != 1 || c.was["empty"] != c.is["empty"]+1 {
		t.Errorf("%+v\n%s", c, r.table())
	}
	if text := r.text(5, 300); !strings.Contains(text, "1 x answer, empty: allow -> ask\n  test: \"ls\"") {
		t.Error(text)
	}
}

func bashInput(line string) testInput {
	fields, _ := json.Marshal(map[string]string{"command": line})
	return testInput{toolCall{"Bash", fields}, "test", line}
}

// plant writes a file for the flag -overlay of go build that replaces texts in files.
func plant(t *testing.T, root, dir string, changes map[string][2]string) string {
	t.Helper()
	replaced := map[string]string{}
	for name, change := range changes {
		file := filepath.Join(root, name)
		data, err := os.ReadFile(file)
		if err != nil || strings.Count(string(data), change[0]) != 1 {
			t.Fatalf("%s does not have %q once: %v", name, change[0], err)
		}
		replaced[file] = filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(replaced[file], []byte(strings.Replace(string(data), change[0], change[1], 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return overlay
}

func TestInputs(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	all, err := readInputs(root, options{generated: 10, seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, in := range all {
		count[in.source]++
	}
	for source, least := range map[string]int{
		"Go tests of internal/command/bash": 1000,
		"tables of internal/command/bash":   100,
		"rows of TestHoles":                 1000,
		"generators of TestHoles":           1000,
		"walls":                             1000,
		"generated, seed 1":                 5,
	} {
		if count[source] < least {
			t.Errorf("%s: %d inputs", source, count[source])
		}
	}
}
