package redact

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
)

//go:generate go -C gen run .

// ruleForm says where in a text a rule is tried once one of its keywords occurs.
type ruleForm uint8

const (
	// formAssigned: the keyword is an identifier, which an operator and the
	// secret follow. Half of gitleaks' rules are of this form; the identifier
	// and the operator are walked by hand, the expression is that of the value.
	formAssigned ruleForm = iota
	// formRun: the secret is in one piece, and the keyword is in it.
	formRun
	// formWhole: anywhere in the text.
	formWhole
	// formLine: on the line of the keyword, continuations included.
	formLine
	// The others are walked by hand, in context.go.
	formPEM
	formURL
	formHeader
	formName
	formWord
)

// rule is one way to find a secret. The table of them is generated.
type rule struct {
	id   string
	form ruleForm
	// expr is the expression, compiled when it is first needed, and group the
	// one that holds the secret; 0 is the first one that is not empty, -1 none:
	// the whole match, as where there are no groups.
	expr  string
	group int
	// min is the least length of a match, for formName of a value; span the
	// greatest length of a match, 0 where there is none. In bytes.
	min, span int
	// weight is what the expression costs a byte, 1 for a small one.
	weight int
	// entropy is what a secret must exceed, in bits per byte; 0 for none.
	entropy float64
	// also lists words of which one must occur too, in lower case.
	also []string
	// allow says what is no secret although it matches.
	allow []allowlist
}

// allowlist is what a rule's author never takes for a secret.
type allowlist struct {
	// target is what the expressions look at: "match", "line", or "" for the
	// secret. Stop words always look at the secret.
	target    string
	exprs     []string
	stopwords []string
}

// word is a keyword in lower case, with the indexes of the rules it wakes.
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

// allows reports whether the rule's lists say that a match is no secret.
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

// union is one expression for several, nil for none.
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

// entropy is Shannon's, in bits per byte.
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
