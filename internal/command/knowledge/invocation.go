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

// World is what the analysis asks of the machine. A function that is nil knows
// nothing; internal/command/disk has the real ones.
type World struct {
	// Home is what ~ and $HOME mean, absolute; "" where it is not known.
	Home string
	// Roots are the folders that belong to the work: the project and the
	// harness's additional ones. A cd into them is no access.
	Roots []string
	// Resolve follows the symbolic links of an absolute path, which may hold "..",
	// as far as it exists; "" is a path that is not known. Nil leaves paths as they
	// are spelled.
	Resolve func(path string) string
	// LinkText is what the symbolic link at an absolute path says, "" where that is not
	// known. Nil: it is known of none.
	LinkText func(path string) string
	// IsDir reports whether an absolute path is a folder that can be entered. Nil:
	// whether a cd succeeds is not known, unless && shows it.
	IsDir func(path string) bool
	// IsNew reports whether nothing exists under an absolute path. Nil takes every
	// path for an existing one.
	IsNew func(path string) bool
	// Made reports whether the file at an absolute path is one that an earlier line of the
	// same session has made. Nil: none is.
	Made func(path string) bool
	// TopLevel is what "git rev-parse --show-toplevel" prints in an absolute
	// folder, "" where that is not known.
	TopLevel func(dir string) string
	// PlainNames reports whether each name of a file in an absolute folder, or in
	// all below it, is one word for xargs, and no option or command for any
	// program. Nil: none is.
	PlainNames func(folder string, below bool) bool
	// PlainTracked reports the same of each name that git tracks in an absolute folder, which holds
	// each of them as a file. Nil: none is.
	PlainTracked func(folder string) bool
	// Names are the names in an absolute folder; false where there are too many,
	// or where it cannot be read.
	Names func(folder string) ([]string, bool)
	// Members are the files that an archive or a patch writes, as it names them;
	// false where it cannot be read. Nil: none can.
	Members func(file string) ([]string, bool)
	// Opened are the files that a read of a folder or of a pattern opens, and why there may
	// be more, "" where these are all. Nil: it is not known of any.
	Opened func(a *cardea.Access) (files []string, unseen string)
	// Shown are the files, absolute, whose contents a command of git shows. Nil: it is not
	// known of any.
	Shown func(dir string, command GitShows) (files []string, err error)
	// Differs are the files that differ between the last commit and a revision of the
	// repository around a folder, from its top on; an error where that is not known, which is
	// ErrNoRevision where there is no such revision. "" is the working tree with the index.
	Differs func(dir, revision string) ([]string, error)
	// HoldsKey reports whether the file at an absolute path holds a private key.
	// Nil: none does.
	HoldsKey func(path string) bool
	// Exported reports whether a variable is in the environment that a line starts
	// with, so that setting it reaches programs. Nil: none is.
	Exported func(name string) bool
	// ReadFile reads the file at an absolute path, of at most so many bytes. Nil: no
	// file is looked into.
	ReadFile func(path string, limit int64) ([]byte, error)
}

// ErrNoRevision is the error about a word that names no revision of a repository.
var ErrNoRevision = errors.New("no such revision")

// GitShows is a command of git as far as it chooses the files that it shows
// (internal/command/git.Names).
type GitShows struct {
	Kind                    string
	Revisions, Paths, Chose []string
	Staged, Recorded        bool
}

// Word is one word that bash passes to a program.
type Word struct {
	cardea.Word
	// Glob marks a pattern for file names that bash replaces by what it finds.
	Glob bool
	// Head is what a word that is not static begins with for sure, quotes
	// removed.
	Head string
	// Pattern is what a word that is not static fits, as names of files fit patterns: "*"
	// stands for what is not known. "" is "*".
	Pattern string
	// Process marks a word that is one process substitution, <(…), and nothing
	// else: it names the output of a command.
	Process bool
	// Outside is set for a word that begins with a variable which the line does not set.
	Outside bool
	// MayLose is set for a word with an unknown text that may be empty, as a variable that
	// is not set is. The word without it is among May.
	MayLose bool
	// Number is set for a word that is not static, and a number or empty for certain.
	Number bool
	// Found is set for a word that a search finds.
	Found *Search
	// May are the texts that a word may become which is not static, as far as the line
	// tells. They count for what may happen, and for nothing that is certain.
	May []string
	// Listed means that May is all that the word can become.
	Listed bool
	// Started means that it is the number of a process that the line has started, or empty.
	Started bool
}

// Literal is a word that bash passes as it is written.
func Literal(text string) Word { return Word{Word: cardea.Word{Text: text, Static: true}} }

// Invocation is one program that bash would start: its words, and where it
// runs. It is not changed after it was built.
type Invocation struct {
	// Words are the program and what it is passed. They are not empty.
	Words []Word
	// Paths say what the paths in the words mean.
	Paths Paths
	// Redirections are what the shell opens for it, or a wrapper in front of it.
	Redirections []cardea.Access
	// FilesChanged is set where an earlier command of the line may have changed
	// files, so that what is on the disk now says little.
	FilesChanged bool
	// Stands reports whether no earlier command of the line may have removed or replaced a
	// path. Nil: none may where FilesChanged is not set.
	Stands func(path string) bool
	// Possible is set where the program is only one that another may run.
	Possible bool
	// MadeFolder reports whether another command of the line may make a folder
	// of a path. Nil: none does.
	MadeFolder func(path string) bool
	// MayBecome lists the paths that a word may become, where the line tells
	// where its value comes from. Nil: none is known.
	MayBecome func(word Word) []PossiblePath
	// Input is what it reads on its standard input, "" where the line does not say.
	Input string
	// Document is the here-document that is all it reads there, "" where it reads something else.
	Document string
	// Fed is set where the line gives it something to read there.
	Fed bool
}

// PossiblePath is a path that a word may become when the line runs.
type PossiblePath struct {
	Path string
	// Pattern is one that the path matches, where only that is known: then Path is the
	// folder above its first wildcard. With Entries it fits all names, or all hidden ones.
	Pattern string
	// Search means that the pattern is one of a search, whose wildcards stand for hidden
	// names and folders, too.
	Search bool
	// Narrowed means that tests of something else than names leave files out.
	Narrowed bool
	// Below means that all below it may be among the words, too; Entries that
	// what lies in it is, and not the path itself.
	Below, Entries bool
}

// Search is what a search finds: names of files, each of them one word and no
// option.
type Search struct {
	// Dir is the folder from which the names are to be read.
	Dir string
	// Places are reads of where the files lie, absolute and resolved.
	Places []cardea.Access
	// One is set where it is exactly one name.
	One bool
	// Null is set where a NUL ends each name, and no end of line.
	Null bool
	// MayBeNothing is set where nothing may have been found, and a command runs
	// nevertheless.
	MayBeNothing bool
}

// Tracked reports a search for files that git tracks.
func (s *Search) Tracked() bool { return len(s.Places) > 0 && s.Places[0].Selection.Tracked }

// Plain reports whether each name that the search finds is one word for xargs, and no option or
// command for any program.
func (s *Search) Plain(world *World) bool {
	return !slices.ContainsFunc(s.Places, func(a cardea.Access) bool {
		if a.Selection.Tracked {
			return world.PlainTracked == nil || !world.PlainTracked(a.Path)
		}
		deep := a.Recursive || strings.Contains(strings.TrimPrefix(a.Pattern, a.Path+"/"), "/")
		return world.PlainNames == nil || !world.PlainNames(a.Path, deep)
	})
}

// accesses are what doing something to each file comes to. A program that goes
// below folders reads all below a folder that was found.
func (s *Search) accesses(kind cardea.AccessKind, below bool) []cardea.Access {
	out := slices.Clone(s.Places)
	for i := range out {
		out[i].MetadataOnly, out[i].Recursive = kind == form.Metadata, out[i].Recursive || below
	}
	return out
}

// Meaning is what an invocation does, as far as it is known. The fields of the
// same name in [cardea.Part] say more.
type Meaning struct {
	Command, UsualCommand []string
	Operands              []int
	Options               []cardea.Option
	// Access holds the redirections, too.
	Access    []cardea.Access
	Knowledge cardea.Coverage
	// EditsFiles is set where the words are those of the program's Edits.
	EditsFiles bool
	Configs    []string
	Doubt      string
	// Unseen are the words that may become any option of the program, UnseenIfMade those
	// that may where the line makes a name that begins with a dash. ByOption is what the
	// program does with such an option.
	Unseen, UnseenIfMade []int
	ByOption             []cardea.Access
	// Script is a word with a program that may run commands or open files, or whose text is
	// unknown. "" means that there is no such word.
	Script string
	// Links are the symbolic links that it makes.
	Links []Link
	// Targets are the paths to which it copies or moves, and that are no folder
	// yet: it writes into them if another command makes them one.
	Targets []string
	// Possible is what it may do besides, as far as its words name it.
	Possible Possible
	// OpensUnnamed is set where it opens files that are not known.
	OpensUnnamed bool
}

// Link is a symbolic link that an invocation makes.
type Link struct {
	// At is where it lies, absolute, its folder resolved. Target is what it leads
	// to, absolute, or "" where that is not known.
	At, Target string
	// IfFolder and IfNoFolder: "ln -s x y" makes y/x where y is a folder, and y
	// where it is not. A link that is made either way has both.
	IfFolder, IfNoFolder bool
}

// description is the work of [Describe] on one invocation. It is used again for the next one:
// a line may have thousands.
type description struct {
	reader reader
	out    Meaning
}

var descriptions = sync.Pool{New: func() any { return new(description) }}

// Describe says what an invocation does.
func Describe(inv Invocation, world *World) Meaning {
	work := descriptions.Get().(*description)
	work.reader = reader{inv: inv, world: world, paths: inv.Paths, out: &work.out, argv: inv.Words}
	work.reader.describe()
	out := work.out
	*work = description{}
	descriptions.Put(work)
	return out
}

// describe says what the invocation does.
func (r *reader) describe() {
	inv, out := &r.inv, r.out
	defer r.possible()
	out.Access = slices.Clone(inv.Redirections)
	for i := range out.Access {
		out.Access[i].Redirect = true
	}
	if len(inv.Words) == 0 || !inv.Words[0].Static {
		out.Access = append(out.Access, cardea.Access{Kind: cardea.Unknown})
		r.world, r.spec = nil, &form.Program{}
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
	r.besides(r.otherwise())
}

// answers reports a line that only asks for help or for a version, which the program of this
// name gives before it reads anything of the project, or where the project has nothing for it.
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

// answersAll reports a program that reads nothing of the project with all of its help words.
func answersAll(name string) bool {
	words, answers := WordsOf(form.AnswersHelp, name)
	return answers && (len(words) == 0 || slices.Contains(words, "always"))
}

// module adds the options of a module that is a program of its own, and what it deletes:
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
		does := Describe(inv, r.world)
		for _, o := range does.Options {
			o.Word += at
			r.out.Options = append(r.out.Options, o)
		}
		r.out.Access = append(r.out.Access, slices.DeleteFunc(does.Access, func(a cardea.Access) bool { return a.Kind != cardea.Delete })...)
		return
	}
}

// PlainPattern reports a pattern without quotes or expansions, so that its text
// can be read as one.
func (w Word) PlainPattern() bool { return w.Glob && simpleGlob(w.Text) }
