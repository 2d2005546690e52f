package supervisor

import (
	"errors"
	"net"
	"slices"

	"cardea.dev/internal/ask/supervisor/post"
	"cardea.dev/internal/base/peer"
	"cardea.dev/internal/base/person"
)

// above returns the processes from the peer upwards, which must be this user's.
func above(conn net.Conn) ([]person.Forebear, error) {
	pid, err := peer.PID(conn)
	if err != nil {
		return nil, err
	}
	return person.Lineage(pid)
}

// mayAnswer returns an error if the processes that own a socket may not answer for a post.
func mayAnswer(holder post.Post, owners []person.Forebear) error {
	if !post.Descends(owners, holder.Process) {
		return errors.New("the socket belongs to another process than the one that a person made the supervisor")
	}
	if holder.Session == "" && slices.ContainsFunc(owners, func(f person.Forebear) bool { return f.Agent }) {
		return errors.New("an agent started the process that listens, and no person made its session the supervisor")
	}
	return nil
}

// mayAsk returns an error if a session may not ask the holder of a post. A supervisor does not
// answer its own session.
func mayAsk(holder post.Post, session string, askers []person.Forebear) error {
	switch {
	case holder.Session != "" && session == holder.Session:
		return errors.New("a supervisor does not answer its own session, nor its subagents")
	case holder.Session != "" && post.Descends(askers, holder.Process):
		return errors.New("a supervisor does not answer what its own session started")
	}
	return nil
}
