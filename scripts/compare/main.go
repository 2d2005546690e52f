// Command compare shows what a change does to the analysis and the answers: it runs two
// revisions over the same inputs and prints how many inputs differ, and how.
//
//	go run ./scripts/compare [flags] OLD [NEW]
//
// OLD and NEW are git revisions. Without NEW, it is the work tree, as it is. The inputs
// always come from the work tree: the tables and texts of its tests, the corpora of
// ../shared, and random lines. Nothing of them is executed. For each source it counts the
// inputs that differ in parts (commands and words), in accesses (accesses, opaque spots,
// flows, and whether everything is known) and in answers. Each input is answered in several
// homes: an empty one, one whose list allows Bash and denies some, and those of --settings.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// options are the flags.
type options struct {
	old, new                      string
	generated, examples, truncate int
	seed                          int64
	all, sources                  string
	homes, settings               []string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := compare(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// read reads flags and revisions, in any order.
func (o *options) read(args []string) error {
	fs := flag.NewFlagSet("compare", flag.ContinueOnError)
	fs.IntVar(&o.generated, "generated", 2000, "also compare this number of random `lines`")
	fs.Int64Var(&o.seed, "seed", 1, "start the random lines from this `number`")
	fs.IntVar(&o.examples, "examples", 5, "print up to this `number` of examples of each kind of difference")
	fs.IntVar(&o.truncate, "width", 300, "print that `many` characters of an example, 0 for all")
	fs.StringVar(&o.all, "all", "", "write all differences to this `file`, one a line: source, kind, old, new, input; tabs between them")
	fs.StringVar(&o.sources, "sources", "", "compare only sources whose name has one of these `words` in it, with commas between them")
	o.homes = []string{"empty", "listed"}
	fs.Func("homes", "answer in these `homes`: empty, listed, with commas between them (default both); none compares analyses alone", func(names string) error {
		o.homes = slices.DeleteFunc(strings.Split(names, ","), func(name string) bool { return name == "none" })
		return nil
	})
	fs.Func("settings", "also answer in a home with this Claude Code settings `file`", func(file string) error {
		o.settings = append(o.settings, file)
		return nil
	})
	var revisions []string
	for len(args) > 0 {
		if err := fs.Parse(args); err != nil {
			return fmt.Errorf("read the flags: %w", err)
		}
		if args = fs.Args(); len(args) > 0 {
			revisions, args = append(revisions, args[0]), args[1:]
		}
	}
	if len(revisions) == 0 || len(revisions) > 2 {
		return errors.New("name one revision, or two: go run ./scripts/compare OLD [NEW]")
	}
	o.old = revisions[0]
	if len(revisions) == 2 {
		o.new = revisions[1]
	}
	return nil
}

// compare runs the command.
func compare(ctx context.Context, args []string, out io.Writer) error {
	var o options
	if err := o.read(args); err != nil {
		return err
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	inputs, err := readInputs(root, o)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "cardea-compare-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	was, is, err := both(ctx, root, dir, o, inputs)
	if err != nil {
		return err
	}
	r := newReport(inputs, was, is)
	if o.all != "" {
		if err := os.WriteFile(o.all, []byte(r.table()), 0o600); err != nil {
			return fmt.Errorf("write all differences: %w", err)
		}
	}
	fmt.Fprintf(out, "%s to %s\n\n", o.old, cmp.Or(o.new, "the work tree"))
	_, err = io.WriteString(out, r.text(o.examples, o.truncate))
	return err
}

// moduleRoot returns the folder of go.mod, the working folder or one above it.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("there is no go.mod at or above the working folder")
		}
		dir = filepath.Dir(dir)
	}
}

// wanted reports whether a source is to be compared.
func (o options) wanted(source string) bool {
	return o.sources == "" || slices.ContainsFunc(strings.Split(o.sources, ","), func(word string) bool { return strings.Contains(source, word) })
}
