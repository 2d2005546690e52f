package project

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
)

// Remote is the origin of a repository: host and owner of its remote "origin", in lower
// case. The zero value means none or unknown.
type Remote struct{ Host, Owner string }

// maxGitConfig is the maximum size of a repository's configuration in bytes.
const maxGitConfig = 1 << 20

// RemoteOf returns the remote of the repository around a folder, from .git/config. It never
// starts git, and returns none unless this one file is conclusive. Not conclusive are a
// .git that is a file (a worktree, a submodule) or a link, and a configuration that
// includes files or rewrites addresses. Neither are several addresses, and protocols other
// than https and ssh. The home folder and those above it are not searched.
func RemoteOf(dir, home string) Remote {
	if dir == "" {
		return Remote{}
	}
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		git := filepath.Join(dir, ".git")
		info, err := os.Lstat(git)
		switch {
		case err == nil && info.IsDir():
			text, err := state.Read(filepath.Join(git, "config"), maxGitConfig)
			if err != nil {
				return Remote{}
			}
			return remoteIn(string(text))
		case err == nil || dir == filepath.Dir(dir) || paths.Within(filepath.Dir(dir), home):
			return Remote{}
		}
	}
}

// remoteIn returns the remote in the text of a configuration.
func remoteIn(text string) Remote {
	section, address := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
			continue
		case strings.HasSuffix(line, `\`):
			return Remote{} // continues in the next line
		case line[0] == '[':
			name, rest, closed := strings.Cut(line[1:], "]")
			kind, _, _ := strings.Cut(strings.ToLower(name), " ")
			kind, _, _ = strings.Cut(kind, ".")
			if !closed || strings.TrimSpace(rest) != "" || kind == "include" || kind == "includeif" || kind == "url" {
				return Remote{}
			}
			section = name
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if !isOrigin(section) || !strings.EqualFold(strings.TrimSpace(key), "url") {
			continue
		}
		if address != "" {
			return Remote{}
		}
		address = strings.TrimSpace(value)
	}
	return parseRemote(address)
}

// isOrigin reports whether a section is that of the remote origin, in either form that git
// accepts.
func isOrigin(section string) bool {
	kind, name, quoted := strings.Cut(section, " ")
	if quoted {
		return strings.EqualFold(kind, "remote") && strings.TrimSpace(name) == `"origin"`
	}
	return strings.EqualFold(section, "remote.origin")
}

// parseRemote returns the remote of an address.
func parseRemote(address string) Remote {
	if strings.ContainsAny(address, "\"\\ \t#;%?") {
		return Remote{}
	}
	host, path := "", ""
	if u, err := url.Parse(address); err == nil && (u.Scheme == "https" || u.Scheme == "ssh") {
		host, path = u.Hostname(), u.Path
	} else if at, behind, scp := strings.Cut(address, ":"); scp && !strings.Contains(at, "/") && !strings.HasPrefix(behind, "/") {
		host, path = at[strings.LastIndexByte(at, '@')+1:], behind
	}
	owner, name, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if host == "" || owner == "" || name == "" || strings.Contains("/"+path+"/", "/../") || strings.HasPrefix(owner, "~") {
		return Remote{}
	}
	return Remote{strings.ToLower(host), strings.ToLower(owner)}
}

// DefaultHost is the host of an organisation whose folder names no host.
const DefaultHost = "github.com"

// OrgRemote returns the remote for the name of an organisation's folder: OWNER on
// [DefaultHost], or HOST_OWNER on another host. No host name has an underscore, and every
// host except that one has a dot.
func OrgRemote(name string) Remote {
	host, owner, named := strings.Cut(strings.ToLower(name), "_")
	if !named || !strings.Contains(host, ".") {
		host, owner = DefaultHost, strings.ToLower(name)
	}
	return Remote{host, owner}
}
