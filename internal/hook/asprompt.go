package hook

import (
	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/command/redact"
)

// This file is for a process that answers instead of a harness's prompt, as the tool
// permission_prompt of the MCP server does. The harness asks because no rule has allowed
// the call, and sends neither its folder nor its agent. So the gate may only deny there.
// All other calls go to a person, whatever the settings say.

// withoutPrompt is shown to the person with such an entry.
const withoutPrompt = "the harness asks through permission_prompt, which does not tell in which folder the call runs, so nothing is remembered"

// asPrompt returns the verdict on a harness's question. An allow becomes abstain, so that
// the person is asked.
func asPrompt(v cardea.Verdict) cardea.Verdict {
	if v.Effect == cardea.Allow {
		v.Effect = cardea.Abstain
	}
	return v
}

// promptEntry returns the entry for such a question. It teaches nothing, and its answer
// applies to no call that a hook sees.
func promptEntry(e queue.Entry, r *redact.Redactor) queue.Entry {
	e.Digest = "prompt-" + e.Digest
	e.Allows, e.Holds, e.Why = nil, nil, r.Text(withoutPrompt)
	return e
}
