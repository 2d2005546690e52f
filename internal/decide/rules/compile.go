package rules

import (
	"encoding/binary"
	"errors"
	"strconv"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
)

// Compiled is a file of rules in the format that the program stores between calls. It is
// the result of the parser, so a call reads no YAML, and unpacks only the rules that it
// reaches.
//
// The format is internal. The caller signs the stored form together with the text and the
// program that it was made from, so that nothing else is mistaken for it.
type Compiled struct {
	file, pack string
	from       Origin
}

// CompiledForm is part of the key under which a compiled file is stored. Change it with the
// format. A change of the parser changes the program, which is also part of the key.
const CompiledForm = "3"

// errForm is the cause of errors about data that is not a compiled file.
var errForm = errors.New("it is no compiled file of rules")

// Compile returns the compiled form of the rules of a file and of the parser's diagnostics.
// It omits the rules' tests.
func Compile(list []Rule, problems []diagnostic.Diagnostic) string {
	p := packer{}
	length := len(problems)
	p.count(&length)
	for i := range problems {
		p.problem(&problems[i])
	}
	length = len(list)
	p.count(&length)
	for i := range list {
		body := packer{}
		body.rule(&list[i])
		p.number(&list[i].Match.Programs)
		watches := list[i].watches()
		p.flags(&watches)
		text := string(body.out)
		p.text(&text)
	}
	return string(p.out)
}

// OpenCompiled returns the rules of a compiled form, and the parser's diagnostics.
func OpenCompiled(form, file string, from Origin) (List, []diagnostic.Diagnostic, error) {
	p := packer{in: form, reads: true}
	f := &Compiled{file: file, pack: packName(file), from: from}
	n := 0
	if p.count(&n); p.bad || n > len(form) {
		return nil, nil, errForm
	}
	problems := make([]diagnostic.Diagnostic, n)
	for i := range problems {
		p.problem(&problems[i])
		problems[i].File = file
	}
	if p.count(&n); p.bad || n > len(form) {
		return nil, nil, errForm
	}
	list := make([]Entry, n)
	for i := range list {
		list[i].file = f
		p.number(&list[i].programs)
		p.flags(&list[i].watches)
		p.text(&list[i].body)
	}
	if p.bad || p.in != "" {
		return nil, nil, errForm
	}
	return entriesOf(list), problems, nil
}

// rule unpacks a rule. It panics if the form is invalid.
func (f *Compiled) rule(body string) *Rule {
	p := packer{in: body, reads: true}
	r := &Rule{}
	p.rule(r)
	if p.bad || p.in != "" {
		panic(errForm) // the signature proves that this program wrote it
	}
	r.Scope, r.Trusted, r.Root, r.Pack = f.from.Scope, f.from.Trusted, f.from.Root, f.pack
	r.Source = f.file + ":" + r.Source
	return r
}

// head unpacks the fields that switches use: id, pack, scope and effect, and the file if
// the scope is an organisation.
func (f *Compiled) head(body string, r *Rule) {
	p := packer{in: body, reads: true}
	p.head(r)
	if r.Scope, r.Pack = f.from.Scope, f.pack; r.Scope == cardea.ScopeOrg {
		r.Source = f.file + ":" + r.Source // identifies the organisation
	}
}

// packer writes values, or reads them in the same order.
type packer struct {
	out   []byte
	in    string
	reads bool
	// bad is set if the input is not the output of a packer.
	bad bool
}

// head writes or reads the fields that switches use.
func (p *packer) head(r *Rule) {
	p.text(&r.ID)
	line := ""
	if !p.reads {
		_, n := diagnostic.SplitSource(r.Source)
		line = strconv.Itoa(n)
	}
	if p.text(&line); p.reads {
		r.Source = line
	}
	effect := uint64(r.Effect)
	p.number(&effect)
	r.Effect = cardea.Effect(effect)
}

// rule writes or reads a rule.
func (p *packer) rule(r *Rule) {
	p.head(r)
	p.texts(&r.Events)
	p.texts(&r.Tools)
	p.match(&r.Match)
	p.flags(&r.Person, &r.Certain)
	p.text(&r.Message)
	p.text(&r.Instead)
	p.text(&r.Context)
	p.text((*string)(&r.Severity))
	p.text((*string)(&r.Loses))
	p.text(&r.Because)
	each(p, &r.Rewrite, func(f *Field) { p.text(&f.Name); p.text(&f.Value) })
}

// match writes or reads a match.
func (p *packer) match(m *Match) {
	each(p, &m.Command, p.texts)
	p.number(&m.Programs)
	each(p, &m.Any, p.match)
	for _, list := range []*[]string{&m.Flags, &m.Args, &m.Paths, &m.Hosts, &m.Flows, &m.Env, &m.StartedBy, &m.Unless, &m.UnlessCommand, &m.UnlessPaths, &m.Roles, &m.Needs} {
		p.texts(list)
	}
	each(p, &m.Access, func(k *cardea.AccessKind) { p.text((*string)(k)) })
	each(p, &m.Own, func(o *Own) { p.text((*string)(o)) })
	p.flags(&m.Outside, &m.UnlessMetadata, &m.UnlessSearch, &m.HoldsKey, &m.Redirection, &m.UnknownPath, &m.Opaque, &m.AnyProgram, &m.UnlessReads)
	p.text(&m.UnlessText)
	p.text(&m.Stdin)
	p.text(&m.Field)
	p.text(&m.Pattern)
}

func (p *packer) problem(d *diagnostic.Diagnostic) {
	p.count(&d.Line)
	p.count(&d.Column)
	p.text((*string)(&d.Code))
	p.text(&d.Text)
	p.text(&d.Hint)
	severity := uint64(d.Severity)
	p.number(&severity)
	d.Severity = diagnostic.Level(severity)
}

// number writes or reads a number as a varint.
func (p *packer) number(n *uint64) {
	if !p.reads {
		p.out = binary.AppendUvarint(p.out, *n)
		return
	}
	var v uint64
	for i := 0; i < len(p.in) && i < binary.MaxVarintLen64; i++ {
		b := p.in[i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			*n, p.in = v, p.in[i+1:]
			return
		}
	}
	p.in, p.bad = "", true
}

// count writes or reads a number that is not negative.
func (p *packer) count(n *int) {
	v := uint64(max(0, *n))
	p.number(&v)
	*n = int(min(v, 1<<30))
}

func (p *packer) text(s *string) {
	n := len(*s)
	p.count(&n)
	switch {
	case !p.reads:
		p.out = append(p.out, *s...)
	case n > len(p.in):
		p.in, p.bad = "", true
	default:
		*s, p.in = p.in[:n], p.in[n:]
	}
}

func (p *packer) texts(list *[]string) { each(p, list, p.text) }

func (p *packer) flags(all ...*bool) {
	var bits uint64
	for i, b := range all {
		if *b {
			bits |= 1 << i
		}
	}
	p.number(&bits)
	for i, b := range all {
		*b = bits&(1<<i) != 0
	}
}

// each writes or reads a list. It reads an empty list as nil.
func each[T any](p *packer, list *[]T, one func(*T)) {
	n := len(*list)
	p.count(&n)
	if p.reads {
		if *list = nil; n == 0 || n > len(p.in) {
			p.bad = p.bad || n > 0
			return
		}
		*list = make([]T, n)
	}
	for i := range *list {
		one(&(*list)[i])
	}
}
