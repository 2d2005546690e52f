package permissions

import (
	"path"
	"slices"
	"strings"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
	"cardea.dev/internal/harness/permissionlist"
)

// index sorts the entries by subject, so that a long list costs little. A hook builds it
// for one call, so building must cost less than it saves. A map by programs would cost
// more.
type index struct {
	once sync.Once
	// strict are the entries that deny or ask.
	strict []int
	// strictCommands and allowCommands are the entries about commands.
	strictCommands, allowCommands []named
	// files are the entries about paths, others the allowing entries about anything else.
	files, others []int
	// inWords holds the word form of each entry that has several spellings.
	inWords map[int]permissionlist.Rule
	// lines are the denying and asking entries with shell operators, which can only match a
	// whole line.
	lines []int
}

// named is an entry about commands, with the text at the start of each command that it
// matches.
type named struct {
	front string
	entry int
}

// fill adds entries to the index. An entry that names nothing is left out.
func (x *index) fill(entries []permissionlist.Entry, home string) {
	x.allowCommands = make([]named, 0, len(entries))
	for k := range entries {
		e := &entries[k]
		if e.Form == permissionlist.Nothing {
			continue
		}
		if e.Effect != cardea.Allow {
			x.strict = append(x.strict, k)
		}
		switch e.Form {
		case permissionlist.Command:
			first := e.Prefix()
			if e.Spelled() {
				first = ""
			} else if program, ok := e.Program(); ok {
				first = program // the command without arguments has no blank after it
			}
			if e.Effect == cardea.Allow {
				x.allowCommands = append(x.allowCommands, named{first, k})
			} else {
				x.strictCommands = append(x.strictCommands, named{first, k})
			}
			if e.Operators() && e.Effect != cardea.Allow {
				x.lines = append(x.lines, k)
			}
			if words, ok := e.InWords(home); ok {
				if x.inWords == nil {
					x.inWords = map[int]permissionlist.Rule{}
				}
				x.inWords[k] = words
			}
		case permissionlist.File:
			x.files = append(x.files, k)
		default:
			if e.Effect == cardea.Allow {
				x.others = append(x.others, k)
			}
		}
	}
}

// candidates returns the entries of a list that may match one of some texts, in the order
// of the list.
func candidates(list []named, texts []string) []int {
	var out []int
	for i := range list {
		if slices.ContainsFunc(texts, func(t string) bool { return strings.HasPrefix(t, list[i].front) }) {
			out = append(out, list[i].entry)
		}
	}
	return out
}

// spellings returns the word forms of a command that denying and asking entries are
// compared with. These are the command itself, with the program's base name, without
// options before the subcommand, and with its wrappers and variables.
func (c *evaluation) spellings(p *cardea.Part) []string {
	var out []string
	add := func(words string) {
		if words != "" && !slices.Contains(out, words) {
			out = append(out, words)
		}
	}
	named := func(argv []cardea.Word) {
		add(c.wordForm(argv, ""))
		if len(argv) > 0 && argv[0].Static && strings.Contains(argv[0].Text, "/") {
			add(c.wordForm(slices.Concat([]cardea.Word{literal(path.Base(argv[0].Text))}, argv[1:]), ""))
		}
	}
	if len(p.Argv) == 0 {
		text, _ := permissionlist.WordForm(p.Text, c.about.Home)
		add(text)
	}
	named(p.Argv)
	add(c.wordForm(subcommand(p), ""))
	for i := len(p.Outer) - 1; i >= 0; i-- {
		named(p.Outer[i].Argv)
	}
	for _, w := range p.Wrappers {
		add(c.wordForm(append([]cardea.Word{literal(w)}, p.Argv...), ""))
	}
	if own := assigned(p); own != "" && len(out) > 0 {
		add(own + " " + out[0])
	}
	return out
}

func literal(text string) cardea.Word { return cardea.Word{Text: text, Static: true} }

// wordForm returns the word form of a command. hidden replaces a word that is unknown
// before the line runs; "" keeps the word as written.
func (c *evaluation) wordForm(argv []cardea.Word, hidden string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		switch {
		case w.Static && i == 0:
			// A program with such a name is not an assignment.
			words[i] = strings.Replace(permissionlist.LiteralWord(w.Text), "=", hidden+"=", 1)
		case w.Static:
			words[i] = permissionlist.LiteralWord(w.Text)
		case hidden != "":
			words[i] = hidden
		default:
			words[i], _ = permissionlist.WordForm(w.Text, c.about.Home)
		}
	}
	return strings.Join(words, " ")
}

// subcommand returns a command without the options before its subcommand: "git push -f" for
// git -C dir push -f. It returns nil if the part has no subcommand.
func subcommand(p *cardea.Part) []cardea.Word {
	if len(p.Command) < 2 {
		return nil
	}
	at := 0
	for _, c := range p.Command[1:] {
		next := slices.IndexFunc(p.Argv[at+1:], func(w cardea.Word) bool { return w.Static && w.Text == c })
		if next < 0 {
			return nil
		}
		at += next + 1
	}
	return append(lists.Of(p.Command, literal), p.Argv[at+1:]...)
}

// assigned returns the variables before a command in word form. It returns "" if a value is
// unknown.
func assigned(p *cardea.Part) string {
	var out []string
	for _, a := range p.Assigns {
		if !a.Static {
			return ""
		}
		out = append(out, a.Name+"="+permissionlist.LiteralWord(a.Value))
	}
	return strings.Join(out, " ")
}

// flagsAre reports whether a part matches an entry such as "rm -rf *" with its options in
// another order or form: -r -f, -fr, or after operands.
func flagsAre(e *permissionlist.Entry, p *cardea.Part) bool {
	if !e.Trailing() || e.Excepts() || e.Form != permissionlist.Command || !strings.HasSuffix(e.Prefix(), " ") || len(p.Command) == 0 {
		return false
	}
	words, ok := e.Words()
	n := len(p.Command)
	if !ok || len(words) <= 1 {
		return false
	}
	first := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") })
	if first < 1 || first > n || !slices.Equal(words[:first], p.Command[:first]) {
		return false
	}
	return !slices.ContainsFunc(words[first:], func(w string) bool { return !strings.HasPrefix(w, "-") || len(w) < 2 || !hasFlag(w, p) })
}

// hasFlag reports whether a part has an option, in any order or form: by a synonym, an
// abbreviation, or in letters of its own (-r -f for -rf).
func hasFlag(word string, p *cardea.Part) bool {
	given := func(name string) bool {
		return slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return o.Name == name })
	}
	same := func(name string) bool {
		return given(name) || slices.ContainsFunc(synonyms(p.Command[0], name), func(other string) bool {
			return slices.ContainsFunc(p.Options, func(o cardea.Option) bool {
				return o.Name == other || len(o.Name) > len("--a") && strings.HasPrefix(other, o.Name) // abbreviated
			})
		})
	}
	if same(word) {
		return true
	}
	return !strings.HasPrefix(word, "--") && !strings.ContainsFunc(word[1:], func(letter rune) bool { return !same("-" + string(letter)) })
}

// synonyms returns all names of an option that people deny, nil if it has only one.
func synonyms(program, option string) []string {
	groups, _ := knowledge.WordsOf(form.SameOptions, program)
	for _, g := range groups {
		if names := strings.Split(g, "|"); slices.Contains(names, option) {
			return names
		}
	}
	return nil
}

// powershell compares the pieces of a PowerShell line, which is not parsed. It ignores case
// and replaces aliases by the cmdlet that they stand for.
func (c *evaluation) powershell() {
	line, _ := c.ev.Call.Input["command"].(string)
	for _, piece := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("|;&\n(){}", r) }) {
		text := cmdlet(strings.Join(strings.Fields(piece), " "))
		for _, k := range c.index.strict {
			e := &c.entries[k]
			if e.Tool != "PowerShell" || e.Form != permissionlist.Command {
				continue
			}
			folded := permissionlist.Parse("Bash("+cmdlet(e.Spec)+")", permissionlist.Context{Effect: e.Effect})
			if folded.CommandIs(text) {
				c.say(e, cardea.WholeCall)
			}
		}
	}
}

// cmdlet returns a command in lower case, with an alias replaced by its cmdlet.
func cmdlet(text string) string {
	text = strings.ToLower(text)
	end := strings.IndexAny(text, " :*")
	if end < 0 {
		end = len(text)
	}
	if means, ok := knowledge.WordsOf(form.StandsForCmdlet, text[:end]); ok {
		return means[0] + text[end:]
	}
	return text
}
