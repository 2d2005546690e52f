package schema

import "reflect"

type (
	textList []string // a text or a list of texts
	text     string   // also written as a number or truth value
)

// rulesFile is a rule file as its author writes it. The program reads it into rules.Rule; a
// test keeps the two in sync.
type rulesFile struct {
	Version int    `yaml:"version" const:"1" about:"the version of this format"`
	Rules   []rule `yaml:"rules" need:"yes" about:"the rules, in any order"`
}

type rule struct {
	ID       string          `yaml:"id" need:"yes" pattern:"^[A-Za-z0-9._/-]{1,100}$" about:"names the rule in verdicts and settings"`
	Event    textList        `yaml:"event" about:"events that it is about; PreToolUse where absent"`
	Tool     textList        `yaml:"tool" about:"canonical names of tools, or globs; every tool where absent"`
	Match    match           `yaml:"match" about:"what must hold, all of it on the same part"`
	Effect   string          `yaml:"effect" enum:"halt,deny,ask,defer,allow,abstain" about:"what the rule wants; absent for advice only"`
	Person   bool            `yaml:"person" about:"an ask that is a deny where nobody is watching"`
	Certain  bool            `yaml:"certain" about:"holds for what a part does for certain alone, not for what it may do"`
	Message  text            `yaml:"message" about:"what the model and the person are told"`
	Instead  text            `yaml:"instead" about:"a command or input that does the same, better"`
	Because  text            `yaml:"because" about:"the incident or cause behind the rule"`
	Context  text            `yaml:"context" about:"advice: what the model is told whatever is decided"`
	Severity string          `yaml:"severity" enum:"low,medium,high,critical"`
	Loses    string          `yaml:"loses" enum:"project,history,files,secrets,gate"`
	Rewrite  map[string]text `yaml:"rewrite" about:"advice: fields of the tool input to replace"`
	Tests    []test          `yaml:"tests" about:"examples, run by cardea rules test"`
}

type match struct {
	Command     textList `yaml:"command" about:"program and leading subcommands; one of them"`
	Flags       textList `yaml:"flags" about:"options; one of them is given"`
	Args        textList `yaml:"args" about:"RE2 expressions; one matches an operand"`
	Path        textList `yaml:"path" about:"globs; one matches a path of an access"`
	Files       textList `yaml:"files" about:"names of lists of files; one of their globs matches a path of an access"`
	Access      textList `yaml:"access" enum:"read,write,delete,execute,network,link,unknown"`
	AnyProgram  bool     `yaml:"any_program" const:"true" about:"the command may be that of a program which is only known when it runs"`
	Host        textList `yaml:"host" about:"globs of host names"`
	Role        textList `yaml:"role" about:"globs of roles"`
	Flow        textList `yaml:"flow" enum:"download-run,decode-run,unpack-run,secret-network,write-run,self-call,multiplies,*"`
	Env         textList `yaml:"env" about:"globs of variables; the part sets one of them"`
	StartedBy   textList `yaml:"started_by" about:"RE2 expressions; one is found in a command that starts the part"`
	Holds       string   `yaml:"holds" enum:"private-key" about:"what the file of the access holds"`
	Unless      except   `yaml:"unless" about:"exceptions"`
	Outside     bool     `yaml:"outside" const:"true" about:"the access lies in no folder of the work, temporary or cache folder"`
	Redirection bool     `yaml:"redirection" const:"true" about:"the shell itself opens the file of the access"`
	Stdin       string   `yaml:"stdin" enum:"none,any" about:"in a rule that allows: whether the line may give the part something to read"`
	Own         textList `yaml:"own" enum:"settings,folder,key,programs,bin" about:"the access touches things of the gate's own, wherever they lie"`
	Opaque      bool     `yaml:"opaque" const:"true" about:"there is a spot that cannot be seen through"`
	Field       string   `yaml:"field" about:"a field of the tool input, dotted"`
	Pattern     string   `yaml:"pattern" about:"an RE2 expression for the field, or for the part's text"`
	Any         []match  `yaml:"any" about:"alternatives; one of them holds"`
}

type except struct {
	Flags    textList `yaml:"flags" about:"options; none of them is given"`
	Files    textList `yaml:"files" about:"names of lists of files; their globs do not name the access"`
	Search   bool     `yaml:"search" const:"true" about:"the access names the file, and does not only come by"`
	Metadata bool     `yaml:"metadata" const:"true" about:"the access does more than read names and attributes"`
	Reads    bool     `yaml:"reads" const:"true" about:"the part does more than read"`
	Command  textList `yaml:"command" about:"the program is none of them"`
	Pattern  string   `yaml:"pattern" about:"an RE2 expression; it does not match all of the part's words"`
}

type test struct {
	Input     map[string]any `yaml:"input" about:"the tool input, or a whole call"`
	Tool      string         `yaml:"tool"`
	ToolName  string         `yaml:"tool_name"`
	ToolInput map[string]any `yaml:"tool_input"`
	Expect    string         `yaml:"expect" need:"yes" enum:"allow,deny,ask,defer,halt,abstain,none,block"`
	Contains  text           `yaml:"contains" about:"part of what the rule tells"`
	Desc      text           `yaml:"desc"`
	Event     string         `yaml:"event"`
	Role      string         `yaml:"role"`
	Cwd       string         `yaml:"cwd"`
}

// Rules returns the schema of a rule file.
func Rules() Object {
	top := ofStruct(reflect.TypeFor[rulesFile]())
	top["$defs"] = Object{"match": ofStruct(reflect.TypeFor[match]())}
	return titled(top, "rules/*.yaml", "Rules of Cardea, the gate for tool calls of AI coding agents")
}
