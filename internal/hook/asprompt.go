package hook

import (
	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/command/redact"
)

// This file is for a process that answers in the place of a harness's prompt, as the tool
// permission_prompt of the MCP server does. The harness asks since nobody has allowed the
// call so far, and does not tell in which folder it would run, nor as which agent. So the
// gate may deny there, and what it does not deny is a person's, whatever the settings say.

// withoutPrompt is what the person is told of an entry that such a process put into the queue.
const withoutPrompt = "the harness asks through permission_prompt, which does not tell in which folder the call runs, so nothing is remembered"

// asPrompt is the verdict on a question of a harness: what the gate allows is asked about.
func asPrompt(v cardea.Verdict) cardea.Verdict {
	if v.Effect == cardea.Allow {
		v.Effect = cardea.Abstain
	}
	return v
}

// promptEntry is an entry for such a question. It teaches nothing, and a person's answer to
// it counts for no call that a hook sees.
func promptEntry(e queue.Entry, r *redact.Redactor) queue.Entry {
	e.Digest = "prompt-" + e.Digest
	e.Allows, e.Holds, e.Why = nil, nil, r.Text(withoutPrompt)
	return e
}
