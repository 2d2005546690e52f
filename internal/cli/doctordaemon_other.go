//go:build !linux

package cli

import "cardea.dev/internal/hook/control"

func daemonAt(string, string) control.Client { return nil } // never called: there is no stamp
