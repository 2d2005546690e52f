// Command house prints figures about the code: lines of Go by package, the longest
// functions, exported names, settings, and which package imports which. Lines exclude
// comments, blank lines, tests and generated files.
//
//	go run ./scripts/house [--package PATH,... [--up]] [folder of the module]
//
// With --package, it prints figures about these packages and their subpackages instead:
// lines, files, types, methods, and the arrows between their files. An arrow means that a
// file uses a top-level name or a method of another file. It points up if the other file is
// earlier in the list of files in the package's comment. Files that are not in the list are
// placed where the fewest arrows point up. --up lists these arrows.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"cardea.dev/internal/testing/archtest"
)

// longFunction is the most lines of a function that is not long.
const longFunction = 50

// main prints the figures that the flags select.
func main() {
	packages := flag.String("package", "", "print figures about these `packages`, with commas between them, and those below them")
	ups := flag.Bool("up", false, "list the order of the files and the arrows that point up")
	flag.Parse()
	root := cmp.Or(flag.Arg(0), ".")
	pkgs, err := archtest.Read(root)
	if err == nil && *packages != "" {
		err = printTrees(os.Stdout, root, strings.Split(*packages, ","), pkgs, *ups)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
	if *packages != "" {
		return
	}
	printRooms(pkgs)
	printFunctions(pkgs)
	fmt.Printf("\nsettings: %d keys\n", archtest.SettingsKeys(pkgs))
	fmt.Printf("\nimports within the module\n")
	for _, p := range pkgs {
		fmt.Printf("  %s: %s\n", p.Dir(), strings.Join(p.Imported(), " "))
	}
}

// printRooms prints the lines by package. It lists packages that only tests use separately.
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

// printFunctions prints the longest functions.
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
