// Package unknown enumerates the reasons for which something in a command line is
// unknown. internal/command/bash reports unknown things only through it: each reason
// becomes an opaque spot of a command or of the line.
package unknown

import (
	"fmt"

	"cardea.dev"
)

// Reach is the scope of a reason.
type Reach uint8

const (
	// Command: the command in which the reason was found. Outside of a command it is Line.
	Command Reach = iota
	// Line: all of the line.
	Line
	// Later: every later command of the same shell.
	Later
	// Values: the variables, parameters and folders of the shell from here on. It yields no
	// spot by itself, but the words that use them do.
	Values
	// Rest: all of the line, of which nothing more is analyzed.
	Rest
)

// Reason is why something is unknown. The zero value is no reason.
type Reason struct {
	reach Reach
	code  cardea.OpaqueCode
	text  string // for people; names fill the places in it
}

// None reports whether there is no reason.
func (r Reason) None() bool { return r.text == "" }

// Reach returns the scope of the reason.
func (r Reason) Reach() Reach { return r.reach }

// Spot returns the opaque spot of the reason in a text. Names fill its message.
func (r Reason) Spot(text string, names ...any) cardea.Opaque {
	return cardea.Opaque{Code: r.code, Text: Shorten(text), Reason: fmt.Sprintf(r.text, names...)}
}

// shortened is the number of bytes of a text that a spot shows.
const shortened = 120

// Shorten cuts a text for a message at a rune boundary.
func Shorten(s string) string {
	if len(s) <= shortened {
		return s
	}
	cut := shortened
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

// The reasons, by scope.
var (
	// Reasons that concern one command.
	ZshExpansion         = Reason{Command, cardea.OpaqueZsh, "an expansion that only zsh has"}
	AssignsByValue       = Reason{Command, cardea.OpaqueEvaluated, "which variable an expression sets comes from a value"}
	Evaluated            = Reason{Command, cardea.OpaqueEvaluated, "bash evaluates the value as arithmetic, which can execute a command in a subscript"}
	OptionRuns           = Reason{Command, cardea.OpaqueCodeOption, "the option may run a command or evaluate a subscript"}
	FormatSets           = Reason{Command, cardea.OpaqueCodeOption, "the format may set a variable: %%n"}
	OptionNames          = Reason{Command, cardea.OpaqueCodeOption, "the option may name a variable, whose subscript bash evaluates"}
	NameReference        = Reason{Command, cardea.OpaqueDeclaration, "the declaration changes how names are read"}
	MapfileRuns          = Reason{Command, cardea.OpaqueCodeOption, "mapfile -C runs a command"}
	ZshAlias             = Reason{Command, cardea.OpaqueAlias, "an alias that only zsh has stands for words that are no command"}
	AliasText            = Reason{Command, cardea.OpaqueScript, "what the alias stands for comes from outside of the line"}
	EvalText             = Reason{Command, cardea.OpaqueEval, "eval runs what comes from outside of the line"}
	SourcedFile          = Reason{Command, cardea.OpaqueSourcedFile, "it runs the commands of a file in this shell"}
	CommandName          = Reason{Command, cardea.OpaqueCommandName, "the command's name comes from outside of the line"}
	CommandPattern       = Reason{Command, cardea.OpaqueCommandName, "the command's name is a pattern for file names"}
	SetsVariable         = Reason{Command, cardea.OpaqueVariable, "setting %s changes what later commands do"}
	TooManyWrappers      = Reason{Command, cardea.OpaqueTooMany, "too many wrappers around one command"}
	OtherLanguage        = Reason{Command, cardea.OpaqueLanguage, "a command in the language of another shell"}
	ShellText            = Reason{Command, cardea.OpaqueScript, "what the shell runs comes from outside of the line"}
	ShellInput           = Reason{Command, cardea.OpaqueStandardInput, "a shell reads its commands from its standard input"}
	ShellDescriptor      = Reason{Command, cardea.OpaqueDescriptor, "a shell reads its commands from a descriptor"}
	ChildOption          = Reason{Command, cardea.OpaqueShellOption, "an option of the shell that changes what it runs, or how"}
	ValueAttribute       = Reason{Command, cardea.OpaqueDeclaration, "the declaration changes how values are read"}
	ZshDeclaration       = Reason{Command, cardea.OpaqueZsh, "an option of the declaration that only zsh has, or that it reads in another way"}
	NameAttribute        = Reason{Command, cardea.OpaqueDeclaration, "the declaration changes how names or functions are read"}
	ListValue            = Reason{Command, cardea.OpaqueEvaluated, "bash reads the value as a list, and expands it"}
	Lookup               = Reason{Command, cardea.OpaqueLookup, "it changes how later commands are found or run"}
	Indirect             = Reason{Command, cardea.OpaqueEvaluated, "an indirect expansion may evaluate what the variable holds"}
	PromptExpansion      = Reason{Command, cardea.OpaqueEvaluated, "it expands the value as a prompt, which can execute"}
	TargetTwice          = Reason{Command, cardea.OpaqueEvaluated, "bash expands the target of >& a second time"}
	RedirectionTarget    = Reason{Command, cardea.OpaqueRedirection, "the file of the redirection is not known"}
	ShellOptionOutside   = Reason{Command, cardea.OpaqueOutsideOption, "an option of the shell comes from outside of the line"}
	ShellOption          = Reason{Command, cardea.OpaqueShellOption, "an option of the shell that changes how the line is read"}
	TrapText             = Reason{Command, cardea.OpaqueScript, "what the trap runs comes from outside of the line"}
	BracesRejoin         = Reason{Command, cardea.OpaqueParser, "braces are expanded first, and make other expansions of the pieces"}
	ZshFolder            = Reason{Command, cardea.OpaqueZsh, "~name is the value of a variable in zsh, and ~- another folder"}
	WrapperOptionOutside = Reason{Command, cardea.OpaqueOutsideOption, "an option of the wrapper comes from outside of the line"}
	WrapperConfig        = Reason{Command, cardea.OpaqueCodeOption, "the option may load code, or a configuration that runs commands on this machine"}
	WrapperOptionRuns    = Reason{Command, cardea.OpaqueCodeOption, "the option runs a command on this machine"}
	JoinedText           = Reason{Command, cardea.OpaqueScript, "a shell reads what comes from outside of the line"}
	EnvSplits            = Reason{Command, cardea.OpaqueOwnRules, "env splits the text by rules of its own"}
	TakesVariable        = Reason{Command, cardea.OpaqueVariable, "taking %s away changes what the command does"}
	ParallelBuilds       = Reason{Command, cardea.OpaqueOwnRules, "parallel hands lines to a shell that it builds by rules of its own"}
	TerminalShell        = Reason{Command, cardea.OpaqueTerminalShell, "it starts a shell that reads its commands from its standard input"}
	RunsLater            = Reason{Command, cardea.OpaqueLater, "it reads commands that run later"}
	ZshEvaluated         = Reason{Command, cardea.OpaqueEvaluated, "zsh evaluates the word as arithmetic, which can execute a command in a subscript"}
	ZshSplits            = Reason{Command, cardea.OpaqueZsh, "bash splits the value into words, and zsh does not"}
	NoCommand            = Reason{Command, cardea.OpaqueNoCommand, "no command could be found in it"}
	FunctionCallsItself  = Reason{Command, cardea.OpaqueRecursion, "a function that calls itself"}
	ScriptRunsItself     = Reason{Command, cardea.OpaqueRecursion, "a script that runs itself"}
	WrapperOption        = Reason{Command, cardea.OpaqueUnknownOption, "an option of the wrapper is not known"}
	GivesVariable        = Reason{Command, cardea.OpaqueVariable, "it sets %s, which changes what the command does"}
	GivesSearchPath      = Reason{Command, cardea.OpaqueSearchPath, "it sets %s, which changes what the command does"}
	TooManyNamed         = Reason{Command, cardea.OpaqueTooMany, "it names more files and commands than are looked at"}

	// Reasons that concern the whole line.
	TooLongLine        = Reason{Line, cardea.OpaqueTooLong, "the command is longer than 1 MiB"}
	TooDeepLine        = Reason{Line, cardea.OpaqueTooDeep, "the command is nested too deeply"}
	TooDeepScripts     = Reason{Line, cardea.OpaqueTooDeep, "too many scripts within scripts"}
	ReadBySh           = Reason{Line, cardea.OpaqueSh, "sh may read it in another way than bash does"}
	Misread            = Reason{Line, cardea.OpaqueSyntax, "bash's grammar does not fit: %s"}
	RemovesFunction    = Reason{Line, cardea.OpaqueConstruct, "it removes a function, or a variable inside of one, and what the name means then is not followed"}
	AliasOfSeveral     = Reason{Line, cardea.OpaqueAlias, "an alias that stands for more than one plain command"}
	SharedInput        = Reason{Line, cardea.OpaqueSharedInput, "a shell reads its script from its standard input, and commands in it may read lines of it too"}
	LastBackslash      = Reason{Line, cardea.OpaqueSyntax, "bash drops a backslash at the end of its input"}
	ExportedFunctions  = Reason{Line, cardea.OpaqueFunctions, "a shell may get functions of the line"}
	UnknownConstruct   = Reason{Line, cardea.OpaqueConstruct, "a construct that this version does not know"}
	LostSeparator      = Reason{Line, cardea.OpaqueParser, "commands behind a here-document in a substitution, of which bash loses a separator"}
	HereDelimiter      = Reason{Line, cardea.OpaqueParser, "a here-document whose end is not a plain word"}
	HereEnd            = Reason{Line, cardea.OpaqueParser, "a line of a here-document that bash may take for its end"}
	HerePlace          = Reason{Line, cardea.OpaqueParser, "a here-document that the parser reads at another place than bash"}
	QuotesInQuotes     = Reason{Line, cardea.OpaqueParser, "single quotes inside ${…} inside double quotes quote nothing in bash"}
	ZshRedirection     = Reason{Line, cardea.OpaqueZsh, ">! is zsh's, and bash reads it differently"}
	ZshBackground      = Reason{Line, cardea.OpaqueZsh, "&! is zsh's, and bash reads it differently"}
	HiddenSubstitution = Reason{Line, cardea.OpaqueParser, "a process substitution inside ${…}, which the parser does not see"}
	HiddenPattern      = Reason{Line, cardea.OpaqueParser, "an extended pattern with expansions in it, which the parser does not see"}
	ExtendedPattern    = Reason{Line, cardea.OpaqueParser, "an extended pattern, which bash reads as something else when extglob is off and zsh may execute"}
	FunctionEnd        = Reason{Line, cardea.OpaqueParser, "a command that follows a function on its line, which the parser takes for a part of the function"}
	ZshHandler         = Reason{Line, cardea.OpaqueZsh, "zsh calls a function of this name by itself"}
	ZshBrace           = Reason{Line, cardea.OpaqueZsh, "a } alone ends a block in zsh wherever it is"}
	ZshEquals          = Reason{Line, cardea.OpaqueZsh, "=command is replaced by a path in zsh"}
	WordEnd            = Reason{Line, cardea.OpaqueParser, "a word that the parser ends before bash does"}
	LetOperator        = Reason{Line, cardea.OpaqueParser, "an operator in let that bash reads before let does"}
	WordAfterClose     = Reason{Line, cardea.OpaqueParser, "a word behind <&- or >&-, which bash takes as one of its own"}
	TooManyBodies      = Reason{Line, cardea.OpaqueTooMany, "the function is defined too often"}
	ShadowsCommand     = Reason{Line, cardea.OpaqueConstruct, "bash may run this function or alias in place of the command of that name"}
	DeclaresInside     = Reason{Line, cardea.OpaqueDeclaration, "a script within the line declares a variable"}
	CoprocName         = Reason{Line, cardea.OpaqueParser, "bash takes a name for a coproc only in front of a compound command"}
	TimeDashes         = Reason{Line, cardea.OpaqueParser, "time -- in front of what is no simple command"}
	MadeLinks          = Reason{Line, cardea.OpaqueLinks, "the links that it makes change what it does"}
	NotUTF8            = Reason{Line, cardea.OpaqueHidden, "it holds bytes that are not UTF-8"}
	CarriageReturn     = Reason{Line, cardea.OpaqueHidden, "it holds a carriage return, which bash takes as part of a word"}
	NULByte            = Reason{Line, cardea.OpaqueHidden, "it holds a NUL byte"}
	UnusualBlank       = Reason{Line, cardea.OpaqueHidden, "it holds a blank that bash takes as part of a word"}
	ControlCharacter   = Reason{Line, cardea.OpaqueHidden, "it holds a control character"}
	UnseenCharacter    = Reason{Line, cardea.OpaqueHidden, "it holds a character that cannot be seen"}
	TextDirection      = Reason{Line, cardea.OpaqueHidden, "it holds a character that changes the direction of the text"}
	DollarAtEnd        = Reason{Line, cardea.OpaqueParser, "a line that goes on behind a dollar, where bash joins an expansion"}
	CommentBackslash   = Reason{Line, cardea.OpaqueParser, "a comment that ends in a backslash does not go on in bash"}
	ZshDollar          = Reason{Line, cardea.OpaqueZsh, "a dollar that begins an expansion in zsh"}
	ZshVariable        = Reason{Line, cardea.OpaqueZsh, "a variable that zsh sets itself"}
	ZshModifier        = Reason{Line, cardea.OpaqueZsh, "a letter after the colon changes the value in zsh"}
	ZshSubscript       = Reason{Line, cardea.OpaqueZsh, "$x[…] is a subscript in zsh"}
	ZshLength          = Reason{Line, cardea.OpaqueZsh, "$#x is a length in zsh"}
	ZshDigits          = Reason{Line, cardea.OpaqueZsh, "a parameter of several digits in zsh"}

	// Reasons that concern every later command of the shell.
	HidesVariable   = Reason{Later, cardea.OpaqueVariable, "setting %s changes what later commands do"}
	ExportsVariable = Reason{Later, cardea.OpaqueVariable, "it exports %s, which changes what later commands do"}
	LookupLater     = Reason{Later, cardea.OpaqueLookup, "an earlier %s may change what the name means"}
	TooManyExports  = Reason{Later, cardea.OpaqueTooMany, "it exports too many variables"}
	VariableLater   = Reason{Later, cardea.OpaqueVariable, "it sets %s, which changes what later commands do"}
	SearchPathLater = Reason{Later, cardea.OpaqueSearchPath, "it sets %s, which changes what later commands do"}

	// Reasons that concern variables and folders.
	SetsReadOnly   = Reason{Values, "", "it may assign a read-only variable"}
	DeclaresByWord = Reason{Values, "", "a declaration behind command or builtin"}
	ManyAborts     = Reason{Values, "", "bash may give up the line at too many places"}
	HandlerRuns    = Reason{Values, "", "a trap may run what is defined here at any time"}
	HandlerSets    = Reason{Values, "", "a trap may set variables at any time"}
	RunsAnyTime    = Reason{Values, "", "it runs at a time that is unknown"}
	LongChain      = Reason{Values, "", "a chain of too many commands"}
	AnyCommand     = Reason{Values, "", "a command that may set any variable may run"}

	// Limits that end the analysis.
	TooManyWords    = Reason{Rest, cardea.OpaqueTooMany, "too many words"}
	TooManyCommands = Reason{Rest, cardea.OpaqueTooMany, "too many commands in one line"}
	TooManyJumps    = Reason{Rest, cardea.OpaqueTooMany, "too many jumps in one line"}
	TooManyTexts    = Reason{Rest, cardea.OpaqueTooMany, "its words may become too much"}
	TooLongWords    = Reason{Rest, cardea.OpaqueTooLong, "its words expand to too much"}
	TooLongOutput   = Reason{Rest, cardea.OpaqueTooLong, "its commands print too much"}
)
