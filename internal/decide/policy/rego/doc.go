// Package rego reads, compiles and evaluates policies, and runs their tests. It is the only
// package that uses OPA. It has no knowledge of scopes and verdicts, and opens no files.
//
// It uses OPA's parser, compiler, evaluator, tester and coverage unchanged, so that "cardea
// policy test" reports the same as "opa test". The hook does not link this package, since
// linking OPA slows down the start of a process. It asks another process through package
// remote (docs/decisions/engine-process.md).
//
// Tests may use the same functions as policies. Each test has a time limit, and all tests
// together have a memory limit. A test that cannot be stopped is abandoned and reported. It
// ends with the process of "cardea policy test".
//
// The author of a policy may be an attacker, since a project's policies come with a clone.
// So a policy sees only its input. Only pure built-in functions are available ([Builtins]).
// Others, such as network, clock, random numbers and environment, do not compile.
// Evaluation has limits of time and memory.
package rego
