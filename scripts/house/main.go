// Command house prints figures about the code: lines of Go by package, the
// longest functions, exported names, settings, and which package imports which.
// Comments, blank lines, tests and generated files do not count as lines.
//
//	go run ./scripts/house [folder of the module]
package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"cardea.dev/internal/archtest"
)

// longFunction is how many lines a function may have before it counts as long.
const longFunction = 50

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	pkgs, err := archtest.Read(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
	printRooms(pkgs)
	printFunctions(pkgs)
	fmt.Printf("\nsettings: %d keys\n", archtest.SettingsKeys(pkgs))
	fmt.Printf("\nimports within the module\n")
	for _, p := range pkgs {
		fmt.Printf("  %s: %s\n", p.Dir(), strings.Join(p.Imported(), " "))
	}
}

// printRooms prints the lines by package. Packages that only tests use are
// counted apart.
func printRooms(pkgs []archtest.Package) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "lines\tfunctions\tlong\texported\t package")
	var lines, functions, long, exported, tests int
	for _, p := range pkgs {
		l, f, o, e := 0, len(p.Functions()), 0, len(p.Exported())
		for _, file := range p.Files {
			if !file.Generated {
				l += file.CodeLines
			}
		}
		for _, fn := range p.Functions() {
			if fn.Lines > longFunction {
				o++
			}
		}
		name := p.Dir()
		if p.ForTests() {
			name += " (for tests)"
			tests += l
		} else {
			lines, functions, long, exported = lines+l, functions+f, long+o, exported+e
		}
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t %s\n", l, f, o, e, name)
	}
	fmt.Fprintf(w, "%d\t%d\t%d\t%d\t all but what is for tests\n", lines, functions, long, exported)
	w.Flush()
	fmt.Printf("%d lines in packages for tests\n", tests)
}

func printFunctions(pkgs []archtest.Package) {
	var all []archtest.Function
	for _, p := range pkgs {
		if !p.ForTests() {
			all = append(all, p.Functions()...)
		}
	}
	slices.SortStableFunc(all, func(a, b archtest.Function) int { return cmp.Compare(b.Lines, a.Lines) })
	long := slices.IndexFunc(all, func(f archtest.Function) bool { return f.Lines <= longFunction })
	fmt.Printf("\n%d of %d functions are over %d lines; the longest:\n", long, len(all), longFunction)
	for _, f := range all[:min(10, len(all))] {
		fmt.Printf("  %4d  %s  %s\n", f.Lines, f.Name, f.File)
	}
}
