package cli

import "cardea.dev/internal/control"

func daemonAt(socket, engine string) control.Client {
	return control.Remote{Path: socket, Program: engine}
}
