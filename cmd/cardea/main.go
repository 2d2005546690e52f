// Command cardea is one gate for every tool call that an AI coding agent
// makes. Everything it does is in internal/cli.
package main

import (
	"os"

	"cardea.dev/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], cli.ThisProcess())) }
