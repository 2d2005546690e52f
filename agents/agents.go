// Package agents has the instructions of agents that work for Cardea, in the form of
// Claude Code's files of subagents: a header, and the prompt.
package agents

import _ "embed" // the instructions are a file beside this one

// Supervisor is the agent that answers for a team; docs/supervisor.md says how it is used.
//
//go:embed supervisor.md
var Supervisor string
