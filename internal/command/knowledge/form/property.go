package form

// Property is a fact about a command, other than its accesses, that the analysis or a
// decider uses. It is a key of the command's entry.
type Property string

// The properties. Their words are options or subcommands, as the property says. A property
// of a command also applies to its subcommands.
const (
	// Shell is an interpreter of the language of bash, or a close one.
	Shell Property = "shell"
	// IsBash is bash itself. Every other shell is, or starts, whatever sh is.
	IsBash Property = "is_bash"
	// OwnSyntax is a shell whose language differs from that of bash.
	OwnSyntax Property = "own_syntax"
	// ShellOptions are the options of a shell that are more than a letter, or take a value:
	// `-o` takes the next word, also inside of a bundle; `-o=` takes the rest of its own word
	// or else the next; `-norc` is one option and no bundle.
	ShellOptions Property = "shell_options"
	// ForeignShell is a shell with a language of its own.
	ForeignShell Property = "foreign_shell"
	// Interpreter runs scripts of another language. A version at the end of the name is
	// ignored (python3.12).
	Interpreter Property = "interpreter"
	// CodeLanguage runs files in this language, in which certain calls of the library
	// are read (Python, JavaScript, Perl, Ruby).
	CodeLanguage Property = "code_language"
	// RunsCode runs code in its words, though it does not interpret files.
	RunsCode Property = "runs_code"
	// RunsPackages runs the packages or commands that its words name.
	RunsPackages Property = "runs_packages"
	// RunsWords is a builtin of the shell that runs its words.
	RunsWords Property = "runs_words"
	// RunsWordsOf runs the value of these options, now or another time: `-W$` expands it as a
	// word, `-s*` runs all words after it.
	RunsWordsOf Property = "runs_words_of"
	// CountsIn evaluates, in zsh, the word after one of these options as a number. `%` is a
	// format that selects the words, `every` stands for all words.
	CountsIn Property = "counts_in"
	// StaysAfter is a builtin of the shell that keeps the assignments before it: the
	// special builtins of POSIX, and those that run other commands of this shell.
	StaysAfter Property = "stays_after"
	// InEveryShell is a builtin that changes the state of the shell and that every sh has.
	InEveryShell Property = "in_every_shell"
	// NamesFiles is a builtin of the shell whose words are files, or commands that it runs.
	NamesFiles Property = "names_files"
	// RunsByOptionsInFront can run a command by options before its subcommand (`git -c`).
	RunsByOptionsInFront Property = "runs_by_options_in_front"
	// RunsInput runs its standard input as commands, later.
	RunsInput Property = "runs_input"
	// RunsInputUnless runs its standard input as commands, unless one of these
	// options is given.
	RunsInputUnless Property = "runs_input_unless"
	// LeavesScript reads nothing, or all, of a script that a shell reads from its
	// standard input.
	LeavesScript Property = "leaves_script"
	// RunsFileOfOption runs the file that one of these options names.
	RunsFileOfOption Property = "runs_file_of_option"
	// RunsByName runs these files of the folder though no word names them.
	RunsByName Property = "runs_by_name"
	// RunsInFolderOfOption runs these files in the folder that one of these options names.
	RunsInFolderOfOption Property = "runs_in_folder_of_option"
	// RunsInWorkspaceOfOption runs these files in the workspace of the project that one of
	// these options or subcommands names.
	RunsInWorkspaceOfOption Property = "runs_in_workspace_of_option"
	// RunsHooks runs the repository's hooks.
	RunsHooks Property = "runs_hooks"
	// RunsRecipes runs these hooks of the repository, or these scripts of its file (`git
	// commit`). The command `npm *` is npm with any other subcommand. A star in a word
	// stands for the word after the subcommand, or for that other subcommand.
	RunsRecipes Property = "runs_recipes"
	// ProjectFiles reads in these files of the project what to run or how. They are trusted
	// together with a command that starts the program.
	ProjectFiles Property = "project_files"
	// RunsFolder runs all files of the folders that its words name.
	RunsFolder Property = "runs_folder"
	// RunsModules runs the `__main__.py` of a folder, and a module with -m. A
	// version at the end of the name is ignored.
	RunsModules Property = "runs_modules"
	// RunsProject runs code of the project with any words. The name has no version at its end.
	RunsProject Property = "runs_project"
	// RunsTree runs code of the current folder and below if no word names a file or a
	// folder. The words are the subcommands for which this holds, if any.
	RunsTree Property = "runs_tree"
	// RunsNamed runs what its operands name, and its RunsTree only if they name nothing.
	// The words are options without a value.
	RunsNamed Property = "runs_named"
	// NamesData runs nothing that its words name: it finds code only in its ProjectFiles,
	// and its settings are not code.
	NamesData Property = "names_data"
	// Downloads prints or saves data from another host, with one of these subcommands if
	// there are any.
	Downloads Property = "downloads"
	// AsksThisMachine fetches from this machine: its description is complete if each
	// address is of http and localhost, at another port than these. They are ports of
	// control planes, whose answers are data.
	AsksThisMachine Property = "asks_this_machine"
	// Copies downloads if it contacts a host.
	Copies Property = "copies_between_hosts"
	// Decodes turns encoded text into plain text, with one of these options if there are any.
	Decodes Property = "decodes"
	// SendsFiles sends the files that it reads to the host that it contacts.
	SendsFiles Property = "sends_files"
	// SendsOptionFiles sends the file after the @ in the values of these options. A star at
	// the end stands for any ending.
	SendsOptionFiles Property = "sends_option_files"
	// LogsInWith logs in or signs with the key in the file that one of these options
	// names, and shows nothing of it.
	LogsInWith Property = "logs_in_with"
	// MakesFolders creates folders under the names that it writes.
	MakesFolders Property = "makes_folders"
	// MakesLinks can put symbolic links under the names that it writes.
	MakesLinks Property = "makes_links"
	// MakesNoLinks cannot make links, though its program can.
	MakesNoLinks Property = "makes_no_links"
	// LinksSymbolicallyWith makes symbolic links with one of these options.
	LinksSymbolicallyWith Property = "links_symbolically_with"
	// LinksIntoFolder puts a link into the current folder if it has one operand.
	LinksIntoFolder Property = "links_into_folder"
	// WritesAsShell writes its input to the files of its operands, as a redirection does.
	WritesAsShell Property = "writes_as_shell"
	// PassesInput prints its input, changed or not.
	PassesInput Property = "passes_input"
	// EndsTheSame ends with the same status each time that it has the same words.
	EndsTheSame Property = "ends_the_same"
	// PrintsEndlessly prints without end, with one of these words if there are any.
	PrintsEndlessly Property = "prints_endlessly"
	// Waits for an event, or ends started processes, so that a loop around it cannot start
	// processes without end. Pauses shorter than a second do not qualify.
	Waits Property = "waits"
	// Leaves ends the enclosing loop, function or shell.
	Leaves Property = "leaves"
	// Detaches starts work that continues after the program ends, with one of these options
	// if there are any.
	Detaches Property = "detaches"
	// StartsAtOnceWith starts any number of commands at once, with a 0 in one of
	// these options.
	StartsAtOnceWith Property = "starts_at_once_with"
	// CopiesInput prints its input unchanged.
	CopiesInput Property = "copies_input"
	// FiltersLines prints some lines of its input, unchanged, with no other options than these.
	FiltersLines Property = "filters_lines"
	// PrintsText prints its words as text, and does nothing else.
	PrintsText Property = "prints_text"
	// PrintsOperands prints its words.
	PrintsOperands Property = "prints_operands"
	// PrintsOperandsWith prints its words, with one of these options.
	PrintsOperandsWith Property = "prints_operands_with"
	// ListsHiddenWith prints the names in the current folder if it has no operand, also
	// hidden ones with one of these options.
	ListsHiddenWith Property = "lists_hidden_with"
	// ListsFolderWith prints the names in the current folder and nothing else, with
	// no other options than these.
	ListsFolderWith Property = "lists_folder_with"
	// FindsUnless prints the names of the files that it finds and nothing else,
	// unless one of these options is given.
	FindsUnless Property = "finds_unless"
	// FindsWith prints the names of the files that it finds and nothing else, with
	// no other options than these.
	FindsWith Property = "finds_with"
	// FindsTracked finds only files that git tracks, under their names relative to its
	// folder: anywhere, or with `top` at the top of the repository. It reads no files of
	// revisions: it has no operands before `--` that may name one.
	FindsTracked Property = "finds_tracked"
	// FindsEverythingWith excludes nothing below its folders if it has no other options
	// than these and those that start a command.
	FindsEverythingWith Property = "finds_everything_with"
	// TestsWith are the options of its expression that print nothing and change nothing.
	TestsWith Property = "tests_with"
	// PrintsWith are the actions of its expression that print what it finds.
	PrintsWith Property = "prints_with"
	// BranchesWith are the words of its expression after which a test need not hold for
	// every result.
	BranchesWith Property = "branches_with"
	// NamesMatchesWith prints the names of the files that match and nothing else,
	// with one of these options.
	NamesMatchesWith Property = "names_matches_with"
	// MatchesWith are the other options with which it still prints only the names of files
	// that match.
	MatchesWith Property = "matches_with"
	// ShowsFilesOf shows contents of tracked files (`tracked`; `found` if its first operand
	// is a pattern to search for) or of files that differ (`changes`). It may show files
	// that commits change (`commits` with those before them, `objects`; `trees` for
	// `objects` of one revision and `changes` of two). Others are those of a revision after
	// a folder (`copies`), of another repository (`elsewhere`), or of objects (`named`).
	// Further words are shown in addition, or if the line names nothing.
	ShowsFilesOf Property = "shows_files_of"
	// ChoosesCommitsWith chooses commits by these options.
	ChoosesCommitsWith Property = "chooses_commits_with"
	// KeepsCommitsWith chooses no commits and shows no contents by these options.
	KeepsCommitsWith Property = "keeps_commits_with"
	// ShowsUnseenWith shows with these options files that the line does not name.
	ShowsUnseenWith Property = "shows_unseen_with"
	// RecordsFiles adds files unchanged to the index, or the index to a commit, and changes
	// no other commit.
	RecordsFiles Property = "records_files"
	// LeavesOutWith excludes files of a folder with one of these options, whose value is a
	// pattern of names. An option with "dir" in it excludes folders.
	LeavesOutWith Property = "leaves_out_with"
	// OpensNames opens only files with these names in a folder.
	OpensNames Property = "opens_names"
	// OpensOnlyWith opens only the files of a folder that the values of these options name.
	// Values after "!" exclude files.
	OpensOnlyWith Property = "opens_only_with"
	// IgnoresCaseWith has patterns for files that ignore case: the value of one of these
	// options, or all patterns if the option has no value.
	IgnoresCaseWith Property = "ignores_case_with"
	// OpensUnnamedWith opens files that no word names if one of these expressions is in its words
	// or its input. `always` holds for all. After " => " comes the file that is opened then.
	OpensUnnamedWith Property = "opens_unnamed_with"
	// ChoosesFilesWith opens the files of a folder that one of these options chooses in a
	// way that is not analyzed.
	ChoosesFilesWith Property = "chooses_files_with"
	// SkipsIgnoredUnless skips the files that .gitignore names, unless one of these options
	// is given.
	SkipsIgnoredUnless Property = "skips_ignored_unless"
	// KeepsLinksUnless follows no symlinks inside a folder, unless one of these options is given.
	KeepsLinksUnless Property = "keeps_links_unless"
	// LeavesOutBy is how to exclude a file: "{}" stands for its name, "{path}" for its path.
	LeavesOutBy Property = "leaves_out_by"
	// HarmlessActions binds keys to these actions, which only move, mark and show.
	HarmlessActions Property = "harmless_actions"
	// PrintsFolders prints the folders of the files that its words name.
	PrintsFolders Property = "prints_folders"
	// PrintsCurrentFolder prints its current folder.
	PrintsCurrentFolder Property = "prints_current_folder"
	// PrintsTopLevel prints the top folder of the repository, with one of these options and nothing else.
	PrintsTopLevel Property = "prints_top_level"
	// FindsPrograms prints the paths of the programs that its words name.
	FindsPrograms Property = "finds_programs"
	// PrintsNumber prints only a number with one of these words, or without words if none
	// are listed.
	PrintsNumber Property = "prints_number"
	// AlsoAWord is not described in another entry, and its name is an everyday word. As an operand
	// of another program it is not a command that this program runs (./run.sh start).
	AlsoAWord Property = "also_a_word"
	// AcceptedAsEdit is approved by Claude Code's mode acceptEdits on files of the project
	// (https://code.claude.com/docs/en/permission-modes).
	AcceptedAsEdit Property = "accepted_as_edit"
	// ReadsRepository obeys the configuration of the surrounding repository, which can name
	// commands.
	ReadsRepository Property = "reads_repository"
	// SubcommandPrograms starts subcommands as programs of their own: git-push is git
	// push.
	SubcommandPrograms Property = "subcommand_programs"
	// SameActAs has the same effect as these words.
	SameActAs Property = "same_act_as"
	// DefinesCommand is a command, or an option as in `git -c`, that defines a command of
	// the program. An operand or value with this prefix names it, and its text follows.
	DefinesCommand Property = "defines_command"
	// ReadsPathspecs reads, with one of these subcommands, the files that its words match
	// as pathspecs (gitglossary(7), pathspec).
	ReadsPathspecs Property = "reads_pathspecs"
	// MovesToRevision replaces files of the work tree by those of a revision.
	MovesToRevision Property = "moves_to_revision"
	// NeedsRevision does nothing if the revision does not exist: it does not use another
	// branch of that name.
	NeedsRevision Property = "needs_revision"
	// TakesAwayUnless removes files of the work tree, unless one of these words is next.
	TakesAwayUnless Property = "takes_away_unless"
	// UnpacksWith unpacks with -m and one of these modules.
	UnpacksWith Property = "unpacks_with"
	// ChangesPathspecs changes the files that its words match as pathspecs.
	ChangesPathspecs Property = "changes_pathspecs"
	// ListsOperandsWith reads operands from a file with one of these options.
	ListsOperandsWith Property = "lists_operands_with"
	// ChangesFolderWith works in the folder that one of these options names, before the
	// subcommand.
	ChangesFolderWith Property = "changes_folder_with"
	// ChangesConfigurationWith obeys another configuration or repository with one of these
	// options, before the subcommand.
	ChangesConfigurationWith Property = "changes_configuration_with"
	// ShowsAddresses prints the addresses of the repository's remotes.
	ShowsAddresses Property = "shows_addresses"
	// ComparesFiles also compares files outside of a repository.
	ComparesFiles Property = "compares_files"
	// HidesContents prints no contents of files of the repository except those of its operands.
	HidesContents Property = "hides_contents"
	// ShowsContentsWith prints contents of files of the repository with one of these options.
	ShowsContentsWith Property = "shows_contents_with"
	// ShowsContentsUnless prints contents of files of the repository unless one of these
	// options is given.
	ShowsContentsUnless Property = "shows_contents_unless"
	// Searches prints the files that it finds below folders, and can start programs on
	// them.
	Searches Property = "searches"
	// ChangesNoFile changes no file, with any words.
	ChangesNoFile Property = "changes_no_file"
	// KeepsProjectFiles changes no file of a project, whatever else it does.
	KeepsProjectFiles Property = "keeps_project_files"
	// Removes removes the files that its words name, and does nothing else. Harnesses ask
	// about critical ones.
	Removes Property = "removes"
	// Publishes commits, pushes or merges.
	Publishes Property = "publishes"
	// HarmlessOptions has no option that reads, writes or runs anything: its words may only
	// affect its operands.
	HarmlessOptions Property = "harmless_options"
	// AnswersHelp prints its help or its version before it reads anything of the project,
	// with its `information_words` and `help_options`, or with the words of this list.
	AnswersHelp Property = "answers_help"
	// AnyDashes reads a long option with any number of dashes, and abbreviated.
	AnyDashes Property = "any_dashes"
	// NamedOptions runs another program with one of these options, or reads from it what to
	// run or contact. An entry of a list of permissions with a wildcard approves them only
	// if it names them. Words without a dash are a subcommand that runs its operands.
	NamedOptions Property = "named_options"
	// NamedValues reads what to run, or which files to write, from one of these options with a
	// value that matches. An entry with a wildcard approves them as it does NamedOptions.
	NamedValues Property = "named_values"
	// NeedsExactEntry is approved only by an exact entry of a list of permissions, with one
	// of these options if there are any.
	NeedsExactEntry Property = "needs_exact_entry"
	// NeedsExactLetters is approved only by an exact entry if it has one of these options,
	// alone or in a cluster, or a long option with this prefix.
	NeedsExactLetters Property = "needs_exact_entry_letters"
	// StartsOnFiles is a wrapper that starts a command on the files that it finds or
	// reads.
	StartsOnFiles Property = "starts_on_files"
	// StartsByDefault is a wrapper that starts this program if it has no command.
	StartsByDefault Property = "starts_by_default"
	// EvaluatesVariables evaluates the values of all variables of its environment.
	EvaluatesVariables Property = "evaluates_variables"
	// Unpacks writes the files that an archive or a patch names, with one of these
	// subcommands if there are any.
	Unpacks Property = "unpacks"
	// ChangesMetadata changes mode, owner or attributes of files, and so what can be done
	// with all files below a folder.
	ChangesMetadata Property = "changes_metadata"
	// TakesText takes text for people in the values of these options, and in the operands
	// of these subcommands. `-m=` always has a value, `run test* -t=` only after these
	// first words, and `t -- -t=` also after `--`. `?-C=` may be before them. `!--config`
	// makes the program run something else. `*` is each operand of several words.
	TakesText Property = "takes_text"
	// TakesCode takes code of the first word's language in these options or after these
	// subcommands, `*` in all operands, and in its input.
	TakesCode Property = "takes_code"
	// RunsElsewhere passes its operands to a command on another machine or in a container.
	RunsElsewhere Property = "runs_elsewhere"
	// SameOptions are options that mean the same: "-r|-R|--recursive".
	SameOptions Property = "same_options"
	// StandsForCmdlet is an alias of this cmdlet in PowerShell.
	StandsForCmdlet Property = "stands_for_cmdlet"
)

// Properties are all properties.
var Properties = []Property{
	Shell, IsBash, OwnSyntax, ShellOptions, ForeignShell, Interpreter, CodeLanguage, RunsCode, RunsPackages,
	RunsWords, RunsWordsOf, CountsIn, StaysAfter, InEveryShell, NamesFiles, RunsByOptionsInFront, RunsInput,
	RunsInputUnless, LeavesScript, RunsFileOfOption, RunsByName, RunsInFolderOfOption, RunsInWorkspaceOfOption,
	RunsHooks, RunsRecipes, ProjectFiles, RunsFolder, RunsModules, RunsProject, RunsTree, RunsNamed, NamesData, Downloads, AsksThisMachine,
	Copies, Decodes, SendsFiles, SendsOptionFiles, LogsInWith, MakesFolders, MakesLinks, MakesNoLinks,
	LinksSymbolicallyWith, LinksIntoFolder, PassesInput, WritesAsShell, EndsTheSame, PrintsEndlessly, Waits, Leaves, Detaches,
	StartsAtOnceWith, CopiesInput, FiltersLines, PrintsText, PrintsOperands, PrintsOperandsWith,
	ListsHiddenWith, ListsFolderWith, FindsUnless, FindsWith, FindsTracked, FindsEverythingWith, TestsWith, PrintsWith,
	BranchesWith, NamesMatchesWith, MatchesWith, ShowsFilesOf, ChoosesCommitsWith, KeepsCommitsWith,
	ShowsUnseenWith, RecordsFiles, LeavesOutWith, OpensNames, OpensOnlyWith, IgnoresCaseWith, OpensUnnamedWith,
	ChoosesFilesWith, SkipsIgnoredUnless, KeepsLinksUnless, LeavesOutBy, HarmlessActions, PrintsFolders,
	PrintsCurrentFolder, PrintsTopLevel, FindsPrograms, PrintsNumber, AlsoAWord, AcceptedAsEdit,
	ReadsRepository, SubcommandPrograms, SameActAs, DefinesCommand, ReadsPathspecs, MovesToRevision,
	NeedsRevision, TakesAwayUnless, UnpacksWith, ChangesPathspecs, ListsOperandsWith, ChangesFolderWith,
	ChangesConfigurationWith, ShowsAddresses, ComparesFiles, HidesContents, ShowsContentsWith,
	ShowsContentsUnless, Searches, ChangesNoFile, KeepsProjectFiles, Removes, Publishes, HarmlessOptions,
	AnswersHelp, AnyDashes, NamedOptions, NamedValues, NeedsExactEntry, NeedsExactLetters, StartsOnFiles,
	StartsByDefault, EvaluatesVariables, Unpacks, ChangesMetadata, TakesText, TakesCode, RunsElsewhere,
	SameOptions, StandsForCmdlet,
}

// Held is a property of a command, and the words that belong to it.
type Held struct {
	Property Property
	Words    []string
}

// Holder is a command that has a property: a program, or a program with its subcommand.
type Holder struct {
	Property Property
	Program  string
	Words    []string
}
