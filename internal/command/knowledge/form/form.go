// Package form defines the types of command knowledge: what programs do with their
// words, as written in packs/commands/*.yaml and stored in the generated table.
//
// The tag of a field is its key in the files, and its comment is the text of
// docs/command-knowledge.md.
package form

import (
	"strings"

	"cardea.dev"
)

// Program is a program or one of its subcommands.
type Program struct {
	// All names of the program: `name: [head, ghead]`. A subcommand's name may end in `*`,
	// which stands for any ending. `*` alone stands for every other word. That word is not
	// an operand, so a complete description also needs `operands: none`.
	Name []string `yaml:"name,required"`
	// The access to each operand. Required, unless the entry has only properties. The
	// commands of such an entry may be described in another entry, and their names may have
	// subcommands in them (`git lfs push`).
	Operands Access `yaml:"operands" kind:"operand"`
	// The access to the first operand, if it differs.
	FirstOperand Access `yaml:"first_operand" kind:"operand"`
	// Options with which the first operand is like the others (`grep -e`).
	FirstOperandUnless []string `yaml:"first_operand_unless" words:"options"`
	// The access to the last operand, if it differs and there are several.
	LastOperand Access `yaml:"last_operand" kind:"operand"`
	// Accesses to the value in operands of the form `key=value`: `{of: write}` of dd.
	KeyValueOperands []NamedAccess `yaml:"key_value_operands" kind:"operand"`
	// Operands come before the first option. Words after it belong to an expression (`find`).
	OperandsBeforeOptions bool `yaml:"operands_before_options"`
	// Options after operands are options on every system. Without this key, such an option
	// makes the description incomplete, because macOS treats it as an operand.
	OptionsAfterOperands bool `yaml:"options_after_operands"`
	// After this many operands, all words belong to another program (`docker run IMAGE …`).
	OptionsEndAfterOperands int `yaml:"options_end_after_operands" max:"9"`
	// An option that ends the options of known subcommands, as `--` does.
	EndOfOptions string `yaml:"end_of_options" words:"options"`
	// The first word may be options without a dash (`tar xf`).
	OptionsWithoutDash bool `yaml:"options_without_dash"`
	// Long options begin with one dash.
	SingleDashOptions bool `yaml:"single_dash_options"`
	// Options that take a value. Before a subcommand they apply if `global_value_options`
	// is not given.
	ValueOptions []string `yaml:"value_options" words:"options"`
	// Options with a value that are allowed only before the subcommand.
	GlobalValueOptions []string `yaml:"global_value_options" words:"options"`
	// Options with a value that are allowed before and after the subcommand.
	PersistentValueOptions []string `yaml:"persistent_value_options" words:"options"`
	// Options whose value, if any, is part of the same word (`sed -i.bak`).
	AttachedValueOptions []string `yaml:"attached_value_options" words:"options"`
	// Options with two values (`jq --arg name value`). The access is that of the
	// second one.
	TwoValueOptions []string `yaml:"two_value_options" words:"options"`
	// Accesses to the values of options: `{-o: write}`.
	OptionAccesses []NamedAccess `yaml:"option_accesses" kind:"operand" words:"options"`
	// Options that extend operands to everything below them, or `[always]`.
	RecursiveOptions []string `yaml:"recursive_options" words:"options,always"`
	// The program skips hidden files below folders, unless one of these options is
	// given (`rg --hidden`).
	SkipsHiddenUnless []string `yaml:"skips_hidden_unless" words:"options"`
	// Other accesses if one of the listed options is given.
	When []When `yaml:"when"`
	// The accesses of the program that do not depend on its words: `network` for a host of
	// the line, `configured` for a host of its own configuration, `unknown` for anything.
	Accesses []Access `yaml:"accesses" kind:"besides"`
	// More accesses of the program and its subcommands where `complete` does not apply. A
	// subcommand's own list replaces it.
	AccessesIfIncomplete []Access `yaml:"accesses_if_incomplete" kind:"besides"`
	// Operands may be `host:path`, which contacts that host (`scp`).
	HostPathOperands bool `yaml:"host_path_operands"`
	// Options whose value may be `host:path`, which contacts that host (`tar -f`).
	HostPathOptions []string `yaml:"host_path_options" words:"options"`
	// Where the last operand is a folder, the other operands are put into it under
	// their own names (`cp`, `mv`, `ln`).
	PutsIntoLastOperand bool `yaml:"puts_into_last_operand"`
	// Options that name the folder for files that the program creates.
	FolderOptions []string `yaml:"folder_options" words:"options"`
	// Options with which the program creates files that the line does not name, in
	// the folder of `folder_options` or the current one, or `[always]`.
	WritesUnnamedFiles []string `yaml:"writes_unnamed_files" words:"options,always"`
	// Options that switch `writes_unnamed_files` off.
	WritesUnnamedFilesUnless []string `yaml:"writes_unnamed_files_unless" words:"options"`
	// Options with which a download is saved under the last name of its URL, or
	// `[always]`.
	SavesUnderURLName []string `yaml:"saves_under_url_name" words:"options,always"`
	// Options that switch `saves_under_url_name` off.
	SavesUnderURLNameUnless []string `yaml:"saves_under_url_name_unless" words:"options"`
	// Options whose value is an address, as operands are (`curl --url`).
	AddressOptions []string `yaml:"address_options" words:"options"`
	// Options that name an output. In their value, `#1` stands for the current value of the
	// first braces or brackets of an address (`curl -o`).
	NumberedNameOptions []string `yaml:"numbered_name_options" words:"options"`
	// Endings that the program adds to the name of a file that does not exist
	// (`unzip x` reads `x.zip`).
	TriesSuffixes []string `yaml:"tries_suffixes"`
	// Options whose value is added to the name of each edited file. The old content is
	// saved there (`sed -i.bak`).
	BackupSuffixOptions []string `yaml:"backup_suffix_options" words:"options"`
	// Endings of names. The program replaces each edited file by one without its ending, or
	// by one with the first of these endings (`gunzip x.gz`, `gzip x`).
	Suffixes []string `yaml:"suffixes"`
	// Options with which the program does not change the files that it edits, and writes
	// next to them, or `[always]`.
	KeepsFiles []string `yaml:"keeps_files" words:"options,always"`
	// Options that switch `keeps_files` off.
	KeepsFilesUnless []string `yaml:"keeps_files_unless" words:"options"`
	// Options whose value is such an ending.
	SuffixOptions []string `yaml:"suffix_options" words:"options"`
	// Words with which a program of `answers_help` only prints information about itself, if
	// there is no other word (`--version`).
	InformationWords []string `yaml:"information_words"`
	// Options with which a program of `answers_help` and its known subcommands only print
	// help, if no other word follows (`docker push --help`). `[none]` in a subcommand
	// removes them for the subcommands below it.
	HelpOptions []string `yaml:"help_options" words:"options,none"`
	// The command that this program is another name of: `docker compose` of
	// docker-compose.
	SameAs []string `yaml:"same_as" words:"command"`
	// Subcommands that are other names of subcommands: `{i: install}` of npm. Rules
	// that name one match both.
	SubcommandAliases []Alias `yaml:"subcommand_aliases"`
	// The words with which this description is complete: the program does this and nothing
	// else. Without this key, the program may always do more.
	Complete *Complete `yaml:"complete"`
	// The words with which the program reads and writes the described files and does
	// nothing else. An entry for these files then covers it. For the programs of
	// `accepted_as_edit`, so does the mode acceptEdits.
	Edits *Complete `yaml:"edits"`
	// The number of words of a subcommand. The default is 1 if there are `subcommands`, else 0.
	SubcommandWords int `yaml:"subcommand_words" max:"3"`
	// A word that names no subcommand is the first operand of the program itself, as is
	// every word after `--` (`stamp IN OUT` next to `stamp verify FILE`). `subcommands`
	// must then list all of them. If such operands make the description complete,
	// `complete` also has `without_subcommand`.
	OperandsWithoutSubcommand bool `yaml:"operands_without_subcommand"`
	// The subcommands that differ from the program.
	Subcommands []Program `yaml:"subcommands"`
	// Properties are the properties of the entry. The generated table has a separate list of them.
	Properties []Held `yaml:"-"`
	// Source is the file that describes the program; nil in subcommands.
	Source *Source `yaml:"-"`
}

// Described reports whether p has more than properties.
func (p *Program) Described() bool { return p.Operands != "" }

// VariableKinds and LanguageCalls are not properties of commands: their holders in the
// generated table are kinds of variables, and languages.
const (
	VariableKinds Property = "variable_kinds"
	LanguageCalls Property = "language_calls"
)

// Source is a file of command knowledge.
type Source struct {
	File, Manual string
	Variables    []string
}

// NamedAccess is the access to the value of an option, or to the value of an
// operand of the form name=value.
type NamedAccess struct {
	Name   string
	Access Access
}

// Alias maps some words of a command to others with the same meaning.
type Alias struct{ Words, Means []string }

// Access is an access to the file or host that a word names.
type Access = cardea.AccessKind

// Accesses that only command knowledge has.
const (
	// None is the access to a word that names no file.
	None Access = "none"
	// Edit is reading and writing.
	Edit Access = "edit"
	// Metadata is reading names and attributes.
	Metadata Access = "metadata"
	// Revision is reading a file as git names it, revision:path.
	Revision Access = "revision"
	// Configured is contacting a host of the program's own configuration.
	Configured Access = "configured"
	// Repository is the access to a repository of a forge, [HOST/]OWNER/REPO.
	Repository Access = "repository"
)

// Subcommand returns the description of a subcommand, or nil if the one of the program applies.
func (p *Program) Subcommand(name string) *Program {
	for i := range p.Subcommands { // by index: a program is large
		for _, n := range p.Subcommands[i].Name {
			head, open := strings.CutSuffix(n, "*")
			if n == name || open && strings.HasPrefix(name, head) {
				return &p.Subcommands[i]
			}
		}
	}
	return nil
}

// When holds accesses that apply if an option is given.
type When struct {
	// The options, or `option=text` where the value must contain the text.
	Options []string `yaml:"options,required" words:"options"`
	// The access to operands in this case.
	Operands Access `yaml:"operands" kind:"operand"`
	// The access to the last operand in this case.
	LastOperand Access `yaml:"last_operand" kind:"operand"`
	// Operands include everything below them in this case.
	Recursive bool `yaml:"recursive"`
	// Accesses to values of options, instead of those of the program.
	OptionAccesses []NamedAccess `yaml:"option_accesses" kind:"operand" words:"options"`
}

// Complete describes the words with which a description is complete.
type Complete struct {
	// All words: no option and no operand makes the program do anything else.
	AnyWords bool `yaml:"any_words"`
	// All options that are harmless or whose access is described, with and without value. `-X=GET`
	// stands for this value alone, `-o=jsonpath=*` for values with this prefix. Any other option
	// makes the description incomplete. The options of a program also apply to its subcommands.
	Options []string `yaml:"options" words:"options"`
	// The access to each operand in this case, if it differs: `fdisk -l` only reads what
	// other calls of fdisk write.
	Operands Access `yaml:"operands" kind:"operand"`
	// `-5` is an option.
	NumericOptions bool `yaml:"numeric_options"`
	// The maximum number of operands.
	MaxOperands int `yaml:"max_operands" max:"9"`
	// LimitsOperands is set if max_operands is given, which may be 0.
	LimitsOperands bool `yaml:"-"`
	// Options before the operands that switch `max_operands` off (`git branch --list x`).
	MaxOperandsUnless []string `yaml:"max_operands_unless" words:"options"`
	// Also complete without a subcommand (`git remote -v`).
	WithoutSubcommand bool `yaml:"without_subcommand"`
	// Files of the project that set what the program runs or contacts. `readonly` refuses
	// if one of them is in the folder or above it (`.npmrc`), or with `~/` in the home
	// folder (`~/.curlrc`). `.git` stands for the configuration of git.
	UnlessProjectFiles []string `yaml:"unless_project_files"`
	// Each operand begins with one of these (`date +%F`).
	OperandPrefixes []string `yaml:"operand_prefixes"`
	// The first operand is one of these, `""` for none (`ip addr show`).
	FirstOperands []string `yaml:"first_operands"`
	// There are operands after the first, and each of them is one of these.
	LaterOperands []string `yaml:"later_operands"`
	// The first operand names one or more of these, and so does the part of each operand
	// before a slash: `pods,svc`, `pods/x` (`kubectl get`).
	ResourceTypes []string `yaml:"resource_types"`
	// No word matches one of these. A star at the beginning or the end stands for
	// any text.
	ForbiddenWords []string `yaml:"forbidden_words"`
	// One of these options is given, before the operands if `single_dash_options` is set.
	RequiredOptions []string `yaml:"required_options" words:"options"`
	// All of these options are also given.
	RequiredTogether []string `yaml:"required_together" words:"options"`
	// The language of the script in the first operand or in `script_options`:
	// `sed`, `awk`, `jq`, `yq`, `fzf` (bindings), `git` and `curl` (formats), `python`,
	// `perl`, `node` (scripts that only read and print), `ruby` (printing numbers and plain text), `sqlite` (a
	// query in the second operand). The script must be harmless.
	ScriptLanguage string `yaml:"script_language" words:"sed,awk,jq,yq,fzf,git,curl,python,node,perl,ruby,sqlite"`
	// The options that have a script as value.
	ScriptOptions []string `yaml:"script_options" words:"options"`
	// Without a script option, and without an operand other than "-", the here-document is
	// the script.
	ReadsDocument bool `yaml:"reads_document"`
	// An option with a value is not combined with other letters in one word.
	NoClusteredValues bool `yaml:"no_clustered_values"`
	// Also complete if each operand is a process that the line has started.
	EndsStarted bool `yaml:"ends_started"`
	// The line gives the program nothing to read on its standard input.
	NoInput bool `yaml:"no_input"`
	// No word indicates a secret: it contains none of the words of `secret` in `variable_kinds`.
	NoSecretWords bool `yaml:"no_secret_words"`
	// Each operand is a plain name that the line gives. Others name commands: perl reads
	// `x|` from the command x, and writes to `>x` (perlop(1), "I/O Operators").
	PlainOperands bool `yaml:"plain_operands"`
	// No operand is a folder.
	NoFolders bool `yaml:"no_folders"`
}
