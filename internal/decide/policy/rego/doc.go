// Package rego reads, compiles and evaluates policies, and runs their tests. It is
// the only package that uses OPA. It knows nothing of files, scopes and verdicts.
//
// OPA's parser, compiler, evaluator, tester and coverage are used as they are, so
// that "cardea policy test" reports what "opa test" reports. The hook does not
// link this package, because every process that links OPA starts slower: it asks
// another process, by package remote (docs/decisions/0022).
//
// Tests may use what policies may use. Each test has a time limit, and all tests
// together a limit of memory. A test that cannot be stopped is left behind and
// reported; its process ends with "cardea policy test".
//
// Who wrote a policy may be the enemy: a project's policies come with a clone.
// So a policy sees only what it is given. The built-in functions are a list of
// those that are pure ([Builtins]); what is not on it, such as the network, the
// clock, chance and the environment, does not compile. Evaluation ends when its
// time does, and when it takes more memory than it may.
package rego
