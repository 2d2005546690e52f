package bash

import (
	"strconv"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// Budget (docs/budgets.md): a typical line in under 20 µs.
func BenchmarkCheckAnalyse(b *testing.B) {
	for name, line := range map[string]string{
		"one":     "git status",
		"typical": "cd src && npm test -- --watch=false 2>&1 | tee test.log",
		"commit":  "git add a.md && git commit -m \"$(cat <<'EOF'\nfix: something\n\nmore text\nEOF\n)\"",
		"loop":    "for f in a b c; do [ -f \"$f\" ] && echo \"$f\" || echo no; done",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Analyse(line, system)
			}
		})
	}
}

// Budget: linear, 1 MiB in under a second. A line over the limit of parts stops early,
// so the sizes here stay below it.
func BenchmarkCheckAnalyseSize(b *testing.B) {
	for _, kb := range []int{1, 4, 16, 64, 256, 1023} {
		word := "echo " + strings.Repeat("word ", kb*1024/5-2)
		count := min(kb*16, maxParts-1)
		lines := strings.Repeat("ls "+strings.Repeat("x", kb*1024/count-5)+"; ", count)
		b.Run("words/"+size(kb), func(b *testing.B) {
			b.SetBytes(int64(len(word)))
			for b.Loop() {
				Analyse(word, system)
			}
		})
		b.Run("commands/"+size(kb), func(b *testing.B) {
			b.SetBytes(int64(len(lines)))
			for b.Loop() {
				Analyse(lines, system)
			}
		})
	}
}

func size(kb int) string {
	return strconv.Itoa(kb) + "KiB"
}

// BenchmarkParse measures the parser alone on the typical line, for comparison.
func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader("cd src && npm test -- --watch=false 2>&1 | tee test.log"), ""); err != nil {
			b.Fatal(err)
		}
	}
}
