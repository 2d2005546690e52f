package redact

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// Mark replaces a secret in stored text.
const Mark = "<REDACTED>"

// Unsearched is the kind of a text beyond a limit, which is removed without a search.
const Unsearched = "unsearched"

// Repeated is the kind of a secret that was found in another place of the text.
const Repeated = "repeated"

// Limits of a search. Text beyond them is removed without a search.
const (
	// maxText is the number of bytes of a text that are searched. Longer commands are
	// opaque as a whole.
	maxText = 1 << 20
	// maxFuel is the maximum cost of the expressions for one text, in bytes times the
	// weight of the expression: about two seconds.
	maxFuel = 48 << 20
	// maxRounds is how often a text is searched again after secrets were removed, until no
	// more are found.
	maxRounds = 12
	// maxDepth is the number of nested encodings that are decoded.
	maxDepth = 3
)

// Finding is a secret found in a text.
type Finding struct {
	// Kind is the id of the rule that found it: "aws-access-token".
	Kind string
	// Start and End are byte offsets: the secret is s[Start:End].
	Start, End int
	// Placed is set for a secret in a known position: header, option value,
	// password of a URL.
	Placed bool
	// Known is set for a token or key of a known form, which is a secret in any place.
	Known bool
}

// Redactor finds secrets. It compiles the expressions that a text needs and caches them,
// so one Redactor should serve a whole process. It is safe for concurrent use.
type Redactor struct {
	compiled     [len(rules)]compiled
	placeholders atomic.Pointer[regexp.Regexp]
}

// ofProcess is the Redactor of the process.
var ofProcess Redactor

// New returns the Redactor of the process: all of them would compile the same expressions.
func New() *Redactor { return &ofProcess }

// Text redacts a string for a store: each secret is replaced by [Mark].
// Redacting a redacted text changes nothing.
func (r *Redactor) Text(s string) Text {
	return Text{replace(s, r.Find(s), func(Finding) string { return Mark })}
}

// Show redacts a string for people: each secret is replaced by its kind and
// its length in characters.
func (r *Redactor) Show(s string) string {
	return replace(s, r.Find(s), func(f Finding) string { return label(f.Kind, utf8.RuneCountInString(s[f.Start:f.End])) })
}

func label(kind string, characters int) string {
	return fmt.Sprintf("<REDACTED %s, %d characters>", kind, characters)
}

// replace returns s with a mark in the place of each finding.
func replace(s string, found []Finding, mark func(Finding) string) string {
	if len(found) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, f := range found {
		b.WriteString(s[at:f.Start])
		b.WriteString(mark(f))
		at = f.End
	}
	b.WriteString(s[at:])
	return b.String()
}

// Find returns the secrets of a text in order, without overlaps. If all of them are
// replaced, a second search finds nothing.
func (r *Redactor) Find(s string) []Finding {
	all := marks(s)
	searched := head(s, all)
	if searched < len(s) {
		all = merge(append(all, found{searched, len(s), unsearched, false}))
	}
	fuel := maxFuel
	for range maxRounds {
		now := marked(s, all)
		text := now.text()
		if text == "" {
			text = s
		}
		news := r.deep(text, &fuel, maxDepth)
		if fuel < 0 {
			return whole(s)
		}
		for i := range news {
			news[i].start, news[i].end = now.origin(news[i].start, news[i].end)
		}
		news = fresh(news, all)
		if len(news) == 0 {
			return findings(all)
		}
		all = merge(append(append(all, news...), repeats(s, news, &fuel)...))
		if fuel < 0 {
			return whole(s)
		}
	}
	return whole(s)
}

// noRule is the rule index of marks that were in the text before.
const noRule = unsearched + 1

// head returns the number of bytes of a text that are searched: all, or up to the last
// white space before the limit, so that no secret is cut. Marks are not counted.
// Otherwise a text that grew by them would lose its end when it is redacted again.
func head(s string, marks []found) int {
	limit := maxText
	for _, m := range marks {
		if m.start > limit {
			break
		}
		limit += m.end - m.start
	}
	if len(s) <= limit {
		return len(s)
	}
	return strings.LastIndexAny(s[:limit], " \t\n") + 1
}

func whole(s string) []Finding { return []Finding{{Kind: Unsearched, Start: 0, End: len(s)}} }

// marks returns the marks and labels that a text already has. A label needs an existing
// kind, or a secret could hide in one.
func marks(s string) []found {
	var out []found
	const opening = "<REDACTED"
	for i := strings.Index(s, opening); i >= 0; {
		end := i + len(opening)
		if n := labelLength(s[end:]); n > 0 {
			end += n
			out = append(out, found{i, end, noRule, false})
		}
		next := strings.Index(s[end:], opening)
		if next < 0 {
			break
		}
		i = end + next
	}
	return out
}

// labelLength returns the length of the rest of a mark or label, or 0 if s is not one.
func labelLength(s string) int {
	if strings.HasPrefix(s, ">") {
		return 1
	}
	end := strings.IndexByte(s[:min(len(s), 100)], '>')
	if end < 0 {
		return 0
	}
	name, count, ok := strings.Cut(strings.TrimPrefix(s[:end], " "), ", ")
	digits, ok2 := strings.CutSuffix(count, " characters")
	if !ok || !ok2 || s[0] != ' ' || digits == "" || len(digits) > 8 || !isNumber(digits) || !isKind(name) {
		return 0
	}
	return end + 1
}

func isKind(name string) bool {
	return slices.ContainsFunc(rules[:], func(r rule) bool { return r.id == name }) ||
		name == kind(highEntropy) || name == kind(repeated) || name == kind(unsearched)
}

// marked returns a view of s with marks in the place of findings.
func marked(s string, all []found) *view {
	v := &view{of: s}
	for _, f := range all {
		v.replace(f.start, f.end, Mark)
	}
	return v
}

// deep searches a text and everything that can be decoded in it, down to depth encodings.
func (r *Redactor) deep(s string, fuel *int, depth int) []found {
	f := &search{r: r, s: s, fuel: fuel}
	f.walk()
	out := f.out
	if depth == 0 {
		return out
	}
	for _, decode := range [...]func(string) *view{percent, escapes, joined, blobs} {
		v := decode(s)
		text := v.text()
		if text == "" {
			continue
		}
		if *fuel -= len(s); *fuel < 0 {
			return out
		}
		for _, n := range r.deep(text, fuel, depth-1) {
			n.start, n.end = v.origin(n.start, n.end)
			out = append(out, n)
		}
	}
	return out
}

// fresh returns the findings of news that are not inside one of all.
func fresh(news, all []found) []found {
	return slices.DeleteFunc(news, func(n found) bool {
		i, _ := slices.BinarySearchFunc(all, n.start, func(f found, at int) int { return f.end - at - 1 })
		return n.start >= n.end || i < len(all) && all[i].start <= n.start && n.end <= all[i].end
	})
}

// merge joins findings that overlap or touch. The rule with the lowest index names the result.
func merge(all []found) []found {
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(a.start-b.start, b.end-a.end)
	})
	out := all[:0]
	for _, f := range all {
		last := len(out) - 1
		if last < 0 || f.start > out[last].end {
			out = append(out, f)
			continue
		}
		o := &out[last]
		o.placed = o.placed && f.end <= o.end || f.placed && f.start <= o.start && f.end >= o.end
		o.rule, o.end = min(o.rule, f.rule), max(o.end, f.end)
	}
	return out
}

// minRepeat is the minimum length in bytes of a secret that is also removed in other
// places. Shorter ones would split words.
const minRepeat = 8

// repeats returns the other places of the secrets just found.
func repeats(s string, news []found, fuel *int) []found {
	byHead := map[string][]string{}
	for _, n := range news {
		if secret := s[n.start:n.end]; len(secret) >= minRepeat {
			at := byHead[secret[:minRepeat]]
			if *fuel -= len(at); *fuel < 0 {
				return nil
			}
			if !slices.Contains(at, secret) {
				byHead[secret[:minRepeat]] = append(at, secret)
			}
		}
	}
	var out []found
	if len(byHead) == 0 {
		return out
	}
	for i := 0; i+minRepeat <= len(s); i++ {
		for _, secret := range byHead[s[i:i+minRepeat]] {
			if *fuel -= len(secret); *fuel < 0 {
				return out
			}
			if strings.HasPrefix(s[i:], secret) {
				out = append(out, found{i, i + len(secret), repeated, false})
			}
		}
	}
	return out
}

func findings(all []found) []Finding {
	var out []Finding
	for _, f := range all {
		if f.rule != noRule {
			known := f.rule < len(rules) && (rules[f.rule].form == formRun || rules[f.rule].form == formPEM)
			out = append(out, Finding{kind(f.rule), f.start, f.end, f.placed, known})
		}
	}
	return out
}
