package knowledge

import "cardea.dev"

//go:generate go run ./gen

// program is what is known of a program's command line, from
// packs/commands/*.yaml. A program that is not there has unknown access.
type program struct {
	// Name is the program's base name, or the subcommand's.
	Name string
	// Values are the options that take a value in the next word.
	Values []string
	// Globals are those among them that may stand before the subcommand.
	Globals []string
	// Single marks programs whose long options have one dash.
	Single bool
	// Depth counts the words of the subcommand.
	Depth int
	// Operands, First and Last are the accesses of operands; First is
	// replaced by Operands where one of FirstUnless is given.
	Operands, First, Last cardea.AccessKind
	FirstUnless           []string
	// Recursive are the options that make operands stand for everything
	// below them, or "always".
	Recursive []string
	// Options are the accesses of options' values.
	Options []optionAccess
	// Access is what it does besides.
	Access []cardea.AccessKind
	// When replaces Operands where one of its flags is given.
	When []when
	// PathsFirst ends the operands at the first option (find).
	PathsFirst bool
	// Stops is how many operands end the options: what follows belongs to
	// another program (docker run IMAGE …).
	Stops int
	// Ends is an option of the known subcommands behind which nothing is an
	// option, as behind --.
	Ends string
	// Attached are the options whose value, if they have one, stands in the
	// same word (sed -i.bak, perl -pi.orig).
	Attached []string
	// Bundle marks programs whose first word may be options without a dash
	// (tar xf).
	Bundle bool
	// Pairs are the accesses of operands of the form key=value (dd of=file).
	Pairs []optionAccess
	// Remote marks programs that take host:path for another machine's file.
	Remote bool
	// Members marks programs that put what they are passed into the last
	// operand, under its own name, where that is a folder (cp, mv, ln).
	Members bool
	// Into are the options that name the folder in which files are put.
	Into []string
	// Spreads are the options, or "always", with which the program writes
	// files that the line does not name into that folder, else the current
	// one; with one of SpreadsUnless it does not.
	Spreads, SpreadsUnless []string
	// Saves are the options, or "always", with which what is downloaded is
	// saved under the last name of its address; with one of SavesUnless it is
	// not.
	Saves, SavesUnless []string
	// Double are the options with two values, of which the second counts (jq
	// --arg name value).
	Double []string
	// Permutes: options behind operands are options on every system.
	Permutes bool
	// Alone are words that make it do nothing else, where they are all that it
	// is passed (--version).
	Alone []string
	// Help are options that make it, and each of its direct subcommands that
	// is known, do nothing else where they stand alone behind it.
	Help []string
	// Persistent are options with a value that may stand in front of the
	// subcommand and behind it.
	Persistent []string
	// Else is what it, or a subcommand without one of its own, does besides
	// where its words are not such with which all is certain.
	Else []cardea.AccessKind
	// Hidden are the options with which it reads hidden files below folders,
	// too; set for programs that leave them out.
	Hidden []string
	// Suffixes are what it puts behind the name of a file that is not there.
	Suffixes []string
	// Same is the command that the program is another name of.
	Same []string
	// Equal are subcommands with another name.
	Equal []equal
	// Certain says with which words all of this is all that it does; nil:
	// never.
	Certain *certainty
	// Subs are the subcommands that differ from the program. A name that ends
	// in * stands for all that begin so.
	Subs []program
}

// equal says that some words of a command are the same as others.
type equal struct{ words, as []string }

type optionAccess struct {
	Name   string
	Access cardea.AccessKind
}

type when struct {
	// Flags are options, or "option=text" where the value must hold the text.
	Flags     []string
	Operands  cardea.AccessKind
	Last      cardea.AccessKind
	Recursive bool
	// Options come before those of the program.
	Options []optionAccess
}

// Kinds of access that only the table has: none is that of an operand that
// names no path, edit is reading and writing.
const (
	none cardea.AccessKind = "none"
	edit cardea.AccessKind = "edit"
	// names is reading names and attributes, revision what git reads by
	// revision:path, configured contacting a host of the configuration,
	// repository the one of a forge, [HOST/]OWNER/REPO.
	names      cardea.AccessKind = "names"
	revision   cardea.AccessKind = "revision"
	configured cardea.AccessKind = "configured"
	repository cardea.AccessKind = "repository"
)
