package permissions

import (
	"path"
	"slices"
	"strings"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/bash"
	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/knowledge/form"
	"cardea.dev/internal/permissionlist"
)

// index sorts the entries by what they are about, so that a long list costs
// little. A hook makes it for one call: making it must not cost more than it
// saves, which a map by programs does.
type index struct {
	once sync.Once
	// strict are the entries that deny or ask.
	strict []int
	// strictCommands and allowCommands are those about commands.
	strictCommands, allowCommands []named
	// files are the entries about paths, others those that allow anything else.
	files, others []int
	// respelled are the entries with quotes, in canonical quoting.
	respelled map[int]permissionlist.Rule
	// lines are those that deny or ask and hold a shell's operators, so that they
	// can only be about a line as a whole.
	lines []int
}

// named is an entry about commands, with what each of them begins with.
type named struct {
	front string
	entry int
}

func (x *index) fill(entries []permissionlist.Entry) {
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
			if e.Quotes() {
				first = ""
			} else if program, ok := e.Program(); ok {
				first = program // the bare command has no blank behind it
			}
			if e.Effect == cardea.Allow {
				x.allowCommands = append(x.allowCommands, named{first, k})
			} else {
				x.strictCommands = append(x.strictCommands, named{first, k})
			}
			if e.Operators() && e.Effect != cardea.Allow {
				x.lines = append(x.lines, k)
			}
			if e.Quotes() {
				if x.respelled == nil {
					x.respelled = map[int]permissionlist.Rule{}
				}
				x.respelled[k] = e.Respelled(join)
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

// join writes words as the analysis does.
func join(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, bash.Quote(w))
	}
	return strings.Join(out, " ")
}

// candidates are the entries of a list that may be about one of some texts, in
// the order of the list.
func candidates(list []named, texts []string) []int {
	var out []int
	for i := range list {
		for _, t := range texts {
			if strings.HasPrefix(t, list[i].front) {
				out = append(out, list[i].entry)
				break
			}
		}
	}
	return out
}

// spellings are the forms of a command under which an entry that denies or asks
// finds it: as it stands, under the program's base name, without options in
// front of the subcommand, and as it was before wrappers and variables came off.
func spellings(p *cardea.Part) []string {
	var out []string
	add := func(s string) {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	add(p.Text)
	add(baseName(p.Argv, p.Text))
	add(subcommand(p))
	for i := len(p.Outer) - 1; i >= 0; i-- {
		add(p.Outer[i].Text)
		add(baseName(p.Outer[i].Argv, p.Outer[i].Text))
	}
	for _, w := range p.Wrappers {
		add(w + " " + p.Text)
	}
	if own := assigned(p); own != "" {
		add(own + " " + p.Text)
	}
	return out
}

// baseName is a command with its program's base name in the place of a path.
func baseName(argv []cardea.Word, text string) string {
	if len(argv) == 0 || !argv[0].Static || !strings.Contains(argv[0].Text, "/") {
		return ""
	}
	first := bash.Quote(argv[0].Text)
	return bash.Quote(path.Base(argv[0].Text)) + strings.TrimPrefix(text, first)
}

// subcommand is a command without the options in front of its subcommand:
// "git push -f" of git -C dir push -f.
func subcommand(p *cardea.Part) string {
	if len(p.Command) < 2 {
		return ""
	}
	at := 0
	for _, c := range p.Command[1:] {
		next := slices.IndexFunc(p.Argv[at+1:], func(w cardea.Word) bool { return w.Static && w.Text == c })
		if next < 0 {
			return ""
		}
		at += next + 1
	}
	return strings.Join(append(slices.Clone(p.Command), spelled(p.Argv[at+1:])...), " ")
}

// assigned are the variables in front of a command, as one would write them.
func assigned(p *cardea.Part) string {
	var out []string
	for _, a := range p.Assigns {
		if !a.Static {
			return ""
		}
		out = append(out, a.Name+"="+bash.Quote(a.Value))
	}
	return strings.Join(out, " ")
}

// spelled are words in canonical quoting.
func spelled(argv []cardea.Word) []string {
	var out []string
	for _, w := range argv {
		if w.Static {
			out = append(out, bash.Quote(w.Text))
		} else {
			out = append(out, w.Text)
		}
	}
	return out
}

// flagsAre reports whether a part is what an entry such as "rm -rf *" names when
// its options stand in another order or form: -r -f, -fr, behind operands.
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
	for _, w := range words[first:] {
		if !strings.HasPrefix(w, "-") || len(w) < 2 || !hasFlag(w, p) {
			return false
		}
	}
	return true
}

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
	if strings.HasPrefix(word, "--") {
		return false
	}
	for _, letter := range word[1:] {
		if !same("-" + string(letter)) {
			return false
		}
	}
	return true
}

// synonyms are the other names of an option that people deny.
func synonyms(program, option string) []string {
	groups, _ := knowledge.WordsOf(form.SameOptions, program)
	for _, g := range groups {
		if names := strings.Split(g, "|"); slices.Contains(names, option) {
			return names
		}
	}
	return nil
}

// powershell compares the pieces of a line that is not read here: without
// regard to case, aliases under the name of what they stand for.
func (c *call) powershell() {
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

// cmdlet is a command in lower case with the cmdlet in the place of an alias.
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
