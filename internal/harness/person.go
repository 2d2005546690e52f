package harness

import "cardea.dev"

// AsksPerson reports the tools that are questions to the person themselves. An
// allow would answer them.
func AsksPerson(c *cardea.Call) bool {
	return c != nil && (c.Tool == "AskUserQuestion" || c.Tool == "ExitPlanMode")
}

// PersonsOwn reports whether an allow on PermissionRequest would answer a
// question that the harness, or the person's own lists, put to the person
// whatever any rule says (docs/decisions/0002-allow-on-permission-request.md). home is the
// person's home folder, or "".
func PersonsOwn(ev *cardea.Event, home string) bool {
	if ev.NativeAsk || ev.Call == nil || ev.Call.Unsandboxed || AsksPerson(ev.Call) {
		return true
	}
	for i := range ev.Call.Parts {
		p := &ev.Call.Parts[i]
		for _, a := range p.Access {
			if TouchesProtected(a) || DeletesCritical(a, *p, ev, home) {
				return true
			}
		}
	}
	return false
}
