// Package remote runs policies in another process. It has the client, which the hook links,
// and the server, which is the program cardea-engine.
//
// The hook is a process per call. Linking OPA would cost each of them more than all its
// other work, and most calls are routed to no policy. So OPA is in another program, which
// starts when the first policy must be parsed or compiled. It ends when its standard input
// does, so with the process that started it (docs/decisions/engine-process.md).
//
// The server answers requests one at a time, in order. A hook has few requests, and a
// process for many calls links the engine itself. Request and answer are messages with a
// fixed head and a JSON body ([message]).
//
// Policies may come with a project, so the server may hang or send large answers. A request
// ends when its time is over, and a server that misses it is killed. The next server gets
// its state again from the texts.
package remote
