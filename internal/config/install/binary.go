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

// Machine is what a stable binary is looked for with.
type Machine struct {
	// Executable is the running program, Named the one that the person names, "" for none.
	Executable, Named string
	// Temp are the machine's temporary folders.
	Temp []string
	// Project is the project, whose agent may write everything in it.
	Project string
	// Home is the person's home folder.
	Home string
	// Advice is a way to install the program into a folder that stays.
	Advice string
}

// StableBinary is the absolute path under which the running program can be
// named for good: the one that the person names, or where it lies. A hook whose program is
// gone lets every call run, so a program in a temporary, versioned or agent-writable folder
// is refused. Where a package manager keeps a link to it in one of its own folders, that
// link is the path.
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

// linkFolders are those in which package managers keep a link to the newest version. Only
// root, or the person, writes there.
func (m Machine) linkFolders() []string {
	dirs := []string{"/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin"}
	for _, dir := range []string{".linuxbrew/bin", ".local/bin", "go/bin", ".local/share/cardea/bin", ".nix-profile/bin", "scoop/apps/cardea/current"} {
		if m.Home != "" {
			dirs = append(dirs, filepath.Join(m.Home, filepath.FromSlash(dir)))
		}
	}
	return dirs
}

// unstable says why a path cannot be counted on, "" where it can. A link that leads to a
// folder of one version is fine, and one that the agent may replace is not.
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

// isVersion reports whether a folder's name ends in a version: 1.2.3, v1.2,
// cardea-1.2.3, cardea@v0.1.0.
func isVersion(name string) bool {
	name = name[strings.LastIndexAny(name, "-@")+1:]
	parts := strings.Split(strings.TrimPrefix(name, "v"), ".")
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(p string) bool { return p == "" || strings.Trim(p[:1], "0123456789") != "" })
}

// CheckBinary reports why a program cannot be the hook, wherever it lies.
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

// SameProgram says why a program is not the one that is running: the hook decides
// about every call, so it must be the one that the person has started.
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

// programDigest is the digest of a program's bytes.
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

// guarded reports that anybody may write a file or folder.
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
