// Package source reads packs/commands/*.yaml, the hand-written descriptions of programs.
// The generator makes the table that Cardea links from them.
//
// Reading is strict: with a misspelled key, a dangerous program would look harmless.
package source

import (
	"cardea.dev/internal/command/knowledge/files/filelists"
	"cardea.dev/internal/command/knowledge/form"
)

// File is one file of command knowledge.
type File struct {
	// Path is the file's name in the repository.
	Path string `yaml:"-"`
	// The manuals and versions from which the file was written.
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
	// Variables of a shell or of programs, by kind: special ones of a shell, `command` for
	// those that hold a command, `expansion` for those that a shell expands.
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
	// The words in which two calls of a program may differ and still be the same for an
	// allowance of the user.
	Similar []form.Similar `yaml:"similar"`
	// Command lines that the tests check.
	Tests Tests `yaml:"tests,required"`
}

// Holders returns the commands with properties.
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

// CredentialFiles returns the list of the credential files of all programs.
func CredentialFiles(files []File) filelists.List {
	l := filelists.List{Name: "credentials", About: "What programs keep passwords, keys and tokens in."}
	for _, f := range files {
		for _, c := range f.Credentials {
			l.Files = append(l.Files, c.Files...)
		}
	}
	return l
}

// Tests are command lines with the expected results of the analysis.
type Tests struct {
	// Lines that only read and are allowed by `readonly`.
	ReadOnly []string `yaml:"read_only"`
	// Lines that must never be allowed by `readonly`. At least five.
	NotReadOnly []string `yaml:"not_read_only,required"`
	// Command lines with their accesses: `{sort -o b a: [read a, write b]}`. An example may
	// also list the words of its commands: `command gh pr list`.
	Accesses []Example `yaml:"accesses"`
	// Command lines with their secrets, which the redactor removes: `{sshpass -p hunter2
	// ssh x: [hunter2]}`. An empty list for no secret.
	Passwords []Example `yaml:"passwords"`
	// Command lines with similar lines: an allowance of the first covers the others (`{pytest
	// tests/auth: [pytest tests/api]}`). At least one for each entry of `similar`.
	Similar []Example `yaml:"similar"`
	// Command lines with lines that are close, but not similar. At least one for each entry
	// of `similar`.
	NotSimilar []Example `yaml:"not_similar"`
	// Paths of files that hold credentials. Each entry of `credentials` matches at least
	// one that no other entry matches.
	Credentials []string `yaml:"credentials"`
	// Paths of files that hold no credentials.
	NoCredentials []string `yaml:"no_credentials"`
}

// Example is a command line with the expected results of the analysis.
type Example struct {
	Line  string
	Finds []string
	// At is the line of the file.
	At int
}
