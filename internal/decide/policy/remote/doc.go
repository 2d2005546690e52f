// Package remote is an engine of policies in a process of its own: the client
// that the hook links, and the server that the program cardea-engine is.
//
// The hook is a process per call. Linking OPA costs every one of them more than
// everything else that it does, and most calls are routed to no policy. So OPA
// is in another program, which is started when the first policy has to be parsed
// or compiled, and lives as long as the process that started it: it ends when
// its standard input does (docs/decisions/0022).
//
// What goes over the two pipes are frames: four bytes of length, a head of fixed
// length, and JSON of a type that the head tells. Requests have numbers and are
// worked on at the same time; answers come in any order.
//
// Policies may come with a project, so the server is not believed to come to an
// end, and neither to answer in few bytes: a request ends with its time, and a
// server in which something was left behind is used no more. What a server knew
// is made again from the texts when the next one needs it.
package remote
