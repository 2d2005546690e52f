package form

// Password describes where a program takes passwords, keys and tokens on its command line.
type Password struct {
	// The program with its leading subcommands: `vault login`.
	Command []string `yaml:"command,required" words:"command"`
	// Other names of the program.
	Names []string `yaml:"names"`
	// The entry applies only with one of these options, alone or in a cluster.
	With []string `yaml:"with" words:"options"`
	// Options whose value is a secret: in the next word, after `=`, or joined to an option
	// of one letter.
	Options []string `yaml:"options" words:"options"`
	// An option of one letter is never joined to its value (`openssl -key`).
	SeparateValues bool `yaml:"separate_values"`
	// Options whose value is a secret if it is joined to them (`mysql -pX`).
	JoinedOptions []string `yaml:"joined_options" words:"options"`
	// Options whose value holds a secret after a text: `{-u: ":"}` of curl.
	OptionsBehind []NamedText `yaml:"options_behind" words:"options"`
	// The last letter of a cluster may be one of the options (`curl -su me:x`).
	Clusters bool `yaml:"clusters"`
	// Operands that are secrets. The first one after the command is 1.
	Operands []int `yaml:"operands" max:"9"`
	// Options with a value. The value is not an operand.
	ValueOptions []string `yaml:"value_options" words:"options"`
	// Words of the program's own language before a secret (`nmcli … password X`).
	Keywords []string `yaml:"keywords"`
	// Operands of the form name=value hold a secret.
	KeyValueOperands bool `yaml:"key_value_operands"`
	// Words after the first operand belong to another program (`sudo -S apt install`).
	EndsAtOperand bool `yaml:"ends_at_operand"`
	// Standard input is a secret, with one of these options or `[always]`.
	Input []string `yaml:"input" words:"options,always"`
	// The program starts the command after it, which reads the same input.
	Starts bool `yaml:"starts"`
	// The program prints its operands, which another program may read as a secret.
	Prints bool `yaml:"prints"`
	// The program prints the here-document that it reads.
	PrintsInput bool `yaml:"prints_input"`
}

// NamedText is a text that belongs to an option.
type NamedText struct{ Name, Text string }
