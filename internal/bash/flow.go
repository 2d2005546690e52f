package bash

import (
	"cmp"
	"path"
	"slices"
	"sort"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/knowledge"
)

// flows finds what moves between parts and matters: downloads and decoded text
// that are run, secrets that reach the network, files that are written and run.
func (w *walker) flows() {
	kinds := w.brought()
	for _, p := range w.pipes {
		for to := p.to[0]; to < p.to[1] && to < len(w.parts); to++ {
			w.pipeFlow(p, to, kinds)
		}
	}
	w.variableFlows(kinds)
	w.fileFlows(kinds)
	sort.SliceStable(w.found, func(i, j int) bool {
		a, b := w.found[i], w.found[j]
		return a.From < b.From || a.From == b.From && a.To < b.To
	})
	w.found = slices.Compact(w.found)
}

func (w *walker) flow(kind string, from, to int) {
	if len(w.found) < 1000 {
		w.found = append(w.found, cardea.Flow{Kind: kind, From: from, To: to})
	}
}

// maxFlowScan bounds how many sources of one pipe are looked at, so that long
// pipelines stay linear.
const maxFlowScan = 64

// maxUncertain bounds how many uncertain words of one part are looked into.
const maxUncertain = 8

// Kinds of what a part brings in. Run, they are the flows "download-run" and
// "decode-run".
const (
	download = "download"
	decode   = "decode"
)

// brought tells, part by part, whether it brings text from the network or
// decodes some, by itself or by printing a variable that holds such.
func (w *walker) brought() []string {
	kinds := make([]string, len(w.parts))
	for i := range w.parts {
		p := &w.parts[i]
		switch {
		case downloads(p):
			kinds[i] = download
		case decodes(p):
			kinds[i] = decode
		case base(p) == "echo" || base(p) == "printf":
			kinds[i], _ = w.holds(p, i, kinds)
		}
	}
	return kinds
}

// holds finds a variable among a part's words that holds what an earlier part
// brought in.
func (w *walker) holds(p *cardea.Part, at int, kinds []string) (kind string, from int) {
	looked := 0
	for _, word := range p.Argv {
		if word.Static || looked == maxUncertain {
			continue
		}
		looked++
		for _, r := range w.origins(word.Text, at) {
			for i := max(r[0], r[1]-maxFlowScan); i < r[1] && i < at; i++ {
				if kinds[i] != "" {
					return kinds[i], i
				}
			}
		}
	}
	return "", 0
}

// variableFlows finds what is brought into a variable and run from there.
func (w *walker) variableFlows(kinds []string) {
	for i := range w.parts {
		p := &w.parts[i]
		if len(p.Opaque) == 0 || len(p.Argv) == 0 || !runsWords(p) && p.Argv[0].Static {
			continue
		}
		if kind, from := w.holds(p, i, kinds); kind != "" {
			w.flow(kind+"-run", from, i)
		}
	}
}

// runsWords reports whether a part runs words that it is passed.
func runsWords(p *cardea.Part) bool {
	return base(p) == "eval" || interpreter(base(p)) && slices.ContainsFunc(p.Options, takesCode)
}

func takesCode(o cardea.Option) bool { return o.Name == "-c" || o.Name == "-e" || o.Name == "--eval" }

func (w *walker) pipeFlow(p pipe, to int, kinds []string) {
	dst := &w.parts[to]
	runs := p.code || runsStdin(dst) || interpreter(base(dst)) && slices.ContainsFunc(dst.Options, takesCode) && w.substituted(p)
	sends := accessKind(&w.parts[to], cardea.Network)
	if !runs && !sends {
		return
	}
	for from := max(p.from[0], p.from[1]-maxFlowScan); from < p.from[1] && from < len(w.parts); from++ {
		if runs && kinds[from] != "" {
			w.flow(kinds[from]+"-run", from, to)
		}
		if sends && readsSecret(&w.parts[from]) {
			w.flow("secret-network", from, to)
		}
	}
}

// substituted reports whether a pipe is a substitution in a command's words:
// python3 -c "$(…)".
func (w *walker) substituted(p pipe) bool {
	if p.from[0] < 0 || p.from[0] >= p.from[1] || p.from[1] > len(w.parts) {
		return false
	}
	via := w.parts[p.from[0]].Via
	return slices.Contains(via, "$( )") || slices.Contains(via, "` `")
}

// base is the name of a part's program, "" where there is none.
func base(p *cardea.Part) string {
	if len(p.Command) > 0 {
		return p.Command[0]
	}
	return ""
}

// runsStdin reports whether a program runs what it reads: a shell or an
// interpreter without a script of its own, what keeps it to run later, and what
// xargs hands to a shell.
func runsStdin(p *cardea.Part) bool {
	name := base(p)
	switch name {
	case "source", ".", "eval", "at", "batch":
		return true
	case "crontab":
		return !slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return o.Name == "-l" || o.Name == "-r" || o.Name == "-e" }) &&
			(len(p.Argv) < 2 || slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return readsStdin(w.Text) }))
	case "make", "gmake":
		return slices.ContainsFunc(p.Options, func(o cardea.Option) bool {
			return (o.Name == "-f" || o.Name == "--file" || o.Name == "--makefile") && readsStdin(o.Value)
		})
	}
	if !interpreter(name) || !shellName(name) && slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return o.Name == "-m" }) {
		return false // python3 -m json.tool reads data
	}
	stdin := slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return o.Name == "-s" }) && shellName(name)
	for _, o := range p.Options {
		if takesCode(o) {
			return slices.Contains(p.Wrappers, "xargs") && !o.Static || slices.Contains(p.Wrappers, "xargs") && len(p.Opaque) > 0
		}
		if o.Name == "-n" && shellName(name) {
			return false
		}
	}
	for _, i := range p.Operands {
		if f := p.Argv[i]; f.Static && !readsStdin(f.Text) {
			return stdin
		}
	}
	return true
}

// readsStdin reports the names of the standard input.
func readsStdin(name string) bool {
	switch name {
	case "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		return true
	}
	return false
}

func shellName(name string) bool {
	switch name {
	case "bash", "sh", "zsh", "dash", "ksh", "ash", "mksh", "fish", "csh", "tcsh", "pwsh", "powershell":
		return true
	}
	return false
}

func interpreter(name string) bool {
	switch strings.TrimRight(name, "0123456789.") {
	case "python", "node", "nodejs", "perl", "ruby", "php", "lua", "deno", "bun", "osascript", "tclsh", "Rscript", "iex":
		return true
	}
	return shellName(name)
}

func accessKind(p *cardea.Part, k cardea.AccessKind) bool {
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == k })
}

func downloads(p *cardea.Part) bool {
	switch base(p) {
	case "curl", "wget", "wget2", "http", "https", "httpie", "xh", "xhs", "fetch", "aria2c", "axel", "nc", "ncat", "netcat", "socat", "lynx", "links",
		"elinks", "w3m", "ftp", "lftp", "tftp", "sftp", "irm", "iwr":
		return true
	case "scp", "rsync":
		return accessKind(p, cardea.Network)
	case "aws", "gsutil", "gcloud":
		return slices.Contains(p.Command, "s3") || slices.Contains(p.Command, "cat") || slices.Contains(p.Command, "cp") || slices.Contains(p.Command, "storage")
	case "gh":
		return len(p.Command) > 1 && (p.Command[1] == "gist" || p.Command[1] == "api" || p.Command[1] == "release")
	case "dig", "nslookup", "host":
		return true
	}
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Network && a.Redirect })
}

func decodes(p *cardea.Part) bool {
	option := func(names ...string) bool {
		return slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return slices.Contains(names, o.Name) })
	}
	switch base(p) {
	case "base64", "base32", "basenc", "gbase64":
		return option("-d", "-D", "--decode", "-i")
	case "xxd":
		return option("-r")
	case "openssl":
		return option("-d", "-base64", "-a")
	case "rev", "uudecode", "gunzip", "zcat", "bzcat", "xzcat", "tr", "gpg":
		return true
	case "gzip", "bzip2", "xz":
		return option("-d")
	}
	return false
}

// fileFlows finds files that one part writes and a later one runs or sends.
func (w *walker) fileFlows(kinds []string) {
	written, brought := map[string]int{}, w.written(kinds)
	secrets := -1
	for i := range w.parts {
		p := &w.parts[i]
		for _, a := range p.Access {
			if a.Path == "" {
				continue
			}
			from, known := written[a.Path]
			if known && from != i && w.runsFile(p, a) {
				w.flow(cmp.Or(brought[from], "write")+"-run", from, i)
			}
			if a.Kind == cardea.Write && (!known || brought[from] == "") {
				written[a.Path] = i
			}
		}
		for _, path := range impliedFiles(p) {
			if from, known := written[path]; known && from != i {
				w.flow(cmp.Or(brought[from], "write")+"-run", from, i)
			}
		}
		if secrets >= 0 && accessKind(p, cardea.Network) && readsDescriptor(p) {
			w.flow("secret-network", secrets, i)
		}
		if readsSecret(p) {
			secrets = i
		}
		if readsSecret(p) && accessKind(p, cardea.Network) && sendsFile(p) {
			w.flow("secret-network", i, i)
		}
	}
}

// impliedFiles are the files that a program runs without being told to, and
// where a program of that name would be put to be found.
func impliedFiles(p *cardea.Part) []string {
	var names []string
	switch name := base(p); name {
	case "make", "gmake":
		names = []string{"Makefile", "makefile", "GNUmakefile"}
	case "npm", "pnpm", "yarn", "bun":
		names = []string{"package.json"}
	case "":
		return nil
	default:
		if len(p.Argv) == 0 || strings.Contains(p.Argv[0].Text, "/") || knowledge.IsKnown(name) {
			return nil
		}
		return []string{"/usr/local/bin/" + name, "/usr/bin/" + name, "/bin/" + name}
	}
	for i := range names {
		names[i] = knowledge.Absolute(p.Dir, names[i])
	}
	return names
}

// sendsFile leaves out clients that read keys to log in with.
func sendsFile(p *cardea.Part) bool {
	return base(p) == "curl" || base(p) == "wget" || base(p) == "nc" || base(p) == ""
}

func readsDescriptor(p *cardea.Part) bool {
	return slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Network && a.Redirect })
}

// runsFile reports whether a part runs the file of one of its accesses.
func (w *walker) runsFile(p *cardea.Part, a cardea.Access) bool {
	if a.Kind == cardea.Execute {
		return true
	}
	if a.Kind == cardea.Read && a.Redirect && runsStdin(p) {
		return true // bash < file
	}
	if !interpreter(base(p)) || len(p.Operands) == 0 {
		return false
	}
	first := p.Argv[p.Operands[0]]
	return first.Static && a.Kind != cardea.Write && knowledge.Absolute(p.Dir, first.Text) == a.Path
}

// written tells, part by part, what kind of text it writes: what it, or what
// feeds it, brought in.
func (w *walker) written(kinds []string) []string {
	got := slices.Clone(kinds)
	for _, p := range w.pipes {
		for from := max(p.from[0], p.from[1]-maxFlowScan); from < p.from[1] && from < len(kinds); from++ {
			for to := p.to[0]; kinds[from] != "" && to < p.to[1] && to < len(got); to++ {
				got[to] = cmp.Or(got[to], kinds[from])
			}
		}
	}
	return got
}

// readsSecret reports whether a part reads a file that is known to hold
// secrets, by name alone.
func readsSecret(p *cardea.Part) bool {
	for _, a := range p.Access {
		if a.Kind == cardea.Read && (secretPath(a.Path) || secretPath(a.Spelled) || secretPath(a.Pattern)) {
			return true
		}
	}
	if base(p) == "curl" || base(p) == "wget" {
		for _, o := range p.Options {
			if at := strings.IndexByte(o.Value, '@'); at >= 0 && sendsValue(o.Name) && secretPath(knowledge.Absolute(p.Dir, o.Value[at+1:])) {
				return true
			}
		}
	}
	return false
}

// sendsValue lists curl's options whose value may name a file to send.
func sendsValue(option string) bool {
	return option == "-d" || option == "-F" || option == "-H" || strings.HasPrefix(option, "--data") || strings.HasPrefix(option, "--form") || option == "--json" || option == "--header" || option == "--url-query"
}

func secretPath(p string) bool {
	if p == "" {
		return false
	}
	name := path.Base(p)
	for _, s := range []string{".example", ".sample", ".template", ".dist", ".pub"} {
		if strings.HasSuffix(name, s) {
			return false
		}
	}
	switch {
	case name == ".env", strings.HasPrefix(name, ".env."), strings.HasPrefix(name, "id_rsa"), strings.HasPrefix(name, "id_ed25519"), strings.HasPrefix(name, "id_ecdsa"), strings.HasPrefix(name, "id_dsa"):
		return true
	case name == ".netrc", name == ".pgpass", name == ".git-credentials", name == "shadow" && strings.HasPrefix(p, "/etc/"):
		return true
	case strings.Contains(p, "/.aws/") && strings.HasPrefix(name, "credentials"):
		return true
	case strings.HasPrefix(p, "/proc/") && (name == "environ" || name == "mem"):
		return true
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
