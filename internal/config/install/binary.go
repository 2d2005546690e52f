package install

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
)

// Machine describes where to look for a stable binary.
type Machine struct {
	// Executable is the running program. Named is the one that the user names, "" for none.
	Executable, Named string
	// Temp holds the machine's temporary folders.
	Temp []string
	// Project is the project folder, in which the agent may write everything.
	Project string
	// Home is the user's home folder.
	Home string
	// Advice is a command that installs the program into a permanent folder.
	Advice string
}

// StableBinary returns an absolute path for the hook: the one that the user names, or that
// of the running program. If the hook's program is missing, every call runs, so
// StableBinary rejects a temporary, versioned or agent-writable folder. If a package
// manager has a link to the program in one of its own folders, it returns the link.
func StableBinary(m Machine) (string, error) {
	if m.Named != "" {
		if why := m.unstable(m.Named); why != "" {
			return "", fmt.Errorf("%s %s; install it into a folder that stays, and name that one: %s", m.Named, why, m.Advice)
		}
		return m.Named, errors.Join(CheckBinary(m.Named), SameProgram(m.Named, m.Executable))
	}
	real, err := filepath.EvalSymlinks(m.Executable)
	if err != nil {
		return "", fmt.Errorf("find this program: %w; name it with --binary", err)
	}
	why := m.unstable(real)
	if why == "" {
		return real, CheckBinary(real)
	}
	for _, dir := range m.linkFolders() {
		link := filepath.Join(dir, filepath.Base(real))
		if to, err := filepath.EvalSymlinks(link); err == nil && to == real && m.unstable(link) == "" {
			return link, CheckBinary(link)
		}
	}
	return "", fmt.Errorf("%s %s; install it into a folder that stays, and run it from there: %s", real, why, m.Advice)
}

// linkFolders returns the folders in which package managers link to the newest version.
// Only root or the user can write there.
func (m Machine) linkFolders() []string {
	dirs := []string{"/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin"}
	for _, dir := range []string{".linuxbrew/bin", ".local/bin", "go/bin", ".local/share/cardea/bin", ".nix-profile/bin", "scoop/apps/cardea/current"} {
		if m.Home != "" {
			dirs = append(dirs, filepath.Join(m.Home, filepath.FromSlash(dir)))
		}
	}
	return dirs
}

// unstable returns why a path is not permanent, "" if it is. A link to a versioned folder
// is stable, unless the agent may replace it.
func (m Machine) unstable(path string) string {
	in := func(dir string) func(string) bool {
		return func(at string) bool {
			return dir != "" && filepath.Dir(dir) != dir && paths.Within(paths.Real(dir), at)
		}
	}
	way := append(paths.Through(path), filepath.Clean(path), paths.Real(path))
	for _, dir := range m.Temp {
		if slices.ContainsFunc(way, in(dir)) {
			return "is in a temporary folder, or a link leads through one"
		}
	}
	if slices.ContainsFunc(way, in(m.Project)) {
		return "is in the project, where the agent may replace it, or a link leads through it"
	}
	for _, part := range strings.Split(filepath.ToSlash(filepath.Dir(path)), "/") {
		switch {
		case strings.HasPrefix(part, "go-build"):
			return "lies in the build cache of go run"
		case isVersion(part):
			return fmt.Sprintf("lies in the folder %q of one version, which the next update removes", part)
		}
	}
	if strings.HasPrefix(filepath.ToSlash(path), "/nix/store/") {
		return "lies in the store of one version, which the next update removes"
	}
	return ""
}

// isVersion reports whether a folder's name ends in a version: 1.2.3, v1.2, cardea-1.2.3,
// cardea@v0.1.0.
func isVersion(name string) bool {
	name = name[strings.LastIndexAny(name, "-@")+1:]
	parts := strings.Split(strings.TrimPrefix(name, "v"), ".")
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(p string) bool { return p == "" || strings.Trim(p[:1], "0123456789") != "" })
}

// CheckBinary returns why a program cannot be the hook, regardless of its folder.
func CheckBinary(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%s is no absolute path, and a harness starts hooks in folders of its choice; name it from the root", path)
	}
	if !isCardea(path) {
		return fmt.Errorf("%s is not called cardea, so --uninstall and doctor would not know it again; give it that name", path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("the hook's program: %w; install it first", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no program; name the binary itself", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%s is not executable, and a hook that cannot start lets every call run; run chmod +x", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	err = errors.Join(guarded(real), guarded(filepath.Dir(real)))
	for _, link := range paths.Through(path) {
		err = errors.Join(err, guarded(filepath.Dir(link)))
	}
	return err
}

// SameProgram returns an error if a program differs from the running one. The hook decides
// about every call, so it must be the program that the user started.
func SameProgram(path, running string) error {
	a, err := programDigest(path)
	if err != nil {
		return fmt.Errorf("the hook's program: %w", err)
	}
	b, err := programDigest(running)
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if a != b {
		return fmt.Errorf("%s is another program than the one that runs this command (%s); run that program's own install, or copy this one there", path, running)
	}
	return nil
}

// programDigest returns the digest of a program file.
func programDigest(path string) (sum [sha256.Size]byte, err error) {
	f, _, err := state.OpenLinked(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// guarded returns an error if all users may write a file or folder.
func guarded(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if othersMayWrite(info) {
		return fmt.Errorf("%s can be written by everybody, so anybody could open the gate; run chmod o-w", path)
	}
	return nil
}
