package redact

import "strings"

// found is a secret in the text of one search.
type found struct {
	start, end int
	// rule is the index in rules. If two rules find the same text, the lower one names it.
	rule int
	// placed is set for a known position: header, option value, URL.
	placed bool
}

// Rules that are not in the table.
const (
	highEntropy   = len(rules) + iota // hookwise's third layer
	repeated                          // a secret that was found in another place of the text
	onCommandLine                     // an argument of a program that takes a secret
	unsearched                        // over a limit, so removed without a search
)

func kind(rule int) string {
	if rule < len(rules) {
		return rules[rule].id
	}
	return [...]string{"high-entropy", Repeated, "command-secret", Unsearched}[rule-len(rules)]
}

// search finds secrets in one text without decoding it.
type search struct {
	r   *Redactor
	s   string
	out []found
	// fuel is the remaining cost of the expressions, in bytes times weight. All searches
	// for one text share it. Below zero the text is removed without a search, so that no
	// secret can hide after a slow line.
	fuel *int
	// until is the end of the text that each rule has searched.
	until [len(rules)]int
	// runStart and runEnd are the bounds of the last run that was searched.
	runStart, runEnd int
	pem              int // the end of the last key block
	// prints are the last commands that print.
	prints []printed
	// lastEnd is the beginning of the last line that ends a key, or -1. It is valid if
	// endsKnown is set.
	lastEnd   int
	endsKnown bool
}

func (f *search) spend(n int) bool {
	*f.fuel -= n
	return *f.fuel >= 0
}

// walk reads the text once and tries the rules of each keyword.
func (f *search) walk() {
	s := f.s
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '=' || s[i] == ':' {
			f.random(i + 1)
		}
		if isAlnum(s[i]) && (i == 0 || !isName(s[i-1])) {
			f.program(i)
		}
		a := class[s[i]]
		if a == 0 {
			continue
		}
		p := int(a)*pairs + int(class[s[i+1]])
		for w := starts[p]; w < starts[p+1]; w++ {
			text := words[w].text
			if !prefixFold(s[i:], text) {
				continue
			}
			for _, rule := range words[w].rules {
				if !f.spend(8) {
					return
				}
				f.wake(int(rule), i, i+len(text))
			}
		}
	}
}

// prefixFold reports whether s begins with word, which is in lower case, ignoring case.
func prefixFold(s, word string) bool {
	if len(s) < len(word) {
		return false
	}
	for i := range len(word) {
		if lower(s[i]) != word[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// containsFold reports whether one of the words is in s, ignoring case.
func containsFold(s string, words []string) bool {
	for i := range len(s) {
		for _, w := range words {
			if lower(s[i]) == w[0] && prefixFold(s[i:], w) {
				return true
			}
		}
	}
	return false
}

// wake tries a rule whose keyword is s[at:end].
func (f *search) wake(n, at, end int) {
	r := &rules[n]
	switch r.form {
	case formAssigned:
		f.assigned(n, at, end)
	case formRun:
		f.run(n, at, end)
	case formWhole:
		if f.until[n] == 0 {
			f.until[n] = 1
			f.window(n, 0, len(f.s))
		}
	case formLine:
		if at >= f.until[n] {
			start, stop := f.line(at, len(f.s))
			f.until[n] = stop
			f.window(n, start, stop)
		}
	case formPEM:
		f.block(n, at, end)
	case formURL:
		f.url(n, at, end)
	case formHeader:
		f.header(n, at, end)
	case formName, formWord:
		f.name(n, at, end)
	}
}

// isRun reports whether a byte can be part of a secret in one piece. The generator has
// the same class.
func isRun(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(`_.~+/=:%@|\-`, c) >= 0
}

// run tries a rule on the piece that holds the keyword, only as far as a match can reach.
func (f *search) run(n, at, end int) {
	r := &rules[n]
	if at >= f.runEnd || at < f.runStart {
		f.runStart, f.runEnd = at, at
		for f.runStart > 0 && isRun(f.s[f.runStart-1]) {
			f.runStart--
		}
		for f.runEnd < len(f.s) && isRun(f.s[f.runEnd]) {
			f.runEnd++
		}
	}
	if f.runEnd-f.runStart < r.min {
		return
	}
	lo, hi := f.runStart, f.runEnd
	if r.span > 0 {
		if min(hi, end+r.span) <= f.until[n] {
			return
		}
		// Far enough to include the next keywords.
		lo, hi = max(lo, at-r.span), min(hi, end+4*r.span)
	} else if hi <= f.until[n] {
		return
	}
	f.until[n] = hi
	f.window(n, max(0, lo-1), min(len(f.s), hi+1))
}

// maxLine is the maximum length in bytes of a line that can exempt a secret on it.
const maxLine = 4096

// line returns the line at a position, with those that it continues after a backslash,
// up to reach bytes and one more on each side.
func (f *search) line(at, reach int) (start, end int) {
	lo, hi := max(0, at-reach-1), min(len(f.s), at+reach+1)
	start, end = at, at
	for start > lo && (f.s[start-1] != '\n' || start > 1 && f.s[start-2] == '\\') {
		start--
	}
	for end < hi && (f.s[end] != '\n' || end > 0 && f.s[end-1] == '\\') {
		end++
	}
	return start, end
}

// window tries a rule's expression on s[lo:hi].
func (f *search) window(n, lo, hi int) {
	r, s := &rules[n], f.s[lo:hi]
	if len(s) < r.min || !f.spend(len(s)/16) {
		return
	}
	if len(r.also) > 0 && !containsFold(s, r.also) || !f.spend(len(s)*r.weight) {
		return
	}
	c := &f.r.compiled[n]
	for _, m := range c.regexp(r).FindAllStringSubmatchIndex(s, -1) {
		g := secretGroup(m, r.group)
		start, end := lo+m[g], lo+m[g+1]
		if r.form == formLine {
			start, end = unquoted(f.s, start, end)
			if reference(f.s, start, end) {
				continue
			}
		}
		f.keep(n, start, end, lo+m[0], lo+m[1], r.form == formLine)
	}
}

// secretGroup returns the index in m of the group that holds the secret.
func secretGroup(m []int, group int) int {
	if group > 0 && m[2*group] >= 0 {
		return 2 * group
	}
	if group < 0 {
		return 0
	}
	for g := 2; g < len(m); g += 2 {
		if m[g] >= 0 && m[g] < m[g+1] {
			return g
		}
	}
	return 0
}

// keep records a match as a secret, unless its rule exempts it.
func (f *search) keep(n, start, end, from, to int, placed bool) {
	r := &rules[n]
	if start >= end {
		return
	}
	secret := f.s[start:end]
	if r.entropy > 0 && entropy(secret) <= r.entropy {
		return
	}
	if len(r.allow) > 0 {
		if !f.spend(to - from) {
			return
		}
		first, last := f.line(from, maxLine)
		if last-first > maxLine {
			first, last = from, to // such a long line says nothing about its secret
		}
		if f.r.compiled[n].allows(r, secret, f.s[from:to], f.s[first:last]) {
			return
		}
	}
	f.out = append(f.out, found{start, end, n, placed})
}

// assigned reads from an identifier that ends at end to its value, as the expressions of
// gitleaks do:
//
//	[ \t\w.-]{0,20}[\s'"]{0,3} operator [`'"\s=]{0,5} value
//
// It also skips the backslashes and closing brackets of JSON and code.
func (f *search) assigned(n, at, end int) {
	i := end
	for i < len(f.s) && i-end < 20 && (isName(f.s[i]) || f.s[i] == ' ' || f.s[i] == '\t') {
		i++
	}
	for k := 0; i < len(f.s) && k < 5 && (isSpace(f.s[i]) || strings.IndexByte(`'"]\)`, f.s[i]) >= 0); k++ {
		i++
	}
	after := operators(f.s, i)
	if after == i || !f.spend(8) {
		return
	}
	stop := after
	for stop < len(f.s) && stop-after < 6 && (isSpace(f.s[stop]) || strings.IndexByte("`'\"=\\", f.s[stop]) >= 0) {
		stop++
	}
	for ; stop >= after; stop-- {
		if f.value(n, at, stop) {
			return
		}
	}
}

// operators returns the end of the longest operator at i, or i without one.
func operators(s string, i int) int {
	for _, op := range [...]string{":::=", "::=", ":=", "=>", "?=", "||", "=", ">", ":", ","} {
		if strings.HasPrefix(s[i:], op) {
			return i + len(op)
		}
	}
	return i
}

// value tries the value's expression of an assigned rule at a position, and reports
// whether it matched.
func (f *search) value(n, at, i int) bool {
	r := &rules[n]
	stop := i
	for stop < len(f.s) && stop-i < r.min && !isSpace(f.s[stop]) {
		stop++
	}
	if stop-i < r.min {
		return false
	}
	stop = len(f.s)
	if r.span > 0 {
		stop = min(stop, i+r.span+2)
	}
	if !f.spend((r.min + 8) * r.weight) {
		return false
	}
	m := f.r.compiled[n].regexp(r).FindStringSubmatchIndex(f.s[i:stop])
	if m == nil {
		return false
	}
	start, end := i+m[2], i+m[3]
	from := at
	for from > 0 && at-from < 50 && isName(f.s[from-1]) {
		from--
	}
	if r.id == generic && f.r.placeholder(f.s[start:end]) {
		return true
	}
	f.keep(n, start, end, from, i+m[1], false)
	return true
}

const generic = "generic-api-key"

// placeholder reports whether gitleaks' list for all rules exempts a secret. It applies only to
// the generic rule: a secret with a form of its own is not harmless because "false" is in it.
func (r *Redactor) placeholder(secret string) bool {
	re := r.placeholders.Load()
	if re == nil {
		re = union(placeholders.exprs)
		r.placeholders.Store(re)
	}
	return re.MatchString(secret) || stopped(placeholders.stopwords, secret)
}

func isName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-'
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
