package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"cardea.dev/internal/testing/archtest"
)

// printTrees prints the figures of packages with their subpackages, and of all together.
func printTrees(out io.Writer, root string, names []string, pkgs []archtest.Package, ups bool) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "lines\tfiles\ttypes\tmethods\tof one type\tarrows\tup\tup in the best order\t package")
	var all tree
	var trees []*tree
	for _, name := range names {
		t, err := readTree(root, name, pkgs)
		if err != nil {
			return err
		}
		trees = append(trees, t)
		t.print(w)
		all.lines, all.files, all.types, all.methods = all.lines+t.lines, all.files+t.files, all.types+t.types, all.methods+t.methods
		all.arrows, all.upInOrder, all.upShortest = append(all.arrows, t.arrows...), append(all.upInOrder, t.upInOrder...), append(all.upShortest, t.upShortest...)
		if t.most > all.most {
			all.most, all.largest = t.most, t.largest
		}
	}
	if all.name = "all"; len(trees) > 1 {
		all.print(w)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print the figures: %w", err)
	}
	for _, t := range trees {
		if ups {
			t.printUp(out)
		}
	}
	return nil
}

func (t *tree) print(w io.Writer) {
	fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d (%s)\t%d\t%s\t%s\t %s\n", t.lines, t.files, t.types, t.methods, t.most, t.largest, len(t.arrows),
		t.share(len(t.upInOrder)), t.share(len(t.upShortest)), t.name)
}

// share returns n as number and percentage of all arrows.
func (t *tree) share(n int) string {
	return fmt.Sprintf("%d (%d %%)", n, n*100/max(1, len(t.arrows)))
}

// printUp lists the order of the files and the arrows that point up in it.
func (t *tree) printUp(out io.Writer) {
	source := "the comment of the package lists no order; this one has few arrows up"
	if t.documented {
		source = "the order of the comment of the package"
	}
	fmt.Fprintf(out, "\n%s: %s\n  %s\n", t.name, source, strings.Join(t.order, " "))
	if len(t.unlisted) > 0 {
		fmt.Fprintf(out, "not in the comment, placed where the fewest arrows point up:\n  %s\n", strings.Join(t.unlisted, " "))
	}
	if t.documented {
		fmt.Fprintf(out, "an order with fewer arrows up:\n  %s\n", strings.Join(t.shortest, " "))
	}
	for _, a := range t.upInOrder {
		fmt.Fprintf(out, "  %s uses %s\n", a.from, a.to)
	}
}
