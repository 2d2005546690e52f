package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/harness"
)

// answering is one message on its way to its answer. Each step sets what its name says, and
// reads what earlier steps set.
type answering struct {
	*Hook
	ctx context.Context
	raw []byte
	progress
	evaluation *Evaluation
	verdict    cardea.Verdict
	decided    bool
	// alone says why no other program could answer. It is empty if none had to.
	alone cardea.Issues
	// all are the issues for standard error. The answer has those that the person has not
	// seen before.
	all cardea.Issues
	// id is the entry in the ledger, "" without one.
	id string
	// out holds the output of the hook. It is final if done is set.
	out  harness.Output
	done bool
}

// steps lead from the bytes of a message to the bytes of the answer, in this order.
var steps = []func(*answering){
	(*answering).readMessage,
	(*answering).loadConfiguration,
	(*answering).analyseForArchives,
	(*answering).decide,
	(*answering).askThePerson,
	(*answering).expressVerdict,
	(*answering).record,
	(*answering).remember,
	(*answering).writeAnswer,
}

// answerMessage runs the steps. After each of them, another program may have to answer instead:
// cardea-engine if this program cannot read a file ([Hook.handOver]), or a process of the
// caller if this one is the daemon ([Hook.leave]).
func (h *Hook) answerMessage(ctx context.Context) harness.Output {
	a := &answering{Hook: h, ctx: ctx}
	for _, step := range steps {
		step(a)
		if !a.decided {
			a.letEngineAnswer()
		}
		if a.done || h.leave() {
			break
		}
	}
	return a.out
}

// letEngineAnswer hands the message to another program if this one cannot read a text. It
// tries once.
func (a *answering) letEngineAnswer() {
	if a.done || len(a.alone) > 0 {
		return
	}
	out, done, issue := a.handOver(a.ctx, a.raw)
	if a.alone = issue; done {
		a.out, a.done = out, true
	}
}

// readMessage reads the message and finds out what it is about. A message without anything
// to judge is answered here.
func (a *answering) readMessage() {
	raw, err := a.readInput()
	if len(raw) > longMessage {
		a.process.Widen()
		if a.process.Handover == nil {
			debug.SetGCPercent(garbagePercent)
			debug.SetMemoryLimit(maxHeap)
		}
	}
	if err != nil {
		a.answerUnread(a.wiring().Unread(cardea.NoObject.Issue("", diagnostic.CodeUnreadable, "", err.Error())))
		return
	}
	m, err := a.wiring().Open(raw)
	if err != nil {
		a.out, a.done = harness.Output{Exit: ExitDeny, Stderr: []byte(harness.Refused("failure", setUpWrongly+Plain(err.Error())) + "\n")}, true
		return
	}
	if a.raw = raw; m.Unread {
		a.answerUnread(m)
		return
	}
	a.progress = progress{message: m, event: m.Event, fallback: unset}
	a.publish(a.progress)
}

// readInput reads standard input. It fails if there is more than MaxInput.
func (a *answering) readInput() ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(a.process.Stdin, MaxInput+1))
	if err != nil {
		return nil, fmt.Errorf("standard input cannot be read: %w", err)
	}
	if len(raw) > MaxInput {
		return nil, fmt.Errorf("the message on standard input is larger than %d MiB", MaxInput>>20)
	}
	return raw, nil
}

// answerUnread answers a message that contains nothing to judge. It applies the setting
// on_error and the ledger of the working folder.
func (a *answering) answerUnread(m *harness.Message) {
	pl := Locate(a.process, "", "", a.process.Dir)
	w := a.process.Where(&pl)
	w.Compiled = true
	s := inforce.LoadSettings(w)
	if a.raw != nil {
		a.letEngineAnswer()
	}
	if a.done {
		return
	}
	p := progress{message: m, event: m.Event, fallback: s.Fallback(), recorder: a.recorderOf(&pl, s.Ledger)}
	answer := cardea.Express(m.Verdict(p.fallback), m.Capabilities(), m.Event)
	p.answer = &answer
	if a.done = true; a.leave() {
		return
	}
	a.publish(p)
	_, problems := p.recorder.record(p.event, answer, a.late)
	a.out = p.write(slices.Concat(a.alone, problems)...)
}

// loadConfiguration loads what is in force where the event happens.
func (a *answering) loadConfiguration() {
	j := NewEvaluation(a.process, a.message.Event)
	a.evaluation, a.event, a.fallback = j, j.Event, j.Loaded.Settings.Fallback()
	a.recorder = a.recorderOf(&j.Place, j.Loaded.Settings.Ledger)
	a.publish(a.progress)
	a.noteTyped(j)
}

// analyseForArchives analyses the call if this program may have to leave an archive to
// another one. Otherwise the gate analyses it.
func (a *answering) analyseForArchives() {
	if len(a.alone) == 0 && a.process.Another != nil {
		a.evaluation.Analyse()
	}
}

// decide carries out a command that was typed for Cardea, or asks the gate.
func (a *answering) decide() {
	v, typed := a.evaluation.carryOut()
	if !typed {
		v = a.Decide(a.evaluation, a.ctx)
	}
	a.letEngineAnswer() // the gate also reads files
	a.verdict = a.unlessUnread(v, a.evaluation.Loaded.Settings.Fallback(), a.evaluation.Event)
	a.verdict.Issues = slices.Concat(a.alone, a.verdict.Issues)
	a.decided = true
}

// askThePerson asks a person in the queue if the verdict and the settings say so.
func (a *answering) askThePerson() {
	a.verdict = a.askPerson(a.ctx, a.evaluation, a.verdict, a.progress)
}

// expressVerdict turns the verdict into the answer that the harness can understand, and
// publishes it: from then on it is final.
func (a *answering) expressVerdict() {
	j, v := a.evaluation, a.verdict
	answer := cardea.Express(Harmless(v), a.message.Capabilities(), j.Event)
	answer.Issues = slices.Concat(a.message.Issues, v.Issues)
	a.event, a.answer, a.actions, a.stale = j.Event, &answer, j.actions(a.Redactor, v), j.Loaded.StaleLessons
	a.keep, a.daemon = j.afterJudge(v, answer.Effect, a.Redactor), j.daemon()
	if a.leaveActions(); a.leave() {
		return
	}
	a.publish(a.progress)
	a.progress.answer = new(answer) // what follows adds issues, and published values do not change
}

// record writes the answer into the ledger, and the trace into the log file.
func (a *answering) record() {
	j := a.evaluation
	a.all = a.answer.Issues
	unasked := j.endsUnasked()
	if a.event.Kind.Answered() || a.answer.Decided >= cardea.Ask || a.event.Review != nil || unasked || j.endsQuestion() {
		var problems cardea.Issues
		a.id, problems = a.recorder.record(a.event, *a.answer, a.late)
		a.all = slices.Concat(a.all, problems)
	}
	if err := j.logTrace(a.trace()); err != nil {
		a.all = append(slices.Clip(a.all), cardea.Unwritten.Issue(j.Loaded.LogFile(), diagnostic.CodeUnwritten, "", err.Error()))
	}
}

// trace returns the trace of the evaluation for people, "" if it is not wanted.
func (a *answering) trace() string {
	text := a.evaluation.Traced.Text(a.Redactor.Show)
	if a.id != "" && a.evaluation.Traced != nil {
		text += fmt.Sprintf("cardea: recorded; see \"cardea explain %s\"\n", a.id)
	}
	return text
}

// remember saves what later calls need: the lesson of an approved call, and the state of the
// session.
func (a *answering) remember() {
	j := a.evaluation
	learned, notLearned := j.learn(*a.answer)
	a.all = slices.Concat(a.all, learned, j.unshown(*a.answer))
	a.answer.Issues = j.newIssues(a.all)
	j.noteCreations(a.answer.Effect, a.begin)
	j.noteActions(a.actions, a.answer.Rewrite)
	j.noteQuestion(*a.answer)
	err := errors.Join(notLearned,
		j.grantLead(a.answer.Effect),    // roles that a lead gave
		j.recordChecks(a.answer.Effect), // tests that began or succeeded
		j.Place.Session.Save(a.Redactor),
		j.keep(a.Redactor, a.late), // the judge's decision
		j.beat(a.process.Now()),    // that the session is alive
	)
	if err != nil {
		unwritten := cardea.Unwritten.Issue("", diagnostic.CodeUnwritten, "", err.Error())
		a.all, a.answer.Issues = append(slices.Clip(a.all), unwritten), append(a.answer.Issues, unwritten)
	}
}

// writeAnswer writes the answer in the form of the message.
func (a *answering) writeAnswer() {
	a.out = a.message.Write(a.event, *a.answer)
	a.out.Stderr = append(a.out.Stderr, remarksFor(a.out, a.all)...)
	if a.out.Exit == ExitOK && a.evaluation.debugs() {
		a.out.Stderr = append(a.out.Stderr, a.trace()...)
	}
}
