package roles

import (
	"errors"
	"strconv"
	"strings"

	"cardea.dev"
)

// CompiledForm is the version of the format that [Compile] writes.
const CompiledForm = "roles 1"

// Compile returns a source in a format that is quick to read. It returns "" if a text
// contains a zero byte.
func Compile(src Source) string {
	w := writer{}
	w.int(len(src.Categories))
	for _, c := range src.Categories {
		w.text(c.Name)
		w.int(c.Line)
		w.int(len(c.Globs))
		for _, g := range c.Globs {
			w.text(g)
		}
	}
	w.int(len(src.Roles))
	for _, r := range src.Roles {
		for _, s := range []string{r.Name, r.Group, r.Description, r.Source} {
			w.text(s)
		}
		for _, list := range [][]Glob{r.Paths.AllowWrite, r.Paths.DenyWrite, r.Paths.AllowRead, r.Paths.DenyRead} {
			w.int(len(list))
			for _, g := range list {
				w.text(g.Text)
				w.int(g.Line)
			}
		}
	}
	if w.bad {
		return ""
	}
	return strings.Join(w.fields, "\x00")
}

// OpenCompiled reads the result of [Compile].
func OpenCompiled(form string, scope cardea.Scope) (Source, error) {
	r := reader{left: form}
	src := Source{Scope: scope}
	for range r.int() {
		c := Category{Name: r.text(), Line: r.int()}
		for range r.int() {
			c.Globs = append(c.Globs, r.text())
		}
		src.Categories = append(src.Categories, c)
	}
	for range r.int() {
		role := Role{Name: r.text(), Group: r.text(), Description: r.text(), Source: r.text(), Scope: scope}
		for _, list := range []*[]Glob{&role.Paths.AllowWrite, &role.Paths.DenyWrite, &role.Paths.AllowRead, &role.Paths.DenyRead} {
			for range r.int() {
				*list = append(*list, Glob{Text: r.text(), Line: r.int()})
			}
		}
		src.Roles = append(src.Roles, role)
	}
	if r.bad || r.left != "" {
		return Source{Scope: scope}, errors.New("the compiled roles cannot be read")
	}
	return src, nil
}

// writer collects fields. bad is set if a text contains a zero byte.
type writer struct {
	fields []string
	bad    bool
}

func (w *writer) int(n int) { w.fields = append(w.fields, strconv.Itoa(n)) }

func (w *writer) text(s string) {
	w.bad = w.bad || strings.Contains(s, "\x00")
	w.fields = append(w.fields, s)
}

type reader struct {
	left string
	done bool
	bad  bool
}

func (r *reader) text() string {
	if r.done || r.bad {
		r.bad = true
		return ""
	}
	field, rest, more := strings.Cut(r.left, "\x00")
	r.left, r.done = rest, !more
	return field
}

// int reads a number from 0 to 1<<24. Any other value sets bad.
func (r *reader) int() int {
	n, err := strconv.Atoi(r.text())
	if err != nil || n < 0 || n > 1<<24 {
		r.bad = true
	}
	if r.bad {
		return 0
	}
	return n
}
