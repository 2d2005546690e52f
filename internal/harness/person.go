package harness

import (
	"slices"

	"cardea.dev"
)

// questions are the tools that are themselves questions to the person.
var questions = []string{"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"}

// AsksPerson reports whether a call is itself a question to the person. An allow would answer it.
func AsksPerson(c *cardea.Call) bool {
	return c != nil && slices.Contains(questions, c.Tool)
}

// Reserved returns the reasons for which only a person may allow a call on PermissionRequest,
// whatever the rules: the harness, or the person's own lists, ask the person about it
// (docs/decisions/permission-prompts.md).
func Reserved() []cardea.Shortfall {
	return []cardea.Shortfall{cardea.Question, cardea.NativeAsk, cardea.Unsandboxed, cardea.ProtectedPath, cardea.CriticalDelete}
}

// ReservedCalls returns capabilities without rows that define the reserved calls. Paths that Claude
// Code protects are protected for every harness: they hold code that another program runs, or
// settings that decide what is run.
func ReservedCalls(name string) cardea.Capabilities {
	return cardea.Capabilities{Harness: name, Questions: questions, Protected: TouchesProtected,
		Critical: func(a cardea.Access, p cardea.Part, ev *cardea.Event) bool { return DeletesCritical(a, p, ev, ev.Home) }}
}
