// Package inline reads scripts in the words of a command and reports which files they
// read, if they certainly only compute, read and print.
//
// What it understands of a language is a grammar, in the file with the language's name.
// It knows names, not modules: each name in a script is a listed one or a variable of
// the script. No value of such names can do more. A call that opens or lists files must
// name them in its own words.
package inline

import (
	"embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Words returns the words of a list of command knowledge.
type Words func(list string) []string

// Use holds the files and modules that a script uses.
type Use struct {
	// Read are the paths whose contents the script reads, and Listed those whose names and
	// attributes it reads.
	Read, Listed []string
	// Required are the paths of Read that are modules: Node runs a folder of that name.
	Required []string
	// Imports is set if the script imports modules of Python.
	Imports bool
}

// Names holds the listed names and what they do with the file that their first argument
// names. They are functions and classes ("len", "os.path.join"), attributes of any value
// (".split"), and modules that may be imported but not used ("import subprocess").
type Names map[string]string

// The effects of names. All other names only compute.
const (
	Reads = "reads" // the contents of the file, unless another mode is given
	Lists = "lists" // names and attributes
	Opens = "opens" // a member of an open file, unless another mode is given
	Tells = "tells" // it returns a class, which may be compared and shown, but not called
	Takes = "takes" // it computes if it has one argument
	Fails = "fails" // an exception that an except clause may name
)

// language holds the grammar of a language and its checks, texts that no script may
// have, the names that scripts may use, and the names that no variable may have.
type language struct {
	grammar        func() grammar
	checks         checks
	refused        string
	listed, others string
}

var (
	//go:embed *.peg
	grammars embed.FS

	languages = map[string]language{
		"awk":    {grammar: of("awk")},
		"perl":   {grammar: of("perl"), checks: perlChecks, refused: `[\r\v\f\x00]|\n=`, others: "Perl's own variables"},
		"python": {grammar: of("python"), checks: pythonChecks, listed: "Python that reads", others: "Python's other names"},
		// Some words turn a value into code, or into a method that a later word calls.
		"node": {grammar: of("javascript"), checks: javaScriptChecks, listed: "JavaScript that reads", others: "JavaScript's other names",
			refused: `[\r\v\f\x00\x{2028}\x{2029}\x{feff}\x{a0}]|<!--|-->|` +
				`\b(?:constructor|__\w+__|prototype|caller|callee|arguments|mainModule|valueOf|toJSON|then|Symbol|toPrimitive)\b`},
	}
)

// of returns a function that reads a grammar once. Few lines have a script, and a hook
// that answers one call must not read all grammars.
func of(name string) func() grammar {
	return sync.OnceValue(func() grammar {
		text, err := grammars.ReadFile(name + ".peg")
		if err != nil {
			panic(err)
		}
		return parse(string(text))
	})
}

// swallowed matches characters that are a part of the letter before them if the
// machine's encoding is not UTF-8 (GBK, Shift JIS).
const swallowed = "[^\\x00-\\x7f][@\\[\\\\\\]^`{|}~]"

// Read returns what a script uses. name is its language in packs/commands. It returns
// false if the script may do more, or if the language is unknown.
func Read(name, text string, words Words) (Use, bool) {
	l, known := languages[name]
	if !known {
		return Use{}, false
	}
	r := &reading{grammar: l.grammar(), s: text, checks: l.checks, names: Names{}, others: words(l.others)}
	for _, word := range words(l.listed) {
		name, does, _ := strings.Cut(word, ":")
		r.names[name] = does
	}
	if !utf8.ValidString(text) || regexp.MustCompile(swallowed).MatchString(text) || l.refused != "" && regexp.MustCompile(l.refused).MatchString(text) || !r.all() {
		return Use{}, false
	}
	return r.use()
}

// all reports whether the grammar matches the whole script.
func (r *reading) all() bool {
	return r.fits(r.grammar["script"]) && r.at == len(r.s) && !r.exceeded
}

// use collects from the notes what the script uses.
func (r *reading) use() (u Use, ok bool) {
	does := ""
	for _, n := range r.notes {
		switch n.check {
		case "reads", "lists":
			does = n.check
		case "module":
			u.Imports = true
		case "uses":
			if !slices.ContainsFunc(r.notes, func(d note) bool { return d.text == n.text && (d.check == "declares" || d.check == "assigns") }) {
				return Use{}, false // Python has no such name
			}
		case "json":
			u.Read, u.Required = append(u.Read, n.text), append(u.Required, n.text)
		case "variable", "path":
			path, known := n.text, true
			if n.check == "variable" {
				path, known = r.value(n.text)
			}
			if !known {
				return Use{}, false
			}
			if does == Reads {
				u.Read = append(u.Read, path)
			} else {
				u.Listed = append(u.Listed, path)
			}
		}
	}
	return u, true
}

// value returns the text of a variable that is assigned only once, or false.
func (r *reading) value(variable string) (value string, known bool) {
	for i, n := range r.notes {
		if n.text != variable || n.check != "declares" && n.check != "assigns" {
			continue
		}
		if known || n.check == "declares" {
			return "", false
		}
		value, known = r.notes[i+1].text, true
	}
	return value, known
}

// checks are the checks of a language, by name.
type checks map[string]func(r *reading, text string) bool

// note records a text for later checks. It always returns true.
func (r *reading) note(check, text string) bool {
	r.notes = append(r.notes, note{check, text})
	return true
}

// noted returns the text of the last note of one of these checks, or "".
func (r *reading) noted(checks ...string) string {
	for _, n := range slices.Backward(r.notes) {
		if slices.Contains(checks, n.check) {
			return n.text
		}
	}
	return ""
}

// unquoted returns the text of a literal without escapes.
func unquoted(literal string) string {
	literal = literal[strings.IndexAny(literal, `'"`):]
	return literal[1 : len(literal)-1]
}

func (r *reading) has(list string, word string) bool { return slices.Contains(r.others, list+word) }

// does returns a check whether the name that was read is listed with this effect.
func does(what string) func(*reading, string) bool {
	return func(r *reading, _ string) bool {
		does, listed := r.names[r.noted("name")]
		return listed && does == what && r.note(what, "")
	}
}

// begins starts a name. member extends it, unless it is already a listed name.
func begins(r *reading, name string) bool { return r.note("name", name) }

func member(r *reading, name string) bool {
	_, done := r.names[r.noted("name")]
	longer := r.noted("name") + "." + name
	_, listed := r.names[longer]
	return (!done || listed) && r.note("name", longer)
}

func path(r *reading, literal string) bool { return r.note("path", unquoted(literal)) }

var perlChecks = checks{
	"begins":   func(r *reading, sign string) bool { return r.note("begins", sign) },
	"ends":     func(r *reading, sign string) bool { return sign == strings.ReplaceAll(r.noted("begins"), "{", "}") },
	"unbraced": func(r *reading, _ string) bool { return r.noted("begins") != "{" },
	// Files to read, the environment and Perl's folders have reserved names.
	"own": func(r *reading, name string) bool { return !slices.Contains(r.others, name) },
}

var javaScriptChecks = checks{
	"begins": begins, "member": member, "path": path, "reads": does(Reads), "lists": does(Lists), "computes": does(""),
	// In another place it would be another variable.
	"declares": func(r *reading, name string) bool {
		_, listed := r.names[name]
		return !listed && name[0] >= '_' && !slices.Contains(r.others, name) && !r.has("module ", name) && r.note("declares", name)
	},
	"own":    func(r *reading, name string) bool { return slices.Contains(r.notes, note{"declares", name}) },
	"method": (*reading).method, "key": func(r *reading, name string) bool { return !r.method(name) },
	// A value that Node defines.
	"value": func(r *reading, _ string) bool {
		name := r.noted("name")
		_, listed := r.names[name]
		return listed && (strings.HasPrefix(name, "process.") && !strings.HasPrefix(name, "process.std") || strings.HasPrefix(name, "Math.") || name == "os.EOL")
	},
	"module": func(r *reading, name string) bool {
		if strings.ContainsAny(name, `'"`) {
			name = unquoted(name)
		}
		name = strings.TrimPrefix(name, "node:")
		return r.has("module ", name) && r.note("name", name)
	},
	"same": func(r *reading, literal string) bool {
		return strings.TrimPrefix(unquoted(literal), "node:") == r.noted("name")
	},
	"json": func(r *reading, literal string) bool {
		file := unquoted(literal)
		begins := func(with string) bool { return strings.HasPrefix(file, with) }
		return strings.HasSuffix(file, ".json") && slices.ContainsFunc([]string{"./", "../", "/"}, begins) && r.note("json", file)
	},
}

func (r *reading) method(name string) bool {
	_, listed := r.names["."+name]
	return listed
}

var pythonChecks = checks{
	"path": path, "reads": does(Reads), "lists": does(Lists), "tells": does(Tells), "takes": does(Takes), "fails": does(Fails),
	"bracketed": func(r *reading, _ string) bool { return r.brackets > 0 },
	"undoubled": func(_ *reading, text string) bool { return !strings.ContainsAny(text, "\"\\#\n") },
	"unsingled": func(_ *reading, text string) bool { return !strings.ContainsAny(text, "'\\#\n") },
	"declares":  func(r *reading, name string) bool { return r.variable(name) && r.note("declares", name) },
	"uses":      func(r *reading, name string) bool { return r.variable(name) && r.note("uses", name) },
	"variable": func(r *reading, name string) bool {
		return r.variable(name) && r.note("uses", name) && r.note("variable", name)
	},
	// The next note has the text.
	"assigns": func(r *reading, name string) bool { return r.variable(name) && r.note("assigns", name) },
	"text":    func(r *reading, literal string) bool { return r.note("text", unquoted(literal)) },
	"mode": func(_ *reading, literal string) bool {
		return slices.Contains([]string{"r", "rb", "br", "rt", "tr"}, unquoted(literal))
	},
	// The fields of the text name arguments, not attributes of them.
	"template": func(_ *reading, literal string) bool {
		for field := range strings.SplitSeq(unquoted(literal), "{") {
			field, _, _ = strings.Cut(field, "}")
			if field, _, _ = strings.Cut(field, ":"); strings.ContainsAny(field, ".[") {
				return false
			}
		}
		return true
	},
	"attribute": func(r *reading, name string) bool {
		does, listed := r.names["."+name]
		return listed && does == "" && name != "format"
	},
	"opens": func(r *reading, name string) bool { return r.names["."+name] == Opens },

	// An imported name has only one meaning, and none before the import.
	"module": func(r *reading, path string) bool { return r.module(path) && r.note("module", path) },
	"package": func(r *reading, path string) bool {
		first, _, _ := strings.Cut(path, ".")
		return r.module(path) && r.module(first) && r.note("module", first) && r.stands(first)
	},
	"part": func(r *reading, name string) bool {
		path := r.noted("module") + "." + name
		_, listed := r.names[path]
		return (listed || r.module(path)) && r.note("part", path)
	},
	"stands": (*reading).stands,
	"itself": func(r *reading, _ string) bool {
		path := r.noted("part")
		return r.stands(path[strings.LastIndexByte(path, '.')+1:])
	},
	"begins": func(r *reading, name string) bool {
		_, listed := r.names[name]
		of := r.alias(name)
		if of == "" && listed {
			of = name
		}
		return of != "" && r.note("name", of)
	},
	"member": func(r *reading, name string) bool {
		longer := r.noted("name") + "." + name
		_, listed := r.names[longer]
		return (listed || r.module(longer)) && member(r, name)
	},
	"shows":    func(r *reading, _ string) bool { return r.shows() },
	"computes": func(r *reading, text string) bool { return !r.shows() && does("")(r, text) },
}

func (r *reading) shows() bool {
	return slices.Contains([]string{"print", "str", "repr", "isinstance"}, r.noted("name"))
}

// variable reports whether a variable of a script of Python may have this name.
func (r *reading) variable(name string) bool {
	_, listed := r.names[name]
	return !listed && r.alias(name) == "" && !strings.HasPrefix(name, "__") && !slices.Contains(r.others, name)
}

// module reports whether a module of Python may be imported.
func (r *reading) module(path string) bool {
	if _, only := r.names["import "+path]; only {
		return true
	}
	for listed := range r.names {
		if strings.HasPrefix(listed, path+".") {
			return true
		}
	}
	return false
}

// alias returns the full name of an imported name, or "".
func (r *reading) alias(name string) string {
	for i, n := range r.notes {
		if n == (note{"stands", name}) {
			return r.notes[i+1].text
		}
	}
	return ""
}

// stands records name as the name of the last import.
func (r *reading) stands(name string) bool {
	of := r.noted("module", "part")
	_, listed := r.names[name]
	for _, n := range r.notes {
		if n.text == name && slices.Contains([]string{"declares", "assigns", "uses"}, n.check) {
			return false
		}
	}
	old := r.alias(name)
	return (old == "" || old == of) && !listed && !strings.HasPrefix(name, "__") && !slices.Contains(r.others, name) &&
		r.note("stands", name) && r.note("for", of)
}
