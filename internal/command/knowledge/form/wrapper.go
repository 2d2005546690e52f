package form

// OptionValues are values of an option.
type OptionValues struct {
	Name   string
	Values []string
}

// Wrapper is a program that starts another one: the words after its own are the command.
type Wrapper struct {
	// Name lists all names of the wrapper. `*` at the end stands for any ending. `cardea try`
	// shows the first name for what it starts, or the wrapper's own name without `how`.
	Name []string `yaml:"name,required"`
	// How is the way to find the command, if it is not simply the words after those of the
	// wrapper: `shell` (a script or text in the language of bash), `foreign_shell`, `environment`
	// (env), `search` (find), `input` (xargs), `templates` (parallel), `lock` (flock),
	// `recording` (script), `user` (su), `container` (docker exec) or `later` (at).
	How string `yaml:"how" words:"shell,foreign_shell,environment,search,input,templates,lock,recording,user,container,later"`
	// Options lists the options without a value.
	Options []string `yaml:"options" words:"options"`
	// ValueOptions lists the options with a value.
	ValueOptions []string `yaml:"value_options" words:"options"`
	// OptionalValueOptions lists the options whose value, if any, is part of the same word: after
	// a `=` in long ones.
	OptionalValueOptions []string `yaml:"optional_value_options" words:"options"`
	// OperandsBefore is the number of operands before the command.
	OperandsBefore int `yaml:"operands_before" max:"3"`
	// TakesNumbers says that these operands, and the values of options, are numbers, times or
	// names of `signals`. With any other word the wrapper starts nothing.
	TakesNumbers bool `yaml:"takes_numbers"`
	// Signals lists the names of signals that it takes, in lower case and without `sig`.
	Signals []string `yaml:"signals"`
	// NumericOptions says that `-5` is an option (`nice`).
	NumericOptions bool `yaml:"numeric_options"`
	// Assignments says that words `NAME=value` may come before the command.
	Assignments bool `yaml:"assignments"`
	// AssignmentsEndOptions says that no option follows such a word.
	AssignmentsEndOptions bool `yaml:"assignments_end_options"`
	// JoinsWords says that a shell reads the words of the command, joined by blanks.
	JoinsWords bool `yaml:"joins_words"`
	// Elevated says that the command runs as another user, or with other rights.
	Elevated bool `yaml:"elevated"`
	// Remote says that the command runs on another machine, or sees other files.
	Remote bool `yaml:"remote"`
	// ItselfToo says that the wrapper also has effects of its own.
	ItselfToo bool `yaml:"itself_too"`
	// OptionAccesses maps options to the access to their value.
	OptionAccesses []NamedAccess `yaml:"option_accesses" kind:"operand" words:"options"`
	// OpaqueOptions lists options with which it starts something that the analysis cannot see.
	OpaqueOptions []string `yaml:"opaque_options" words:"options"`
	// OpaqueOptionValues maps such options to the values that matter. The values are beginnings,
	// in lower case.
	OpaqueOptionValues []OptionValues `yaml:"opaque_option_values" words:"options"`
	// CommandOptions lists options before a command that ends at `;` or `+` (`find -exec`).
	CommandOptions []string `yaml:"command_options" words:"options"`
	// AppendsFile says that a command without `{}` gets the file that was found as its last word
	// (`fd -x`).
	AppendsFile bool `yaml:"appends_file"`
	// OptionsAfterOperand says that options may also follow the name of the container (`kubectl
	// exec`).
	OptionsAfterOperand bool `yaml:"options_after_operand"`
	// Properties are the properties of the entry. The generated table has a separate list of them.
	Properties []Held `yaml:"-"`
}
