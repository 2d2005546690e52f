package bash

import (
	"slices"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
)

// TestConfigs checks that the real table marks programs whose description only applies
// if the project does not configure them.
func TestConfigs(t *testing.T) {
	for line, want := range map[string]string{"npm ls": ".npmrc", "go list ./...": ".git", "cargo --version": "rust-toolchain"} {
		parts := Analyse(line, Env{Cwd: "/work/p", System: knowledge.System{Home: "/home/u"}}).Parts
		if len(parts) != 1 || parts[0].Knowledge != cardea.Complete || !slices.Contains(parts[0].Configs, want) {
			t.Errorf("%q: %+v", line, parts)
		}
	}
}

// TestVariablesOfPrograms checks that a variable that a program reads as its own makes
// the effects of that program uncertain. For other programs it is unknown.
func TestVariablesOfPrograms(t *testing.T) {
	for line, want := range map[string]cardea.EnvClass{
		"TRIVY_CONFIG=x trivy image y":       cardea.EnvDangerous,
		"TRIVY_CONFIG=x cat y":               cardea.EnvUnknown,
		"TFLINT=x terraform plan":            cardea.EnvUnknown,
		"PIXI_X=1 pixi run y":                cardea.EnvDangerous,
		"timeout 5 env FLY_REGION=x fly ssh": cardea.EnvDangerous,
		"export FLY_REGION=x; fly status":    cardea.EnvDangerous,
		"FOO=1 npm test":                     cardea.EnvUnknown,
		"NODE_ENV=test npm test":             cardea.EnvSafe,
		"FOO=1 make":                         cardea.EnvDangerous,
		"FOO=1 gmake":                        cardea.EnvDangerous,
		"V=1 make":                           cardea.EnvSafe,
		"V='$(shell id)' make":               cardea.EnvDangerous,
		"V=$X make":                          cardea.EnvDangerous,
		"export FOO=1; make x":               cardea.EnvDangerous,
		"FOO=1 ninja":                        cardea.EnvUnknown,
		"GIT_PAGER=cat git log":              cardea.EnvSafe,
		"env GIT_PAGER=cat git log":          cardea.EnvSafe,
		"export GIT_PAGER=cat; git log":      cardea.EnvSafe,
		"GIT_PAGER=less git log":             cardea.EnvDangerous,
		"GIT_PAGER=$X git log":               cardea.EnvDangerous,
		"GIT_PAGER+=cat git log":             cardea.EnvDangerous,
	} {
		parts := Analyse(line, system).Parts
		p := parts[len(parts)-1]
		if len(p.Assigns) != 1 || p.Assigns[0].Class != want || (want == cardea.EnvDangerous) != (len(p.Opaque) > 0) {
			t.Errorf("%s: %+v, opaque %v", line, p.Assigns, p.Opaque)
		}
	}
}
