package form

// OptionValues are values of an option.
type OptionValues struct {
	Name   string
	Values []string
}

// Wrapper is a program that starts another one: the words after its own are the command.
type Wrapper struct {
	// All names of the wrapper. `*` at the end stands for any ending. The parts of a line
	// that it starts carry the first name, or its own name if `how` is not given.
	Name []string `yaml:"name,required"`
	// How the command is found, if it is not simply the words after those of the wrapper:
	// `shell` (a script or text in the language of bash), `foreign_shell`, `environment`
	// (env), `search` (find), `input` (xargs), `templates` (parallel), `lock` (flock),
	// `recording` (script), `user` (su), `container` (docker exec), `later` (at).
	How string `yaml:"how" words:"shell,foreign_shell,environment,search,input,templates,lock,recording,user,container,later"`
	// Options without a value.
	Options []string `yaml:"options" words:"options"`
	// Options with a value.
	ValueOptions []string `yaml:"value_options" words:"options"`
	// Options whose value, if any, is part of the same word: after a `=` in long ones.
	OptionalValueOptions []string `yaml:"optional_value_options" words:"options"`
	// The number of operands before the command.
	OperandsBefore int `yaml:"operands_before" max:"3"`
	// These operands, and the values of options, are numbers, times or names of `signals`.
	// With any other word the wrapper starts nothing.
	TakesNumbers bool `yaml:"takes_numbers"`
	// Names of signals that it takes, in lower case and without `sig`.
	Signals []string `yaml:"signals"`
	// `-5` is an option (`nice`).
	NumericOptions bool `yaml:"numeric_options"`
	// Words of the form `NAME=value` may come before the command.
	Assignments bool `yaml:"assignments"`
	// No option follows such a word.
	AssignmentsEndOptions bool `yaml:"assignments_end_options"`
	// The words of the command are joined and read by a shell.
	JoinsWords bool `yaml:"joins_words"`
	// The command runs as another user, or with other rights.
	Elevated bool `yaml:"elevated"`
	// The command runs on another machine, or sees other files.
	Remote bool `yaml:"remote"`
	// The wrapper has effects of its own and starts the command.
	ItselfToo bool `yaml:"itself_too"`
	// Accesses to the values of options.
	OptionAccesses []NamedAccess `yaml:"option_accesses" kind:"operand" words:"options"`
	// Options with which it starts something that the analysis cannot see.
	OpaqueOptions []string `yaml:"opaque_options" words:"options"`
	// The same for options of which only some values matter. The values are prefixes, in
	// lower case.
	OpaqueOptionValues []OptionValues `yaml:"opaque_option_values" words:"options"`
	// Options before a command that ends at `;` or `+` (`find -exec`).
	CommandOptions []string `yaml:"command_options" words:"options"`
	// The file that was found is appended to a command without `{}` (`fd -x`).
	AppendsFile bool `yaml:"appends_file"`
	// Options may also follow the container's name (`kubectl exec`).
	OptionsAfterOperand bool `yaml:"options_after_operand"`
	// Properties are the properties of the entry. The generated table has a separate list of them.
	Properties []Held `yaml:"-"`
}
