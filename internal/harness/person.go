package harness

import (
	"slices"

	"cardea.dev"
)

// questions are the tools that are questions to the person themselves.
var questions = []string{"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"}

// AsksPerson reports the tools that are questions to the person themselves. An
// allow would answer them.
func AsksPerson(c *cardea.Call) bool {
	return c != nil && slices.Contains(questions, c.Tool)
}

// Reserved is what only a person may allow on PermissionRequest, whatever any
// rule says: the harness, or the person's own lists, put that question to them
// (docs/decisions/0002-allow-on-permission-request.md).
func Reserved() []cardea.Limit {
	return []cardea.Limit{cardea.Question, cardea.NativeAsk, cardea.Unsandboxed, cardea.ProtectedPath, cardea.CriticalDelete}
}

// ReservedCalls are capabilities without rows that say which calls are reserved.
// Paths that Claude Code protects are protected for every harness: they hold code
// that something else runs, or settings that decide what is run.
func ReservedCalls(name string) cardea.Capabilities {
	return cardea.Capabilities{Harness: name, Questions: questions, Protected: TouchesProtected,
		Critical: func(a cardea.Access, p cardea.Part, ev *cardea.Event) bool { return DeletesCritical(a, p, ev, ev.Home) }}
}
