//go:build unix && !linux && !darwin

package policy

import "syscall"

// ctime is not looked at where its name is not the same everywhere.
func ctime(*syscall.Stat_t) int64 { return 0 }
