package archtest

import (
	"fmt"
	"go/doc"
	"strings"
)

// Table is the table of packages for docs/architecture.md: what each is for, by
// its package comment, and which packages of the module it imports.
func Table(pkgs []Package) string {
	var b strings.Builder
	b.WriteString("| package | what it is for | imports |\n|---|---|---|\n")
	for _, p := range pkgs {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.Dir(), p.job(), listed(p.Imported()))
	}
	return b.String()
}

// job is the first sentence of the package comment, without its subject.
func (p Package) job() string {
	text := ""
	for _, f := range p.Files {
		if f.AST.Doc != nil {
			text += f.AST.Doc.Text()
		}
	}
	sentence := new(doc.Package).Synopsis(text)
	for _, subject := range []string{"Package ", "Command "} {
		if rest, ok := strings.CutPrefix(sentence, subject); ok {
			_, sentence, _ = strings.Cut(rest, " ")
		}
	}
	return strings.ReplaceAll(strings.TrimSuffix(sentence, "."), "|", `\|`)
}

func listed(names []string) string {
	for i, n := range names {
		names[i] = strings.TrimPrefix(n, "internal/")
	}
	return strings.Join(names, ", ")
}
