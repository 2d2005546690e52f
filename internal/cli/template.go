package cli

import (
	"fmt"
	"strings"

	"cardea.dev/internal/settings"
)

// settingsTemplate is a cardea.yaml that says nothing: every key there is,
// commented out, at its default.
func settingsTemplate(user bool) string {
	head := `# Settings of this project. Until the person has trusted the project (cardea
# trust), none of them counts, and of its rules only deny and ask do. A trusted
# project may only tighten what others wrote.
`
	if user {
		head = `# Your settings, for every project.
`
	}
	var b strings.Builder
	b.WriteString(head + `#
# Every key, at its default. Uncomment what you want to change, with the keys
# above it. What they mean: docs/settings.md. What is in force: cardea list.
# Mistakes: cardea lint.

version: 1

`)
	last := []string{}
	for _, k := range settings.Keys() {
		words := strings.Split(k.Name, ".")
		if words[0] == "permissions" && last[0] != "permissions" {
			b.WriteString(switchesTemplate)
		}
		last = writeParents(&b, last, words)
		v := settings.Defaults()
		about := k.About
		if k.PersonOnly && !user {
			about += "; in your own settings only"
		}
		if len(k.Words) > 0 && !strings.Contains(about, "{") {
			about += ": " + strings.Join(k.Words, ", ")
		}
		writeKey(&b, len(words)-1, words[len(words)-1]+": "+k.Text(&v), about)
	}
	return b.String()
}

const switchesTemplate = `#packs: {}                             # built-in packs of rules to switch off: {git: off}
#rules:
#  off: []                             # rules to switch off, by id
#  effect: {}                          # rules to give another effect: {git-clean: ask}
`

// writeParents writes the keys that a key lies below, as far as they differ
// from those of the key before.
func writeParents(b *strings.Builder, last, words []string) []string {
	parents := words[:len(words)-1]
	same := 0
	for same < len(parents) && same < len(last) && last[same] == parents[same] {
		same++
	}
	for i := same; i < len(parents); i++ {
		fmt.Fprintf(b, "#%s%s:\n", strings.Repeat("  ", i), parents[i])
	}
	return words
}

// writeKey writes a key with what it is beside it.
func writeKey(b *strings.Builder, depth int, text, about string) {
	fmt.Fprintf(b, "#%-37s # %s\n", strings.Repeat("  ", depth)+text, about)
}
