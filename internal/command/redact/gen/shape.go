package main

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/zricethezav/gitleaks/v8/config"
)

// rule is one row of the table. Its fields are those of the redactor's rule.
type rule struct {
	id, form, expr string
	group          int
	entropy        float64
	min, span      int
	weight         int
	keywords, also []string
	allow          []allow
}

type allow struct {
	target    string
	exprs     []string
	stopwords []string
}

// The pieces from which most of gitleaks' expressions are built
// (cmd/generate/config/utils/generate.go).
const (
	identTail = `)(?:[ \t\w.-]{0,20})[\s'"]{0,3}`
	operator  = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`
	lead      = `[\x60'"\s=]{0,5}(`
	end       = `(?:[\x60'"\s;]|\\[nr]|$)`
	// wideEnd also ends a secret in URLs, markup, code and sentences.
	wideEnd = "(?:[`'\"\\s;&,<>(){}\\[\\]\\\\|@:?#]|\\.(?:\\s|$)|$)"
)

// edges are expressions that may match white space, but only around the secret.
var edges = []string{wideEnd, end, `(?:[\x60'"\s;]|\\[nr]|$|\b)`, `(?:[^\w-]|\z)`, `(?:[^a-zA-Z0-9+/]|\z)`,
	`(?:^|[\\'"\x60\s>=:(,)])`, `(?:$|[\\'"\x60\s<),])`}

// nudges returns words that must also be in the text, for rules whose own keyword is too
// common for the cost of the expression.
func nudges() map[string][]string {
	return map[string][]string{
		"curl-auth-header":       {"authorization:", "key:", "token:"},
		"curl-auth-user":         {" -u", "\t-u", "\n-u", "\r-u", "--user"},
		"kubernetes-secret-yaml": {"data:"},
		"private-key":            {"private key"},
		"freemius-secret-key":    {"sk_"},
	}
}

// shape returns the rows for the rules of gitleaks that have an expression. It splits an
// expression that combines two kinds of tokens.
func shape(set config.Config) ([]rule, error) {
	var out []rule
	for _, id := range ids(set) {
		r := set.Rules[id]
		if r.Regex == nil {
			continue // by file name only: no secret in a text
		}
		base := rule{id: id, group: r.SecretGroup, entropy: r.Entropy, keywords: r.Keywords, also: nudges()[id]}
		for _, a := range r.Allowlists {
			if row, ok := allowed(a); ok {
				base.allow = append(base.allow, row)
			}
		}
		rest := r.Regex.String()
		if i := strings.Index(rest, `|\b(ATATT3`); i >= 0 {
			token := base
			token.keywords, token.expr = []string{"atatt3"}, rest[i+1:]
			if err := token.classify(); err != nil {
				return nil, err
			}
			out, rest = append(out, token), rest[:i]
		}
		row := base
		row.expr = rest
		if !row.assigned() {
			if err := row.classify(); err != nil {
				return nil, err
			}
		}
		out = append(out, row)
	}
	return out, nil
}

// allowed returns the part of an allowlist about text, or false if it has none. The
// parts about file names and commits do not apply.
func allowed(a *config.Allowlist) (allow, bool) {
	if a.MatchCondition == config.AllowlistMatchAnd && (len(a.Paths) > 0 || len(a.Commits) > 0) {
		return allow{}, false
	}
	row := allow{target: a.RegexTarget, stopwords: sorted(a.StopWords)}
	for _, e := range a.Regexes {
		row.exprs = append(row.exprs, e.String())
	}
	return row, len(row.exprs)+len(row.stopwords) > 0
}

// assigned splits an expression of the form identifier, operator, value, and reports whether r
// has that form. The redactor implements the first two in Go, the same for all such rules.
func (r *rule) assigned() bool {
	ident, rest, ok := strings.Cut(r.expr, identTail)
	if !ok {
		return false
	}
	flags := ""
	switch {
	case strings.HasPrefix(ident, `(?i)[\w.-]{0,50}?(?:`):
		ident, flags = strings.TrimPrefix(ident, `(?i)[\w.-]{0,50}?(?:`), "(?i)"
	case strings.HasPrefix(ident, `[\w.-]{0,50}?(?i:[\w.-]{0,50}?(?:`):
		ident = strings.TrimPrefix(ident, `[\w.-]{0,50}?(?i:[\w.-]{0,50}?(?:`)
		rest = strings.TrimPrefix(rest, ")")
	default:
		return false
	}
	rest, ok = strings.CutPrefix(rest, operator+lead)
	if !ok {
		return false
	}
	value, ok := strings.CutSuffix(rest, ")"+end)
	if !ok {
		return false
	}
	names, err := language(ident)
	if err != nil {
		return false
	}
	r.form, r.keywords, r.group = "formAssigned", names, 1
	r.expr = `\A` + flags + `(` + value + `)` + wideEnd
	tree, err := syntax.Parse(flags+value, syntax.Perl)
	if err != nil {
		return false
	}
	r.min, r.span = length(tree)
	r.weigh()
	return true
}

// classify sets the form of the rule: where in a text its expression must be tried.
func (r *rule) classify() error {
	bare := r.expr
	for _, e := range edges {
		bare = strings.ReplaceAll(bare, e, "")
	}
	r.expr = strings.ReplaceAll(r.expr, end, wideEnd)
	tree, err := syntax.Parse(bare, syntax.Perl)
	if err != nil {
		return fmt.Errorf("%s: %w", r.id, err)
	}
	r.min, r.span = length(tree)
	whole, err := wholly(r.id, r.expr)
	if err != nil {
		return err
	}
	if whole {
		r.group = -1
	}
	r.form = "formWhole"
	if within(tree) && always(bare, tree, r.keywords) {
		r.form = "formRun"
	}
	r.weigh()
	return nil
}

// wholes returns the rules whose first group is only a piece of the secret, so that the
// whole match must be removed: gitleaks would leave the rest of a webhook.
func wholes() []string { return []string{"jwt-base64", "microsoft-teams-webhook"} }

// pieces returns the rules whose first group may be short and is nevertheless the secret.
func pieces() []string { return []string{"curl-auth-user", "kubernetes-secret-yaml"} }

// wholly reports whether the whole match is the secret. A rule that was never reviewed
// is an error: review it, and add it to wholes or pieces.
func wholly(id, expr string) (bool, error) {
	if slices.Contains(wholes(), id) {
		return true, nil
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return false, err
	}
	if group := firstGroup(tree); group != nil && !slices.Contains(pieces(), id) {
		if lo, _ := length(group); lo < 7 || group.Name != "" {
			return false, fmt.Errorf("%s: is its first group, %s, the secret?", id, group)
		}
	}
	return false, nil
}

func firstGroup(re *syntax.Regexp) *syntax.Regexp {
	if re.Op == syntax.OpCapture {
		return re
	}
	for _, s := range re.Sub {
		if g := firstGroup(s); g != nil {
			return g
		}
	}
	return nil
}

func (r *rule) weigh() {
	tree, err := syntax.Parse(r.expr, syntax.Perl)
	if err != nil {
		return
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return
	}
	r.weight = 1 + len(prog.Inst)/64
}

// always reports whether every match has one of the keywords, estimated from many samples.
func always(expr string, tree *syntax.Regexp, keywords []string) bool {
	s := newSampler("always " + expr)
	for range 400 {
		text := strings.ToLower(s.sample(tree))
		found := false
		for _, k := range keywords {
			found = found || strings.Contains(text, k)
		}
		if !found {
			return false
		}
	}
	return true
}

// runByte matches the bytes of a run: those of a secret in one piece. The redactor has
// the same class.
var runByte = regexp.MustCompile(`^[A-Za-z0-9_.~+/=:%@|\\-]$`)

// within reports whether matches consist only of bytes of a run.
func within(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	case syntax.OpLiteral:
		for _, c := range re.Rune {
			if !runByte.MatchString(string(c)) {
				return false
			}
		}
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for c := re.Rune[i]; c <= re.Rune[i+1]; c++ {
				if c == 0x17f || c == 0x212a {
					continue // characters that fold to s and k
				}
				if c > 127 || !runByte.MatchString(string(c)) {
					return false
				}
			}
		}
	}
	for _, sub := range re.Sub {
		if !within(sub) {
			return false
		}
	}
	return true
}

// length returns the minimum and the maximum length of a match in bytes. The maximum is
// 0 if there is no limit.
func length(re *syntax.Regexp) (lo, hi int) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune), len(re.Rune) * 3
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, 3
	case syntax.OpCapture:
		return length(re.Sub[0])
	case syntax.OpStar:
		return 0, 0
	case syntax.OpPlus:
		lo, _ = length(re.Sub[0])
		return lo, 0
	case syntax.OpQuest:
		_, hi = length(re.Sub[0])
		return 0, hi
	case syntax.OpRepeat:
		lo, hi = length(re.Sub[0])
		if re.Max < 0 {
			hi = 0
		}
		return lo * re.Min, hi * max(re.Max, 0)
	case syntax.OpConcat:
		return concat(re.Sub)
	case syntax.OpAlternate:
		return alternate(re.Sub)
	}
	return 0, 0
}

func concat(subs []*syntax.Regexp) (lo, hi int) {
	endless := false
	for _, s := range subs {
		l, h := length(s)
		lo, hi = lo+l, hi+h
		endless = endless || h == 0 && consumes(s)
	}
	if endless {
		hi = 0
	}
	return lo, hi
}

// alternate returns the minimum and the maximum length of a match of any of subs, as
// length does.
func alternate(subs []*syntax.Regexp) (lo, hi int) {
	endless := false
	for i, s := range subs {
		l, h := length(s)
		if i == 0 || l < lo {
			lo = l
		}
		hi = max(hi, h)
		endless = endless || h == 0 && consumes(s)
	}
	if endless {
		hi = 0
	}
	return lo, hi
}

func consumes(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	}
	for _, s := range re.Sub {
		if consumes(s) {
			return true
		}
	}
	return false
}

// language returns the strings that an identifier's expression matches, in lower case.
func language(expr string) ([]string, error) {
	tree, err := syntax.Parse(`(?:`+expr+`)`, syntax.Perl)
	if err != nil {
		return nil, err
	}
	words, err := words(tree)
	for i := range words {
		words[i] = strings.ToLower(words[i])
	}
	return sorted(words), err
}

// words returns the strings that re matches. It fails for an expression with too many or
// unlimited strings.
func words(re *syntax.Regexp) ([]string, error) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}, nil
	case syntax.OpLiteral:
		return []string{string(re.Rune)}, nil
	case syntax.OpAnyCharNotNL, syntax.OpAnyChar:
		return []string{"."}, nil // an unescaped dot in a name
	case syntax.OpCapture:
		return words(re.Sub[0])
	case syntax.OpQuest:
		w, err := words(re.Sub[0])
		return append(w, ""), err
	case syntax.OpCharClass:
		var out []string
		for i := 0; i < len(re.Rune); i += 2 {
			for c := re.Rune[i]; c <= re.Rune[i+1]; c++ {
				out = append(out, string(c))
			}
		}
		if len(out) > 8 {
			return nil, fmt.Errorf("class too wide in %s", re)
		}
		return out, nil
	case syntax.OpAlternate:
		var out []string
		for _, s := range re.Sub {
			w, err := words(s)
			if err != nil {
				return nil, err
			}
			out = append(out, w...)
		}
		return out, nil
	case syntax.OpConcat:
		out := []string{""}
		for _, s := range re.Sub {
			w, err := words(s)
			if err != nil {
				return nil, err
			}
			var next []string
			for _, a := range out {
				for _, b := range w {
					next = append(next, a+b)
				}
			}
			out = next
		}
		return out, nil
	}
	return nil, fmt.Errorf("cannot list the words of %s", re)
}
