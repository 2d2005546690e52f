// Package source reads packs/commands/*.yaml, the form in which people write
// down what programs do. The generator makes the table from it that Cardea
// links.
//
// Reading is strict, because a misspelled key would make a program look harmless
// that is not.
package source

import (
	"cardea.dev/internal/command/knowledge/files/filelists"
	"cardea.dev/internal/command/knowledge/form"
)

// File is one file of command knowledge.
type File struct {
	// Path is the file's name in the repository.
	Path string `yaml:"-"`
	// The manuals and versions that the file was written from.
	Manual string `yaml:"manual,required"`
	// Environment variables that may make the programs of the file execute, load
	// or write something, or contact another host. A star at the end stands for
	// any ending. Variables that are dangerous for every program (`PATH`, `LD_*`)
	// need not be named.
	Variables []string `yaml:"variables"`
	// A place for YAML anchors. Lists in lists are flattened, so that an option
	// list can contain an alias: `[*diff, --stat]`.
	Lists any `yaml:"lists"`
	// The programs.
	Programs []form.Program `yaml:"programs"`
	// Programs that start other programs with their words.
	Wrappers []form.Wrapper `yaml:"wrappers"`
	// Variables of a shell or of programs, by kind: special ones of a shell, `command` for those
	// that hold one, `expansion` for those that a shell expands.
	VariableKinds []form.OptionValues `yaml:"variable_kinds"`
	// Calls by language that only show (`print`) or compute text (`len*`, and the method `.upper*`
	// of a constant). SQL has statements (`insert`) and functions (`count*`).
	LanguageCalls []form.OptionValues `yaml:"language_calls"`
	// Where programs keep passwords, keys and tokens: a list of globs of the rule
	// language by program, `curl: ['/**/.netrc']`. A glob with a wildcard has an
	// example, `{glob: '/**/*.keytab', is: /p/http.keytab}`.
	Credentials []Credentials `yaml:"credentials"`
	// Where programs take passwords, keys and tokens on their command lines.
	Passwords []form.Password `yaml:"passwords"`
	// In which words two calls of a program may differ, so that who allowed one has
	// allowed the other.
	Similar []form.Similar `yaml:"similar"`
	// Command lines that the tests check.
	Tests Tests `yaml:"tests,required"`
}

// Holders are the commands with properties.
func (f *File) Holders() []form.Holder {
	var out []form.Holder
	add := func(names []string, list []form.Held) {
		for _, h := range list {
			for _, n := range names {
				out = append(out, form.Holder{Property: h.Property, Program: n, Words: h.Words})
			}
		}
	}
	var walk func(above string, list []form.Program)
	walk = func(above string, list []form.Program) {
		for _, p := range list {
			for _, n := range p.Name {
				add([]string{above + n}, p.Properties)
				walk(above+n+" ", p.Subcommands)
			}
		}
	}
	walk("", f.Programs)
	for _, w := range f.Wrappers {
		add(w.Name, w.Properties)
	}
	for _, k := range f.VariableKinds {
		add([]string{k.Name}, []form.Held{{Property: form.VariableKinds, Words: k.Values}})
	}
	for _, l := range f.LanguageCalls {
		add([]string{l.Name}, []form.Held{{Property: form.LanguageCalls, Words: l.Values}})
	}
	return out
}

// Credentials are the files in which a program keeps passwords, keys and tokens.
type Credentials struct {
	Program string
	Files   []filelists.File
}

// CredentialFiles is the list of the files of all programs.
func CredentialFiles(files []File) filelists.List {
	l := filelists.List{Name: "credentials", About: "What programs keep passwords, keys and tokens in."}
	for _, f := range files {
		for _, c := range f.Credentials {
			l.Files = append(l.Files, c.Files...)
		}
	}
	return l
}

// Tests are command lines with what the analysis must find.
type Tests struct {
	// Lines that only read and are allowed by `readonly`.
	ReadOnly []string `yaml:"read_only"`
	// Lines that must never be allowed by `readonly`. At least five.
	NotReadOnly []string `yaml:"not_read_only,required"`
	// Command lines with their accesses: `{sort -o b a: [read a, write b]}`, and with
	// the words of their commands where one is given: `command gh pr list`.
	Accesses []Example `yaml:"accesses"`
	// Command lines with the secrets in them, which the redactor takes out: `{sshpass -p
	// hunter2 ssh x: [hunter2]}`. An empty list for none.
	Passwords []Example `yaml:"passwords"`
	// Command lines with those that are similar: a person who allowed the first has
	// allowed them (`{pytest tests/auth: [pytest tests/api]}`). At least one for each entry of
	// `similar`.
	Similar []Example `yaml:"similar"`
	// Command lines with those that come close and are not similar. At least one for
	// each entry of `similar`.
	NotSimilar []Example `yaml:"not_similar"`
	// Paths of files that hold credentials. Each entry of `credentials` names at
	// least one that no other entry names.
	Credentials []string `yaml:"credentials"`
	// Paths of files that hold none.
	NoCredentials []string `yaml:"no_credentials"`
}

// Example is a command line with what the analysis must find.
type Example struct {
	Line  string
	Finds []string
	// At is the line of the file.
	At int
}
