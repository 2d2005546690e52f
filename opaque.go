package cardea

// Opaque is a spot that the analysis cannot see through.
type Opaque struct {
	// Code is the reason for programs, which act on the code alone.
	Code OpaqueCode
	// Text is the spot as written. Reason is the reason for people; its wording may change.
	Text, Reason string
}

// OpaqueCode is a reason for which a spot is opaque. docs/analysis.md lists the codes with
// examples.
type OpaqueCode string

// The codes of spots that a normal line may have.
const (
	// OpaqueCommandName: the command is only known when the line runs.
	OpaqueCommandName OpaqueCode = "command-name"
	// OpaqueScript: the text that a shell, a trap or an alias runs comes from outside of the line.
	OpaqueScript OpaqueCode = "script"
	// OpaqueEval: the text that eval runs comes from outside of the line.
	OpaqueEval OpaqueCode = "eval"
	// OpaqueStandardInput: a shell reads its commands from its standard input.
	OpaqueStandardInput OpaqueCode = "standard-input"
	// OpaqueSharedInput: a shell reads its script from an input that commands in the script may
	// also read.
	OpaqueSharedInput OpaqueCode = "shared-input"
	// OpaqueDescriptor: a shell reads its commands from a descriptor.
	OpaqueDescriptor OpaqueCode = "descriptor"
	// OpaqueTerminalShell: a program starts an interactive shell.
	OpaqueTerminalShell OpaqueCode = "terminal-shell"
	// OpaqueSourcedFile: the shell runs the commands of a file.
	OpaqueSourcedFile OpaqueCode = "sourced-file"
	// OpaqueLater: commands are stored and run later.
	OpaqueLater OpaqueCode = "later"
	// OpaqueOutsideOption: an option comes from outside of the line.
	OpaqueOutsideOption OpaqueCode = "outside-option"
	// OpaqueUnknownOption: an option of a wrapper is unknown.
	OpaqueUnknownOption OpaqueCode = "unknown-option"
	// OpaqueShellOption: an option of the shell changes how it reads commands.
	OpaqueShellOption OpaqueCode = "shell-option"
	// OpaqueCodeOption: an option runs a command, loads code or sets a variable.
	OpaqueCodeOption OpaqueCode = "code-option"
	// OpaqueOwnRules: a program builds commands by rules of its own.
	OpaqueOwnRules OpaqueCode = "own-rules"
	// OpaqueLanguage: a command is in the language of another shell.
	OpaqueLanguage OpaqueCode = "language"
	// OpaqueZsh: zsh reads the line in another way than bash.
	OpaqueZsh OpaqueCode = "zsh"
	// OpaqueSh: sh may read a script in another way than bash.
	OpaqueSh OpaqueCode = "sh"
	// OpaqueEvaluated: bash evaluates a value, which may run a command.
	OpaqueEvaluated OpaqueCode = "evaluated"
	// OpaqueVariable: a variable is set or unset that changes what commands do.
	OpaqueVariable OpaqueCode = "variable"
	// OpaqueSearchPath: a command runs with another PATH.
	OpaqueSearchPath OpaqueCode = "search-path"
	// OpaqueLookup: an earlier command changes how names are looked up.
	OpaqueLookup OpaqueCode = "lookup"
	// OpaqueDeclaration: a declaration changes how names or values are read.
	OpaqueDeclaration OpaqueCode = "declaration"
	// OpaqueFunctions: a shell may get functions of the line.
	OpaqueFunctions OpaqueCode = "functions"
	// OpaqueRecursion: a function calls itself.
	OpaqueRecursion OpaqueCode = "recursion"
	// OpaqueAlias: an alias stands for more than one plain command.
	OpaqueAlias OpaqueCode = "alias"
	// OpaqueRedirection: the file of a redirection is unknown. The spot hides a file, but not a
	// program.
	OpaqueRedirection OpaqueCode = "redirection"
	// OpaqueLinks: the links that a line makes change what it does.
	OpaqueLinks OpaqueCode = "links"
	// OpaqueParser: the parser reads the text in another way than bash.
	OpaqueParser OpaqueCode = "parser"
	// OpaqueSyntax: the text does not follow bash's grammar.
	OpaqueSyntax OpaqueCode = "syntax"
	// OpaqueConstruct: this version does not know a construct.
	OpaqueConstruct OpaqueCode = "construct"
	// OpaqueHidden: characters are invisible, or look like other characters.
	OpaqueHidden OpaqueCode = "hidden"
	// OpaqueNoCommand: a text that is not blank contains no command.
	OpaqueNoCommand OpaqueCode = "no-command"
	// OpaqueInput: the message or the tool input is not as documented.
	OpaqueInput OpaqueCode = "input"
)

// The codes of limits, which no normal line reaches.
const (
	// OpaqueTooLong: the text is too long, or expands to too much.
	OpaqueTooLong OpaqueCode = "too-long"
	// OpaqueTooDeep: the text is nested too deeply.
	OpaqueTooDeep OpaqueCode = "too-deep"
	// OpaqueTooMany: there are too many commands, words or files.
	OpaqueTooMany OpaqueCode = "too-many"
)

// OpaqueCodes returns all codes in the order of docs/analysis.md.
func OpaqueCodes() []OpaqueCode {
	return []OpaqueCode{
		OpaqueCommandName, OpaqueScript, OpaqueEval, OpaqueStandardInput, OpaqueSharedInput, OpaqueDescriptor, OpaqueTerminalShell, OpaqueSourcedFile, OpaqueLater,
		OpaqueOutsideOption, OpaqueUnknownOption, OpaqueShellOption, OpaqueCodeOption, OpaqueOwnRules, OpaqueLanguage, OpaqueZsh, OpaqueSh,
		OpaqueEvaluated, OpaqueVariable, OpaqueSearchPath, OpaqueLookup, OpaqueDeclaration, OpaqueFunctions, OpaqueRecursion, OpaqueAlias,
		OpaqueRedirection, OpaqueLinks, OpaqueParser, OpaqueSyntax, OpaqueConstruct, OpaqueHidden, OpaqueNoCommand, OpaqueInput,
		OpaqueTooLong, OpaqueTooDeep, OpaqueTooMany,
	}
}

// Limit reports whether the spot exceeds a limit of size, depth or number. A normal line may be
// opaque for every other reason.
func (c OpaqueCode) Limit() bool {
	return c == OpaqueTooLong || c == OpaqueTooDeep || c == OpaqueTooMany
}
