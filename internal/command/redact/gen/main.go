// Command gen generates the tables that the redactor links from the rule set in
// gitleaks' Go module and the rules of own.go. It also plants a secret for every rule
// into the redactor's test data.
//
// It is a separate module, so that Cardea does not depend on the dependencies of
// gitleaks. Run it with go generate ./internal/command/redact.
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run writes the tables of the redactor and its test data.
func run() error {
	set, err := published()
	if err != nil {
		return err
	}
	rules, err := shape(set)
	if err != nil {
		return err
	}
	planted, err := plant(set)
	if err != nil {
		return err
	}
	src, err := emit(append(rules, own()...), set)
	if err != nil {
		return err
	}
	if err := os.MkdirAll("../testdata", 0o755); err != nil {
		return err
	}
	if err := os.WriteFile("../testdata/planted.tsv", []byte(planted), 0o644); err != nil {
		return err
	}
	return os.WriteFile("../rules_gen.go", src, 0o644)
}

// published reads the configuration that the gitleaks module embeds.
func published() (config.Config, error) {
	v := viper.New()
	v.SetConfigType("toml")
	if err := v.ReadConfig(strings.NewReader(config.DefaultConfig)); err != nil {
		return config.Config{}, fmt.Errorf("read gitleaks' rules: %w", err)
	}
	var raw config.ViperConfig
	if err := v.Unmarshal(&raw); err != nil {
		return config.Config{}, fmt.Errorf("read gitleaks' rules: %w", err)
	}
	return raw.Translate()
}

// ids returns the rules in a stable order. The one that matches everything is last, so
// that a more specific kind is shown if two rules find the same text.
func ids(set config.Config) []string {
	var out []string
	for id := range set.Rules {
		out = append(out, id)
	}
	sort.Slice(out, func(i, j int) bool {
		if (out[i] == generic) != (out[j] == generic) {
			return out[j] == generic
		}
		return out[i] < out[j]
	})
	return out
}

const generic = "generic-api-key"
