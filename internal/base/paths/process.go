package paths

import (
	"path"
	"strings"
)

// Process classifies a path by the process whose links it goes through.
type Process uint8

// The results of [ThroughProcess].
const (
	// NoProcess is a path that goes through no link of a process.
	NoProcess Process = iota
	// OwnProcess is a path through links of the process that opens it.
	OwnProcess
	// OtherProcess is a path through a link of another process, or through a descriptor. Its
	// target is unknown.
	OtherProcess
)

// ThroughProcess replaces links of processes in an absolute path by their targets. They are
// /proc/PID/cwd, /proc/PID/root, and a descriptor that is a folder (/proc/PID/fd/3/x,
// /dev/fd/3/x, /dev/stdin/x). dir is the folder of the process that opens the path. ".." is
// removed as the kernel does. If wild is set, the name of a link may be a pattern.
//
// A link with an unknown target is taken to lead to dir, and rest is the path below it. The
// result at is "" if dir is needed and is "".
func ThroughProcess(name, dir string, wild bool) (at, rest string, of Process) {
	if len(name) > maxPath || !wild && !strings.Contains(name, "/proc") && !strings.Contains(name, "/dev/") {
		return name, "", NoProcess
	}
	todo := strings.Split(name, "/")
	for n := len(todo) - 1; n > 0 && (todo[n] == "" || todo[n] == "."); n-- {
		todo = todo[:n]
	}
	for i, next := range todo {
		switch next {
		case "", ".":
			continue
		case "..":
			at = at[:max(strings.LastIndexByte(at, '/'), 0)]
			continue
		}
		at = deviceLink(at+"/"+next, i < len(todo)-1)
		link, own := processLink(at, wild)
		switch {
		case link == "" || link == "fd" && i == len(todo)-1:
			continue
		case own && link != "fd":
			of = max(of, OwnProcess)
		default:
			of, rest = OtherProcess, strings.Join(todo[i+1:], "/")
		}
		switch {
		case link == "root":
			at = ""
		case dir == "":
			return "", rest, of
		default:
			at = strings.TrimSuffix(dir, "/")
		}
	}
	if at == "" {
		at = "/"
	}
	return at, rest, of
}

// processLink returns the link of a process that a path is: cwd, root, or fd for a
// descriptor. It returns "" for other paths. The result own is set for a link of the
// process that opens it.
func processLink(at string, wild bool) (link string, own bool) {
	is := func(segment, name string) bool {
		return segment == name || wild && IsPattern(segment) && MatchName(segment, name)
	}
	segs := strings.SplitN(at, "/", 8)
	if len(segs) < 4 || !is(segs[1], "proc") {
		return "", false
	}
	own, last := segs[2] == "self", segs[3:]
	if len(last) > 2 && is(last[0], "task") {
		last = last[2:]
	}
	switch {
	case len(last) == 1 && is(last[0], "cwd"):
		return "cwd", own
	case len(last) == 1 && is(last[0], "root"):
		return "root", own
	case len(last) == 2 && is(last[0], "fd"):
		return "fd", own
	}
	return "", false
}

// deviceLink returns a path with the links between /dev and /proc replaced. more is set if
// the path continues: at its end, /dev/stdin names the descriptor itself.
func deviceLink(at string, more bool) string {
	switch {
	case at == "/proc/thread-self":
		return "/proc/self/task/0"
	case !more:
	case at == "/proc/net":
		return "/proc/self/net"
	case at == "/dev/fd":
		return "/proc/self/fd"
	case at == "/dev/stdin", at == "/dev/stdout", at == "/dev/stderr":
		return "/proc/self/fd/0"
	}
	return at
}

// IsDescriptor reports whether name is an open file of a process: /dev/stdin, /dev/fd/3,
// /proc/self/fd/3.
func IsDescriptor(name string) bool {
	name = path.Clean(name)
	return name == "/dev/stdin" || name == "/dev/stdout" || name == "/dev/stderr" || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/proc/") && path.Base(path.Dir(name)) == "fd"
}

// NamesProcess reports whether a text contains a path through a link of a process.
func NamesProcess(text string) bool {
	for _, begin := range [...]string{"/proc/", "/dev/fd/", "/dev/std"} {
		if i := strings.Index(text, begin); i >= 0 {
			if _, _, of := ThroughProcess(text[i:], "/", true); of != NoProcess {
				return true
			}
		}
	}
	return false
}
