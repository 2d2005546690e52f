package form

// Property is a fact about a command, other than its accesses, that the analysis or a
// decider uses. It is a key of the command's entry, with the value true or a list of
// words. A property of a command also applies to its subcommands.
type Property string

// Names and help.
const (
	// AnswersHelp marks a program that prints its help or version before it reads anything of
	// the project: with the words of `information_words` and `help_options`, or with the words
	// of a list. `always` in a list adds those of the two keys.
	AnswersHelp Property = "answers_help"
	// AnyDashes marks a program that reads long options with one dash, and abbreviated.
	AnyDashes Property = "any_dashes"
	// SameActAs names the command that has the same effect, as a list of its words.
	SameActAs Property = "same_act_as"
	// SameOptions lists options that have the same effect, such as "-r|-R|--recursive".
	SameOptions Property = "same_options"
	// SubcommandPrograms marks a program whose subcommands are also programs: git-push is git
	// push.
	SubcommandPrograms Property = "subcommand_programs"
	// StandsForCmdlet names the cmdlet of PowerShell that has the program's name as an alias.
	StandsForCmdlet Property = "stands_for_cmdlet"
	// AlsoAWord marks a name that is also an everyday word, and that no entry describes.
	// Another program that has it as an operand does not run it (`./run.sh start`).
	AlsoAWord Property = "also_a_word"
	// DefinesCommand marks a command, or an option such as `git -c`, that defines a new command.
	// Its text follows the name, which begins with the word of a list if there is one.
	DefinesCommand Property = "defines_command"
)

// Text and code in words.
const (
	// TakesText lists options and subcommands whose values and operands are text for people.
	// `-m=` is an option that always has a value. `run test* -t=` applies only after these first
	// words, `t -- -t=` also after `--`. `?-C=` may come before them. `!--config` makes the
	// program run something else. `*` is each operand of several words.
	TakesText Property = "takes_text"
	// TakesCode lists a language, then the options and subcommands that take code of it. `*`
	// means all operands. Its input is code as well.
	TakesCode Property = "takes_code"
	// RunsCode marks a program that runs code in its words, but no files of code.
	RunsCode Property = "runs_code"
	// Interpreter marks a program that runs scripts of another language than the shell's. The
	// analysis ignores a version at the end of its name (`python3.12`).
	Interpreter Property = "interpreter"
	// CodeLanguage names the language of the files that the program runs: Python, JavaScript,
	// Perl or Ruby. The analysis finds certain calls of the library in them.
	CodeLanguage Property = "code_language"
)

// Code and commands that a program runs.
const (
	// ProjectFiles lists the files of the project that set what the program runs or how. A
	// person who trusts a command that starts the program also trusts them.
	ProjectFiles Property = "project_files"
	// RunsProject marks a program that runs code of the project with any words. Its name has no
	// version at the end.
	RunsProject Property = "runs_project"
	// RunsTree marks a program that runs code in and below the current folder if no word names a
	// file or a folder. A list names the only subcommands that do.
	RunsTree Property = "runs_tree"
	// RunsNamed lists options without a value. A program with this key runs what its operands
	// name, and the code of `runs_tree` only if they name nothing.
	RunsNamed Property = "runs_named"
	// RunsFolder marks a program that runs all files of the folders that its words name.
	RunsFolder Property = "runs_folder"
	// RunsModules marks a program that runs the `__main__.py` of a folder, and a module with -m.
	// The analysis ignores a version at the end of its name.
	RunsModules Property = "runs_modules"
	// RunsByName lists files of the current folder that the program runs though no word names
	// them.
	RunsByName Property = "runs_by_name"
	// RunsFileOfOption lists options whose value is a file that the program runs.
	RunsFileOfOption Property = "runs_file_of_option"
	// RunsInFolderOfOption lists options whose value is the folder of the `runs_by_name` files.
	RunsInFolderOfOption Property = "runs_in_folder_of_option"
	// RunsInWorkspaceOfOption lists options and subcommands that name the workspace of the
	// project with the `runs_by_name` files.
	RunsInWorkspaceOfOption Property = "runs_in_workspace_of_option"
	// RunsRecipes lists hooks of the repository, or scripts of the `runs_by_name` file, that the
	// command runs (`git commit`). The name `npm *` stands for npm with any other subcommand. A
	// star in a word stands for the word after the subcommand, or for that other subcommand.
	RunsRecipes Property = "runs_recipes"
	// RunsHooks marks a program that runs the hooks of the repository.
	RunsHooks Property = "runs_hooks"
	// RunsPackages marks a program that runs the packages or commands that its words name.
	RunsPackages Property = "runs_packages"
	// RunsByOptionsInFront marks a program that can run a command through options before its
	// subcommand (`git -c`).
	RunsByOptionsInFront Property = "runs_by_options_in_front"
	// RunsInput marks a program that runs its standard input as commands, later.
	RunsInput Property = "runs_input"
	// RunsInputUnless lists options without which the program runs its standard input as
	// commands.
	RunsInputUnless Property = "runs_input_unless"
	// NamesData marks a program that runs nothing that its words name. Only its `project_files`
	// can hold code.
	NamesData Property = "names_data"
	// StartsOnFiles marks a wrapper that starts a command on the files that it finds or reads.
	StartsOnFiles Property = "starts_on_files"
	// StartsByDefault names the program that a wrapper starts without a command.
	StartsByDefault Property = "starts_by_default"
	// EvaluatesVariables marks a program that evaluates the values of all variables of its
	// environment.
	EvaluatesVariables Property = "evaluates_variables"
	// RunsElsewhere marks a program that passes its operands to a command on another machine or
	// in a container.
	RunsElsewhere Property = "runs_elsewhere"
)

// Shells and their builtins.
const (
	// Shell marks an interpreter of the language of bash, or of a close one.
	Shell Property = "shell"
	// IsBash marks bash itself. Any other shell is what `sh` is on the machine, or may start it.
	IsBash Property = "is_bash"
	// OwnSyntax marks a shell whose language differs from that of bash.
	OwnSyntax Property = "own_syntax"
	// ForeignShell marks a shell with a language of its own.
	ForeignShell Property = "foreign_shell"
	// ShellOptions lists the options of a shell that have more than a letter, or a value. `-o`
	// takes the next word, also in a bundle of letters. `-o=` takes the rest of its own word,
	// or else the next word. `-norc` is one option and no bundle.
	ShellOptions Property = "shell_options"
	// RunsWords marks a builtin that runs its words.
	RunsWords Property = "runs_words"
	// RunsWordsOf lists options whose value a builtin runs, now or later. It expands that of
	// `-W$` as a word, and runs all words after `-s*`.
	RunsWordsOf Property = "runs_words_of"
	// CountsIn lists options before a word that zsh evaluates as a number. `%` stands for the
	// words that a format reads as numbers, and `every` for all words.
	CountsIn Property = "counts_in"
	// StaysAfter marks a builtin whose assignments before it last. These are the special
	// builtins of POSIX, and those that run other commands of this shell.
	StaysAfter Property = "stays_after"
	// InEveryShell marks a builtin that changes the state of the shell and that every sh has.
	InEveryShell Property = "in_every_shell"
	// NamesFiles marks a builtin whose words are files, or commands that it runs.
	NamesFiles Property = "names_files"
	// LeavesScript marks a program that reads nothing, or everything, of a script that its shell
	// reads from standard input.
	LeavesScript Property = "leaves_script"
	// Leaves marks a builtin that ends the enclosing loop, function or shell.
	Leaves Property = "leaves"
	// EndsTheSame marks a program that ends with the same exit code each time that it has the
	// same words.
	EndsTheSame Property = "ends_the_same"
)

// Other hosts, secrets and publishing.
const (
	// Downloads marks a program that prints or saves data from another host. A list names the
	// only subcommands that do.
	Downloads Property = "downloads"
	// Copies marks a program that downloads if it contacts a host.
	Copies Property = "copies_between_hosts"
	// SendsFiles marks a program that sends the files that it reads to the host that it
	// contacts.
	SendsFiles Property = "sends_files"
	// SendsOptionFiles lists options whose value names a file after an @, which the program
	// sends. A star at the end of a name stands for any ending.
	SendsOptionFiles Property = "sends_option_files"
	// LogsInWith lists options whose value is a file with a key. The program logs in or signs
	// with the key, and shows nothing of it.
	LogsInWith Property = "logs_in_with"
	// AsksThisMachine lists ports of control planes, whose answers are data. A description is
	// complete if each address is of http and localhost, at another port than these.
	AsksThisMachine Property = "asks_this_machine"
	// Decodes marks a program that turns encoded text into plain text. A list names the only
	// options with which it does.
	Decodes Property = "decodes"
	// Publishes marks a command that commits, pushes or merges.
	Publishes Property = "publishes"
)

// Files that a program changes.
const (
	// Removes marks a program that removes the files that its words name, and does nothing
	// else. Harnesses ask about critical ones.
	Removes Property = "removes"
	// ChangesNoFile marks a program that changes no file, with any words.
	ChangesNoFile Property = "changes_no_file"
	// KeepsProjectFiles marks a command that changes no file of a project, whatever else it
	// does.
	KeepsProjectFiles Property = "keeps_project_files"
	// ChangesMetadata marks a program that changes the mode, owner or attributes of files. This
	// decides what can be done with all files below a folder.
	ChangesMetadata Property = "changes_metadata"
	// Unpacks marks a program that writes the files that an archive or a patch names. A list
	// names the only subcommands that do.
	Unpacks Property = "unpacks"
	// UnpacksWith lists modules that unpack archives if the program runs them with -m.
	UnpacksWith Property = "unpacks_with"
	// MakesFolders marks a program that creates folders under the names that it writes.
	MakesFolders Property = "makes_folders"
	// MakesLinks marks a program that can put symbolic links under the names that it writes.
	MakesLinks Property = "makes_links"
	// MakesNoLinks marks a subcommand that cannot make links, though its program can.
	MakesNoLinks Property = "makes_no_links"
	// LinksSymbolicallyWith lists options with which the program makes symbolic links.
	LinksSymbolicallyWith Property = "links_symbolically_with"
	// LinksIntoFolder marks a program that puts a link into the current folder if it has one
	// operand.
	LinksIntoFolder Property = "links_into_folder"
	// WritesAsShell marks a program that writes its input to the files of its operands, as a
	// redirection does.
	WritesAsShell Property = "writes_as_shell"
)

// Time and number of processes.
const (
	// Waits marks a program that waits for an event, or ends started processes. A loop around it
	// cannot start processes without end. A pause shorter than a second is not enough.
	Waits Property = "waits"
	// Detaches marks a program that starts work which continues after the program ends. A list
	// names the only options with which it does.
	Detaches Property = "detaches"
	// StartsAtOnceWith lists options that start any number of commands at once if they have the
	// value 0.
	StartsAtOnceWith Property = "starts_at_once_with"
	// PrintsEndlessly marks a program that prints without end. A list names the only words with
	// which it does.
	PrintsEndlessly Property = "prints_endlessly"
)

// What a program prints.
const (
	// PassesInput marks a program that prints its input, changed or not.
	PassesInput Property = "passes_input"
	// CopiesInput marks a program that prints its input unchanged.
	CopiesInput Property = "copies_input"
	// FiltersLines lists the only options with which the program prints some lines of its input,
	// unchanged.
	FiltersLines Property = "filters_lines"
	// PrintsText marks a program that prints its words as text, and does nothing else.
	PrintsText Property = "prints_text"
	// PrintsOperands marks a program that prints its operands.
	PrintsOperands Property = "prints_operands"
	// PrintsOperandsWith lists options with which the program prints its operands.
	PrintsOperandsWith Property = "prints_operands_with"
	// PrintsNumber marks a program that prints only a number. A list names the words with which
	// it prints a number; without a list, it prints one if it gets no words.
	PrintsNumber Property = "prints_number"
	// PrintsFolders marks a program that prints the folders of the files that its words name.
	PrintsFolders Property = "prints_folders"
	// PrintsCurrentFolder marks a program that prints its current folder.
	PrintsCurrentFolder Property = "prints_current_folder"
	// PrintsTopLevel lists options with which the command prints the top folder of the
	// repository and nothing else.
	PrintsTopLevel Property = "prints_top_level"
	// FindsPrograms marks a program that prints the paths of the programs that its words name.
	FindsPrograms Property = "finds_programs"
	// ListsFolderWith lists the only options with which the program prints the names in the
	// current folder and nothing else.
	ListsFolderWith Property = "lists_folder_with"
	// ListsHiddenWith lists options with which the program, without operands, also prints hidden
	// names in the current folder.
	ListsHiddenWith Property = "lists_hidden_with"
)

// Searches for files.
const (
	// Searches marks a program that prints the files that it finds below folders, and can start
	// programs on them.
	Searches Property = "searches"
	// FindsWith lists the only options with which the program prints the names of the files that
	// it finds, and nothing else.
	FindsWith Property = "finds_with"
	// FindsUnless lists options without which the program prints the names of the files that it
	// finds, and nothing else.
	FindsUnless Property = "finds_unless"
	// FindsEverythingWith lists the only options, apart from those that start a command, with
	// which the program excludes nothing below its folders.
	FindsEverythingWith Property = "finds_everything_with"
	// TestsWith lists options of the program's expression that print nothing and change nothing.
	TestsWith Property = "tests_with"
	// PrintsWith lists actions of the program's expression that print what it finds.
	PrintsWith Property = "prints_with"
	// BranchesWith lists words of the program's expression after which a test need not hold for
	// every result.
	BranchesWith Property = "branches_with"
	// NamesMatchesWith lists options with which the program prints the names of the files that
	// match, and nothing else.
	NamesMatchesWith Property = "names_matches_with"
	// MatchesWith lists the other options with which it still prints only these names.
	MatchesWith Property = "matches_with"
)

// Files that a program opens in a folder.
const (
	// OpensNames lists patterns of names. The program opens no other files in a folder.
	OpensNames Property = "opens_names"
	// OpensOnlyWith lists options whose value is a pattern. The program opens only the files of
	// a folder that match. A pattern after "!" excludes files.
	OpensOnlyWith Property = "opens_only_with"
	// LeavesOutWith lists options whose value is a pattern of names. The program excludes the
	// files of a folder that match, or the folders if the option has "dir" in it.
	LeavesOutWith Property = "leaves_out_with"
	// IgnoresCaseWith lists options with which patterns of files ignore case: the value of the
	// option, or all patterns if the option has no value.
	IgnoresCaseWith Property = "ignores_case_with"
	// ChoosesFilesWith lists options that choose files of a folder in a way that is not
	// analyzed.
	ChoosesFilesWith Property = "chooses_files_with"
	// SkipsIgnoredUnless lists options without which the program skips the files that
	// `.gitignore` names.
	SkipsIgnoredUnless Property = "skips_ignored_unless"
	// KeepsLinksUnless marks a program that follows no symbolic links inside a folder. A list
	// names the options with which it follows them.
	KeepsLinksUnless Property = "keeps_links_unless"
	// OpensUnnamedWith lists regular expressions. The program opens files that no word names if
	// its words or its input match one. `always` matches all. The file comes after " => ", if
	// it is known.
	OpensUnnamedWith Property = "opens_unnamed_with"
	// LeavesOutBy tells people how to exclude a file. "{}" stands for its name, and "{path}" for
	// its path.
	LeavesOutBy Property = "leaves_out_by"
	// HarmlessActions lists actions for keys that only move, mark and show.
	HarmlessActions Property = "harmless_actions"
)

// Git and repositories.
const (
	// ReadsRepository marks a program that obeys the configuration of the surrounding
	// repository, which can name commands.
	ReadsRepository Property = "reads_repository"
	// ShowsFilesOf names the kind of files whose contents the command shows: `tracked`, or
	// `found` if its first operand is a pattern to search for; `changes` for files that differ;
	// `commits` for files that commits change, with those before them; `objects`; `trees` for
	// `objects` of one revision and `changes` of two; `copies` for those of a revision after a
	// folder; `elsewhere` for those of another repository; `named` for those of the objects
	// that the line names; or `unknown`. More words are revisions that it shows as well, or if
	// the line names none.
	ShowsFilesOf Property = "shows_files_of"
	// ShowsContentsWith lists options with which the command prints contents of files of the
	// repository.
	ShowsContentsWith Property = "shows_contents_with"
	// ShowsContentsUnless marks a command that prints contents of files of the repository. A
	// list names the options with which it does not.
	ShowsContentsUnless Property = "shows_contents_unless"
	// HidesContents marks a command that prints no contents of files of the repository, except
	// those of its operands.
	HidesContents Property = "hides_contents"
	// ShowsUnseenWith lists options with which the program shows files that the line does not
	// name.
	ShowsUnseenWith Property = "shows_unseen_with"
	// ShowsAddresses marks a command that prints the addresses of the repository's remotes.
	ShowsAddresses Property = "shows_addresses"
	// ChoosesCommitsWith lists options that choose commits.
	ChoosesCommitsWith Property = "chooses_commits_with"
	// KeepsCommitsWith lists options that choose no commits and show no contents.
	KeepsCommitsWith Property = "keeps_commits_with"
	// ComparesFiles marks a command that also compares files outside of a repository.
	ComparesFiles Property = "compares_files"
	// FindsTracked marks a command that prints only the names of files that git tracks, relative
	// to its folder. `top` in a list means only at the top of the repository, and only without
	// operands before `--`, which may be revisions.
	FindsTracked Property = "finds_tracked"
	// ReadsPathspecs lists subcommands whose words are pathspecs (gitglossary(7), "pathspec").
	// They read the files that match.
	ReadsPathspecs Property = "reads_pathspecs"
	// ChangesPathspecs marks a command that changes the files that its words match as pathspecs.
	ChangesPathspecs Property = "changes_pathspecs"
	// MovesToRevision marks a command that replaces files of the work tree by those of a
	// revision.
	MovesToRevision Property = "moves_to_revision"
	// NeedsRevision marks a command that does nothing if the revision does not exist. It does
	// not use another branch of that name.
	NeedsRevision Property = "needs_revision"
	// TakesAwayUnless lists words. The command removes files of the work tree, unless one of
	// them is the next word.
	TakesAwayUnless Property = "takes_away_unless"
	// RecordsFiles marks a command that adds files unchanged to the index, or the index to a
	// commit, and changes no other commit.
	RecordsFiles Property = "records_files"
	// ListsOperandsWith lists options with which the program reads operands from a file.
	ListsOperandsWith Property = "lists_operands_with"
	// ChangesFolderWith lists options before the subcommand whose value is the folder in which
	// the program works.
	ChangesFolderWith Property = "changes_folder_with"
	// ChangesConfigurationWith lists options before the subcommand with which the program obeys
	// another configuration or repository.
	ChangesConfigurationWith Property = "changes_configuration_with"
)

// Lists of permissions.
const (
	// AcceptedAsEdit marks a program that Claude Code's mode acceptEdits approves on files of
	// the project (https://code.claude.com/docs/en/permission-modes).
	AcceptedAsEdit Property = "accepted_as_edit"
	// HarmlessOptions marks a program without options that read, write or run anything. Its
	// words can only affect its operands.
	HarmlessOptions Property = "harmless_options"
	// NamedOptions lists options with which the program runs another program, or from which it
	// reads what to run or contact. A wildcard in a permission does not approve them: the entry
	// must name them. A word without a dash is a subcommand that runs its operands.
	NamedOptions Property = "named_options"
	// NamedValues lists options with a pattern, as `-o=addopts*`. A value that matches says what
	// to run, or which files to write. A wildcard does not approve it, as in `named_options`.
	NamedValues Property = "named_values"
	// NeedsExactEntry marks a program that only a permission without a wildcard approves. A list
	// names the only options with which that is so.
	NeedsExactEntry Property = "needs_exact_entry"
	// NeedsExactLetters lists options with which only a permission without a wildcard approves
	// the program. They may be alone, in a cluster, or the beginning of a long option.
	NeedsExactLetters Property = "needs_exact_entry_letters"
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
