package install

import (
	"bytes"
	"fmt"
	"strings"
)

// around is how many lines a difference shows before and behind.
const around = 3

// Diff is the change as a unified difference, "" where there is none. A change
// is one hunk: what an installation puts in stands close together.
func (p *Plan) Diff() string {
	if !p.Changed() {
		return ""
	}
	before, after := lines(p.Before), lines(p.After)
	head := 0
	for head < min(len(before), len(after)) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < min(len(before), len(after))-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	from, behind := max(0, head-around), min(tail, around)
	old, changed := before[from:len(before)-tail+behind], after[from:len(after)-tail+behind]
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n@@ -%s +%s @@\n", sideName(p.File, p.on.exists), sideName(p.File, !p.Remove), hunk(from, len(old)), hunk(from, len(changed)))
	show := func(mark string, lines []string) {
		for _, l := range lines {
			b.WriteString(mark + strings.TrimSuffix(l, "\n") + "\n")
			if !strings.HasSuffix(l, "\n") {
				b.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	show(" ", before[from:head])
	show("-", before[head:len(before)-tail])
	show("+", after[head:len(after)-tail])
	show(" ", before[len(before)-tail:len(before)-tail+behind])
	return b.String()
}

func sideName(file string, there bool) string {
	if there {
		return file
	}
	return "/dev/null"
}

func hunk(from, count int) string {
	if count > 0 {
		from++
	}
	return fmt.Sprintf("%d,%d", from, count)
}

func lines(data []byte) []string {
	var out []string
	for _, l := range bytes.SplitAfter(data, []byte("\n")) {
		if len(l) > 0 {
			out = append(out, string(l))
		}
	}
	return out
}
