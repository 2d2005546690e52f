package knowledge

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// VariableClass returns the class of effects that setting a variable can have. The
// dangerous names execute something, preload code, redirect configuration or change how
// programs are found. They come from the manuals of the programs that read them.
func VariableClass(name string) cardea.EnvClass {
	switch {
	case IsVariableOf("dangerous", name), IsVariableOf("special", name), strings.HasSuffix(name, "_functions"): // hooks of zsh
		return cardea.EnvDangerous
	case SafeVariable(name):
		return cardea.EnvSafe
	}
	// npm reads its variables in any case.
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

// AssignmentClass returns the class of effects that setting a variable to a value can
// have. Some names that choose a program are harmless with values that choose none:
// GIT_PAGER=cat. known is whether the value is known.
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

// plainLetters reports whether, in a locale, no byte of a letter is a special character
// of a shell or language. The second byte of a letter of GBK may be a backslash.
func plainLetters(locale string) bool {
	locale = strings.ReplaceAll(strings.ToLower(locale), "-", "")
	return slices.Contains([]string{"", "c", "posix"}, locale) || strings.HasSuffix(locale, ".utf8")
}

// ForeignLetters reports whether, in the locale of a session, a text may have another
// meaning than in the analysis.
func ForeignLetters(locale string) bool {
	return slices.ContainsFunc([]string{"zh", "ja", "ko"}, func(of string) bool { return strings.HasPrefix(locale, of) }) && !plainLetters(locale)
}

// harmlessSettings reports whether the value of a variable consists of settings of its
// program that the data lists. A # in the data stands for a number.
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

// harmlessValues returns the values with which a variable that chooses a program has no
// effect, or nil.
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

// SaysSecret reports whether the name of a variable, or of a value on a server,
// indicates that the value is a secret or contains one (DATABASE_URL).
func SaysSecret(name string) bool {
	words, _ := WordsOf(form.VariableKinds, "secret")
	name = "_" + strings.ToLower(name) + "_"
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}

// MayHoldSecret reports whether the value of a variable from outside of a line may be a
// secret, or contain one.
func MayHoldSecret(variable string) bool {
	words, _ := WordsOf(form.VariableKinds, "secret_in_environment")
	name := "_" + strings.ToLower(variable) + "_"
	return SaysSecret(variable) || slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}

// Holding is how programs use the value of a variable.
type Holding uint8

// The uses of a value.
const (
	HoldsText      Holding = iota
	HoldsCommand           // a line for a shell, or a program with its words
	HoldsExpansion         // a text in which a shell expands commands
)

// VariableHolds returns how the value of a variable may run: a shell or a program reads
// it as a command, or a shell expands it.
func VariableHolds(name string) Holding {
	switch {
	case IsVariableOf("expansion", name):
		return HoldsExpansion
	case IsVariableOf("command", name), slices.ContainsFunc([]string{"_EDITOR", "_PAGER", "_COMMAND", "_ASKPASS"}, func(ending string) bool { return strings.HasSuffix(name, ending) }):
		return HoldsCommand
	}
	return HoldsText
}

// IsVariableOf reports whether a variable is in a group of the data.
func IsVariableOf(group, name string) bool {
	names, _ := WordsOf(form.VariableKinds, group)
	return slices.Contains(names, name)
}

// HarmlessToUnset reports whether a variable only adds code, options or folders to
// programs, so that unsetting it removes no protection.
func HarmlessToUnset(name string) bool { return IsVariableOf("harmless_to_unset", name) }

// IsCode reports whether a program may run value or read it as an option: a path, an
// option, or the name of a program that runs code. A name that only its own program
// understands is not code.
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

// Claims reports whether a program reads a variable as its own (the variables of
// packs/commands).
func Claims(program, variable string) bool {
	p := programOf(program)
	return p != nil && slices.ContainsFunc(p.Source.Variables, func(v string) bool { return fits(variable, v) })
}

// usualPlaces maps a variable to the folder or file, below the home folder, that applies if it
// is not set. Sources: the XDG Base Directory Specification and the manuals of the programs.
var usualPlaces = map[string]string{
	"XDG_CONFIG_HOME": ".config", "XDG_STATE_HOME": ".local/state", "XDG_DATA_HOME": ".local/share", "XDG_CACHE_HOME": ".cache",
	"CLAUDE_CONFIG_DIR": ".claude", "CODEX_HOME": ".codex", "COPILOT_HOME": ".copilot", "GNUPGHOME": ".gnupg", "CARGO_HOME": ".cargo",
	"KUBECONFIG": ".kube/config", "DOCKER_CONFIG": ".docker", "AWS_SHARED_CREDENTIALS_FILE": ".aws/credentials", "AWS_CONFIG_FILE": ".aws/config",
	"GOOGLE_APPLICATION_CREDENTIALS": ".config/gcloud/application_default_credentials.json", "CLOUDSDK_CONFIG": ".config/gcloud",
	"GH_CONFIG_DIR": ".config/gh", "NETRC": ".netrc", "PGPASSFILE": ".pgpass", "ZDOTDIR": "", "XDG_RUNTIME_DIR": "/run/user/0",
}

// UsualPlace returns the path that applies if the user does not set a variable, or "" if
// the variable has no such path.
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

// SafeVariable reports whether every program reads a variable only as a plain value:
// modes, levels, locales, colors and CI markers.
func SafeVariable(name string) bool { return IsVariableOf("safe", name) }
