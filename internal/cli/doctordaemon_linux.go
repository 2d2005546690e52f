package cli

import "cardea.dev/internal/hook/control"

func daemonAt(socket, engine string) control.Client {
	return control.Remote{Path: socket, Program: engine}
}
