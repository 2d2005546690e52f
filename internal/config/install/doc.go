// Package install adds Cardea's hook to the settings of harnesses, removes it, and checks
// what is registered.
//
// The files belong to users and harnesses, and a broken file is an open gate: Claude Code
// runs tools when it cannot read its hooks. So a change is first a plan ([PlanInstall],
// [PlanUninstall]) with the whole text before and after. The plan is checked to parse and
// to differ only in Cardea's own entries, then written by rename. The state folder records
// what was inserted, so that it can be removed to the byte. Without that record, Cardea's
// entries are found by their content.
//
// Harnesses differ in the places of their files and the form of an entry. The table in
// table.go holds these differences.
package install
