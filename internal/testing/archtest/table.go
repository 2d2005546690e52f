package archtest

import (
	"fmt"
	"path"
	"strings"
)

// Folder is a folder of internal/ and its purpose.
type Folder struct{ Name, Job string }

// Folders are the folders of internal/, the highest first. A package imports only
// packages of its own folder and of those below it.
var Folders = []Folder{
	{"cli", "what people start: commands, the monitor, the MCP server"},
	{"hook", "what harnesses start, the gate, and the daemon"},
	{"config", "what is in force in a place, and who wrote it"},
	{"decide", "one folder for each decider; rules, policies and roles"},
	{"memory", "what outlives a call: ledger, sessions, lessons, candidates, evidence"},
	{"ask", "who decides when no rule does: judges, supervisors, the queue"},
	{"harness", "message to event, verdict to answer, and a tool call to its parts"},
	{"command", "what a command line does: the shell, programs, files"},
	{"base", "files, paths, documents, limits, processes"},
	{"testing", "what only tests use"},
}

// Table returns the table of folders for docs/architecture.md, with the purpose and the
// packages of each.
func Table(pkgs []Package) string {
	var b strings.Builder
	b.WriteString("| folder | what it is for | packages |\n|---|---|---|\n")
	for _, f := range Folders {
		var names []string
		for _, p := range pkgs {
			if dir := path.Join("internal", f.Name); below(p.Dir(), dir) {
				names = append(names, strings.TrimPrefix(strings.TrimPrefix(p.Dir(), dir), "/"))
			}
		}
		fmt.Fprintf(&b, "| `internal/%s` | %s | %s |\n", f.Name, f.Job, strings.TrimPrefix(strings.Join(names, ", "), ", "))
	}
	return b.String()
}
