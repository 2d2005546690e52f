package main

import (
	"path"
	"regexp"
	"slices"
)

// sort adds the files and the arrows of a package. Only arrows within a package may point
// up: imports have no cycles.
func (t *tree) sort(files []string, used []arrow, doc string) {
	t.arrows = append(t.arrows, used...)
	inside := slices.DeleteFunc(slices.Clone(used), func(a arrow) bool { return path.Dir(a.from) != path.Dir(a.to) })
	shortest := improve(ordered(files, inside), inside, nil)
	t.shortest, t.upShortest = append(t.shortest, shortest...), append(t.upShortest, up(shortest, inside)...)
	order := listedFiles(doc, files)
	if len(order) > 0 {
		t.documented = true
		for _, f := range files {
			if used := slices.ContainsFunc(inside, func(a arrow) bool { return a.from == f || a.to == f }); used && !slices.Contains(order, f) {
				t.unlisted = append(t.unlisted, f)
			}
		}
		order = improve(place(order, files, inside), inside, order)
	} else {
		order = shortest
	}
	t.order, t.upInOrder = append(t.order, order...), append(t.upInOrder, up(order, inside)...)
}

var fileName = regexp.MustCompile(`[\w./-]+\.go\b`)

// listedFiles returns the files of a package in the order in which its comment names them.
func listedFiles(doc string, files []string) (out []string) {
	for _, name := range fileName.FindAllString(prose.ReplaceAllString(doc, ""), -1) {
		at := slices.IndexFunc(files, func(f string) bool { return path.Base(f) == name })
		if at >= 0 && !slices.Contains(out, files[at]) {
			out = append(out, files[at])
		}
	}
	return out
}

// prose matches the lines that are not in an indented list.
var prose = regexp.MustCompile(`(?m)^[^\t \n].*$`)

// up returns the arrows that point to an earlier file of an order.
func up(order []string, all []arrow) (out []arrow) {
	for _, a := range all {
		if slices.Index(order, a.to) < slices.Index(order, a.from) {
			out = append(out, a)
		}
	}
	return out
}

// ordered returns an order with few arrows up. It moves files that use none of the rest to
// the end, and files that none of the rest uses to the beginning. Otherwise it takes the
// one with the most arrows out compared to those in (Eades, Lin and Smyth 1993).
func ordered(files []string, all []arrow) []string {
	var first, last []string
	for rest := slices.Clone(files); len(rest) > 0; {
		best, score, end := "", 0, false
		for _, f := range rest {
			in, out := 0, 0
			for _, a := range all {
				if slices.Contains(rest, a.from) && slices.Contains(rest, a.to) {
					if a.from == f {
						out++
					} else if a.to == f {
						in++
					}
				}
			}
			if out == 0 || in == 0 {
				best, end = f, out == 0
				break
			}
			if best == "" || out-in > score {
				best, score = f, out-in
			}
		}
		if end {
			last = append(last, best)
		} else {
			first = append(first, best)
		}
		rest = slices.DeleteFunc(rest, func(f string) bool { return f == best })
	}
	slices.Reverse(last)
	return append(first, last...)
}

// place adds the missing files to an order.
func place(order, files []string, all []arrow) []string {
	order = slices.Clone(order)
	for _, f := range ordered(files, all) {
		if !slices.Contains(order, f) {
			order = append(order, f)
		}
	}
	return order
}

// improve moves each file to where the fewest arrows point up, as long as that helps. Fixed
// files stay.
func improve(order []string, all []arrow, fixed []string) []string {
	for {
		least := len(up(order, all))
		for _, f := range slices.Clone(order) {
			if slices.Contains(fixed, f) {
				continue
			}
			rest := slices.DeleteFunc(slices.Clone(order), func(g string) bool { return g == f })
			for i := range len(rest) + 1 {
				if tried := slices.Insert(slices.Clone(rest), i, f); len(up(tried, all)) < len(up(order, all)) {
					order = tried
				}
			}
		}
		if len(up(order, all)) == least {
			return order
		}
	}
}
