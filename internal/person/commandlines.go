package person

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// CommandLines are the words with which the processes above this one were
// started, nearest first: what the person typed to start their agent is known
// from nowhere else. Only Linux tells them without starting a program; elsewhere
// there are none, and what cannot be read is left out.
func CommandLines() [][]string {
	if runtime.GOOS != "linux" {
		return nil
	}
	var out [][]string
	for pid := os.Getppid(); pid > 1 && len(out) < maxAncestors; {
		dir := filepath.Join("/proc", strconv.Itoa(pid))
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil {
			return out
		}
		out = append(out, strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00"))
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if err != nil || len(fields) < 2 {
			return out
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil {
			return out
		}
	}
	return out
}
