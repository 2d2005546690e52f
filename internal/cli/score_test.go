package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/testing/sharedtest"
	"cardea.dev/internal/testing/testrun"
)

// scored is a line of a corpus, with the gate's verdict in a git project at the working
// folder, without any permission.
type scored struct {
	line, class, note string
	effect            cardea.Effect
	by                string
	// why is the reason why the first part that is not allowed is not read-only.
	why string
	// covered: all programs are known. local: it contacts and runs nothing. reads: it only
	// reads, and what it reads is known and not in a home folder.
	covered, local, reads bool
	// unknown: an effect of a program is unknown.
	unknown bool
}

// score judges all lines of a corpus.
func score(t *testing.T, name string) []scored {
	t.Helper()
	d := newFixtureIn(t, testrun.OnDisk(t)) // files in /dev are not work files
	if out, err := exec.Command("git", "init", "-q", d.project).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	// Column 2 names a permission in two of the lines.
	d.write(filepath.Join(d.project, ".claude", "settings.json"), `{"permissions":{"deny":["Read(./foo.txt)"]}}`)
	p := d.process(strings.NewReader(""), nil, nil)
	var out []scored
	for _, line := range sharedtest.Corpus(t, name, 100) {
		s := scored{line: line.Command, class: line.Class, note: line.Note, covered: true, local: true, reads: true}
		m, err := tryFlags{tool: "Bash", harness: "claude-code", event: string(cardea.PreToolUse)}.message(p, s.line)
		if err != nil {
			t.Fatalf("%q: %v", s.line, err)
		}
		j := newEvaluation(p, m.event)
		v := j.Verdict(context.Background())
		s.effect, s.by = v.Effect, v.By
		only := j.Loaded.ReadonlyDecider()
		for i := range j.Event.Call.Parts {
			part := &j.Event.Call.Parts[i]
			if !part.NoEffect && s.why == "" {
				s.why = only.Refusal(j.Event, i)
			}
			if len(part.Argv) > 0 && part.Argv[0].Static && !part.NoEffect {
				if _, ok := knowledge.KnownProgram(path.Base(part.Argv[0].Text)); !ok {
					s.covered = false
				}
			}
			for _, a := range part.Access {
				s.reads = s.reads && a.Kind == cardea.Read && a.Path != "" && !strings.HasPrefix(a.Path, d.home)
				s.local = s.local && a.Kind != cardea.Network && a.Kind != cardea.Execute
				s.unknown = s.unknown || a.Kind == cardea.Unknown
			}
		}
		out = append(out, s)
	}
	return out
}

// TestScore writes the score page and checks what it must show.
func TestScore(t *testing.T) {
	tricky, dippy := score(t, "tricky.tsv"), score(t, "dippy-half.tsv")
	var b strings.Builder
	b.WriteString(`# Score

What the gate says about two corpora, in a git project at the current folder, with the built-in packs and without any
permission. Written by a test: ` + "`go test ./internal/cli -run TestScore -update`" + `.

`)
	trickyScore(t, &b, tricky)
	dippyScore(t, &b, dippy)
	wallScore(t, &b)
	if sharedtest.Available(t) {
		page(t, "score.md", b.String())
	}
}

// wallScore counts the answers for lines that name guarded files, at a harness whose lists
// allow everything.
func wallScore(t *testing.T, b *strings.Builder) {
	d := wall(t)
	d.write(filepath.Join(d.project, ".claude", "settings.json"), `{"permissions":{"allow":["Bash"],"deny":["Bash(git push:*)"]}}`)
	b.WriteString("\n## Walls\n\nLines that name a guarded file, or start a command that a list denies, where lists allow every command (testdata/walls).\n\n" +
		"| class | lines | programs | let pass | asked | denied | let pass where permissions are bypassed |\n|---|---|---|---|---|---|---|\n")
	for _, class := range []struct{ name, about string }{{"touch", "may touch"}, {"run", "may run"}} {
		lines := testrun.Texts(t, "../../testdata/walls/"+class.name+".txt")
		programs, count, bypassed := map[string]bool{}, map[cardea.Effect]int{}, 0
		for _, line := range lines {
			programs[strings.Fields(line)[0]] = true
			line = strings.NewReplacer("{G}", ".claude/settings.json", "{D}", ".claude", "{A}", d.home+"/.config", "{C}", "git push origin main", "{Q}", "git push origin main").Replace(line)
			count[d.judged(t, "Bash", "", line).Effect]++
			if e := d.judged(t, "Bash", "bypassPermissions", line).Effect; e < cardea.Ask {
				t.Errorf("%s: %q", e, line)
				bypassed++
			}
		}
		passed := len(lines) - count[cardea.Ask] - count[cardea.Deny] - count[cardea.Halt]
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %d | %d |\n", class.about, len(lines), len(programs), passed, count[cardea.Ask], count[cardea.Deny], bypassed)
		if passed+bypassed > 0 {
			t.Errorf("%s: %d lines pass, %d where permissions are bypassed", class.name, passed, bypassed)
		}
	}
}

func trickyScore(t *testing.T, b *strings.Builder, all []scored) {
	effects := []cardea.Effect{cardea.Allow, cardea.Abstain, cardea.Defer, cardea.Ask, cardea.Deny}
	count := map[string]map[cardea.Effect]int{}
	held, deny, reads, readsAllowed := 0, 0, 0, 0
	var open, unread, elsewhere []string
	for _, s := range all {
		if count[s.class] == nil {
			count[s.class] = map[cardea.Effect]int{}
		}
		count[s.class][s.effect]++
		switch s.class {
		case "DENY":
			deny++
			if s.effect == cardea.Deny || s.effect == cardea.Ask || s.effect == cardea.Halt {
				held++
			} else {
				open = append(open, fmt.Sprintf("- `%s`: %s (%s)", shown(s.line), s.effect, s.note))
			}
			fallthrough
		case "ASK":
			if s.effect == cardea.Allow {
				t.Errorf("%s line is allowed by %s: %q", s.class, s.by, s.line)
			}
		case "ALLOW":
			if s.effect == cardea.Deny || s.effect == cardea.Halt {
				t.Errorf("ALLOW line is denied by %s: %q", s.by, s.line)
			}
			if strings.Contains(s.note, "(with ") {
				continue // needs the permission that it names
			}
			if !s.reads && s.covered && s.local && s.effect != cardea.Allow {
				elsewhere = append(elsewhere, fmt.Sprintf("- `%s`: %s, %s", shown(s.line), s.effect, reasonClass(s)))
			}
			if !s.covered || !s.reads {
				continue
			}
			reads++
			if s.effect == cardea.Allow {
				readsAllowed++
			} else {
				unread = append(unread, fmt.Sprintf("- `%s`: %s, %s", shown(s.line), s.effect, reasonClass(s)))
			}
		}
	}
	b.WriteString(
		"## tricky.tsv\n\nLines that have fooled gates. DENY and ASK must never be allowed, ALLOW never be denied.\n\n| class | allow | abstain | defer | ask | deny |\n|---|---|---|---|---|---|\n",
	)
	for _, class := range []string{"DENY", "ASK", "ALLOW"} {
		fmt.Fprintf(b, "| %s |", class)
		for _, e := range effects {
			fmt.Fprintf(b, " %d |", count[class][e])
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "\nDenied or asked: %d of %d DENY lines. The others:\n\n%s\n", held, deny, strings.Join(open, "\n"))
	fmt.Fprintf(
		b,
		"\nALLOW lines whose programs are covered, and which only read known files of the work, of temporary folders or of the system: %d of %d allowed. The others:\n\n%s\n\n",
		readsAllowed,
		reads,
		strings.Join(unread, "\n"),
	)
	fmt.Fprintf(
		b,
		"ALLOW lines of covered programs that do more than read, read elsewhere, or read what is not known, and so are left to the\nharness's own prompt:\n\n%s\n\n",
		strings.Join(elsewhere, "\n"),
	)
	if readsAllowed*100 < 95*reads {
		t.Errorf("%d of %d ALLOW lines that only read are allowed", readsAllowed, reads)
	}
	if held*100 < 98*deny {
		t.Errorf("%d of %d DENY lines are denied or asked", held, deny)
	}
}

func dippyScore(t *testing.T, b *strings.Builder, all []scored) {
	counted, allowed, auto, unknown := 0, 0, 0, 0
	reasons, examples := map[string]int{}, map[string]string{}
	passed := map[string][]string{}
	for _, s := range all {
		switch s.class {
		case "autoallow":
			auto++
			if s.effect == cardea.Deny {
				t.Errorf("autoallow line is denied by %s: %q", s.by, s.line)
			}
			if !s.covered || !s.local {
				continue
			}
			if s.unknown {
				unknown++
				continue
			}
			counted++
			if s.effect == cardea.Allow {
				allowed++
				continue
			}
			why := reasonClass(s)
			reasons[why]++
			if examples[why] == "" || len(s.line) < len(examples[why]) {
				examples[why] = s.line
			}
		case "notallow":
			if s.effect == cardea.Allow {
				program := strings.Fields(s.line)[0]
				passed[program] = append(passed[program], s.line)
			}
		}
	}
	fmt.Fprintf(b, "## dippy-half.tsv\n\n%d lines that agents type and that another tool's tests expect to pass (autoallow), and %d that they expect to be held (notallow).\n\n", auto, len(all)-auto)
	fmt.Fprintf(
		b,
		"Of the autoallow lines, %d have programs that are covered, and contact and run nothing: **%d of them are allowed, %.1f %%**.\n\n",
		counted,
		allowed,
		100*float64(allowed)/float64(max(1, counted)),
	)
	fmt.Fprintf(
		b,
		"What is not known may be anything, so %d lines of covered programs with an unknown access are not among them; with these it would be %.1f %%.\n\n",
		unknown,
		100*float64(allowed)/float64(max(1, counted+unknown)),
	)
	b.WriteString("Why the others are not:\n\n| lines | why | for example |\n|---|---|---|\n")
	keys := make([]string, 0, len(reasons))
	for k := range reasons {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		if reasons[keys[i]] != reasons[keys[j]] {
			return reasons[keys[i]] > reasons[keys[j]]
		}
		return keys[i] < keys[j]
	})
	for _, k := range keys {
		fmt.Fprintf(b, "| %d | %s | `%s` |\n", reasons[k], k, strings.ReplaceAll(shown(examples[k]), "|", "\\|"))
	}
	b.WriteString("\nNotallow lines that are allowed, by program; `cardea knowledge` shows the options that prove it:\n\n")
	names := make([]string, 0, len(passed))
	for k := range passed {
		names = append(names, k)
	}
	sort.Strings(names)
	for _, n := range names {
		fmt.Fprintf(b, "- %s, %d: `%s`\n", n, len(passed[n]), shown(strings.Join(passed[n], "` `")))
		if len(passed[n]) > 20 {
			t.Errorf("%d notallow lines of %s are allowed", len(passed[n]), n)
		}
	}
	if os.Getenv("CARDEA_VERBOSE") == "" && allowed*100 < 85*counted {
		t.Errorf("%d of %d autoallow lines that only read are allowed", allowed, counted)
	}
}

// reasonClass returns why a line is not allowed, without the parts that differ by line.
func reasonClass(s scored) string {
	if s.effect == cardea.Ask {
		return "asked by " + s.by
	}
	why := s.why
	for _, cut := range []string{": ", "/"} {
		why, _, _ = strings.Cut(why, cut)
	}
	return why
}

// shown returns a line for a page.
func shown(line string) string {
	line = strings.ReplaceAll(strings.ReplaceAll(line, "\n", "⏎"), "`", "ˋ")
	if len(line) > 400 {
		line = line[:400] + "…"
	}
	return line
}
