// Package install adds Cardea's hook to the settings of harnesses, removes it
// again, and checks what is registered.
//
// The files belong to people and to the harnesses, and a broken one is an open
// gate: Claude Code runs tools when it cannot read its hooks. So a change is
// made as a plan first ([PlanInstall], [PlanUninstall]), which has the whole
// text before and after; it is checked to parse and to say the same as before
// but for Cardea's own entries; then it is written by rename. What was put in
// is remembered in the state folder, so that it can be taken out to the byte;
// without that memory Cardea's entries are found by what they say.
//
// Claude Code and Copilot CLI differ in where their files lie and in how an
// entry is written. That is the table in harness.go, nothing else.
package install
