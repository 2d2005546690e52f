package cli

import (
	"embed"
	"fmt"
	"strings"

	"cardea.dev/internal/config/settings"
)

//go:embed templates
var templates embed.FS

// template returns the text of a file that commands write as a start for people.
func template(name string) string {
	text, err := templates.ReadFile("templates/" + name)
	if err != nil {
		panic(err) // the files are embedded
	}
	return string(text)
}

// settingsTemplate returns a cardea.yaml without effect: every key that applies in the
// scope, commented out, with its default.
func settingsTemplate(user bool) string {
	head, switches := template("settings-project.yaml"), template("switches-project.yaml")
	if user {
		head, switches = "# Your settings, for every project.\n", template("switches-user.yaml")
	}
	var b strings.Builder
	b.WriteString(head + template("settings.yaml"))
	last := []string{}
	for _, k := range settings.Keys() {
		if k.AdminOnly || k.PersonOnly && !user {
			continue
		}
		words := strings.Split(k.Name, ".")
		if words[0] == "permissions" && last[0] != "permissions" {
			b.WriteString(switches)
		}
		last = writeParents(&b, last, words)
		v := settings.Defaults()
		about := k.About
		if len(k.Words) > 0 && !strings.ContainsAny(about, "{[") {
			about += ": " + strings.Join(k.Words, ", ")
		}
		key := strings.Repeat("  ", len(words)-1) + words[len(words)-1] + ": " + k.Text(&v)
		fmt.Fprintf(&b, "#%-37s # %s\n", key, about)
	}
	return b.String()
}

// writeParents writes the parent keys of a key that differ from those of the previous key.
// It returns words.
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
