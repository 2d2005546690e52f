package form

// Similar describes in which words two calls of a program may differ and still be the
// same for an allowance of the user.
type Similar struct {
	// Commands lists the commands with their leading subcommands, under their usual names:
	// `[cargo test, go test]`.
	Commands []string `yaml:"commands,required"`
	// Operands is the kind of operands that may replace an operand. `tests` is a file or folder of the project's own
	// tests. `read` is a file that the program reads, and `write` a file that it writes, with the
	// same ending. `subtree` is a file or folder that it formats, checks or lists, with
	// everything below it. `temporary` is an entry of the same temporary folder, `name` a part of
	// the project, and `pattern` a pattern for names of tests. `same`, the default, allows no
	// other value.
	Operands string `yaml:"operands" words:"tests,read,write,subtree,temporary,name,pattern,same"`
	// FirstOperand says the same of the first operand, if it differs.
	FirstOperand string `yaml:"first_operand" words:"tests,read,write,subtree,temporary,name,pattern,same"`
	// LastOperand says the same of the last operand, if it differs and there are several.
	LastOperand string `yaml:"last_operand" words:"tests,read,write,subtree,temporary,name,pattern,same"`
	// FirstOperands lists the words that the first operand may be.
	FirstOperands []string `yaml:"first_operands"`
	// OperandPrefixes lists texts. Each operand that differs begins with one of them in both
	// calls (`./` of go).
	OperandPrefixes []string `yaml:"operand_prefixes"`
	// Options lists the options that may be given, in any order. With any other option, no word
	// may differ, and the order matters.
	Options []string `yaml:"options" words:"options"`
	// Values maps options to what may replace their value: a word as in `operands`, `text` that
	// nothing interprets, or `number`.
	Values []NamedText `yaml:"values" words:"options"`
	// RunsOperand says that the first operand is a program. The entry of that program says how
	// the words after it may differ (`npx jest`).
	RunsOperand bool `yaml:"runs_operand"`
	// RunsOption is an option whose value is a program. The entry of that program says how the
	// words after it may differ (`python -m pytest`).
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
