package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/org"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/config/settings"
)

// syncCommand returns the command "sync".
func syncCommand(p Process) *cobra.Command {
	var f syncFlags
	c := withJSON(&cobra.Command{
		Use:   "sync [NAME] [flags]",
		Short: "bring the settings of an organisation to this machine",
		Long: `Bring the settings, rules, roles and policies of an organisation to org/NAME in your
own folder. The source is a git repository, an https archive (.tar.gz, .zip), or a
bundle of OPA that is signed.

NAME is org.name of your settings, and the source is org.source, or the one from which
NAME came before. With org.key only a bundle that is signed with this key is taken.

What comes is checked as "cardea rules lint" checks it, and the difference is shown. It is
put in force as a whole when you type the code that is shown. If something fails, nothing
changes. The form before is kept, and --rollback brings it back.`,
		Example: `  cardea sync acme --from https://github.com/acme/cardea-settings.git#main
  cardea sync --dry-run
  cardea sync --rollback`,
		Args: atMostOneArgument,
	}, func(args []string, asJSON bool) error { return syncOrg(p, args, f, asJSON) })
	fs := inOrder(c)
	fs.StringVar(&f.from, "from", "", "the source: a git repository (https, ssh, a folder; #BRANCH selects a branch), or an archive (https, a file)")
	fs.StringVar(&f.key, "key", "", "the file with the public key (PEM) with which the bundle must be signed")
	fs.BoolVar(&f.rollback, "rollback", false, "put the form before in force again")
	fs.BoolVar(&f.dryRun, "dry-run", false, "show the difference, and change nothing")
	return c
}

type syncFlags struct {
	from, key        string
	rollback, dryRun bool
}

// syncing is a sync in progress.
type syncing struct {
	p     Process
	pl    place
	name  string
	store org.Store
	// was is the record of the folder in force.
	was org.Record
	org.Source
	record org.Record
}

// synced is the result of a sync, and its JSON.
type synced struct {
	Org    string `json:"org"`
	Source string `json:"source"`
	// Form is the commit, or the digest of the archive. Signed is set if its signature was
	// verified.
	Form   string `json:"form"`
	Signed bool   `json:"signed"`
	// Written is set if it was put in force.
	Written bool           `json:"written"`
	Files   []importedFile `json:"files"`
	// Left lists the files of the source that are not used.
	Left []string `json:"left"`
	report
}

// syncOrg runs the command.
func syncOrg(p Process, args []string, f syncFlags, asJSON bool) error {
	s, err := startSync(p, args)
	if err == nil && !f.rollback {
		err = s.find(f)
	}
	if err != nil {
		return err
	}
	if !f.dryRun {
		if err := p.needsPerson(); err != nil {
			return err
		}
	}
	if f.rollback {
		return s.rollback(f.dryRun, asJSON)
	}
	out, err := s.bring(f.dryRun)
	if err != nil {
		return fmt.Errorf("sync %s from %s: %w; %s", s.name, s.record.Source, err, s.stays())
	}
	return failIf(diagnostic.HasError(out.Diagnostics), p.answer(asJSON, out, func(sc *screen) { out.show(sc, asJSON || out.Written) }))
}

// needsPerson returns an early error if it is not certain that a person is typing.
func (p Process) needsPerson() error {
	return person.Check{Attending: p.Person}.Attended()
}

// startSync returns the sync of the organisation that is named or set, with its record.
func startSync(p Process, args []string) (*syncing, error) {
	if p.Dir == "" {
		return nil, errNoFolder
	}
	s := &syncing{p: p, pl: locate(p, "", "", p.Dir)}
	p.tell(s.pl.Issues)
	if s.pl.Dirs.User == "" {
		return nil, errors.New("there is no folder for your settings; set HOME or XDG_CONFIG_HOME")
	}
	s.name = cmp.Or(strings.Join(args, ""), s.settings().Name)
	switch {
	case s.name == "":
		return nil, wrongUsage{errors.New("no organisation is named; write cardea sync NAME --from SOURCE, or set org.name and org.source")}
	case !settings.IsName(s.name):
		return nil, wrongUsage{fmt.Errorf("%q is no name; use letters, digits, and . _ -", s.name)}
	}
	s.store = org.Store{Dir: project.Below(s.pl.Dirs.User, "org")}
	var err error
	s.was, err = s.store.Record(s.name)
	return s, err
}

// settings returns the organisation's entry in the settings of the system and the person.
func (s *syncing) settings() settings.Org { return inforce.LoadSettings(s.p.Whose(&s.pl)).Org }

// find determines the source of the organisation's folder.
func (s *syncing) find(f syncFlags) error {
	set := s.settings()
	if set.Name != s.name {
		set = settings.Org{}
	}
	key := cmp.Or(set.Key, s.was.Key)
	if f.key != "" {
		if set.Key != "" && f.key != set.Key {
			return fmt.Errorf("org.key of your settings is %s; change it there, if %s is meant", set.Key, f.key)
		}
		key = within(s.p.Dir, f.key)
	}
	source := cmp.Or(f.from, set.Source, s.was.Source)
	if source == "" {
		return wrongUsage{fmt.Errorf("it is not known where %s comes from; name it with --from, or set org.source", s.name)}
	}
	if len(redact.New().Find(source)) > 0 {
		return errors.New("the source holds a secret; remove it, and let git ask your credential helper")
	}
	parsed, err := org.ParseSource(source, s.p.Dir, s.pl.Dirs.Home, key != "")
	if err != nil {
		return wrongUsage{fmt.Errorf("the source of %s: %w", s.name, err)}
	}
	if parsed.Kind == org.Git && key != "" {
		return fmt.Errorf("%s must be a signed bundle, since a key is set (%s), and a git repository is none; name an https bundle, or remove the key", source, key)
	}
	if f.from != "" && parsed.Kind == org.Archive {
		source = parsed.Address // an absolute path is valid in every folder
	}
	s.Source, s.record = parsed, org.Record{Source: source, Key: key, When: s.p.Now().UTC().Truncate(time.Second)}
	return nil
}

// stays returns what is in force after a failed sync.
func (s *syncing) stays() string {
	switch {
	case s.was.Source != "":
		return fmt.Sprintf("the last good form stays in force, that of %s", s.was.When.Format("2006-01-02 15:04 MST"))
	case project.Has(s.store.Folder(s.name), ""):
		return "the folder stays as it is"
	}
	return "nothing was written"
}

// fetch gets the current content of the source.
func (s *syncing) fetch(ctx context.Context) (*org.Tree, error) {
	if s.Kind == org.Git {
		return org.Clone(ctx, s.Source, os.Environ(), "")
	}
	r := org.Request{Address: s.Address}
	if s.record.Key != "" {
		path := s.record.Key
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			path = filepath.Join(s.pl.Dirs.Home, rest)
		}
		key, err := readSmall(path)
		if err != nil {
			return nil, fmt.Errorf("read the key %s: %w", path, err)
		}
		r.Key = string(key)
	}
	if s.p.Fetch == nil {
		return nil, errors.New("archives cannot be fetched here")
	}
	return s.p.Fetch(ctx, r)
}

// bring fetches, checks and shows the content of the source, and puts it in force if the
// person agrees.
func (s *syncing) bring(dry bool) (*synced, error) {
	tree, err := s.fetch(context.Background())
	if err != nil {
		return nil, err
	}
	s.record.Form = tree.Form
	out := &synced{Org: s.name, Source: s.record.Source, Form: tree.Form, Signed: tree.Signed, Left: notNil(tree.Left), report: report{[]diagnostic.Diagnostic{}}}
	staged, err := s.store.Stage(s.name, tree)
	if err != nil {
		return nil, err
	}
	// What is in force is determined by then, and a leftover folder is hidden.
	defer func() { _ = staged.Discard() }()
	out.Diagnostics = notNil(s.mistakes(staged))
	old, err := org.Read(s.store.Folder(s.name))
	if err != nil {
		return nil, err
	}
	out.Files = s.differences(org.Compare(old, tree))
	if dry || diagnostic.HasError(out.Diagnostics) || len(out.Files) == 0 {
		return out, nil
	}
	return out, s.put("put "+count(len(out.Files), "file")+" in force for "+s.name, old, out, func() error { return s.store.Put(s.name, staged, s.record) })
}

// put replaces what is in force, which is old, if the person agrees to what is shown. It
// fails if the folder changed meanwhile.
func (s *syncing) put(what string, old *org.Tree, out *synced, change func() error) error {
	if err := s.p.byPerson(what, func(sc *screen) { out.show(sc, false) }); err != nil {
		return err
	}
	release, err := s.store.Lock()
	if err != nil {
		return err
	}
	defer release()
	now, err := org.Read(s.store.Folder(s.name))
	if err != nil {
		return err
	}
	if len(org.Compare(old, now)) > 0 {
		return errors.New("the folder has changed since the difference was shown; look at it again")
	}
	remember := s.p.remembering(false)
	if err := change(); err != nil {
		return err
	}
	out.Written = true
	return remember()
}

// mistakes returns lint's findings in a staged tree, with the final names of the files.
func (s *syncing) mistakes(staged org.Staged) []diagnostic.Diagnostic {
	dirs := project.Dirs{Home: s.pl.Dirs.Home, User: staged.Root}
	l := inforce.Load(inforce.Where{Engines: s.p.Engines, Dirs: dirs, Org: s.name, Path: s.p.Env("PATH"), Temp: files.Temporary()})
	l.Roles() // so that the findings include the roles
	found := findings(s.p, l, place{Dirs: dirs})
	for i := range found {
		found[i].File = strings.Replace(found[i].File, staged.Dir, s.name, 1)
		found[i].Text = strings.ReplaceAll(found[i].Text, staged.Dir, s.name)
	}
	return found
}

// differences returns changes as they are shown.
func (s *syncing) differences(all []org.Change) []importedFile {
	out := []importedFile{}
	text := func(f *org.File) (name string, data []byte) {
		if f == nil {
			return os.DevNull, nil
		}
		return "", f.Data
	}
	for _, c := range all {
		from, old := text(c.Old)
		to, data := text(c.New)
		f := importedFile{Path: c.Path, Diff: string(diff.Diff(cmp.Or(from, c.Path), old, cmp.Or(to, c.Path), data))}
		is, was := c.New != nil && c.New.Program, c.Old != nil && c.Old.Program
		if is && !was {
			f.Diff += "\n(may be executed)\n"
		} else if was && !is && c.New != nil {
			f.Diff += "\n(may not be executed any more)\n"
		}
		out = append(out, f)
	}
	return out
}

// show writes a sync for people. again omits the list of files that are not used.
func (o *synced) show(s *screen, again bool) {
	if o.Written {
		s.printf("%s is in force now, %s changed\n", o.Org, count(len(o.Files), "file"))
		return
	}
	showDiagnostics(s, o.Diagnostics)
	s.printf("%s from %s (%s%s)\n", painted{bold, o.Org}, o.Source, shorten(o.Form, 23), onlyIf(o.Signed, ", its signature fits the key"))
	if n := len(o.Left); n > 0 && !again {
		s.printf("left out: %s\n", shorten(strings.Join(o.Left, ", "), longLine))
	}
	for _, f := range o.Files {
		s.printf("%s\n", f.Path)
		showDiff(s, "  ", f)
	}
	switch {
	case diagnostic.HasError(o.Diagnostics):
		s.printf("nothing was changed, since there are mistakes\n")
	case len(o.Files) == 0:
		s.printf("nothing has changed since\n")
	}
}

// rollback puts the previous form in force.
func (s *syncing) rollback(dry, asJSON bool) error {
	former := s.store.Former(s.name)
	if !project.Has(former, "") {
		return fmt.Errorf("there is no form of %s before the one in force", s.name)
	}
	now, err := org.Read(s.store.Folder(s.name))
	if err != nil {
		return err
	}
	then, err := org.Read(former)
	if err != nil {
		return err
	}
	out := &synced{Org: s.name, Source: s.was.Source, Left: []string{}, Files: s.differences(org.Compare(now, then)), report: report{[]diagnostic.Diagnostic{}}}
	if s.was.Former != nil {
		out.Source, out.Form = s.was.Former.Source, s.was.Former.Form
	}
	if !dry {
		err := s.put("put the form before in force for "+s.name, now, out, func() error { return s.store.Rollback(s.name) })
		if err != nil {
			return fmt.Errorf("roll %s back: %w", s.name, err)
		}
	}
	return s.p.answer(asJSON, out, func(sc *screen) { out.show(sc, false) })
}
