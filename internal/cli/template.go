package cli

import (
	"embed"
	"fmt"
	"strings"

	"cardea.dev/internal/config/settings"
)

//go:embed templates
var templates embed.FS

// template is a text that commands write for people to begin with.
func template(name string) string {
	text, err := templates.ReadFile("templates/" + name)
	if err != nil {
		panic(err) // the files are part of the program
	}
	return string(text)
}

// settingsTemplate is a cardea.yaml that says nothing: every key that has an
// effect in the scope, commented out, at its default.
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
