package form

// Similar says in which words two calls of a program may differ, so that a person who
// allowed one of them has allowed the other.
type Similar struct {
	// The commands with their leading subcommands, under their usual names: `[cargo test,
	// go test]`.
	Commands []string `yaml:"commands,required"`
	// What an operand may be instead. `tests`: a file or folder of the project's own tests.
	// `read`: a file that is read. `write`: a file that is written, with the same ending.
	// `subtree`: a file or folder that is formatted, checked or listed, with all below it.
	// `temporary`: an entry of the same temporary folder. `name`: a part of the project.
	// `pattern`: for names of tests. `same`: nothing else, as where the key is left out.
	Operands string `yaml:"operands" words:"tests,read,write,subtree,temporary,name,pattern,same"`
	// The same for the first operand, where it differs.
	FirstOperand string `yaml:"first_operand" words:"tests,read,write,subtree,temporary,name,pattern,same"`
	// The same for the last operand, where it differs and is not the only one.
	LastOperand string `yaml:"last_operand" words:"tests,read,write,subtree,temporary,name,pattern,same"`
	// The first operand is one of these, and no other one.
	FirstOperands []string `yaml:"first_operands"`
	// Each operand that differs begins with one of these in both calls (`./` of go).
	OperandPrefixes []string `yaml:"operand_prefixes"`
	// The options that may be given, in any order. Where another one is given, no word
	// may differ and the order matters.
	Options []string `yaml:"options" words:"options"`
	// Options that may be given with another value, and what that is: as for operands,
	// or `text` (that nothing interprets), `name` (of a part of the project), `pattern`
	// (for names of tests), `number`.
	Values []NamedText `yaml:"values" words:"options"`
	// The first operand is a program, and what may differ behind it is what is said of
	// that one (`npx jest`).
	RunsOperand bool `yaml:"runs_operand"`
	// The value of this option is a program, and what may differ behind it is what is said of
	// that one (`python -m pytest`).
	RunsOption string `yaml:"runs_option" words:"options"`
}

// What a word may be instead.
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
