package project

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
)

// Remote is where a repository came from: the host and the owner of its remote
// "origin", in lower case. The zero value is none, or one that cannot be told.
type Remote struct{ Host, Owner string }

// maxGitConfig bounds the configuration of a repository, in bytes.
const maxGitConfig = 1 << 20

// RemoteOf reads the remote of the repository around a folder from .git/config. git
// is never started. What the text of this one file does not tell for certain is no
// remote: a .git that is a file (a worktree, a submodule) or a link, a configuration
// that includes files or rewrites addresses, several addresses, and addresses other
// than https and ssh. The home folder and what lies above it are not looked at.
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

// remoteIn finds the remote in the text of a configuration.
func remoteIn(text string) Remote {
	section, address := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
			continue
		case strings.HasSuffix(line, `\`):
			return Remote{} // goes on in the next line
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

// isOrigin reports whether a section is that of the remote origin, in either form
// that git reads.
func isOrigin(section string) bool {
	kind, name, quoted := strings.Cut(section, " ")
	if quoted {
		return strings.EqualFold(kind, "remote") && strings.TrimSpace(name) == `"origin"`
	}
	return strings.EqualFold(section, "remote.origin")
}

// parseRemote takes an address apart.
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

// DefaultHost is the host of an organisation whose folder names none.
const DefaultHost = "github.com"

// OrgRemote is the remote that the name of an organisation's folder stands for:
// OWNER is one of [DefaultHost], HOST_OWNER of another host. No host has an
// underscore, and every host but that one has a dot in its name.
func OrgRemote(name string) Remote {
	host, owner, named := strings.Cut(strings.ToLower(name), "_")
	if !named || !strings.Contains(host, ".") {
		host, owner = DefaultHost, strings.ToLower(name)
	}
	return Remote{host, owner}
}
