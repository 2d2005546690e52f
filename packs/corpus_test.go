package packs_test

import (
	"slices"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/testing/sharedtest"
	"cardea.dev/packs"
)

// TestCorpus runs all packs over lines that fool gates, and over lines that gates block for
// no reason. It expects that all of the former are blocked or asked about, except the known
// one, and none of the latter.
func TestCorpus(t *testing.T) {
	d := rules.New(rules.ListOf(packs.Rules()), stand().Options)
	// No rule can know that this folder is important; the harness asks.
	const known = "git status && rm -rf /important/dir"
	lines, good := 0, 0
	for _, line := range sharedtest.Corpus(t, "tricky.tsv", 100) {
		effect, ops := verdict(t, d, line.Command)
		switch line.Class {
		case "ALLOW":
			good++
			if effect >= cardea.Ask {
				t.Errorf("a wrong alarm on %q: %s says %s", line.Command, ops[0].Rule, effect)
			}
		case "DENY":
			lines++
			if effect < cardea.Ask && line.Command != known {
				t.Errorf("nothing speaks about %.100q (%s)", line.Command, line.Note)
			}
		}
	}
	if lines == 0 || good == 0 {
		t.Errorf("the corpus has %d dangerous and %d harmless lines", lines, good)
	}
}

// shown are everyday lines of the corpus that ask, since they print a secret into the
// conversation (credential-print).
var shown = []string{"ansible-vault view secrets.yml", "aws sts get-session-token", "az keyvault secret show --name mysecret --vault-name myvault", "gh auth token"}

// TestEverydayLines runs all packs over everyday lines of agents that another gate allows.
// It expects no denial, and fewer than one question in two hundred.
func TestEverydayLines(t *testing.T) {
	d := rules.New(rules.ListOf(packs.Rules()), stand().Options)
	lines, asked := 0, 0
	for _, line := range sharedtest.Corpus(t, "dippy-half.tsv", 3000) {
		if line.Class != "autoallow" {
			continue
		}
		lines++
		effect, ops := verdict(t, d, line.Command)
		switch {
		case effect == cardea.Ask && slices.Contains(shown, line.Command):
			asked++
		case effect >= cardea.Ask:
			t.Errorf("%s says %s about %.100q", ops[0].Rule, effect, line.Command)
		}
	}
	if sharedtest.Available(t) && (asked != len(shown) || asked*200 >= lines) {
		t.Errorf("%d of %d everyday lines are asked about, %d are known", asked, lines, len(shown))
	}
}

// because lists the lines of the corpus that ask because of potential effects, or of files
// of options, with the reason why that is right.
var because = map[string]string{
	"rtk git push --force origin main":   "rtk runs git, and a forced push asks by itself",
	"rtk proxy rm -rf /":                 "rtk runs rm, and deletes everything",
	"curl -K config.txt":                 "the file can name any file to write to, and any host",
	"kubectl get $(echo secret) -o yaml": "echo prints secret, so that this prints one",
	"uv run --group cdk cdk deploy":      "uv runs cdk, and a deployment asks by itself",
}

// TestQuestionsAboutWhatMayBe tests that of a thousand lines of another gate's corpus fewer
// than three ask because of potential effects of unknown programs.
func TestQuestionsAboutWhatMayBe(t *testing.T) {
	d := rules.New(rules.ListOf(packs.Rules()), stand().Options)
	lines, asked := 0, 0
	for _, line := range sharedtest.Corpus(t, "dippy-half.tsv", 3000) {
		lines++
		ev := analyse(bash(line.Command))
		certain, err := d.Decide(t.Context(), ev)
		if err != nil {
			t.Fatal(err)
		}
		effect, ops := verdict(t, d, line.Command)
		known := because[line.Command] != ""
		if effect < cardea.Ask || !known && slices.ContainsFunc(certain, func(o cardea.Opinion) bool { return o.Effect >= cardea.Ask }) {
			continue
		}
		if asked++; !known {
			t.Errorf("%s says %s about %.100q: %s", ops[len(ops)-1].Rule, effect, line.Command, ops[len(ops)-1].Reason)
		}
	}
	if sharedtest.Available(t) && (asked != len(because) || asked*1000 >= 3*lines) {
		t.Errorf("%d of %d lines are asked about, %d are known", asked, lines, len(because))
	}
}

func BenchmarkRules(b *testing.B) {
	for _, line := range []string{"npm test", "git add a.md && git commit -m 'a message' && git push", "rm -rf build"} {
		ev := bash(line)
		ev = analyse(ev)
		b.Run("warm/"+line, func(b *testing.B) {
			d := rules.New(rules.ListOf(packs.Rules()), stand().Options)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decide(b.Context(), ev); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("cold/"+line, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d := rules.New(rules.ListOf(packs.Rules()), stand().Options)
				if _, err := d.Decide(b.Context(), ev); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
