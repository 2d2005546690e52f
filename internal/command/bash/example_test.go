package bash_test

import (
	"cmp"
	"fmt"

	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/knowledge"
)

// The programs that a line starts, without wrappers and with constants followed.
func ExampleAnalyse() {
	a := bash.Analyse(`X=rm; timeout 5 $X -rf build && bash -c 'git push "$1"' sh origin`, bash.Env{Cwd: "/proj", System: knowledge.System{Roots: []string{"/proj"}}})
	for _, p := range a.Parts {
		if !p.NoEffect {
			fmt.Println(p.Text, p.Wrappers, p.Via, p.Coverage)
		}
	}
	// Output:
	// rm -rf build [timeout] [] complete
	// git push origin [bash] [&& bash -c] complete
}

// Unknown things have a reason.
func ExampleAnalyse_opaque() {
	a := bash.Analyse(`$TOOL build; ls`, bash.Env{Cwd: "/proj"})
	for _, p := range a.Parts {
		fmt.Printf("%s: %s", p.Text, p.Coverage)
		for _, o := range p.Opaque {
			fmt.Printf(", %s: %s", o.Text, o.Reason)
		}
		fmt.Println()
	}
	// Output:
	// $TOOL build: partial, $TOOL: the command's name comes from outside of the line
	// ls: complete
}

// The accesses of a line: the folder is followed, and paths are absolute.
func ExampleAnalyse_access() {
	a := bash.Analyse(`cd src && cat ../notes > out/$(date +%F); rm -r ~/old`, bash.Env{Cwd: "/proj", System: knowledge.System{Home: "/home/u", Roots: []string{"/proj"}}})
	for _, p := range a.Parts {
		for _, access := range p.Access {
			fmt.Printf("%s: %s %s\n", p.Text, access.Kind, cmp.Or(access.Path, "?"))
		}
	}
	// Output:
	// cat ../notes: write ?
	// cat ../notes: read /proj/notes
	// rm -r /home/u/old: delete /home/u/old
}

// A word is static if bash passes exactly its text. Other words keep their spelling.
func ExampleAnalyse_words() {
	a := bash.Analyse(`grep -r "it's"\ a $'x\ty' *.go "$HOME/x" $unknown`, bash.Env{System: knowledge.System{Home: "/home/u"}})
	for _, word := range a.Parts[0].Argv {
		fmt.Printf("%q %t\n", word.Text, word.Static)
	}
	// Output:
	// "grep" true
	// "-r" true
	// "it's a" true
	// "x\ty" true
	// "*.go" false
	// "/home/u/x" true
	// "$unknown" false
}
