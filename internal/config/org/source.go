package org

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Kind is the kind of a source.
type Kind int

// The kinds of sources.
const (
	Git Kind = iota
	Archive
)

// Source is the origin of an organisation's settings.
type Source struct {
	Kind Kind
	// Address is the address to clone, or the archive's https address or absolute path.
	Address string
	// Ref is a branch or tag of git, "" for the default branch.
	Ref string
}

// ParseSource parses a source as users write it. A git repository (https, ssh, or a folder)
// is optionally followed by "#BRANCH". An archive is a .tar.gz, .tgz or .zip, with https or
// a file. If signed is set, a signed bundle is required, so any https address is an
// archive. Relative paths are below dir, and "~/" is home.
func ParseSource(text, dir, home string, signed bool) (Source, error) {
	address, ref, _ := strings.Cut(text, "#")
	scheme, _, hasScheme := strings.Cut(address, "://")
	switch {
	case address == "" || strings.HasPrefix(address, "-") || strings.HasPrefix(ref, "-") || strings.ContainsAny(text, "\n\r\x00"):
		return Source{}, errors.New("it is no address: name a git repository or an archive")
	case strings.Contains(strings.ReplaceAll(address, "://", ""), "::"):
		return Source{}, fmt.Errorf("%q is for a helper of git, and none is started: use https or ssh", text)
	case hasScheme && (scheme == "https" || scheme == "ssh" || scheme == "file"):
		return parseURL(address, ref, signed)
	case hasScheme:
		return Source{}, fmt.Errorf("nobody can tell over %s whose answer it is: use https or ssh", scheme)
	case scp(address):
		return Source{Git, address, ref}, nil
	}
	if rest, ok := strings.CutPrefix(address, "~/"); ok {
		address = filepath.Join(home, rest)
	} else if !filepath.IsAbs(address) {
		address = filepath.Join(dir, address)
	}
	return parsePath(address, ref)
}

// parseURL returns the source at an https, ssh or file URL. It rejects passwords.
func parseURL(address, ref string, signed bool) (Source, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return Source{}, errors.New("it is no address: " + err.Error())
	case u.Scheme == "file":
		return parsePath(filepath.FromSlash(u.Path), ref)
	case u.Host == "" || strings.HasPrefix(u.Host, "-"):
		return Source{}, errors.New("the address names no host")
	}
	if _, secret := u.User.Password(); secret {
		return Source{}, errors.New("it holds a password: remove it, and let git ask your credential helper")
	}
	if u.Scheme == "https" && (signed || isArchive(u.Path)) {
		if ref != "" {
			return Source{}, fmt.Errorf("an archive has no branch %q", ref)
		}
		return Source{Archive, address, ""}, nil
	}
	return Source{Git, address, ref}, nil
}

// parsePath returns a source on this machine: a file is an archive, a folder a repository.
func parsePath(path, ref string) (Source, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return Source{}, fmt.Errorf("there is no %s; name a git repository (https, ssh, or a folder) or an archive (https, or a file)", path)
	case info.IsDir():
		return Source{Git, (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String(), ref}, nil
	}
	return Source{Archive, path, ""}, nil
}

// scp reports whether an address has the short form of ssh: user@host:path.
func scp(address string) bool {
	host, path, ok := strings.Cut(address, ":")
	return ok && path != "" && strings.Contains(host, "@") && !strings.ContainsAny(host, `/\`)
}

func isArchive(path string) bool {
	path = strings.ToLower(path)
	return strings.HasSuffix(path, ".tar.gz") || strings.HasSuffix(path, ".tgz") || strings.HasSuffix(path, ".zip")
}
