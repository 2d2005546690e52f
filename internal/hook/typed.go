package hook

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// typedWords returns the words of a prompt that is a command for Cardea, nil for other prompts.
func typedWords(ev *cardea.Event) []string {
	if ev.Kind != "UserPromptSubmit" && ev.Kind != "UserPromptExpansion" || ev.Sent == nil {
		return nil
	}
	prompt, _ := ev.Sent.Fields()["prompt"].(string)
	return harness.TypedCommand(prompt)
}

// carryOut answers a prompt that is a command for Cardea. The model does not see the prompt.
// is is false for other prompts.
//
// A prompt does not prove who wrote it. Claude Code submits prompts of schedules, of other
// agents and of background tasks, and sends the same message for them as for a typed prompt.
// So a prompt loosens nothing: the answer is the command to run in a terminal. The answer has
// no code to confirm, because Claude Code writes it into the transcript, which the agent can
// read (2.1.332, docs/decisions/permission-prompts.md).
func (j *Evaluation) carryOut() (v cardea.Verdict, is bool) {
	words := typedWords(j.Event)
	if words == nil {
		return v, false
	}
	text, err := j.typed(words)
	if err != nil {
		text = err.Error()
	}
	return cardea.Verdict{Effect: cardea.Deny, By: "typed", Reason: text, Message: text}, true
}

// typed carries out commands that need no person, and returns the terminal command for others.
func (j *Evaluation) typed(words []string) (string, error) {
	if len(words) == 0 {
		return "", errors.New("type " + typedCommands)
	}
	name, args := words[0], words[1:]
	if strings.ContainsFunc(strings.Join(words, "")+j.Event.Session, unprintable) {
		return "", errors.New("a command holds no control characters or invisible ones")
	}
	if name == "status" && len(args) == 0 {
		return j.registrar().Status(j.Event.Session)
	}
	command, err := typedCommand(name, args)
	if err != nil {
		return "", fmt.Errorf("/cardea %s: %w", Plain(name), err)
	}
	switch {
	case name == "enable" && len(args) == 0 && j.identity.doubt != "":
		return "", errors.New(j.identity.doubt)
	case name == "enable" && len(args) == 0:
		return j.registrar().Enable(Request{Session: j.Event.Session})
	case name == "approve" || name == "deny":
	default:
		command += " --session-id " + Pasted(j.Event.Session)
	}
	if j.process.Harness != nil && strings.Contains(command, " --supervisor") {
		harness, err := j.process.Harness()
		if err != nil {
			return "", fmt.Errorf("/cardea %s: %w", name, err)
		}
		command += " --process " + strconv.Itoa(harness.PID)
	}
	return "Not done yet: an agent can submit a prompt, too. To do it, run this in a terminal of your own:\n  " + command, nil
}

// unprintable reports whether a terminal does not show a character as itself.
func unprintable(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }

// Pasted returns a word quoted for a command line that the user pastes into bash or zsh.
// Neither expands anything in single quotes, not even "!". In fish and PowerShell, no part of
// the word is read as a command: for fish a backslash escapes a quote in single quotes, for
// PowerShell it never escapes one, and curved quotes end a text. A word with a character that a
// terminal does not show becomes $'…' with escapes of bytes, which do not depend on the locale.
// A word with a zero byte cannot be passed to a program.
func Pasted(word string) string {
	plain := func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("-_./:@%+,", r)
	}
	switch {
	case word != "" && word[0] != '-' && strings.TrimFunc(word, plain) == "":
		return word
	case Plain(word) == word && !strings.ContainsAny(word, "\\\u2018\u2019\u201a\u201b") && !(strings.Contains(word, "'") && strings.Contains(word, "!")):
		return "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'"
	}
	var b strings.Builder
	for _, piece := range strings.SplitAfter(word, "") {
		r, _ := utf8.DecodeRuneInString(piece)
		if strings.ContainsRune("'\\!\u2018\u2019\u201a\u201b", r) || Plain(piece) != piece {
			for i := range len(piece) {
				fmt.Fprintf(&b, `\x%02x`, piece[i])
			}
			continue
		}
		b.WriteString(piece)
	}
	return "$'" + b.String() + "'"
}

// typedCommands lists the commands that can be typed as a prompt.
const typedCommands = "/cardea register ROLE, switch ROLE, disable, enable, status, approve NUMBER or deny NUMBER"

// typedCommand returns the command line for a prompt, without the session. Unknown words are
// an error.
func typedCommand(name string, args []string) (string, error) {
	line := "cardea " + name
	switch name {
	case "approve", "deny":
		line = "cardea queue " + name
		for _, word := range args {
			if id, err := strconv.ParseInt(word, 10, 64); err != nil || id < 1 {
				return "", fmt.Errorf("takes numbers of calls (got %q); \"cardea queue\" lists them, and \"cardea queue %s --help\" the options", Plain(word), name)
			}
			line += " " + word
		}
		if len(args) == 0 {
			return "", errors.New("name the number of a call; \"cardea queue\" lists them")
		}
	case "register", "switch", "enable":
		return typedRole(name, args)
	case "disable", "status":
		if len(args) > 0 {
			return "", fmt.Errorf("takes no arguments (got %q)", Plain(strings.Join(args, " ")))
		}
	default:
		return "", errors.New("there is no such command; type " + typedCommands)
	}
	return line, nil
}

// typedRole returns the command line for a prompt that gives a role. All words after --task
// are the task.
func typedRole(name string, args []string) (string, error) {
	line, role := "cardea "+name, ""
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case name == "register" && (word == "--lead" || word == "--supervisor"):
			line += " " + word
		case (word == "--role" || word == "--agent" || word == "--task" && name == "register") && len(args) == 0:
			return "", fmt.Errorf("%s needs a value", word)
		case word == "--task" && name == "register":
			line, args = line+" --task "+Pasted(strings.Trim(strings.Join(args, " "), `"'`)), nil
		case word == "--agent":
			line, args = line+" --agent "+Pasted(args[0]), args[1:]
		case word == "--role" && role == "":
			role, args = args[0], args[1:]
		case strings.HasPrefix(word, "-") || role != "":
			return "", fmt.Errorf("%q is not understood; type /cardea %s ROLE", Plain(word), name)
		default:
			role = word
		}
	}
	switch {
	case role != "":
		line += " --role " + Pasted(role)
	case name != "enable":
		return "", errors.New("name a role; \"cardea roles list\" shows them")
	}
	return line, nil
}

// menu returns the context for a prompt of a session that needs a role and has none. It
// tells the model to show the roles and stop.
func (j *Evaluation) menu() string {
	if !j.identity.missing || j.Event.Kind != "UserPromptSubmit" || j.Event.Agent != "" {
		return ""
	}
	return menuOf(j.Loaded.Roles())
}
