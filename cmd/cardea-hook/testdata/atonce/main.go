// Program atonce stands in for the daemon, and answers every call at once without a look at
// it: what a call takes then is what a hook takes by itself.
package main

import (
	"log"
	"net"
	"os"
	"path/filepath"

	"cardea.dev/internal/hook/control"
)

func main() {
	path := control.Socket(os.Getenv)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		log.Fatal(err)
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			log.Fatal(err)
		}
		if c, err := control.ReadCall(conn); err == nil {
			_, _ = conn.Write(control.Answer{Nonce: c.Nonce}.Bytes())
		}
		_ = conn.Close()
	}
}
