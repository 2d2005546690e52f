package shell

import (
	"path"
	"slices"
	"sort"
	"strings"

	"cardea.dev"
)

// flows finds what moves between parts and matters: downloads and decoded text
// that are run, secrets that reach the network, files that are written and run.
func (w *walker) flows() {
	for _, p := range w.pipes {
		for to := p.to[0]; to < p.to[1] && to < len(w.parts); to++ {
			w.pipeFlow(p, to)
		}
	}
	w.fileFlows()
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

func (w *walker) pipeFlow(p pipe, to int) {
	runs := p.code || runsStdin(&w.parts[to])
	sends := accessKind(&w.parts[to], cardea.Network)
	if !runs && !sends {
		return
	}
	for from := max(p.from[0], p.from[1]-maxFlowScan); from < p.from[1] && from < len(w.parts); from++ {
		src := &w.parts[from]
		switch {
		case runs && downloads(src):
			w.flow("download-run", from, to)
		case runs && decodes(src):
			w.flow("decode-run", from, to)
		}
		if sends && readsSecret(src) {
			w.flow("secret-network", from, to)
		}
	}
}

// base is the name of a part's program, "" where there is none.
func base(p *cardea.Part) string {
	if len(p.Command) > 0 {
		return p.Command[0]
	}
	return ""
}

// runsStdin reports whether a program runs what it reads: a shell or an
// interpreter without a script of its own.
func runsStdin(p *cardea.Part) bool {
	name := base(p)
	if name == "source" || name == "." || name == "eval" {
		return true
	}
	if !interpreter(name) {
		return false
	}
	for _, o := range p.Options {
		if o.Name == "-c" || o.Name == "-e" || o.Name == "-n" && shellName(name) {
			return false
		}
	}
	for _, i := range p.Operands {
		f := p.Argv[i]
		if f.Static && f.Text != "-" && f.Text != "/dev/stdin" {
			return slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return o.Name == "-s" }) && shellName(name)
		}
	}
	return true
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
	case "curl", "wget", "wget2", "http", "https", "httpie", "xh", "fetch", "aria2c", "nc", "ncat", "netcat", "socat", "lynx", "irm", "iwr":
		return true
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
func (w *walker) fileFlows() {
	written, fromNetwork := map[string]int{}, w.networkParts()
	secrets := -1
	for i := range w.parts {
		p := &w.parts[i]
		for _, a := range p.Access {
			if a.Path == "" {
				continue
			}
			from, known := written[a.Path]
			if known && from != i && w.runsFile(p, a) {
				kind := "write-run"
				if fromNetwork[from] {
					kind = "download-run"
				}
				w.flow(kind, from, i)
			}
			if a.Kind == cardea.Write && (!known || !fromNetwork[from]) {
				written[a.Path] = i
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
	if !interpreter(base(p)) || len(p.Operands) == 0 {
		return false
	}
	first := p.Argv[p.Operands[0]]
	return first.Static && a.Kind != cardea.Write && Absolute(p.Dir, first.Text) == a.Path
}

// networkParts tells, part by part, whether it writes what it, or what feeds
// it, got from the network.
func (w *walker) networkParts() []bool {
	got := make([]bool, len(w.parts))
	for i := range w.parts {
		got[i] = downloads(&w.parts[i])
	}
	own := slices.Clone(got)
	for _, p := range w.pipes {
		fed := slices.Contains(own[max(p.from[0], p.from[1]-maxFlowScan):max(p.from[1], 0)], true)
		for to := p.to[0]; fed && to < p.to[1] && to < len(got); to++ {
			got[to] = true
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
			if at := strings.IndexByte(o.Value, '@'); at >= 0 && sendsValue(o.Name) && secretPath(Absolute(p.Dir, o.Value[at+1:])) {
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
