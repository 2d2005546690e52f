package lookaround_test

import (
	"testing"

	"cardea.dev/internal/command/lookaround"
)

func BenchmarkRemove(b *testing.B) {
	for b.Loop() {
		_, _ = lookaround.Remove(`^\s*gh\s+pr\s+create\b(?!.*--body-file)`, true)
	}
}
