package call

import (
	"cmp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/command/knowledge/form"
)

// maxFlows is the largest number of flows of one call.
const maxFlows = 1000

// flowFinder finds the flows between the parts of a line.
type flowFinder struct {
	line  *bash.Analysis
	parts []cardea.Part
	// new reports whether nothing exists under a path.
	new func(path string) bool
	// brings holds, for each part, the kind of downloaded or decoded text that it prints.
	brings []string
	// origins are the files and folders that hold such text, by path.
	origins map[string]origin
	found   []cardea.Flow
}

// Flows returns the dangerous flows between the parts of a line: downloads and decoded text that
// are run, secrets that reach the network, files that are written and run, and work that
// multiplies.
func Flows(line *bash.Analysis, isNew func(path string) bool) []cardea.Flow {
	f := &flowFinder{line: line, parts: line.Parts, new: isNew}
	for _, r := range line.SelfCalls {
		f.add("self-call", r.To-1, r.To-1)
	}
	f.multiplies()
	f.follow()
	for _, p := range line.Pipes {
		for to := p.To[0]; to < p.To[1] && to < len(f.parts); to++ {
			f.throughPipe(p, to)
		}
	}
	f.secretsThroughDescriptors()
	slices.SortStableFunc(f.found, func(a, b cardea.Flow) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	return slices.Compact(f.found)
}

func (f *flowFinder) add(kind string, from, to int) {
	if len(f.found) < maxFlows {
		f.found = append(f.found, cardea.Flow{Kind: kind, From: from, To: to})
	}
}

// The kinds of text that a part brings in. If it is run, they become the flows "download-run",
// "decode-run" and so on. An unpacked download is a folder; it is unknown which files came with it.
const (
	download = "download"
	decode   = "decode"
	unpack   = "unpack"
	write    = "write" // by the line itself, so it was never reviewed
)

// takesUnknownCode reports whether a part is an interpreter with unknown code in its words.
func takesUnknownCode(p *cardea.Part) bool {
	return interpreter(p.Program()) && slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return takesCode(o) && !o.Static })
}

func takesCode(o cardea.Option) bool { return o.Name == "-c" || o.Name == "-e" || o.Name == "--eval" }

// throughPipe finds pipes into a part that runs or sends their text.
func (f *flowFinder) throughPipe(p bash.Pipe, to int) {
	dst := &f.parts[to]
	runs := p.Code || !p.Variable && (runsStdin(dst) || takesUnknownCode(dst) && f.substituted(p)) || p.Variable && takesUnknownCode(dst)
	sends := accessKind(dst, cardea.Network) && !p.Variable
	if !runs && !sends {
		return
	}
	for from := max(p.From[0], p.From[1]-bash.MaxScan); from < p.From[1] && from < len(f.parts); from++ {
		if runs && f.brings[from] != "" {
			f.add(f.brings[from]+"-run", from, to)
		}
		if sends && readsSecret(&f.parts[from]) {
			f.add("secret-network", from, to)
		}
	}
}

// substituted reports whether a pipe is a substitution in a command's words:
// python3 -c "$(…)".
func (f *flowFinder) substituted(p bash.Pipe) bool {
	if p.From[0] < 0 || p.From[0] >= p.From[1] || p.From[1] > len(f.parts) {
		return false
	}
	via := f.parts[p.From[0]].Via
	return slices.Contains(via, "$( )") || slices.Contains(via, "` `")
}

// runsStdin reports whether a program runs its input: a shell or an interpreter without a script of
// its own, a program that saves it to run it later, and xargs with a shell.
func runsStdin(p *cardea.Part) bool {
	name := p.Program()
	if name == "source" || name == "." || name == "eval" || knowledge.Has(form.RunsInput, name) {
		return true
	}
	if unless, ok := knowledge.WordsOf(form.RunsInputUnless, name); ok {
		return !knowledge.HasOption(p, unless...) && (len(p.Argv) < 2 || slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return readsStdin(w.Text) }))
	}
	if options, ok := knowledge.WordsOf(form.RunsFileOfOption, name); ok {
		return slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return slices.Contains(options, o.Name) && readsStdin(o.Value) })
	}
	if !interpreter(name) || !shellName(name) && slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return o.Name == "-m" }) {
		return false // python3 -m json.tool reads data
	}
	if shell, ok := knowledge.ReadShell(p.Argv); ok && (shell.Named || !shell.Commands) {
		script := p.Argv[shell.Script] // the shell's own name if there is no script
		return !knowledge.HasOption(p, "-n") && (shell.ReadsInput() || !script.Static || readsStdin(script.Text))
	}
	for _, o := range p.Options {
		if takesCode(o) {
			return slices.ContainsFunc(p.Wrappers, knowledge.StartsOnInput) && (!o.Static || len(p.Opaque) > 0)
		}
	}
	return !slices.ContainsFunc(p.Operands, func(i int) bool { return p.Argv[i].Static && !readsStdin(p.Argv[i].Text) })
}

// readsStdin reports whether a name is the standard input, an open descriptor, or the output of a
// <(…).
func readsStdin(name string) bool {
	return name == "-" || strings.HasPrefix(name, "<(") || paths.IsDescriptor(name)
}

func shellName(name string) bool {
	return knowledge.Has(form.Shell, name) || knowledge.Has(form.ForeignShell, name)
}

func interpreter(name string) bool {
	return knowledge.IsInterpreter(name) || shellName(name)
}

func accessKind(p *cardea.Part, k cardea.AccessKind) bool {
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == k })
}

func downloads(p *cardea.Part) bool {
	return knowledge.HasWith(form.Downloads, p.Program(), func(word string) bool { return slices.Contains(p.Command, word) }) ||
		knowledge.Has(form.Copies, p.Program()) && accessKind(p, cardea.Network) || readsDescriptor(p)
}

func decodes(p *cardea.Part) bool {
	return knowledge.HasWith(form.Decodes, p.Program(), func(option string) bool { return knowledge.HasOption(p, option) })
}

// impliedFiles returns the files that a program runs without an argument, and the files that would
// be found in place of a program of that name.
func impliedFiles(p *cardea.Part) (out []string) {
	name := p.Program()
	if files, ok := knowledge.WordsOf(form.RunsByName, name); ok {
		for _, file := range files {
			out = append(out, knowledge.Absolute(p.Dir, file))
		}
		return out
	}
	if name == "" || len(p.Argv) == 0 || strings.Contains(p.Argv[0].Text, "/") || knowledge.IsKnown(name) {
		return nil
	}
	return []string{"/usr/local/bin/" + name, "/usr/bin/" + name, "/bin/" + name}
}

// sendsFile reports whether a part sends files. It excludes clients that read keys to log in.
func sendsFile(p *cardea.Part) bool {
	return knowledge.Has(form.SendsFiles, p.Program()) || knowledge.Has(form.Copies, p.Program()) || p.Program() == ""
}

func readsDescriptor(p *cardea.Part) bool {
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Network && a.Redirect })
}

// runsFile reports whether a part runs the file of one of its accesses.
func runsFile(p *cardea.Part, a cardea.Access) bool {
	if a.Kind == cardea.Execute || a.Kind == cardea.Read && a.Redirect && runsStdin(p) {
		return true // bash < file
	}
	if len(p.Operands) == 0 || a.Kind == cardea.Write {
		return false
	}
	first := p.Argv[p.Operands[0]]
	return first.Static && knowledge.Absolute(p.Dir, first.Text) == a.Path && interpreter(p.Program())
}

// readsSecret reports whether a part reads a file whose name is known to hold secrets.
func readsSecret(p *cardea.Part) bool {
	for k := range p.Access {
		a := &p.Access[k]
		if a.HoldsKey || a.Kind == cardea.Read && !logsInWith(p, a) && (files.HoldsSecret(a.Path) || files.HoldsSecret(a.Spelled) || files.HoldsSecret(a.Pattern)) {
			return true
		}
	}
	return slices.ContainsFunc(sentFiles(p), files.HoldsSecret)
}

// sentFiles returns the files that a part sends because an option names them after an @.
func sentFiles(p *cardea.Part) []string {
	options, ok := knowledge.WordsOf(form.SendsOptionFiles, p.Program())
	if !ok {
		return nil
	}
	var out []string
	for _, o := range p.Options {
		if at := strings.IndexByte(o.Value, '@'); at >= 0 && knowledge.Matches(options, o.Name) {
			out = append(out, knowledge.Absolute(p.Dir, o.Value[at+1:]))
		}
	}
	return out
}
