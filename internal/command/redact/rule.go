package redact

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
)

//go:generate go -C gen run .

// ruleForm is where in a text a rule is tried after one of its keywords occurs.
type ruleForm uint8

const (
	// formAssigned: the keyword is an identifier, followed by an operator and the secret.
	// Half of gitleaks' rules have this form. Go code reads the identifier and the
	// operator, and the expression is that of the value.
	formAssigned ruleForm = iota
	// formRun: the secret is in one piece, and the keyword is in it.
	formRun
	// formWhole: anywhere in the text.
	formWhole
	// formLine: on the line of the keyword, including continuations.
	formLine
	// The other forms are implemented in context.go.
	formPEM
	formURL
	formHeader
	formName
	formWord
)

// rule is one way to find a secret. The table of rules is generated.
type rule struct {
	id   string
	form ruleForm
	// expr is the expression, compiled on first use. group is the number of the group that
	// holds the secret. 0 is the first group that is not empty. -1, and an expression
	// without groups, mean the whole match.
	expr  string
	group int
	// min is the minimum length of a match in bytes, for formName of a value. span is the
	// maximum length of a match in bytes, 0 without a limit.
	min, span int
	// weight is the cost of the expression per byte, 1 for a small one.
	weight int
	// entropy is the minimum entropy of a secret in bits per byte, 0 without a minimum.
	entropy float64
	// also lists words in lower case, of which one must also occur.
	also []string
	// allow lists matches that are not secrets.
	allow []allowlist
}

// allowlist holds the texts that a rule's author does not treat as secrets.
type allowlist struct {
	// target is the text that the expressions match: "match", "line", or "" for the secret.
	// Stop words always apply to the secret.
	target    string
	exprs     []string
	stopwords []string
}

// word is a keyword in lower case, with the indexes of the rules that it activates.
type word struct {
	text  string
	rules []uint16
}

// compiled keeps a rule's expression after its first use.
type compiled struct {
	expr  atomic.Pointer[regexp.Regexp]
	allow atomic.Pointer[[]*regexp.Regexp]
}

func (c *compiled) regexp(r *rule) *regexp.Regexp {
	if re := c.expr.Load(); re != nil {
		return re
	}
	re := regexp.MustCompile(r.expr)
	c.expr.Store(re)
	return re
}

// allows reports whether the rule's lists exempt a match.
func (c *compiled) allows(r *rule, secret, match, line string) bool {
	if len(r.allow) == 0 {
		return false
	}
	lists := c.allow.Load()
	if lists == nil {
		built := make([]*regexp.Regexp, len(r.allow))
		for i, a := range r.allow {
			built[i] = union(a.exprs)
		}
		lists = &built
		c.allow.Store(lists)
	}
	for i, a := range r.allow {
		on := secret
		switch a.target {
		case "match":
			on = match
		case "line":
			on = line
		}
		if re := (*lists)[i]; re != nil && re.MatchString(on) || stopped(a.stopwords, secret) {
			return true
		}
	}
	return false
}

// union returns one expression for several, or nil for none.
func union(exprs []string) *regexp.Regexp {
	if len(exprs) == 0 {
		return nil
	}
	return regexp.MustCompile(`(?:` + strings.Join(exprs, `)|(?:`) + `)`)
}

func stopped(words []string, secret string) bool {
	if len(words) == 0 {
		return false
	}
	secret = strings.ToLower(secret)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(secret, w) })
}

// entropy returns the Shannon entropy of s in bits per byte.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
