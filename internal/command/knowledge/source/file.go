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
	// Manual names the manuals from which the file was written, with their versions.
	Manual string `yaml:"manual,required"`
	// Variables lists environment variables with which the programs of the file may execute, load
	// or write something, or contact another host. A star at the end stands for any ending.
	// Variables that are dangerous for every program (`PATH`, `LD_*`) need no entry.
	Variables []string `yaml:"variables"`
	// Lists is a place for YAML anchors. A list in a list is flattened, so that an option list
	// can contain an alias: `[*diff, --stat]`.
	Lists any `yaml:"lists"`
	// Programs lists the programs.
	Programs []form.Program `yaml:"programs"`
	// Wrappers lists programs that start other programs with their words.
	Wrappers []form.Wrapper `yaml:"wrappers"`
	// VariableKinds maps kinds to variables of a shell or of programs: special ones of a shell,
	// `command` for those that hold a command, `expansion` for those that a shell expands.
	VariableKinds []form.OptionValues `yaml:"variable_kinds"`
	// LanguageCalls maps languages to calls that only show (`print`) or compute text (`len*`, and
	// the method `.upper*` of a constant). SQL has statements (`insert`) and functions
	// (`count*`).
	LanguageCalls []form.OptionValues `yaml:"language_calls"`
	// Credentials maps programs to the files in which they keep passwords, keys and tokens, as
	// globs of the rule language: `curl: ['/**/.netrc']`. A glob with a wildcard has an example,
	// `{glob: '/**/*.keytab', is: /p/http.keytab}`.
	Credentials []Credentials `yaml:"credentials"`
	// Passwords lists where programs take passwords, keys and tokens on their command lines.
	Passwords []form.Password `yaml:"passwords"`
	// Similar lists the words in which two calls of a program may differ and still be the same
	// for an allowance of the user.
	Similar []form.Similar `yaml:"similar"`
	// Tests holds command lines that the tests check.
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
	// ReadOnly lists lines that only read and that `readonly` allows.
	ReadOnly []string `yaml:"read_only"`
	// NotReadOnly lists at least five lines that `readonly` must never allow.
	NotReadOnly []string `yaml:"not_read_only,required"`
	// Accesses maps command lines to their accesses: `{sort -o b a: [read a, write b]}`. An
	// example may also list the words of its commands: `command gh pr list`.
	Accesses []Example `yaml:"accesses"`
	// Passwords maps command lines to their secrets, which the redactor removes: `{sshpass -p
	// hunter2 ssh x: [hunter2]}`. An empty list means no secret.
	Passwords []Example `yaml:"passwords"`
	// Similar maps command lines to similar lines. An allowance of the first covers the others:
	// `{pytest tests/auth: [pytest tests/api]}`. Each entry of `similar` has at least one.
	Similar []Example `yaml:"similar"`
	// NotSimilar maps command lines to lines that are close, but not similar. Each entry of
	// `similar` has at least one.
	NotSimilar []Example `yaml:"not_similar"`
	// Credentials lists paths of files that hold credentials. Each entry of `credentials` matches
	// at least one that no other entry matches.
	Credentials []string `yaml:"credentials"`
	// NoCredentials lists paths of files that hold no credentials.
	NoCredentials []string `yaml:"no_credentials"`
}

// Example is a command line with the expected results of the analysis.
type Example struct {
	Line  string
	Finds []string
	// At is the line of the file.
	At int
}
