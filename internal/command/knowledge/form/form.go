// Package form defines the types of command knowledge: what programs do with their
// words, as written in packs/commands/*.yaml and stored in the generated table.
//
// The tag of a field is its key in the files. Its comment is its text in
// docs/command-knowledge.md, where the key replaces the name of the field.
package form

import (
	"strings"

	"cardea.dev"
)

// Program is a program or one of its subcommands.
type Program struct {
	// Name lists all names of the program: `name: [head, ghead]`. The name of a subcommand may
	// end in `*`, which stands for any ending. `*` alone stands for every other word, which is no
	// operand. A complete description of it therefore needs `operands: none`.
	Name []string `yaml:"name,required"`
	// Operands is the access to each operand. It is required, unless the entry has only
	// properties. The name of such an entry may include subcommands (`git lfs push`), and another
	// entry may describe it.
	Operands Access `yaml:"operands" kind:"operand"`
	// FirstOperand is the access to the first operand, if it differs.
	FirstOperand Access `yaml:"first_operand" kind:"operand"`
	// FirstOperandUnless lists options with which the first operand is like the others (`grep
	// -e`).
	FirstOperandUnless []string `yaml:"first_operand_unless" words:"options"`
	// LastOperand is the access to the last operand, if it differs and there are several.
	LastOperand Access `yaml:"last_operand" kind:"operand"`
	// KeyValueOperands maps keys to accesses. In an operand `key=value`, the access is to the
	// value: `{of: write}` of dd.
	KeyValueOperands []NamedAccess `yaml:"key_value_operands" kind:"operand"`
	// OperandsBeforeOptions says that operands come before the first option. Later words belong
	// to an expression (`find`).
	OperandsBeforeOptions bool `yaml:"operands_before_options"`
	// OptionsAfterOperands says that an option after an operand is an option on every system.
	// Without this key, such an option makes the description incomplete, because macOS reads it
	// as an operand.
	OptionsAfterOperands bool `yaml:"options_after_operands"`
	// OptionsEndAfterOperands is the number of operands after which all words belong to another
	// program (`docker run IMAGE …`).
	OptionsEndAfterOperands int `yaml:"options_end_after_operands" max:"9"`
	// EndOfOptions is an option that ends the options of known subcommands, as `--` does.
	EndOfOptions string `yaml:"end_of_options" words:"options"`
	// OptionsWithoutDash says that the first word may be options without a dash (`tar xf`).
	OptionsWithoutDash bool `yaml:"options_without_dash"`
	// SingleDashOptions says that long options begin with one dash.
	SingleDashOptions bool `yaml:"single_dash_options"`
	// ValueOptions lists the options that take a value. They also apply before a subcommand,
	// unless there are `global_value_options`.
	ValueOptions []string `yaml:"value_options" words:"options"`
	// GlobalValueOptions lists options with a value that are allowed only before the subcommand.
	GlobalValueOptions []string `yaml:"global_value_options" words:"options"`
	// PersistentValueOptions lists options with a value that are allowed before and after the
	// subcommand.
	PersistentValueOptions []string `yaml:"persistent_value_options" words:"options"`
	// AttachedValueOptions lists options whose value, if any, is part of the same word (`sed
	// -i.bak`).
	AttachedValueOptions []string `yaml:"attached_value_options" words:"options"`
	// TwoValueOptions lists options with two values (`jq --arg name value`). An access of the
	// option is to the second one.
	TwoValueOptions []string `yaml:"two_value_options" words:"options"`
	// OptionAccesses maps options to the access to their value: `{-o: write}`.
	OptionAccesses []NamedAccess `yaml:"option_accesses" kind:"operand" words:"options"`
	// RecursiveOptions lists options that extend operands to everything below them. `[always]`
	// means all calls of the program.
	RecursiveOptions []string `yaml:"recursive_options" words:"options,always"`
	// SkipsHiddenUnless lists options without which the program skips hidden files below folders
	// (`rg --hidden`).
	SkipsHiddenUnless []string `yaml:"skips_hidden_unless" words:"options"`
	// When lists other accesses that apply with some options.
	When []When `yaml:"when"`
	// Accesses lists the accesses that do not depend on words: `configured` for a host from the
	// program's own configuration, `network` for an unknown host, `unknown` for anything.
	Accesses []Access `yaml:"accesses" kind:"besides"`
	// AccessesIfIncomplete lists more accesses of the program and its subcommands where
	// `complete` does not apply. A list of a subcommand replaces it.
	AccessesIfIncomplete []Access `yaml:"accesses_if_incomplete" kind:"besides"`
	// HostPathOperands says that an operand may be `host:path`, which contacts that host (`scp`).
	HostPathOperands bool `yaml:"host_path_operands"`
	// HostPathOptions lists options whose value may be `host:path`, which contacts that host
	// (`tar -f`).
	HostPathOptions []string `yaml:"host_path_options" words:"options"`
	// PutsIntoLastOperand says that a last operand that is a folder gets the other operands,
	// under their own names (`cp`, `mv`, `ln`).
	PutsIntoLastOperand bool `yaml:"puts_into_last_operand"`
	// FolderOptions lists options that name the folder for files that the program creates.
	FolderOptions []string `yaml:"folder_options" words:"options"`
	// WritesUnnamedFiles lists options with which the program creates files that the line does
	// not name. They are in the folder of `folder_options`, or in the current one. `[always]`
	// means all calls of the program.
	WritesUnnamedFiles []string `yaml:"writes_unnamed_files" words:"options,always"`
	// WritesUnnamedFilesUnless lists options that switch `writes_unnamed_files` off.
	WritesUnnamedFilesUnless []string `yaml:"writes_unnamed_files_unless" words:"options"`
	// SavesUnderURLName lists options with which the program saves a download under the last name
	// of its URL. `[always]` means all calls of the program.
	SavesUnderURLName []string `yaml:"saves_under_url_name" words:"options,always"`
	// SavesUnderURLNameUnless lists options that switch `saves_under_url_name` off.
	SavesUnderURLNameUnless []string `yaml:"saves_under_url_name_unless" words:"options"`
	// AddressOptions lists options whose value is an address, as operands are (`curl --url`).
	AddressOptions []string `yaml:"address_options" words:"options"`
	// NumberedNameOptions lists options that name an output. `#1` in the value stands for the
	// current value of the first braces or brackets of an address (`curl -o`).
	NumberedNameOptions []string `yaml:"numbered_name_options" words:"options"`
	// TriesSuffixes lists endings that the program adds to the name of a file that does not exist
	// (`unzip x` reads `x.zip`).
	TriesSuffixes []string `yaml:"tries_suffixes"`
	// BackupSuffixOptions lists options whose value is added to the name of each edited file, for
	// a file with the old content (`sed -i.bak`).
	BackupSuffixOptions []string `yaml:"backup_suffix_options" words:"options"`
	// Suffixes lists endings of names. The program replaces each edited file by one without its
	// ending, or by one with the first of these endings (`gunzip x.gz`, `gzip x`).
	Suffixes []string `yaml:"suffixes"`
	// KeepsFiles lists options with which the program writes next to the files that it edits, and
	// does not change them. `[always]` means all calls of the program.
	KeepsFiles []string `yaml:"keeps_files" words:"options,always"`
	// KeepsFilesUnless lists options that switch `keeps_files` off.
	KeepsFilesUnless []string `yaml:"keeps_files_unless" words:"options"`
	// SuffixOptions lists options whose value is an ending as in `suffixes`.
	SuffixOptions []string `yaml:"suffix_options" words:"options"`
	// InformationWords lists words with which a program of `answers_help` only prints information
	// about itself, if there is no other word (`--version`).
	InformationWords []string `yaml:"information_words"`
	// HelpOptions lists options with which a program of `answers_help` and its known subcommands
	// only print help, if no other word follows (`docker push --help`). `[none]` in a subcommand
	// removes them for the subcommands below it.
	HelpOptions []string `yaml:"help_options" words:"options,none"`
	// SameAs names the command that the program is another name of: `docker compose` of
	// docker-compose.
	SameAs []string `yaml:"same_as" words:"command"`
	// SubcommandAliases maps subcommands to those that they are other names of: `{i: install}` of
	// npm. A rule that names one of them matches both.
	SubcommandAliases []Alias `yaml:"subcommand_aliases"`
	// Complete holds the words with which this description is complete: the program does this and
	// nothing else. Without this key, Cardea assumes that the program may do more.
	Complete *Complete `yaml:"complete"`
	// Edits holds the words with which the program reads and writes the described files and does
	// nothing else. A permission for these files then covers it. So does the mode acceptEdits,
	// for a program of `accepted_as_edit`.
	Edits *Complete `yaml:"edits"`
	// SubcommandWords is the number of words of a subcommand. The default is 1 if there are
	// `subcommands`, else 0.
	SubcommandWords int `yaml:"subcommand_words" max:"3"`
	// OperandsWithoutSubcommand says that a word that names no subcommand is the first operand of
	// the program itself, and so is every word after `--` (`stamp IN OUT` next to `stamp verify
	// FILE`). `subcommands` must then list all of them. If such operands make the description
	// complete, `complete` also has `without_subcommand`.
	OperandsWithoutSubcommand bool `yaml:"operands_without_subcommand"`
	// Subcommands lists the subcommands that differ from the program.
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
	// Options lists the options. `option=text` is an option whose value contains the text.
	Options []string `yaml:"options,required" words:"options"`
	// Operands is the access to operands with one of the options.
	Operands Access `yaml:"operands" kind:"operand"`
	// LastOperand is the access to the last operand with one of the options.
	LastOperand Access `yaml:"last_operand" kind:"operand"`
	// Recursive says that operands then include everything below them.
	Recursive bool `yaml:"recursive"`
	// OptionAccesses maps options to the access to their value, instead of those of the program.
	OptionAccesses []NamedAccess `yaml:"option_accesses" kind:"operand" words:"options"`
}

// Complete describes the words with which a description is complete.
type Complete struct {
	// AnyWords says that all words are complete: no option and no operand makes the program do
	// anything else.
	AnyWords bool `yaml:"any_words"`
	// Options lists all options that are harmless, or whose access is described, with and without
	// a value. `-X=GET` stands for this value alone, and `-o=jsonpath=*` for values that begin
	// so. Any other option makes the description incomplete. The options of a program also apply
	// to its subcommands.
	Options []string `yaml:"options" words:"options"`
	// Operands is the access to each operand with these words, if it differs. `fdisk -l` only
	// reads what other calls of fdisk write.
	Operands Access `yaml:"operands" kind:"operand"`
	// NumericOptions says that `-5` is an option.
	NumericOptions bool `yaml:"numeric_options"`
	// MaxOperands is the largest number of operands.
	MaxOperands int `yaml:"max_operands" max:"9"`
	// LimitsOperands is set if max_operands is given, which may be 0.
	LimitsOperands bool `yaml:"-"`
	// MaxOperandsUnless lists options before the operands that switch `max_operands` off (`git
	// branch --list x`).
	MaxOperandsUnless []string `yaml:"max_operands_unless" words:"options"`
	// WithoutSubcommand says that the description is also complete without a subcommand (`git
	// remote -v`).
	WithoutSubcommand bool `yaml:"without_subcommand"`
	// UnlessProjectFiles lists files of the project that set what the program runs or contacts.
	// `readonly` refuses if one of them is in the current folder or above it (`.npmrc`), or with
	// `~/` in the home folder (`~/.curlrc`). `.git` stands for the configuration of git.
	UnlessProjectFiles []string `yaml:"unless_project_files"`
	// OperandPrefixes lists texts. Each operand begins with one of them (`date +%F`).
	OperandPrefixes []string `yaml:"operand_prefixes"`
	// FirstOperands lists the words that the first operand may be. `""` means that there may be
	// no operand (`ip addr show`).
	FirstOperands []string `yaml:"first_operands"`
	// LaterOperands lists words. There are operands after the first, and each is one of these
	// words.
	LaterOperands []string `yaml:"later_operands"`
	// ResourceTypes lists words. The first operand names one or more of them, and so does the
	// part of each operand before a slash: `pods,svc`, `pods/x` (`kubectl get`).
	ResourceTypes []string `yaml:"resource_types"`
	// ForbiddenWords lists words that make the description incomplete. A star at the beginning or
	// the end stands for any text.
	ForbiddenWords []string `yaml:"forbidden_words"`
	// RequiredOptions lists options. One of them is given, and before the operands if
	// `single_dash_options` is set.
	RequiredOptions []string `yaml:"required_options" words:"options"`
	// RequiredTogether lists more options. All of them are given.
	RequiredTogether []string `yaml:"required_together" words:"options"`
	// ScriptLanguage is the language of the script in the first operand or in `script_options`.
	// The script must be harmless. The languages are `sed`, `awk`, `jq`, `yq`, `fzf` (bindings),
	// `git` and `curl` (formats), `python`, `perl` and `node` (scripts that only read and print),
	// `ruby` (printing numbers and plain text) and `sqlite` (a query in the second operand).
	ScriptLanguage string `yaml:"script_language" words:"sed,awk,jq,yq,fzf,git,curl,python,node,perl,ruby,sqlite"`
	// ScriptOptions lists the options that have a script as value.
	ScriptOptions []string `yaml:"script_options" words:"options"`
	// ReadsDocument says that the here-document is the script if there is no script option, and
	// no operand other than "-".
	ReadsDocument bool `yaml:"reads_document"`
	// NoClusteredValues says that an option with a value is not combined with other letters in
	// one word.
	NoClusteredValues bool `yaml:"no_clustered_values"`
	// EndsStarted says that the description is also complete if each operand is a process that
	// the line has started.
	EndsStarted bool `yaml:"ends_started"`
	// NoInput says that the line gives the program nothing to read on its standard input.
	NoInput bool `yaml:"no_input"`
	// NoSecretWords says that no word indicates a secret: it contains none of the words of
	// `secret` in `variable_kinds`.
	NoSecretWords bool `yaml:"no_secret_words"`
	// PlainOperands says that each operand is a plain name that the line gives. Other names run
	// commands: perl reads `x|` from the command x, and writes to `>x` (perlop(1), "I/O
	// Operators").
	PlainOperands bool `yaml:"plain_operands"`
	// NoFolders says that no operand is a folder.
	NoFolders bool `yaml:"no_folders"`
}
