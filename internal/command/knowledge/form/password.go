package form

// Password describes where a program takes passwords, keys and tokens on its command line.
type Password struct {
	// Command is the program with its leading subcommands: `vault login`.
	Command []string `yaml:"command,required" words:"command"`
	// Names lists other names of the program.
	Names []string `yaml:"names"`
	// With lists options. The entry applies only with one of them, alone or in a cluster.
	With []string `yaml:"with" words:"options"`
	// Options lists options whose value is a secret: in the next word, after `=`, or joined to an
	// option of one letter.
	Options []string `yaml:"options" words:"options"`
	// SeparateValues says that an option of one letter is never joined to its value (`openssl
	// -key`).
	SeparateValues bool `yaml:"separate_values"`
	// JoinedOptions lists options whose value is a secret if it is joined to them (`mysql -pX`).
	JoinedOptions []string `yaml:"joined_options" words:"options"`
	// OptionsBehind maps options to the text after which their value holds a secret: `{-u: ":"}`
	// of curl.
	OptionsBehind []NamedText `yaml:"options_behind" words:"options"`
	// Clusters says that the last letter of a cluster may be one of the options (`curl -su
	// me:x`).
	Clusters bool `yaml:"clusters"`
	// Operands lists the numbers of the operands that are secrets. The first operand after the
	// command is 1.
	Operands []int `yaml:"operands" max:"9"`
	// ValueOptions lists options with a value, which is no operand.
	ValueOptions []string `yaml:"value_options" words:"options"`
	// Keywords lists words of the program's own language before a secret (`nmcli … password X`).
	Keywords []string `yaml:"keywords"`
	// KeyValueOperands says that operands `name=value` hold a secret.
	KeyValueOperands bool `yaml:"key_value_operands"`
	// EndsAtOperand says that words after the first operand belong to another program (`sudo -S
	// apt install`).
	EndsAtOperand bool `yaml:"ends_at_operand"`
	// Input lists options with which standard input is a secret. `[always]` means that it always
	// is.
	Input []string `yaml:"input" words:"options,always"`
	// Starts says that the program starts the command after it, which reads the same input.
	Starts bool `yaml:"starts"`
	// Prints says that the program prints its operands, which another program may read as a
	// secret.
	Prints bool `yaml:"prints"`
	// PrintsInput says that the program prints the here-document that it reads.
	PrintsInput bool `yaml:"prints_input"`
}

// NamedText is a text that belongs to an option.
type NamedText struct{ Name, Text string }
