package knowledge

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// VariableClass says what setting a variable can do. The dangerous names execute
// something, preload code, redirect configuration or change how programs are
// found; they are collected from the manuals of the programs that read them.
func VariableClass(name string) cardea.EnvClass {
	switch {
	case IsVariableOf("dangerous", name), IsVariableOf("special", name), strings.HasSuffix(name, "_functions"): // hooks of zsh
		return cardea.EnvDangerous
	case SafeVariable(name):
		return cardea.EnvSafe
	}
	// npm takes its variables in any case.
	if len(name) > len("npm_config_") && strings.EqualFold(name[:len("npm_config_")], "npm_config_") {
		return cardea.EnvDangerous
	}
	begins, _ := WordsOf(form.VariableKinds, "dangerous_begin")
	ends, _ := WordsOf(form.VariableKinds, "dangerous_end")
	if slices.ContainsFunc(begins, func(p string) bool { return strings.HasPrefix(name, p) }) || slices.ContainsFunc(ends, func(e string) bool { return strings.HasSuffix(name, e) }) {
		return cardea.EnvDangerous
	}
	return cardea.EnvUnknown
}

// AssignmentClass says what setting a variable to a value can do. Some names that
// choose a program are harmless with the values that choose none: GIT_PAGER=cat.
// known is whether the value is.
func AssignmentClass(name, value string, known bool) cardea.EnvClass {
	if IsVariableOf("encoding", name) && !(known && plainLetters(value)) || IsVariableOf("integer", name) && !(known && strings.Trim(value, "0123456789") == "") {
		return cardea.EnvDangerous
	}
	class := VariableClass(name)
	if class == cardea.EnvDangerous && known && (slices.Contains(harmlessValues(name), value) || harmlessSettings(name, value)) {
		return cardea.EnvSafe
	}
	return class
}

// plainLetters reports a locale in which no byte of a letter is a sign of a shell or a language, as
// the second byte of a letter of GBK may be a backslash.
func plainLetters(locale string) bool {
	locale = strings.ReplaceAll(strings.ToLower(locale), "-", "")
	return slices.Contains([]string{"", "c", "posix"}, locale) || strings.HasSuffix(locale, ".utf8")
}

// ForeignLetters reports a locale of a session in which a text may mean something else than here.
func ForeignLetters(locale string) bool {
	return slices.ContainsFunc([]string{"zh", "ja", "ko"}, func(of string) bool { return strings.HasPrefix(locale, of) }) && !plainLetters(locale)
}

// harmlessSettings reports whether a variable holds nothing but settings of its program that the
// data lists; a number may stand for #.
func harmlessSettings(name, value string) bool {
	known, _ := WordsOf(form.VariableKinds, "settings")
	words := strings.Fields(value)
	return len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool {
		head, number, _ := strings.Cut(word, "=")
		setting := name + " " + word
		if number != "" && strings.Trim(number, "0123456789") == "" {
			setting = name + " " + head + "=#"
		}
		return !slices.Contains(known, setting)
	})
}

// harmlessValues are the values with which a variable that chooses a program
// chooses none that does anything.
func harmlessValues(name string) []string {
	switch {
	case name == "PAGER", name == "MANPAGER", strings.HasSuffix(name, "_PAGER"):
		return []string{"", "cat"}
	case name == "EDITOR", name == "VISUAL", strings.HasSuffix(name, "_EDITOR"):
		return []string{"true", ":"}
	case name == "GIT_MERGE_AUTOEDIT":
		return []string{"no", "yes"}
	}
	return nil
}

// SaysSecret reports whether a name, of a variable or of a value that a server keeps, says that
// the value is a secret, or may have one in it (DATABASE_URL).
func SaysSecret(name string) bool {
	words, _ := WordsOf(form.VariableKinds, "secret")
	name = "_" + strings.ToLower(name) + "_"
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}

// MayHoldSecret reports whether the value of a variable from outside of a line may be a secret, or
// have one in it.
func MayHoldSecret(variable string) bool {
	words, _ := WordsOf(form.VariableKinds, "secret_in_environment")
	name := "_" + strings.ToLower(variable) + "_"
	return SaysSecret(variable) || slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}

// Holding says what the value of a variable is to those who read it.
type Holding uint8

// What a variable holds.
const (
	HoldsText      Holding = iota
	HoldsCommand           // a line for a shell, or a program with its words
	HoldsExpansion         // a text in which a shell expands commands
)

// VariableHolds says whether the value of a variable runs: because a shell or a program takes
// it for a command, or because a shell expands it.
func VariableHolds(name string) Holding {
	switch {
	case IsVariableOf("expansion", name):
		return HoldsExpansion
	case IsVariableOf("command", name), slices.ContainsFunc([]string{"_EDITOR", "_PAGER", "_COMMAND", "_ASKPASS"}, func(ending string) bool { return strings.HasSuffix(name, ending) }):
		return HoldsCommand
	}
	return HoldsText
}

// IsVariableOf reports a variable of a group in the data.
func IsVariableOf(group, name string) bool {
	names, _ := WordsOf(form.VariableKinds, group)
	return slices.Contains(names, name)
}

// HarmlessToUnset reports names that only add code, options or folders to what
// programs do without them: taking one away takes no protection away.
func HarmlessToUnset(name string) bool { return IsVariableOf("harmless_to_unset", name) }

// IsCode reports whether a value may be something that a program runs or takes as an
// option: a path, an option, the name of a program that runs code. What only the program
// itself knows by its name is harmless with other values alone.
func IsCode(value string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\n,;='\"", r) }), func(word string) bool {
		switch {
		case strings.Contains(word, "://") && !strings.HasPrefix(strings.ToLower(word), "file:"):
			return false // an address
		case len(word) > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9') && word[1] != '.':
			return true
		case strings.ContainsAny(word, "`$~\\"), strings.Contains(word, "/") && strings.Trim(word, "0123456789/") != "":
			return true
		}
		return runsCode(word)
	})
}

func runsCode(program string) bool {
	properties := []form.Property{form.Shell, form.ForeignShell, form.RunsCode, form.RunsPackages, form.RunsByName, form.ProjectFiles}
	return slices.ContainsFunc(properties, func(p form.Property) bool { return Has(p, program) }) || IsInterpreter(program)
}

// Claims reports whether a program takes a variable as its own (the variables of
// packs/commands).
func Claims(program, variable string) bool {
	p := programOf(program)
	return p != nil && slices.ContainsFunc(p.Source.Variables, func(v string) bool { return fits(variable, v) })
}

// usualPlaces say where the files lie that a variable names where it is not set, below the
// home folder. Sources: the XDG Base Directory Specification and the manuals of the
// programs.
var usualPlaces = map[string]string{
	"XDG_CONFIG_HOME": ".config", "XDG_STATE_HOME": ".local/state", "XDG_DATA_HOME": ".local/share", "XDG_CACHE_HOME": ".cache",
	"CLAUDE_CONFIG_DIR": ".claude", "CODEX_HOME": ".codex", "COPILOT_HOME": ".copilot", "GNUPGHOME": ".gnupg", "CARGO_HOME": ".cargo",
	"KUBECONFIG": ".kube/config", "DOCKER_CONFIG": ".docker", "AWS_SHARED_CREDENTIALS_FILE": ".aws/credentials", "AWS_CONFIG_FILE": ".aws/config",
	"GOOGLE_APPLICATION_CREDENTIALS": ".config/gcloud/application_default_credentials.json", "CLOUDSDK_CONFIG": ".config/gcloud",
	"GH_CONFIG_DIR": ".config/gh", "NETRC": ".netrc", "PGPASSFILE": ".pgpass", "ZDOTDIR": "", "XDG_RUNTIME_DIR": "/run/user/0",
}

// UsualPlace is the path that a variable of the environment names where a person has not
// set it otherwise, "" where it names none.
func UsualPlace(home, name string) string {
	place, ok := usualPlaces[name]
	switch {
	case !ok || home == "":
		return ""
	case strings.HasPrefix(place, "/"):
		return place
	}
	return strings.TrimSuffix(home+"/"+place, "/")
}

// SafeVariable reports names that no program takes as anything but a plain value:
// modes, levels, locales, colours and CI markers.
func SafeVariable(name string) bool { return IsVariableOf("safe", name) }
