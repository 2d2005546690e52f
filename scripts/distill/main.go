// Command distill prints the words of commands. It reads one command a line, and writes a
// line of JSON for each: pairs of a word and its group. generate.py trains with them, so
// training and program split commands in the same way.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"cardea.dev/internal/memory/embedding"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "distill:", err)
		os.Exit(1)
	}
}

// run prints the words of each command on standard input.
func run() error {
	in, out := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout)
	for in.Scan() {
		words := [][2]any{}
		embedding.Words(in.Text(), func(word string, group embedding.Group) { words = append(words, [2]any{word, group}) })
		line, err := json.Marshal(words)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\n", line); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	return out.Flush()
}
