package packs

import "embed"

// policyFiles are the built-in policies and their tests.
//
//go:embed policies/*.rego
var policyFiles embed.FS

// Policy returns the text of a built-in policy by its name, such as "git_checks", or "".
func Policy(name string) string {
	data, _ := policyFiles.ReadFile("policies/" + name + ".rego")
	return string(data)
}
