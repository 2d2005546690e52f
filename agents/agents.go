// Package agents has the instructions of agents that work for Cardea, in the format of
// Claude Code's subagent files: a header and the prompt.
package agents

import _ "embed" // for go:embed

// Supervisor is the definition of the agent that answers for a team; see
// docs/supervisor.md.
//
//go:embed supervisor.md
var Supervisor string
