package form

// Similar describes in which words two calls of a program may differ and still be the
// same for an allowance of the user.
type Similar struct {
	// The commands with their leading subcommands, under their usual names: `[cargo test,
	// go test]`.
	Commands []string `yaml:"commands,required"`
	// The values that may replace an operand. `tests`: a file or folder of the project's own
	// tests. `read`: a file that is read. `write`: a file that is written, with the same ending.
	// `subtree`: a file or folder that is formatted, checked or listed, with everything below it.
	// `temporary`: an entry of the same temporary folder. `name`: a part of the project.
	// `pattern`: for names of tests. `same`: no other value, as without this key.
	Operands string `yaml:"operands" words:"tests,read,write,subtree,temporary,name,pattern,same"`
	// The same for the first operand, if it differs.
	FirstOperand string `yaml:"first_operand" words:"tests,read,write,subtree,temporary,name,pattern,same"`
	// The same for the last operand, if it differs and there are several.
	LastOperand string `yaml:"last_operand" words:"tests,read,write,subtree,temporary,name,pattern,same"`
	// The first operand must be one of these.
	FirstOperands []string `yaml:"first_operands"`
	// Each operand that differs begins with one of these in both calls (`./` of go).
	OperandPrefixes []string `yaml:"operand_prefixes"`
	// The options that may be given, in any order. With any other option, no word may
	// differ and the order matters.
	Options []string `yaml:"options" words:"options"`
	// Options whose value may differ, and how: as for operands, or `text` (that nothing
	// interprets), `name` (of a part of the project), `pattern` (for names of tests), `number`.
	Values []NamedText `yaml:"values" words:"options"`
	// The first operand is a program. The words after it may differ as the entry of that
	// program allows (`npx jest`).
	RunsOperand bool `yaml:"runs_operand"`
	// The value of this option is a program. The words after it may differ as the entry of
	// that program allows (`python -m pytest`).
	RunsOption string `yaml:"runs_option" words:"options"`
}

// The values of Operands and Values of [Similar].
const (
	VariesNot       = "same"
	VariesTests     = "tests"
	VariesRead      = "read"
	VariesWrite     = "write"
	VariesSubtree   = "subtree"
	VariesTemporary = "temporary"
	VariesText      = "text"
	VariesName      = "name"
	VariesPattern   = "pattern"
	VariesNumber    = "number"
)

// SimilarValues are the words that an entry of Similar.Values may have.
var SimilarValues = []string{VariesTests, VariesRead, VariesWrite, VariesSubtree, VariesText, VariesName, VariesPattern, VariesNumber}
