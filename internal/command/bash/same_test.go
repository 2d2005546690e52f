package bash

import (
	"strings"
	"testing"
)

// TestEqualCommands checks that two equal commands have one name for rules and lessons.
func TestEqualCommands(t *testing.T) {
	for line, want := range map[string]string{
		"docker-compose up -d":        "docker compose up",
		"docker-compose -f x.yml ps":  "docker compose ps",
		"podman-compose down":         "podman compose down",
		"docker container ls -a":      "docker ps",
		"podman image rm x":           "podman rmi",
		"npm i lodash":                "npm install",
		"npm --prefix web rm lodash":  "npm uninstall",
		"pnpm t":                      "pnpm test",
		"cargo b --release":           "cargo build",
		"fdfind x":                    "fd",
		"batcat README.md":            "bat",
		"helm ls":                     "helm list",
		"brew rm x":                   "brew uninstall",
		"docker compose up":           "",
		"npm install i":               "",
		"npm run i":                   "",
		"cargo build":                 "",
		"unknown-docker-compose up":   "",
		"timeout 5 docker-compose up": "docker compose up",
	} {
		parts := Analyse(line, system).Parts
		if got := strings.Join(parts[len(parts)-1].UsualCommand, " "); got != want {
			t.Errorf("%s: the same as %q, want %q", line, got, want)
		}
	}
}
