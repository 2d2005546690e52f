// Package question puts together what a judge is asked about a call: the call with its
// parts, and what is known around it.
//
// The call is text of the agent, who may have been told by what it read to mislead the
// judge. So all of it is redacted, escaped, and inside of a fence that it cannot close.
// What a person wrote, such as the agent's task and the policy of the project, stands
// outside of that fence, redacted and escaped in the same way.
package question
