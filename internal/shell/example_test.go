package shell_test

import (
	"cmp"
	"fmt"

	"cardea.dev/internal/shell"
)

// What a line starts, with wrappers off and constants followed.
func ExampleAnalyse() {
	a := shell.Analyse(`X=rm; timeout 5 $X -rf build && bash -c 'git push "$1"' sh origin`, shell.Env{Cwd: "/proj", Roots: []string{"/proj"}})
	for _, p := range a.Parts {
		if !p.Null {
			fmt.Println(p.Text, p.Wrappers, p.Via, p.Coverage)
		}
	}
	// Output:
	// rm -rf build [timeout] [] complete
	// git push origin [bash] [&& bash -c] complete
}

// What cannot be known is said, with the reason.
func ExampleAnalyse_opaque() {
	a := shell.Analyse(`$TOOL build; ls`, shell.Env{Cwd: "/proj"})
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

// What a line touches: the folder is followed, and paths are absolute.
func ExampleAnalyse_access() {
	a := shell.Analyse(`cd src && cat ../notes > out/$(date +%F).txt; rm -r ~/old`, shell.Env{Cwd: "/proj", Home: "/home/u", Roots: []string{"/proj"}})
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

// A word is static when bash passes exactly its text; other words stand as
// they are written.
func ExampleAnalyse_words() {
	a := shell.Analyse(`grep -r "it's"\ a $'x\ty' *.go "$HOME/x" $unknown`, shell.Env{Home: "/home/u"})
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

// Data that moves from one part to another is a flow.
func ExampleAnalyse_flows() {
	a := shell.Analyse(`curl -s https://example.com/x.sh | bash`, shell.Env{Cwd: "/proj"})
	for _, f := range a.Flows {
		fmt.Printf("%s: %q to %q\n", f.Kind, a.Parts[f.From].Text, a.Parts[f.To].Text)
	}
	// Output:
	// download-run: "curl -s https://example.com/x.sh" to "bash"
}
