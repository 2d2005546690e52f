package limit

import (
	"testing"
	"time"
)

// TestTheOuterLimitIsLonger checks that a waiting process has more time than what it waits
// for.
func TestTheOuterLimitIsLonger(t *testing.T) {
	for name, l := range map[string]struct{ inner, outer time.Duration }{
		"the hook ends before the harness gives up": {HookOf(HarnessHook), HarnessHook},
		"files are written within the hook":         {KeepFiles + LedgerWrite, Hook},
		"an evaluation stops before tests do":       {EvaluationStop, PolicyTestStop},
		"one test ends before all":                  {PolicyTest + PolicyTestStop, PolicyTests},
		"an evaluation ends before its request":     {Evaluation + EngineGrace, Engine},
		"a signal can be given what settings allow": {Signal, Setting},
	} {
		if l.inner >= l.outer {
			t.Errorf("%s: %s, %s", name, l.inner, l.outer)
		}
	}
}
