// Package unknown enumerates the reasons for which something in a command line is not
// known. It is the only way in which internal/bash says so: each reason becomes an opaque
// spot of a command or of the line.
package unknown

import (
	"fmt"

	"cardea.dev"
)

// Reach is how far a reason reaches.
type Reach uint8

const (
	// Command: the command in which the reason was found. Outside of a command it is Line.
	Command Reach = iota
	// Line: all of the line.
	Line
	// Later: every later command of the same shell.
	Later
	// Values: the variables, parameters and folders of the shell from here on. It makes no
	// spot by itself: the words that they are in do.
	Values
	// Rest: all of the line, of which nothing more is analyzed.
	Rest
)

// Reason says why something is not known. The zero value is no reason.
type Reason uint8

// Spot returns the opaque spot of a reason in a text. Names fill the places in the
// reason's message.
func (r Reason) Spot(text string, names ...any) cardea.Opaque {
	m := messages[r]
	return cardea.Opaque{Code: m.code, Text: Shorten(text), Reason: fmt.Sprintf(m.text, names...)}
}

// Reach returns how far a reason reaches.
func (r Reason) Reach() Reach { return messages[r].reach }

// shortened is how many bytes of a text a spot shows.
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

// The reasons, by how far they reach. The table of messages says what each means.
const (
	none Reason = iota

	// Reasons that concern one command.
	ZshExpansion
	AssignsByValue
	Evaluated
	OptionRuns
	FormatSets
	OptionNames
	NameReference
	MapfileRuns
	ZshAlias
	AliasText
	EvalText
	SourcedFile
	CommandName
	CommandPattern
	SetsVariable
	TooManyWrappers
	OtherLanguage
	ShellText
	ShellInput
	ShellDescriptor
	ChildOption
	ValueTrait
	ZshDeclaration
	NameTrait
	ListValue
	Lookup
	Indirect
	PromptExpansion
	TargetTwice
	RedirectionTarget
	ShellOptionOutside
	ShellOption
	TrapText
	BracesRejoin
	ZshFolder
	WrapperOptionOutside
	WrapperConfig
	WrapperOptionRuns
	JoinedText
	EnvSplits
	TakesVariable
	ParallelBuilds
	TerminalShell
	LoaderOption
	RunsLater
	ZshEvaluated
	NoCommand
	FunctionCallsItself
	ScriptRunsItself
	WrapperOption
	GivesVariable
	GivesSearchPath
	TooManyNamed

	// Reasons that concern the whole line.
	TooLongLine
	TooDeepLine
	TooDeepScripts
	ReadBySh
	Misread
	RemovesFunction
	AliasOfSeveral
	SharedInput
	LastBackslash
	ExportedFunctions
	UnknownConstruct
	LostSeparator
	HereDelimiter
	HereEnd
	HerePlace
	QuotesInQuotes
	ZshRedirection
	ZshBackground
	HiddenSubstitution
	HiddenPattern
	ExtendedPattern
	ZshEquals
	WordEnd
	LetOperator
	WordAfterClose
	TooManyBodies
	ShadowsCommand
	DeclaresInside
	CoprocName
	TimeDashes
	MadeLinks
	NotUTF8
	CarriageReturn
	NULByte
	OddBlank
	ControlCharacter
	UnseenCharacter
	TextDirection
	DollarAtEnd
	CommentBackslash
	ZshDollar
	ZshVariable
	ZshModifier
	ZshSubscript
	ZshLength
	ZshDigits

	// Reasons that concern every later command of the shell.
	HidesVariable
	ExportsVariable
	LookupLater
	TooManyExports
	VariableLater
	SearchPathLater

	// Reasons that concern variables and folders.
	Untracked
	SetsReadOnly
	DeclaresByWord
	ManyAborts
	HandlerRuns
	HandlerSets
	RunsAnyTime
	LongChain
	AnyCommand

	// Limits that end the analysis.
	TooManyWords
	TooManyCommands
	TooManyJumps
	TooManyTexts
	TooLongWords
	TooLongOutput
)

// message is the meaning of a reason: its code, and the text that people read.
type message struct {
	reach Reach
	code  cardea.OpaqueCode
	text  string
}

// messages are the meanings of all reasons.
var messages = [...]message{
	ZshExpansion:         {Command, cardea.OpaqueZsh, "an expansion that only zsh has"},
	AssignsByValue:       {Command, cardea.OpaqueEvaluated, "which variable an expression sets comes from a value"},
	Evaluated:            {Command, cardea.OpaqueEvaluated, "bash evaluates the value as arithmetic, which can execute a command in a subscript"},
	OptionRuns:           {Command, cardea.OpaqueCodeOption, "the option may run a command or evaluate a subscript"},
	FormatSets:           {Command, cardea.OpaqueCodeOption, "the format may set a variable: %%n"},
	OptionNames:          {Command, cardea.OpaqueCodeOption, "the option may name a variable, whose subscript bash evaluates"},
	NameReference:        {Command, cardea.OpaqueDeclaration, "the declaration changes how names are read"},
	MapfileRuns:          {Command, cardea.OpaqueCodeOption, "mapfile -C runs a command"},
	ZshAlias:             {Command, cardea.OpaqueAlias, "an alias that only zsh has stands for words that are no command"},
	AliasText:            {Command, cardea.OpaqueScript, "what the alias stands for comes from outside of the line"},
	EvalText:             {Command, cardea.OpaqueEval, "eval runs what comes from outside of the line"},
	SourcedFile:          {Command, cardea.OpaqueSourcedFile, "it runs the commands of a file in this shell"},
	CommandName:          {Command, cardea.OpaqueCommandName, "the command's name comes from outside of the line"},
	CommandPattern:       {Command, cardea.OpaqueCommandName, "the command's name is a pattern for file names"},
	SetsVariable:         {Command, cardea.OpaqueVariable, "setting %s changes what later commands do"},
	TooManyWrappers:      {Command, cardea.OpaqueTooMany, "too many wrappers around one command"},
	OtherLanguage:        {Command, cardea.OpaqueLanguage, "a command in the language of another shell"},
	ShellText:            {Command, cardea.OpaqueScript, "what the shell runs comes from outside of the line"},
	ShellInput:           {Command, cardea.OpaqueStandardInput, "a shell reads its commands from its standard input"},
	ShellDescriptor:      {Command, cardea.OpaqueDescriptor, "a shell reads its commands from a descriptor"},
	ChildOption:          {Command, cardea.OpaqueShellOption, "an option of the shell that changes what it runs, or how"},
	ValueTrait:           {Command, cardea.OpaqueDeclaration, "the declaration changes how values are read"},
	ZshDeclaration:       {Command, cardea.OpaqueZsh, "an option of the declaration that bash does not have"},
	NameTrait:            {Command, cardea.OpaqueDeclaration, "the declaration changes how names or functions are read"},
	ListValue:            {Command, cardea.OpaqueEvaluated, "bash reads the value as a list, and expands it"},
	Lookup:               {Command, cardea.OpaqueLookup, "it changes how later commands are found or run"},
	Indirect:             {Command, cardea.OpaqueEvaluated, "an indirect expansion may evaluate what the variable holds"},
	PromptExpansion:      {Command, cardea.OpaqueEvaluated, "it expands the value as a prompt, which can execute"},
	TargetTwice:          {Command, cardea.OpaqueEvaluated, "bash expands the target of >& a second time"},
	RedirectionTarget:    {Command, cardea.OpaqueRedirection, "the file of the redirection is not known"},
	ShellOptionOutside:   {Command, cardea.OpaqueOutsideOption, "an option of the shell comes from outside of the line"},
	ShellOption:          {Command, cardea.OpaqueShellOption, "an option of the shell that changes how the line is read"},
	TrapText:             {Command, cardea.OpaqueScript, "what the trap runs comes from outside of the line"},
	BracesRejoin:         {Command, cardea.OpaqueParser, "braces are expanded first, and make other expansions of the pieces"},
	ZshFolder:            {Command, cardea.OpaqueZsh, "~name is the value of a variable in zsh, and ~- another folder"},
	WrapperOptionOutside: {Command, cardea.OpaqueOutsideOption, "an option of the wrapper comes from outside of the line"},
	WrapperConfig:        {Command, cardea.OpaqueCodeOption, "the configuration file may run commands on this machine"},
	WrapperOptionRuns:    {Command, cardea.OpaqueCodeOption, "the option runs a command on this machine"},
	JoinedText:           {Command, cardea.OpaqueScript, "a shell reads what comes from outside of the line"},
	EnvSplits:            {Command, cardea.OpaqueOwnRules, "env splits the text by rules of its own"},
	TakesVariable:        {Command, cardea.OpaqueVariable, "taking %s away changes what the command does"},
	ParallelBuilds:       {Command, cardea.OpaqueOwnRules, "parallel hands lines to a shell that it builds by rules of its own"},
	TerminalShell:        {Command, cardea.OpaqueTerminalShell, "it starts a shell that reads its commands from its standard input"},
	LoaderOption:         {Command, cardea.OpaqueCodeOption, "an option of the dynamic loader may load code"},
	RunsLater:            {Command, cardea.OpaqueLater, "it reads commands that run later"},
	ZshEvaluated:         {Command, cardea.OpaqueEvaluated, "zsh evaluates the word as arithmetic, which can execute a command in a subscript"},
	NoCommand:            {Command, cardea.OpaqueNoCommand, "no command could be found in it"},
	FunctionCallsItself:  {Command, cardea.OpaqueRecursion, "a function that calls itself"},
	ScriptRunsItself:     {Command, cardea.OpaqueRecursion, "a script that runs itself"},
	WrapperOption:        {Command, cardea.OpaqueUnknownOption, "an option of the wrapper is not known"},
	GivesVariable:        {Command, cardea.OpaqueVariable, "it sets %s, which changes what the command does"},
	GivesSearchPath:      {Command, cardea.OpaqueSearchPath, "it sets %s, which changes what the command does"},
	TooManyNamed:         {Command, cardea.OpaqueTooMany, "it names more files and commands than are looked at"},
	TooLongLine:          {Line, cardea.OpaqueTooLong, "the command is longer than 1 MiB"},
	TooDeepLine:          {Line, cardea.OpaqueTooDeep, "the command is nested too deeply"},
	TooDeepScripts:       {Line, cardea.OpaqueTooDeep, "too many scripts within scripts"},
	ReadBySh:             {Line, cardea.OpaqueSh, "sh may read it in another way than bash does"},
	Misread:              {Line, cardea.OpaqueSyntax, "bash's grammar does not fit: %s"},
	RemovesFunction:      {Line, cardea.OpaqueConstruct, "it removes a function, or a variable inside of one, and what the name means then is not followed"},
	AliasOfSeveral:       {Line, cardea.OpaqueAlias, "an alias that stands for more than one plain command"},
	SharedInput:          {Line, cardea.OpaqueSharedInput, "a shell reads its script from its standard input, and commands in it may read lines of it too"},
	LastBackslash:        {Line, cardea.OpaqueSyntax, "bash drops a backslash at the end of its input"},
	ExportedFunctions:    {Line, cardea.OpaqueFunctions, "a shell may get functions of the line"},
	UnknownConstruct:     {Line, cardea.OpaqueConstruct, "a construct that this version does not know"},
	LostSeparator:        {Line, cardea.OpaqueParser, "commands behind a here-document in a substitution, of which bash loses a separator"},
	HereDelimiter:        {Line, cardea.OpaqueParser, "a here-document whose end is not a plain word"},
	HereEnd:              {Line, cardea.OpaqueParser, "a line of a here-document that bash may take for its end"},
	HerePlace:            {Line, cardea.OpaqueParser, "a here-document that the parser reads at another place than bash"},
	QuotesInQuotes:       {Line, cardea.OpaqueParser, "single quotes inside ${…} inside double quotes quote nothing in bash"},
	ZshRedirection:       {Line, cardea.OpaqueZsh, ">! is zsh's, and bash reads it differently"},
	ZshBackground:        {Line, cardea.OpaqueZsh, "&! is zsh's, and bash reads it differently"},
	HiddenSubstitution:   {Line, cardea.OpaqueParser, "a process substitution inside ${…}, which the parser does not see"},
	HiddenPattern:        {Line, cardea.OpaqueParser, "an extended pattern with expansions in it, which the parser does not see"},
	ExtendedPattern:      {Line, cardea.OpaqueParser, "an extended pattern, which bash reads as something else when extglob is off and zsh may execute"},
	ZshEquals:            {Line, cardea.OpaqueZsh, "=command is replaced by a path in zsh"},
	WordEnd:              {Line, cardea.OpaqueParser, "a word that the parser ends before bash does"},
	LetOperator:          {Line, cardea.OpaqueParser, "an operator in let that bash reads before let does"},
	WordAfterClose:       {Line, cardea.OpaqueParser, "a word behind <&- or >&-, which bash takes as one of its own"},
	TooManyBodies:        {Line, cardea.OpaqueTooMany, "the function is defined too often"},
	ShadowsCommand:       {Line, cardea.OpaqueConstruct, "bash may run this function or alias in place of the command of that name"},
	DeclaresInside:       {Line, cardea.OpaqueDeclaration, "a script within the line declares a variable"},
	CoprocName:           {Line, cardea.OpaqueParser, "bash takes a name for a coproc only in front of a compound command"},
	TimeDashes:           {Line, cardea.OpaqueParser, "time -- in front of what is no simple command"},
	MadeLinks:            {Line, cardea.OpaqueLinks, "the links that it makes change what it does"},
	NotUTF8:              {Line, cardea.OpaqueHidden, "it holds bytes that are not UTF-8"},
	CarriageReturn:       {Line, cardea.OpaqueHidden, "it holds a carriage return, which bash takes as part of a word"},
	NULByte:              {Line, cardea.OpaqueHidden, "it holds a NUL byte"},
	OddBlank:             {Line, cardea.OpaqueHidden, "it holds a blank that bash takes as part of a word"},
	ControlCharacter:     {Line, cardea.OpaqueHidden, "it holds a control character"},
	UnseenCharacter:      {Line, cardea.OpaqueHidden, "it holds a character that cannot be seen"},
	TextDirection:        {Line, cardea.OpaqueHidden, "it holds a character that changes the direction of the text"},
	DollarAtEnd:          {Line, cardea.OpaqueParser, "a line that goes on behind a dollar, where bash joins an expansion"},
	CommentBackslash:     {Line, cardea.OpaqueParser, "a comment that ends in a backslash does not go on in bash"},
	ZshDollar:            {Line, cardea.OpaqueZsh, "a dollar that begins an expansion in zsh"},
	ZshVariable:          {Line, cardea.OpaqueZsh, "a variable that zsh sets itself"},
	ZshModifier:          {Line, cardea.OpaqueZsh, "a letter after the colon changes the value in zsh"},
	ZshSubscript:         {Line, cardea.OpaqueZsh, "$x[…] is a subscript in zsh"},
	ZshLength:            {Line, cardea.OpaqueZsh, "$#x is a length in zsh"},
	ZshDigits:            {Line, cardea.OpaqueZsh, "a parameter of several digits in zsh"},
	HidesVariable:        {Later, cardea.OpaqueVariable, "setting %s changes what later commands do"},
	ExportsVariable:      {Later, cardea.OpaqueVariable, "it exports %s, which changes what later commands do"},
	LookupLater:          {Later, cardea.OpaqueLookup, "an earlier %s may change what the name means"},
	TooManyExports:       {Later, cardea.OpaqueTooMany, "it exports too many variables"},
	VariableLater:        {Later, cardea.OpaqueVariable, "it sets %s, which changes what later commands do"},
	SearchPathLater:      {Later, cardea.OpaqueSearchPath, "it sets %s, which changes what later commands do"},
	Untracked:            {Values, "", "a construct in which variables are not followed"},
	SetsReadOnly:         {Values, "", "it may assign a read-only variable"},
	DeclaresByWord:       {Values, "", "a declaration behind command or builtin"},
	ManyAborts:           {Values, "", "bash may give up the line at too many places"},
	HandlerRuns:          {Values, "", "a trap may run what is defined here at any time"},
	HandlerSets:          {Values, "", "a trap may set variables at any time"},
	RunsAnyTime:          {Values, "", "it runs at a time that is unknown"},
	LongChain:            {Values, "", "a chain of too many commands"},
	AnyCommand:           {Values, "", "a command that may set any variable may run"},
	TooManyWords:         {Rest, cardea.OpaqueTooMany, "too many words"},
	TooManyCommands:      {Rest, cardea.OpaqueTooMany, "too many commands in one line"},
	TooManyJumps:         {Rest, cardea.OpaqueTooMany, "too many jumps in one line"},
	TooManyTexts:         {Rest, cardea.OpaqueTooMany, "its words may become too much"},
	TooLongWords:         {Rest, cardea.OpaqueTooLong, "its words expand to too much"},
	TooLongOutput:        {Rest, cardea.OpaqueTooLong, "its commands print too much"},
}
