//go:build !unix

package bash

import "os/exec"

// On other systems the oracle runs as the user and without process groups.
const nobody = 0

func unprivileged() bool { return false }

func own(*exec.Cmd) {}

func end(*exec.Cmd) {}
