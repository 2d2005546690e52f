package knowledge

import (
	"errors"
	"path"
	"slices"
	"strings"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/command/knowledge/form"
)

// System holds the functions with which the analysis queries the system. A function that
// is nil knows nothing. internal/command/disk implements them.
type System struct {
	// Home is the absolute path of ~ and $HOME, or "" if it is unknown.
	Home string
	// Roots are the folders that belong to the work: the project and the harness's
	// additional ones. A cd into them is not an access.
	Roots []string
	// Resolve follows the symlinks of an absolute path, which may hold "..", as far as it
	// exists. It returns "" if the path is unknown. Nil leaves paths as they are spelled.
	Resolve func(path string) string
	// LinkText returns the text of the symlink at an absolute path, or "" if it is unknown.
	// Nil: all are unknown.
	LinkText func(path string) string
	// IsDir reports whether an absolute path is a folder that can be entered. Nil: the
	// result of a cd is unknown, unless && shows it.
	IsDir func(path string) bool
	// IsNew reports whether nothing exists under an absolute path. Nil assumes that every
	// path exists.
	IsNew func(path string) bool
	// Made reports whether an earlier line of the same session made the file at an absolute
	// path. Nil: none is.
	Made func(path string) bool
	// TopLevel returns the output of "git rev-parse --show-toplevel" in an absolute folder,
	// or "" if it is unknown.
	TopLevel func(dir string) string
	// PlainNames reports whether each file name in an absolute folder, or also in all folders
	// below, is one word for xargs, and not an option or command of any program. Nil: none is.
	PlainNames func(folder string, below bool) bool
	// PlainTracked is like PlainNames for each name that git tracks in an absolute folder.
	// Each of them must exist as a file. Nil: none is.
	PlainTracked func(folder string) bool
	// Names returns the names in an absolute folder, or false if there are too many or it
	// cannot be read.
	Names func(folder string) ([]string, bool)
	// Members returns the files that an archive or a patch writes, as it names them, or
	// false if it cannot be read. Nil: none can.
	Members func(file string) ([]string, bool)
	// Opened returns the files that a read of a folder or of a pattern opens. unseen is why
	// there may be more, or "" if these are all. Nil: unknown for any.
	Opened func(a *cardea.Access) (files []string, unseen string)
	// Shown returns the absolute paths of the files whose contents a command of git shows.
	// Nil: unknown for any.
	Shown func(dir string, command GitShows) (files []string, err error)
	// Differs returns the files that differ between the last commit and a revision of the
	// surrounding repository, relative to its top. "" is the working tree with the index. The
	// error is ErrNoRevision if the revision does not exist, else why the files are unknown.
	Differs func(dir, revision string) ([]string, error)
	// HoldsKey reports whether the file at an absolute path holds a private key.
	// Nil: none does.
	HoldsKey func(path string) bool
	// Exported reports whether the environment at the start of a line has a variable, so
	// that setting it affects programs. Nil: none is.
	Exported func(name string) bool
	// ReadFile reads the file at an absolute path, up to limit bytes. Nil: no file is read.
	ReadFile func(path string, limit int64) ([]byte, error)
}

// ErrNoRevision is the error for a word that names no revision of a repository.
var ErrNoRevision = errors.New("no such revision")

// GitShows describes how a command of git chooses the files that it shows
// (internal/command/git.Names).
type GitShows struct {
	Kind                    string
	Revisions, Paths, Chose []string
	Staged, Recorded        bool
}

// Word is one word that bash passes to a program.
type Word struct {
	cardea.Word
	// Glob marks a pattern that bash replaces by the file names that match.
	Glob bool
	// Head is the certain beginning of a word that is not static, without quotes.
	Head string
	// Pattern is a file name pattern that a word that is not static matches. "*" stands for
	// unknown text. "" is "*".
	Pattern string
	// Process marks a word that consists of one process substitution, <(…): it names the
	// output of a command.
	Process bool
	// Outside is set for a word that begins with a variable that the line does not set.
	Outside bool
	// MayLose is set for a word whose unknown text may be empty, as an unset variable is.
	// May holds the word without it.
	MayLose bool
	// Number is set for a word that is not static but certainly a number or empty.
	Number bool
	// Found is set for a word that a search finds.
	Found *Search
	// May are the texts that a word that is not static may become, as far as the line
	// shows. They apply to potential effects, never to certain ones.
	May []string
	// Listed is set if May is complete.
	Listed bool
	// Started is set if the word is the number of a process that the line has started, or empty.
	Started bool
}

// Literal returns a static word.
func Literal(text string) Word { return Word{Word: cardea.Word{Text: text, Static: true}} }

// Invocation is one program that bash would start: its words and the state in which it
// runs. It does not change after it was built.
type Invocation struct {
	// Words are the program and its arguments. The list is not empty.
	Words []Word
	// Paths resolves the paths in the words.
	Paths Paths
	// Redirections are the accesses of the shell for the program, or for a wrapper before it.
	Redirections []cardea.Access
	// FilesChanged is set if an earlier command of the line may have changed files, so that
	// the current disk does not show their state.
	FilesChanged bool
	// Stands reports whether no earlier command of the line may have removed or replaced a
	// path. Nil: true for any path if FilesChanged is not set.
	Stands func(path string) bool
	// Potential is set if the program is only one that another may run.
	Potential bool
	// MadeFolder reports whether another command of the line may make a folder
	// of a path. Nil: none does.
	MadeFolder func(path string) bool
	// MayBecome returns the paths that a word may become, if the line shows the source of
	// its value. Nil: none is known.
	MayBecome func(word Word) []PotentialPath
	// Input is the text of the standard input, or "" if the line does not show it.
	Input string
	// Document is the here-document if it is the whole standard input, else "".
	Document string
	// Fed is set if the line supplies the standard input.
	Fed bool
}

// PotentialPath is a path that a word may become when the line runs.
type PotentialPath struct {
	Path string
	// Pattern is a pattern that the path matches, if only that is known. Path is then the folder
	// above its first wildcard. With Entries it matches all names, or all hidden ones.
	Pattern string
	// Search is set if the pattern comes from a search, whose wildcards also match hidden
	// names and folders.
	Search bool
	// Narrowed is set if tests of something other than names exclude files.
	Narrowed bool
	// Below is set if all files below the path may also be among the words. Entries is set
	// if the entries of the path are, and not the path itself.
	Below, Entries bool
}

// Search is the result of a search: names of files, each of them one word and not an option.
type Search struct {
	// Dir is the folder from which the names are to be read.
	Dir string
	// Places are reads of the folders that contain the files, absolute and resolved.
	Places []cardea.Access
	// One is set if the result is exactly one name.
	One bool
	// Null is set if a NUL ends each name, not a newline.
	Null bool
	// MayBeNothing is set if the search may find nothing, and a command runs nevertheless.
	MayBeNothing bool
}

// Tracked reports whether the search finds only files that git tracks.
func (s *Search) Tracked() bool { return len(s.Places) > 0 && s.Places[0].Selection.Tracked }

// Plain reports whether each name that the search finds is one word for xargs, and not
// an option or command of any program.
func (s *Search) Plain(system *System) bool {
	return !slices.ContainsFunc(s.Places, func(a cardea.Access) bool {
		if a.Selection.Tracked {
			return system.PlainTracked == nil || !system.PlainTracked(a.Path)
		}
		deep := a.Recursive || strings.Contains(strings.TrimPrefix(a.Pattern, a.Path+"/"), "/")
		return system.PlainNames == nil || !system.PlainNames(a.Path, deep)
	})
}

// accesses returns the accesses of kind to each file that the search finds. below is set
// for a program that reads everything below a folder.
func (s *Search) accesses(kind cardea.AccessKind, below bool) []cardea.Access {
	out := slices.Clone(s.Places)
	for i := range out {
		out[i].MetadataOnly, out[i].Recursive = kind == form.Metadata, out[i].Recursive || below
	}
	return out
}

// Meaning is the known effects of an invocation. [cardea.Part] documents the fields of
// the same name.
type Meaning struct {
	Command, UsualCommand []string
	Operands              []int
	Options               []cardea.Option
	// Access also holds the redirections.
	Access    []cardea.Access
	Knowledge cardea.Coverage
	// EditsFiles is set if the words are those of the program's Edits.
	EditsFiles bool
	Configs    []string
	Doubt      string
	// Unseen are the words that may become any option of the program, UnseenIfMade those
	// that may if the line creates a name that begins with a dash. ByOption are the
	// accesses of the program with such an option.
	Unseen, UnseenIfMade []int
	ByOption             []cardea.Access
	// Script is a word with a script that may run commands or open files, or whose text is
	// unknown. "" means that there is no such word.
	Script string
	// Links are the symlinks that it creates.
	Links []Link
	// Targets are the paths to which it copies or moves and that are not a folder yet. It
	// writes into them if another command creates a folder there.
	Targets []string
	// Potential holds the potential effects that its words name.
	Potential Potential
	// OpensUnnamed is set if it opens files that are unknown.
	OpensUnnamed bool
}

// Link is a symlink that an invocation creates.
type Link struct {
	// At is the absolute path of the link, its folder resolved. Target is the absolute path
	// to which it leads, or "" if that is unknown.
	At, Target string
	// IfFolder and IfNoFolder: "ln -s x y" creates y/x if y is a folder, and y if it is
	// not. A link that is created either way has both.
	IfFolder, IfNoFolder bool
}

// description holds the memory of one call of [Describe]. The next call reuses it: a
// line may have thousands.
type description struct {
	reader reader
	out    Meaning
}

var descriptions = sync.Pool{New: func() any { return new(description) }}

// Describe returns the meaning of an invocation.
func Describe(inv Invocation, system *System) Meaning {
	work := descriptions.Get().(*description)
	work.reader = reader{inv: inv, system: system, paths: inv.Paths, out: &work.out, argv: inv.Words}
	work.reader.describe()
	out := work.out
	*work = description{}
	descriptions.Put(work)
	return out
}

// describe fills r.out with the meaning of the invocation.
func (r *reader) describe() {
	inv, out := &r.inv, r.out
	defer r.potential()
	out.Access = slices.Clone(inv.Redirections)
	for i := range out.Access {
		out.Access[i].Redirect = true
	}
	if len(inv.Words) == 0 || !inv.Words[0].Static {
		out.Access = append(out.Access, cardea.Access{Kind: cardea.Unknown})
		r.system, r.spec = nil, &form.Program{}
		return
	}
	name := inv.Words[0].Text
	var spec *form.Program
	out.Command, spec = named(path.Base(name))
	if strings.Contains(name, "/") && !files.HoldsPrograms(path.Dir(name)) {
		out.Access = append(out.Access, inv.Paths.Open(cardea.Execute, name, false)...)
		if !strings.HasPrefix(name, "/") {
			spec = nil
		}
	}
	r.spec, r.first, r.known = spec, len(out.Command), spec != nil
	if spec == nil {
		r.spec = &form.Program{}
	}
	r.read()
	r.unseenOptions()
	switch {
	case r.answers(name, spec):
		return
	case spec == nil:
		out.Access = append(out.Access, cardea.Access{Kind: cardea.Unknown})
		out.Doubt = "the program " + out.Command[0] + " is not known"
		return
	}
	r.accesses()
	if out.Doubt = r.doubt(); out.Doubt == "" {
		out.Knowledge, out.Configs = cardea.Complete, r.spec.Complete.UnlessProjectFiles
		if r.importsModules || r.has([]string{"-m"}) && Has(form.RunsModules, Unversioned(r.out.Command[0])) {
			out.Configs = append(slices.Clone(out.Configs), PythonModules)
		}
		return
	}
	r.module()
	out.EditsFiles = r.editsFiles()
	r.otherAccesses(r.otherwise())
}

// answers reports whether the line only asks for help or for a version. The named program must
// answer that before it reads anything of the project, or the project must have nothing for it.
func (r *reader) answers(name string, spec *form.Program) bool {
	words, word := r.inv.Words, ""
	if len(words) == 2 && words[1].Static {
		word = words[1].Text
	}
	listed := strings.HasPrefix(word, "-") && WithWord(form.AnswersHelp, path.Base(name), word) && (!strings.Contains(name, "/") || files.HoldsPrograms(path.Dir(name)))
	asks := spec != nil && (word != "" && slices.Contains(spec.InformationWords, word) || r.help())
	switch {
	case listed, asks && answersAll(path.Base(name)):
	case asks && spec.Complete != nil && len(spec.Complete.UnlessProjectFiles) > 0:
		r.out.Configs = spec.Complete.UnlessProjectFiles
	default:
		return false
	}
	r.out.Knowledge = cardea.Complete
	return true
}

// answersAll reports whether the program reads nothing of the project with any of its
// help words.
func answersAll(name string) bool {
	words, answers := WordsOf(form.AnswersHelp, name)
	return answers && (len(words) == 0 || slices.Contains(words, "always"))
}

// module adds the options of a module that is a program of its own, and its deletions:
// python -m pytest --basetemp=x.
func (r *reader) module() {
	for _, o := range r.out.Options {
		if o.Name != "-m" || !o.Static || !Has(form.RunsModules, Unversioned(r.out.Command[0])) {
			continue
		}
		inv, at := r.inv, o.Word
		if !strings.HasSuffix(r.argv[at].Text, o.Value) {
			at++
		}
		inv.Words, inv.Redirections = slices.Concat([]Word{Literal(o.Value)}, r.argv[at+1:]), nil
		does := Describe(inv, r.system)
		for _, o := range does.Options {
			o.Word += at
			r.out.Options = append(r.out.Options, o)
		}
		r.out.Access = append(r.out.Access, slices.DeleteFunc(does.Access, func(a cardea.Access) bool { return a.Kind != cardea.Delete })...)
		return
	}
}

// PlainPattern reports whether w is a pattern without quotes or expansions, so that its
// text can be read as a pattern.
func (w Word) PlainPattern() bool { return w.Glob && simpleGlob(w.Text) }
