package main

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"math/rand"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
)

// sampler generates texts that an expression matches. Its seed depends only on a name,
// so that every run gives the same texts.
type sampler struct{ *rand.Rand }

func newSampler(name string) sampler {
	h := fnv.New64a()
	h.Write([]byte(name))
	return sampler{rand.New(rand.NewSource(int64(h.Sum64())))}
}

// sample returns a text that re matches.
func (s sampler) sample(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 && s.Intn(2) == 0 {
			return strings.ToUpper(string(re.Rune))
		}
		return string(re.Rune)
	case syntax.OpCharClass:
		return s.char(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return s.char([]rune{'a', 'z'})
	case syntax.OpQuest:
		return s.times(re.Sub[0], 0, 1)
	case syntax.OpStar:
		return s.times(re.Sub[0], 0, 6)
	case syntax.OpPlus:
		return s.times(re.Sub[0], 1, 7)
	case syntax.OpRepeat:
		hi := re.Min + 6
		if re.Max >= 0 {
			hi = min(hi, re.Max)
		}
		return s.times(re.Sub[0], re.Min, hi)
	case syntax.OpAlternate:
		return s.sample(re.Sub[s.Intn(len(re.Sub))])
	}
	out := ""
	for _, sub := range re.Sub {
		out += s.sample(sub)
	}
	return out
}

func (s sampler) times(re *syntax.Regexp, lo, hi int) string {
	out := ""
	for range lo + s.Intn(hi-lo+1) {
		out += s.sample(re)
	}
	return out
}

// char returns a character of a class, printable if the class has one.
func (s sampler) char(ranges []rune) string {
	var all, printable []rune
	for i := 0; i < len(ranges); i += 2 {
		for c := ranges[i]; c <= min(ranges[i+1], 0x7e); c++ {
			if c >= 0x20 || '\t' <= c && c <= '\r' {
				all = append(all, c)
			}
			if c > 0x20 {
				printable = append(printable, c)
			}
		}
	}
	if len(printable) > 0 && s.Intn(10) > 0 {
		all = printable
	}
	if len(all) == 0 {
		return string(ranges[0])
	}
	return string(all[s.Intn(len(all))])
}

// perRule is the number of secrets that are planted for each rule.
const perRule = 4

// plant returns the test data: a line per secret, with rule id, text and secret. Text and
// secret are reversed and then base64-encoded, so that no scanner reports the file as a leak.
func plant(set config.Config) (string, error) {
	var b strings.Builder
	for _, id := range ids(set) {
		r := set.Rules[id]
		if r.Regex == nil {
			continue
		}
		lines, err := plantRule(set, r)
		if err != nil {
			return "", err
		}
		b.WriteString(lines)
	}
	return b.String(), nil
}

// plantRule returns the lines of one rule: texts in which gitleaks itself finds exactly
// one secret.
func plantRule(set config.Config, r config.Rule) (string, error) {
	tree, err := syntax.Parse(r.Regex.String(), syntax.Perl)
	if err != nil {
		return "", err
	}
	single := set
	single.Rules = map[string]config.Rule{r.RuleID: r}
	single.OrderedRules = []string{r.RuleID}
	d := detect.NewDetector(single)
	s := newSampler("plant " + r.RuleID)
	var b strings.Builder
	for got, tries := 0, 0; got < perRule; tries++ {
		if tries == 20000 {
			return "", fmt.Errorf("%s: no sample is found by gitleaks", r.RuleID)
		}
		text := s.sample(tree)
		if !containsAny(strings.ToLower(text), r.Keywords) {
			text = r.Keywords[0] + " " + text
		}
		found := d.Detect(detect.Fragment{Raw: text, FilePath: file(r)})
		if len(found) != 1 || strings.TrimSpace(found[0].Secret) == "" {
			continue
		}
		secret := found[0].Secret
		if slices.Contains(wholes(), r.RuleID) {
			secret = found[0].Match
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\n", r.RuleID, hide(text), hide(secret))
		got++
	}
	return b.String(), nil
}

// file returns a file name that a rule with a path requires.
func file(r config.Rule) string {
	if r.Path == nil {
		return ""
	}
	for _, name := range []string{"a.php", "nuget.config", "a.tf", "a.yaml"} {
		if r.Path.MatchString(name) {
			return name
		}
	}
	return ""
}

func containsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

func hide(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return base64.StdEncoding.EncodeToString(b)
}
