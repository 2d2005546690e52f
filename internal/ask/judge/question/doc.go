// Package question builds the question to a judge about a call: the call with its parts, and the
// facts around it.
//
// The call is text of the agent, which text that it read may have instructed to mislead the judge.
// So all of it is redacted, escaped, and inside of a fence that it cannot close. Text of a person,
// such as the agent's task and the policy of the project, is outside of that fence, redacted and
// escaped in the same way.
package question
