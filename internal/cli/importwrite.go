package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document/yamledit"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/config/importer"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/config/trust"
)

// importing is an import in progress.
type importing struct {
	importer.Imported
	// tool is the name of the other tool, dir the scope's folder.
	tool, dir string
	user      bool
	// source is the imported file or folder, as written files name it.
	source string
	// inside is the folder that no write may leave, or "". A project could contain a link to
	// the person's own settings.
	inside string
	// toWrite is set if the import is to be written.
	toWrite bool
	// tried holds calls judged with the current configuration, if nothing is written.
	tried []judgedCall
	// next is the advice for the next step, remedy an option that stops what the import does not.
	next    string
	remedy  string
	changes []change
}

// change is a file before and after a change.
type change struct {
	// path is the resolved path, and shown the name for people.
	path, shown, from string
	old, text         string
	mode              fs.FileMode
	fresh             bool
}

// imported is the result of an import, and its JSON.
type imported struct {
	Written bool           `json:"written"`
	Table   []importer.Row `json:"table"`
	Files   []importedFile `json:"files"`
	Calls   []judgedCall   `json:"calls"`
	report
}

// importedFile is a file that was written, or would be.
type importedFile struct {
	// From is the copied file. Diff is the change of a file that is not a copy.
	From string `json:"from,omitempty"`
	Path string `json:"path"`
	Diff string `json:"diff,omitempty"`
}

// judgedCall is a call with its verdicts before and after. Said is the other tool's
// verdict, "" if unknown.
type judgedCall struct {
	Event  string `json:"event"`
	Tool   string `json:"tool,omitempty"`
	Input  string `json:"input"`
	Said   string `json:"said,omitempty"`
	Before string `json:"before,omitempty"`
	After  string `json:"after"`
	By     string `json:"by,omitempty"`
}

// run shows an import, and writes it with --write.
func (i *importing) run(p Process, accept, asJSON bool) error {
	if err := i.plan(); err != nil {
		return err
	}
	i.compare(p)
	lost := i.showLosses(p)
	refused := lost > 0 && !accept || diagnostic.HasError(i.Problems)
	out := imported{Table: notNil(i.Table), Files: []importedFile{}, Calls: append([]judgedCall{}, i.tried...), report: report{notNil(i.Problems)}}
	for _, c := range i.changes {
		f := importedFile{Path: c.path, From: c.from}
		if c.from == "" {
			f.Diff = string(diff.Diff(c.shown, []byte(c.old), c.shown, []byte(c.text)))
		}
		out.Files = append(out.Files, f)
	}
	writes := i.toWrite && !refused && len(i.changes) > 0
	if writes && !asJSON {
		i.showTable(screenOn(p.Stdout, p.Env), out) // the person agrees to this
	}
	var failed error
	if writes {
		before := i.judge(p)
		if failed = i.write(p, &out); failed == nil {
			out.Written, out.Calls = true, i.judge(p)
			for n := range out.Calls {
				out.Calls[n].Before = before[n].After
			}
		}
	}
	err := p.answer(asJSON, out, func(s *screen) {
		if !writes {
			i.showTable(s, out)
		}
		i.showFiles(s, out, writes)
		i.showCalls(s, out)
		if i.next != "" {
			s.printf("\n")
			s.block("", i.next)
		}
	})
	switch {
	case i.toWrite && refused:
		p.warn("nothing was written; --accept-losses writes the rest")
	case i.toWrite && !writes:
		p.warn("there is nothing to write")
	}
	return cmp.Or(failed, failIf(refused, err))
}

// showLosses lists the losses of protection on standard error, before all else. It returns
// their number.
func (i *importing) showLosses(p Process) (lost int) {
	s := screenOn(p.Stderr, p.Env)
	for _, r := range i.Table {
		if !r.Lost() {
			continue
		}
		if lost++; lost == 1 {
			s.printf("%s\n", painted{red, "LOST: this protected you in " + i.tool + ", and does not now:"})
		}
		showRow(s, r, "")
	}
	return lost
}

// showRow writes a row of the table, with a mark before the outcome.
func showRow(s *screen, r importer.Row, mark string) {
	first, more, _ := strings.Cut(r.How, "\n")
	s.printf("  %s%s: %s%s\n", r.What, at(r), mark, first)
	if more != "" {
		s.block("    ", more)
	}
}

// at returns the position of a row in brackets, or "".
func at(r importer.Row) string {
	switch {
	case r.File == "":
		return ""
	case r.Line == 0:
		return " (" + r.File + ")"
	}
	return fmt.Sprintf(" (%s:%d)", r.File, r.Line)
}

// showTable writes the outcome of each row for people.
func (i *importing) showTable(s *screen, out imported) {
	showDiagnostics(s, out.Diagnostics)
	for _, o := range []importer.Outcome{importer.TakenOver, importer.Changed, importer.LeftOut} {
		rows := slices.DeleteFunc(slices.Clone(out.Table), func(r importer.Row) bool { return r.Outcome != o })
		section(s, string(o), len(rows))
		for _, r := range rows {
			showRow(s, r, onlyIf(r.Lost(), "LOST: "))
		}
	}
}

// showFiles lists the files that were written, or shows those that would be. A person who
// agreed has already seen the changes.
func (i *importing) showFiles(s *screen, out imported, writes bool) {
	switch {
	case len(out.Files) == 0 || writes && !out.Written:
		return
	case out.Written:
		heading(s, "written")
	default:
		heading(s, "would be written, with --write")
	}
	for n, f := range out.Files {
		switch {
		case f.From != "":
			s.printf("  %s, a copy of %s\n", f.Path, f.From)
		case out.Written && i.changes[n].fresh:
			s.printf("  %s, a new file\n", f.Path)
		case out.Written:
			s.printf("  %s, changed\n", f.Path)
		default:
			s.printf("  %s\n", f.Path)
			showDiff(s, "    ", f)
		}
	}
}

// longLine is how much of a diff line is shown, in characters. An expression rewritten
// without lookahead can have thousands.
const longLine = 300

// showDiff shows how a file changes.
func showDiff(s *screen, lead string, f importedFile) {
	_, text, _ := strings.Cut(f.Diff, "\n")
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if short := shorten(line, longLine); short != line {
			line = fmt.Sprintf("%s (%d characters)", short, len([]rune(line)))
		}
		s.code(lead, line)
	}
}

// showCalls shows calls before and after. It marks a call that only the other tool stops.
func (i *importing) showCalls(s *screen, out imported) {
	if len(out.Calls) == 0 {
		return
	}
	heading(s, either(len(i.tried) > 0, "tried", "the same calls, before and after"))
	for _, c := range out.Calls {
		s.printf("  %s%s%s  %s %s%s", onlyIf(c.Before != "", c.Before+" -> "), c.After, prefixed(", "+i.tool+": ", c.Said),
			cmp.Or(c.Tool, c.Event), shorten(c.Input, 120), onlyIf(c.By != "", "  ("+c.By+")"))
		s.printIf(c.weaker(), "  %s", painted{red, "NOT STOPPED"})
		s.printf("\n")
	}
}

// weaker reports whether the other tool stops a call that now runs.
func (c judgedCall) weaker() bool {
	return (c.Said == "deny" || c.Said == "ask") && !slices.Contains([]string{"ask", "deny", "halt"}, c.After) && c.After != ""
}

// plan computes which files change, and how.
func (i *importing) plan() error {
	i.changes = nil
	for _, f := range i.Files {
		c, err := i.change(f.Path)
		if err != nil {
			return err
		}
		if f.Program {
			c.mode |= 0o111
		}
		c.from, c.text = f.From, f.Text
		if f.Sealed {
			c.text = importer.Seal(i.source, f.Text)
		}
		switch other := importer.Source(c.old); {
		case !c.fresh && (c.old == c.text || importer.SameText(c.old, c.text)):
			i.row(f.Path, importer.TakenOver, false, "is there already")
		case c.fresh || f.Sealed && importer.Untouched(c.old, i.source):
			i.changes = append(i.changes, c)
		case other != "" && other != i.source:
			i.row(f.Path, importer.LeftOut, f.Protects, c.path+" is there already, imported from "+other+", and stays; write by hand what is new")
		default:
			i.row(f.Path, importer.LeftOut, f.Protects, c.path+" is there already, and not as an import wrote it; rename it and import again")
		}
	}
	return i.planSettings()
}

// from sets the source. A path in the project is relative to the project, since the written
// files are shared with it.
func (i *importing) from(path string) {
	if rel, err := filepath.Rel(filepath.Dir(i.dir), path); !i.user && err == nil && filepath.IsLocal(rel) {
		path = filepath.ToSlash(rel)
	}
	i.source = strings.Join(strings.Fields(path), " ")
}

// ownName returns a name for the rules file that no other source has, so that an import
// keeps the files of earlier imports.
func (i *importing) ownName(tool string) (string, error) {
	for name, n := tool, 2; ; n++ {
		path := filepath.Join(i.dir, "rules", "imported-"+name+".yaml")
		data, err := readSmall(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("read %s: %w", path, err)
		}
		if of := importer.Source(string(data)); of == "" || of == i.source {
			return name, nil
		}
		name = fmt.Sprintf("%s-%d", tool, n)
	}
}

func (i *importing) row(what string, o importer.Outcome, protected bool, how string) {
	i.Table = append(i.Table, importer.Row{What: what, Outcome: o, Protected: protected, How: how})
}

// change returns the unchanged state of a file in the scope's folder. It fails if a link
// leads out of the project.
func (i *importing) change(rel string) (change, error) {
	path := filepath.Join(i.dir, filepath.FromSlash(rel))
	folder := filepath.Dir(path)
	if real := paths.Real(folder); i.inside != "" && !paths.Within(i.inside, real) {
		return change{}, fmt.Errorf("import %s: %s leads to %s, out of the project; remove the link, or use --user where every project is meant", rel, folder, real)
	}
	c := change{path: paths.Real(path), shown: rel}
	_, c.mode = modesOf(i.user)
	if i.inside != "" && !paths.Within(i.inside, c.path) {
		return change{}, fmt.Errorf("import %s: %s leads to %s, out of the project; remove the link", rel, path, c.path)
	}
	data, err := readSmall(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.fresh = true
	case err != nil:
		return change{}, fmt.Errorf("read %s: %w", path, err)
	}
	c.old = string(data)
	return c, nil
}

// planSettings adds the settings to cardea.yaml. Existing values do not change.
func (i *importing) planSettings() error {
	if len(i.Settings) == 0 {
		return nil
	}
	c, err := i.change("cardea.yaml")
	if err != nil {
		return err
	}
	c.text = c.old
	if strings.TrimSpace(c.text) == "" {
		c.text = "version: 1\n"
	}
	for _, s := range i.Settings {
		i.merge(&c, s)
	}
	if c.text == c.old {
		return nil
	}
	scope := either(i.user, cardea.ScopeUser, cardea.ScopeProject)
	before, after := settings.Parse(c.path, scope, []byte(c.old)), settings.Parse(c.path, scope, []byte(c.text))
	if !diagnostic.HasError(before.Problems) && diagnostic.HasError(after.Problems) {
		i.Problems = append(i.Problems, after.Problems...)
	}
	i.changes = append(i.changes, c)
	return nil
}

// merge adds a setting to the text of a file.
func (i *importing) merge(c *change, s importer.Setting) {
	var result yamledit.Result
	var err error
	if s.Items != nil {
		c.text, result, err = yamledit.Append(c.text, s.Path, s.Items)
	} else {
		c.text, result, err = yamledit.Set(c.text, s.Path, s.Value)
	}
	key := strings.Join(s.Path, ".")
	switch {
	case err != nil:
		i.row(key, importer.LeftOut, s.Protects, fmt.Sprintf("%s: %v", c.path, err))
	case result == yamledit.Cached:
		i.row(key, importer.LeftOut, s.Protects, fmt.Sprintf("%s has another value already, which stays; write %s there, if it is meant", c.path, cmp.Or(s.Value, strings.Join(s.Items, ", "))))
	}
}

// write writes the files if the person agrees.
func (i *importing) write(p Process, out *imported) error {
	show := func(s *screen) {
		for _, f := range out.Files {
			if f.From != "" {
				s.printf("%s, a copy of %s\n", f.Path, f.From)
				continue
			}
			s.printf("%s\n", f.Path)
			showDiff(s, "  ", f)
		}
	}
	before, err := surveyIf(p, !i.user)
	if err != nil {
		return err
	}
	if err := p.byPerson("write "+count(len(out.Files), "file")+" to "+i.dir, show); err != nil {
		return err
	}
	remember := p.remembering(false)
	for _, c := range i.changes {
		if err := c.write(i.user); err != nil {
			return fmt.Errorf("write %s: %w", c.path, bare(err))
		}
	}
	if i.user {
		return remember()
	}
	return before.begin(p, screenOn(p.Stderr, p.Env), i.wrote)
}

// wrote reports whether a file of the project has the digest that the import wrote.
func (i *importing) wrote(path, digest string) bool {
	return slices.ContainsFunc(i.changes, func(c change) bool {
		return filepath.ToSlash(filepath.Join(".cardea", c.shown)) == path && digest == trust.Digest([]byte(c.text))
	})
}

// write writes a file. It does not overwrite one that appeared since the person looked.
func (c change) write(private bool) error {
	folder, _ := modesOf(private)
	if err := os.MkdirAll(filepath.Dir(c.path), folder); err != nil {
		return err
	}
	if !c.fresh {
		return rewrite(c.path, c.old, c.text)
	}
	return create(c.path, c.text, c.mode)
}

// mostCalls is the most calls that are judged.
const mostCalls = 60

// judge returns the calls of an import with their current verdicts.
func (i *importing) judge(p Process) []judgedCall {
	out := []judgedCall{}
	for _, c := range i.Calls {
		done := judgedCall{Event: cmp.Or(c.Event, string(cardea.PreToolUse)), Tool: c.Tool, Input: c.Input, Said: c.Said}
		if len(out) == mostCalls || slices.ContainsFunc(out, func(o judgedCall) bool { return o.Event == done.Event && o.Tool == done.Tool && o.Input == done.Input }) {
			continue
		}
		v, err := i.verdict(p, c)
		if err != nil {
			continue
		}
		done.After, done.By = v.Effect.String(), v.By
		out = append(out, done)
	}
	return out
}

// compare judges the calls that the other tool denies, with the imported configuration. It
// adds those that Cardea does not deny to the table.
func (i *importing) compare(p Process) {
	p.Drafts = map[string][]byte{}
	for _, c := range i.changes {
		if c.shown == "cardea.yaml" { // its signals would run programs before the person agrees
			c.text = cmp.Or(strings.TrimSpace(c.old), "version: 1") + "\n"
			for quiet, n := *i, 0; n < len(i.Settings); n++ {
				if s := i.Settings[n]; s.Path[0] != "signals" && s.Path[0] != "actions" {
					quiet.merge(&c, s)
				}
			}
		}
		p.Drafts[filepath.Join(i.dir, filepath.FromSlash(c.shown))] = []byte(c.text)
	}
	var groups []string
	gentler := map[string]string{}
	for _, c := range i.Calls {
		if c.Group == "" || c.Said != "deny" {
			continue
		}
		if v, err := i.verdict(p, c); err == nil && v.Effect < cardea.Deny {
			if gentler[c.Group] == "" {
				groups = append(groups, c.Group)
			}
			gentler[c.Group] += fmt.Sprintf("\n%s: %s (%s%s%s)", c.Tool, c.About, v.Effect, prefixed(" ", v.By), prefixed("; ", c.Why))
		}
	}
	for _, g := range groups {
		if n := slices.IndexFunc(i.Table, func(r importer.Row) bool { return r.What == g }); n >= 0 {
			i.Table[n].Outcome = importer.Changed
		}
		i.row(g, importer.LeftOut, true, i.tool+" denies these, and Cardea does not"+i.remedy+":"+gentler[g])
	}
}

// verdict judges a call of an import, as "try" does.
func (i *importing) verdict(p Process, c importer.TrialCall) (cardea.Verdict, error) {
	m, err := tryFlags{tool: cmp.Or(c.Tool, "Bash"), harness: "claude-code", event: cmp.Or(c.Event, string(cardea.PreToolUse))}.message(p, c.Input)
	if err != nil {
		return cardea.Verdict{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit.HarnessHook)
	defer cancel()
	return newEvaluation(p, m.event).Verdict(ctx), nil
}
