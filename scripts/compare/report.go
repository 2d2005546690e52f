package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// difference is an input for which two revisions have different results.
type difference struct {
	source, kind, old, new, text string
	// example is the first differing line, with the reasons of answers.
	example string
}

// counts are the numbers of inputs of a source, and of those that differ. was and is are
// how many were and are allowed, by home.
type counts struct {
	inputs, parts, accesses, answers int
	was, is                          map[string]int
}

// allow counts the homes in which a call is allowed.
func allow(in map[string]int, answers string) {
	for line := range strings.SplitSeq(answers, "\n") {
		if home, answer, _ := strings.Cut(line, " "); answer == "allow" {
			in[home]++
		}
	}
}

type report struct {
	sources     []string
	counts      map[string]*counts
	differences []difference
}

// newReport compares the results of two revisions for all inputs.
func newReport(inputs []testInput, was, is []result) report {
	r := report{counts: map[string]*counts{}}
	for i, in := range inputs {
		c := r.counts[in.source]
		if c == nil {
			c = &counts{was: map[string]int{}, is: map[string]int{}}
			r.counts[in.source], r.sources = c, append(r.sources, in.source)
		}
		c.inputs++
		allow(c.was, was[i].Answers)
		allow(c.is, is[i].Answers)
		if was[i].Answers != is[i].Answers {
			c.answers++
			r.answers(in, was[i], is[i])
		}
		if was[i].Parts != is[i].Parts {
			c.parts++
			r.lines(in, "parts", was[i].Parts, is[i].Parts)
		}
		if was[i].Accesses != is[i].Accesses {
			c.accesses++
			r.lines(in, "accesses", was[i].Accesses, is[i].Accesses)
		}
	}
	return r
}

// answers adds the answers that differ, for each home.
func (r *report) answers(in testInput, was, is result) {
	old, now := strings.Split(was.Answers, "\n"), strings.Split(is.Answers, "\n")
	whys, now2 := strings.Split(was.Reasons, "\n"), strings.Split(is.Reasons, "\n")
	for n := range max(len(old), len(now)) {
		if a, b := at(old, n), at(now, n); a != b {
			home, _, _ := strings.Cut(a, " ")
			r.differences = append(r.differences, difference{in.source, "answer, " + home, strings.TrimPrefix(a, home+" "), strings.TrimPrefix(b, home+" "), in.text,
				"was: " + strings.TrimPrefix(at(whys, n), home+" ") + "; is: " + strings.TrimPrefix(at(now2, n), home+" ")})
		}
	}
}

// lines adds the lines that only one of two texts has.
func (r *report) lines(in testInput, kind, was, is string) {
	old, now := without(was, is), without(is, was)
	if len(old)+len(now) == 0 {
		old, now = []string{"order"}, []string{"another order"}
	}
	r.differences = append(r.differences, difference{in.source, kind, shape(kind, old), shape(kind, now), in.text,
		"was: " + strings.Join(old, " / ") + "; is: " + strings.Join(now, " / ")})
}

// without returns the lines of a text that another text has less often.
func without(text, other string) []string {
	left := map[string]int{}
	for line := range strings.SplitSeq(other, "\n") {
		left[line]++
	}
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if left[line]--; left[line] < 0 {
			out = append(out, line)
		}
	}
	return out
}

// shape removes names from the differing lines, so that differences of one kind form one group.
func shape(kind string, lines []string) string {
	if kind == "parts" {
		return strconv.Itoa(len(lines)) + " parts"
	}
	seen := map[string]bool{}
	for _, line := range lines {
		var words []string
		for i, word := range strings.Fields(line) {
			_, err := strconv.Atoi(word)
			if i > 0 && strings.HasPrefix(word, `"`) {
				break
			}
			if err != nil {
				words = append(words, word)
			}
		}
		seen[strings.Join(words, " ")] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), ", ")
}

func at(list []string, n int) string {
	if n < len(list) {
		return list[n]
	}
	return ""
}

// table returns all differences, one a line: source, kind, old, new, input and example.
func (r report) table() string {
	var b strings.Builder
	for _, d := range r.differences {
		for i, column := range []string{d.source, d.kind, d.old, d.new, d.text, d.example} {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(strings.NewReplacer("\\", "\\\\", "\n", "\\n", "\t", "\\t", "\r", "\\r").Replace(column))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// text returns the counts by source and the differences by kind, with examples.
func (r report) text(examples, width int) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "inputs\tparts\taccesses\tanswers\t source")
	var sum counts
	for _, source := range r.sources {
		c := r.counts[source]
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t %s\n", c.inputs, c.parts, c.accesses, c.answers, source)
		sum = counts{sum.inputs + c.inputs, sum.parts + c.parts, sum.accesses + c.accesses, sum.answers + c.answers, nil, nil}
	}
	fmt.Fprintf(w, "%d\t%d\t%d\t%d\t all\n", sum.inputs, sum.parts, sum.accesses, sum.answers)
	_ = w.Flush() // into a strings.Builder
	b.WriteString(r.allowed())
	groups := map[[3]string][]difference{}
	for _, d := range r.differences {
		key := [3]string{d.kind, d.old, d.new}
		groups[key] = append(groups[key], d)
	}
	keys := slices.SortedFunc(maps.Keys(groups), func(a, b [3]string) int {
		if a[0] != b[0] {
			return strings.Compare(a[0], b[0])
		}
		if n := len(groups[b]) - len(groups[a]); n != 0 {
			return n
		}
		return slices.Compare(a[:], b[:])
	})
	for _, key := range keys {
		fmt.Fprintf(&b, "\n%d x %s: %s -> %s\n", len(groups[key]), key[0], key[1], key[2])
		for _, d := range groups[key][:min(examples, len(groups[key]))] {
			fmt.Fprintf(&b, "  %s: %s\n    %s\n", d.source, cut(strconv.Quote(d.text), width), cut(d.example, width))
		}
	}
	return b.String()
}

// allowed returns how many inputs of each source were and are allowed, in each home.
func (r report) allowed() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nallowed\twas\tis\tof\t home\t source")
	for _, source := range r.sources {
		c := r.counts[source]
		homes := maps.Clone(c.was)
		maps.Copy(homes, c.is)
		for _, home := range slices.Sorted(maps.Keys(homes)) {
			fmt.Fprintf(w, "%+.1f\t%d\t%d\t%d\t %s\t %s\n", 100*float64(c.is[home]-c.was[home])/float64(c.inputs), c.was[home], c.is[home], c.inputs, home, source)
		}
	}
	_ = w.Flush() // into a strings.Builder
	return b.String()
}

// cut shortens a text to width bytes. 0 keeps all of it.
func cut(text string, width int) string {
	if width == 0 || len(text) <= width {
		return text
	}
	return strings.ToValidUTF8(text[:width], "") + "…"
}
