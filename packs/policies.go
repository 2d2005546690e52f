package packs

import "embed"

// policyFiles are built-in policies, one file each, with its tests beside it.
//
//go:embed policies/*.rego
var policyFiles embed.FS

// Policy gives the text of a built-in policy by its name, "" where there is
// none: "git_checks".
func Policy(name string) string {
	data, _ := policyFiles.ReadFile("policies/" + name + ".rego")
	return string(data)
}
