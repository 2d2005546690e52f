// Package remote runs policies in another process: it has the client, which
// the hook links, and the server, which is the program cardea-engine.
//
// The hook is a process per call. Linking OPA costs every one of them more than
// everything else that it does, and most calls are routed to no policy. So OPA
// is in another program, which is started when the first policy has to be parsed
// or compiled. It lives as long as the process that started it: it ends when its
// standard input does (docs/decisions/0022).
//
// Requests are answered one at a time, in order: a hook has few, and a process
// that answers many calls links the engine itself. Request and answer are
// messages of a fixed head and a body of JSON ([message]).
//
// Policies may come with a project, so the server is not trusted to come to an
// end, nor to answer in few bytes. A request ends with its time, and a server
// that missed it is killed. What it knew is made again from the texts when the
// next server needs it.
package remote
