package hook

import (
	"errors"
	"fmt"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness/claudecode"
)

// typedPrefixes begin a prompt that is meant for Cardea. The second is how the command
// of a plugin is called.
var typedPrefixes = [...]string{"/cardea ", "/cardea:"}

// typedWords are the words of a prompt that is meant for Cardea, nil where it is meant
// for the model.
func typedWords(ev *cardea.Event) []string {
	if ev.Kind != "UserPromptSubmit" && ev.Kind != "UserPromptExpansion" || ev.Sent == nil {
		return nil
	}
	prompt, _ := ev.Sent.Fields()["prompt"].(string)
	prompt = strings.TrimSpace(prompt)
	if prompt == "/cardea" {
		return []string{}
	}
	for _, prefix := range typedPrefixes {
		if rest, ok := strings.CutPrefix(prompt, prefix); ok {
			return strings.Fields(rest)
		}
	}
	return nil
}

// typedStatus is the command that changes nothing, so that it does not matter who typed it.
const typedStatus = "status"

// onlyForPerson reports whether a prompt is a command that counts only if a person typed it.
func onlyForPerson(ev *cardea.Event) bool {
	words := typedWords(ev)
	return len(words) > 0 && words[0] != typedStatus
}

// carryOut does what the person typed as a prompt, and gives the verdict that ends the
// prompt with the outcome: the model is not involved. is is false for other prompts.
func (j *Judgement) carryOut() (v cardea.Verdict, is bool) {
	words := typedWords(j.Event)
	if words == nil {
		return v, false
	}
	text, err := j.typed(words)
	if err != nil {
		text = "cardea: " + err.Error()
	}
	return cardea.Verdict{Effect: cardea.Deny, By: "typed", Reason: text, Message: text}, true
}

// typed carries out a command that was typed as a prompt.
func (j *Judgement) typed(words []string) (string, error) {
	if len(words) == 0 {
		return "", errors.New("type " + typedCommands)
	}
	d := j.desk()
	name, args := words[0], words[1:]
	if name == typedStatus {
		return d.Status(j.Event.Session)
	}
	if err := j.personTyped(); err != nil {
		return "", fmt.Errorf("/cardea %s was not carried out: %w", name, err)
	}
	if j.unread != nil {
		return "", fmt.Errorf("/cardea %s was not carried out, since settings, rules or roles cannot be read: %w", name, j.unread)
	}
	switch name {
	case "approve":
		return j.answerTyped(cardea.Allow, args)
	case "deny":
		return j.answerTyped(cardea.Deny, args)
	}
	r, err := typedRequest(args)
	if err != nil {
		return "", fmt.Errorf("/cardea %s: %w", name, err)
	}
	r.Session = j.Event.Session
	switch name {
	case "register":
		return d.Register(r)
	case "switch":
		return d.SwitchTo(r)
	case "enable":
		return d.Enable(r)
	case "disable":
		return d.Disable(r.Session)
	}
	return "", fmt.Errorf("there is no /cardea %s; type %s", Plain(name), typedCommands)
}

// typedCommands are what can be typed.
const typedCommands = "/cardea register ROLE, switch ROLE, disable, enable, status, approve NUMBER or deny NUMBER"

// typedRequest reads the words behind a typed command: a role, and flags. What follows
// --task is the task.
func typedRequest(args []string) (r Request, err error) {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		value := func() (string, error) {
			if len(args) == 0 {
				return "", fmt.Errorf("%s needs a value", word)
			}
			v := args[0]
			args = args[1:]
			return v, nil
		}
		switch {
		case word == "--lead":
			r.Lead = true
		case word == "--supervisor":
			r.Supervisor = true
		case word == "--role":
			r.Role, err = value()
		case word == "--agent":
			r.Agent, err = value()
		case word == "--task":
			r.Task, args = strings.Trim(strings.Join(args, " "), `"'`), nil
		case strings.HasPrefix(word, "-") || r.Role != "":
			err = fmt.Errorf("%s is not understood", Plain(word))
		default:
			r.Role = word
		}
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// personTyped says why it is not sure that a person typed the prompt: the harness must
// prove that one sits in front of it, and no other agent may have started it.
func (j *Judgement) personTyped() error {
	if j.Event.Harness != claudecode.Name || j.Event.Attendance != cardea.PersonAttends {
		return errors.New("this harness does not prove that a person typed it; run the command in a terminal of your own")
	}
	if j.Event.Agent != "" {
		return errors.New("an agent typed it; run the command in a terminal of your own")
	}
	if j.process.Typist == nil {
		return errors.New("it cannot be told who typed it; run the command in a terminal of your own")
	}
	return j.process.Typist()
}

// menu is what the model is told with a prompt of a session that needs a role and has
// none: show the roles, and stop.
func (j *Judgement) menu() string {
	if !j.identity.missing || j.Event.Kind != "UserPromptSubmit" || j.Event.Agent != "" {
		return ""
	}
	return menuOf(j.Loaded.Roles())
}
