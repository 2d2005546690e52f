package claudecode

import (
	"path/filepath"
	"strings"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/harness"
)

// The limits of reading the files of teams.
const (
	maxTeams    = 64
	maxTeamFile = 256 << 10
	maxTeamDeep = 6
)

// TeamOf returns the name of the team whose file contains an agent, or "". Claude Code has a file
// for each team, configDir/teams/NAME/config.json. It is not documented, so every id in it is
// compared with the session's and the agent's. A file that cannot be read is ignored.
func TeamOf(configDir, session, agent string) string {
	if configDir == "" || session == "" {
		return ""
	}
	dir := filepath.Join(configDir, "teams")
	names, err := state.Names(dir, maxTeams)
	if err != nil {
		return ""
	}
	for _, name := range names {
		data, err := state.Read(filepath.Join(dir, name, "config.json"), maxTeamFile)
		if err != nil {
			continue
		}
		p, err := harness.Read(data)
		if err != nil {
			continue
		}
		if namesAgent(p.Fields(), "", 0, session, agent) {
			return name
		}
	}
	return ""
}

// namesAgent reports whether a value, or a nested one, is the id of a session or agent.
func namesAgent(v any, key string, depth int, session, agent string) bool {
	if depth > maxTeamDeep {
		return false
	}
	switch v := v.(type) {
	case string:
		return strings.HasSuffix(strings.ToLower(key), "id") && (v == session || agent != "" && v == agent)
	case map[string]any:
		for k, inner := range v {
			if namesAgent(inner, k, depth+1, session, agent) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if namesAgent(inner, key, depth+1, session, agent) {
				return true
			}
		}
	}
	return false
}
