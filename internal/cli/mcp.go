package cli

import (
	"io"

	"github.com/spf13/cobra"

	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/ask/queue/store"
	"cardea.dev/internal/cli/mcp"
)

// mcpCommand returns the command "mcp".
func mcpCommand(p Process) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "be a server of the Model Context Protocol, for agents",
		Long: `Speak the Model Context Protocol on standard input and output. A harness starts it:

  claude mcp add cardea -- cardea mcp

Its tools show an agent the gate and the queue, let a lead register its team and a
supervisor answer for it, and ask a person in the queue where a harness has no prompt
of its own. None of them permits anything by itself. See docs/mcp.md.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return serveMCP(p) },
	}
}

// serveMCP answers until the client disconnects.
func serveMCP(p Process) error {
	ctx, stop := untilEnded()
	defer stop()
	face := mcp.Face{Process: p.Process, Registrar: func() (sessionRegistrar, error) { return registrarHere(p) },
		Queue: func(folder string) (queue.Queue, func() error, error) {
			q, err := store.Open(folder, p.Now)
			if err != nil {
				return nil, nil, err
			}
			return q, q.Close, nil
		}}
	return mcp.Serve(ctx, io.NopCloser(p.Stdin), noClose{p.Stdout}, face.Tools(ctx))
}

// noClose is a writer whose Close does nothing.
type noClose struct{ io.Writer }

// Close does nothing.
func (noClose) Close() error { return nil }
