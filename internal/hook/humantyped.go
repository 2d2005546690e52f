package hook

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/limit"
	"cardea.dev/internal/queue"
	"cardea.dev/internal/redact"
	"cardea.dev/internal/state"
)

// answerTyped answers calls of the queue for the person who typed a prompt: numbers, and
// a message for the model. It is made sure of already that they did. The answer is
// signed here, in the process that made sure of it.
func (j *Judgement) answerTyped(e cardea.Effect, args []string) (string, error) {
	var ids []int64
	for len(args) > 0 {
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil || id < 1 {
			break
		}
		ids, args = append(ids, id), args[1:]
	}
	name := map[cardea.Effect]string{cardea.Allow: "approve", cardea.Deny: "deny"}[e]
	switch {
	case len(ids) == 0:
		return "", fmt.Errorf("/cardea %s: name the number of a call; \"cardea queue\" lists them", name)
	case len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "--message":
		return "", fmt.Errorf("/cardea %s: %s is not understood here; use the command in a terminal of your own", name, Plain(args[0]))
	case len(args) > 0 && args[0] == "--message":
		args = args[1:]
	}
	if j.process.Queue == nil || j.Place.State == "" {
		return "", errors.New("there is no queue here; use the command in a terminal of your own")
	}
	key, err := state.LoadKey(j.Place.State)
	if err != nil {
		return "", err
	}
	r := redact.New()
	answer := queue.Answer{Effect: e, Message: r.Text(strings.Trim(strings.Join(args, " "), `"'`)), Who: r.Text(j.process.UserName()), Via: "prompt"}
	var out []string
	for _, id := range ids {
		text, err := j.answerOne(key, id, answer)
		if err != nil {
			text = "not answered: " + err.Error()
		}
		out = append(out, fmt.Sprintf("%d  %s", id, text))
	}
	return strings.Join(out, "\n"), nil
}

func (j *Judgement) answerOne(key []byte, id int64, a queue.Answer) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit.QueueWrite)
	defer cancel()
	ask := func(r queue.Request) (queue.Reply, error) {
		r.State, r.Left = j.Place.State, limit.QueueWrite
		reply, err := j.process.Queue.Ask(ctx, r)
		if err == nil && reply.Failure != "" {
			err = errors.New(reply.Failure)
		}
		return reply, err
	}
	found, err := ask(queue.Request{Show: id})
	switch {
	case err != nil:
		return "", err
	case found.Entry == nil || found.Entry.ID != id:
		return "", queue.ErrUnknown
	case found.Entry.State != queue.Pending:
		return "", fmt.Errorf("it is %s already", found.Entry.State)
	}
	a = found.Entry.Answered(a, j.process.Now())
	text, signature, err := queue.SealAnswer(key, found.Sealed, a)
	if err != nil {
		return "", err
	}
	put, err := ask(queue.Request{Put: &queue.SignedAnswer{ID: id, Text: text, Signature: signature}})
	switch {
	case err != nil:
		return "", err
	case !put.Won:
		return "", errors.New("it was answered before, or its time was over")
	}
	said := a.Text() + ": " + found.Entry.Subject.String()
	if why := found.Entry.UnheardOf(&a); why != "" {
		said += "; " + why
	}
	if a.Grant {
		said += "; the same call may run once until " + a.Expires.Local().Format("15:04:05")
	}
	return said, nil
}
