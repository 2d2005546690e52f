// Package rego reads, compiles and evaluates policies. It and package regotest,
// which runs their tests, are the only places in which OPA is used. They know
// nothing of files, scopes and verdicts.
//
// OPA's parser, compiler and evaluator are used as they are (opa/v1/ast and
// opa/v1/topdown); the package opa/v1/rego above them is not, because every
// process that links it starts slower (docs/decisions/0022). The hook does not
// link this package either: it asks another process that does, by package
// remote.
//
// Who wrote a policy may be the enemy: a project's policies come with a clone.
// So a policy sees only what it is given. The built-in functions are a list of
// those that are pure ([Builtins]); what is not on it, such as the network, the
// clock, chance and the environment, does not compile. Evaluation ends when its
// time does, and when it takes more memory than it may.
package rego
