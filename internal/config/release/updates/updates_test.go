package updates

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/config/release"
)

func TestVersions(t *testing.T) {
	inOrder := []string{"v0.0.0-20261127000000-abcdef", "0.1.0-alpha", "v0.1.0-alpha.1", "v0.1.0-alpha.2", "v0.1.0-alpha.beta", "v0.1.0-rc.1", "v0.1.0", "v0.2.0+x", "v0.10.0", "v1.0.0", "v10.0.0"}
	for i, a := range inOrder {
		for j, b := range inOrder {
			v, ok := ParseVersion(a)
			w, also := ParseVersion(b)
			if got := v.Compare(w); !ok || !also || got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}
	for _, unusual := range []string{
		"",
		"v",
		"1",
		"v1.2",
		"v1.2.3.4",
		"v01.2.3",
		"v1.2.3-",
		"v1.2.3\n",
		"v1.2.3 ",
		"vv1.2.3",
		"v-1.2.3",
		"v1.2.9999999999",
		"v1.2.3-\x1b[31m",
		"(devel)",
		"v1.2.3;rm -rf ~",
		"v１.2.3",
	} {
		if v, ok := ParseVersion(unusual); ok {
			t.Errorf("%q is %s", unusual, v)
		}
	}
}

func atom(tags ...string) string {
	text := `<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><id>tag:github.com,2008:https://github.com/x/y/releases</id>`
	for _, tag := range tags {
		text += `<entry><id>tag:github.com,2008:Repository/1/` + tag + `</id><title>whatever</title></entry>`
	}
	return text + `</feed>`
}

func TestNewest(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"tag_name":"v9.9.9"}`) }))
	defer elsewhere.Close()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a list":             {text(atom("v0.1.0", "v0.10.0", "v0.9.0", "v1.0.0-rc.1")), "v0.10.0"},
		"one":                {text(`{"tag_name": "v0.3.0", "body": "x"}`), "v0.3.0"},
		"odd tags":           {text(atom("latest", "v0.2.0&#10;", "v0.1.0", "v&lt;1.0.0", "\u202ev3.0.0")), "v0.1.0"},
		"control characters": {text("{\"tag_name\": \"v0.3.0\\u001b[31m\"}"), "names no release"},
		"only pre-releases":  {text(atom("v1.0.0-rc.1")), "names no release"},
		"no list":            {text("<html><body>please log in"), "no list of releases"},
		"nothing":            {text(""), "no list of releases"},
		"entities":           {text(`<!DOCTYPE f [<!ENTITY a "v9.0.0"><!ENTITY b "&a;&a;">]><feed><entry><id>/&a;</id></entry></feed>`), "no list of releases"},
		"huge":               {text(strings.Repeat(" ", maxFeed) + `{"tag_name":"v0.3.0"}`), "more than 1048576 bytes"},
		"deep":               {text(strings.Repeat("<a>", 100_000)), "no list of releases"},
		"an error":           {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, "status 404"},
		"breaks off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"tag_name":"v0.3.0"}`)
		}, "come to its end"},
		"another host": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }, "another host"},
		"in circles":   {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }, "not followed"},
		"the same host": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, "/feed", http.StatusFound)
			}
			fmt.Fprint(w, `{"tag_name":"v0.3.0"}`)
		}, "v0.3.0"},
	} {
		s := httptest.NewServer(c.answer)
		v, err := Newest(context.Background(), s.URL+"/")
		if got := v.String(); err == nil && got != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s %v, want %s", name, got, err, c.want)
		}
		s.Close()
	}
	for _, address := range []string{"", "http://example.com/feed", "file:///etc/passwd", "ftp://127.0.0.1/", "https://", "//x", "\x00", "http://127.0.0.1.example.com/"} {
		if _, err := Newest(context.Background(), address); err == nil || !strings.Contains(err.Error(), "must begin with https://") {
			t.Errorf("%q: %v", address, err)
		}
	}
	if v, err := Newest(context.Background(), "http://127.0.0.1:1/"); err == nil {
		t.Errorf("nothing listens, and says %s", v)
	}
}

func text(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, s) }
}

// asked returns an Ask function for one package manager.
func asked(program, out string) func(string, ...string) (string, bool) {
	return func(p string, args ...string) (string, bool) {
		return out, p == program && len(args) > 1 && filepath.IsAbs(args[len(args)-1])
	}
}

func TestWays(t *testing.T) {
	linux := Machine{OS: "linux", Arch: "arm64", Home: "/home/you", GoBin: "/home/you/go/bin"}
	windows := Machine{OS: "windows", Arch: "amd64", Home: `C:\Users\you`}
	with := func(program, out string) Machine {
		m := linux
		m.Ask = asked(program, out)
		return m
	}
	root := with("/usr/bin/dpkg", "cardea: /usr/bin/cardea\n")
	root.IsRoot = true
	for _, c := range []struct {
		m               Machine
		path, way, line string
	}{
		{
			with("/usr/bin/dpkg", "cardea: /usr/bin/cardea\n"),
			"/usr/bin/cardea",
			"Debian",
			`_linux_arm64\.deb\)$/\1/p' checksums.txt) && curl -fsSLO "` + release.Repository + `/releases/latest/download/$f" && grep -F "  $f" checksums.txt | sha256sum -c - && sudo dpkg -i "./$f")`,
		},
		{root, "/usr/bin/cardea", "Debian", ` && dpkg -i "./$f")`},
		{with("/usr/bin/rpm", "cardea\n"), "/usr/bin/cardea", "RPM", `sudo rpm -U "./$f")`},
		{with("/sbin/apk", "/usr/bin/cardea is owned by cardea-0.1.0-r0\n"), "/usr/bin/cardea", "Alpine", `sudo apk add --allow-untrusted "./$f")`},
		{with("/sbin/apk", "/usr/bin/cardea is owned by cardea-0.0.0_git1\n"), "/usr/bin/cardea", "Alpine", "apk add"},
		{with("/usr/bin/dpkg", "cardea-gate: /usr/bin/cardea\n"), "/usr/bin/cardea", "Debian", ""},
		{with("/usr/bin/dpkg", "$(x)\x1b: /usr/bin/cardea\n"), "/usr/bin/cardea", "unknown", ""},
		{with("/usr/bin/dpkg", "cardea: /home/you/.local/share/cardea/bin/cardea\n"), "/home/you/.local/share/cardea/bin/cardea", "npm", "npm install"},
		{linux, "/home/linuxbrew/.linuxbrew/Cellar/cardea/0.1.0/bin/cardea", "Homebrew", "brew update && brew upgrade cardea"},
		{linux, "/usr/lib/node_modules/@cardea-dev/cardea/cardea.js", "npm", `npm install --global ` + npm + `@latest && "$(npm prefix --global)/bin/cardea" version`},
		{windows, `C:\Users\you\AppData\Local\cardea\bin\cardea.exe`, "npm", `npm install --global ` + npm + `@latest; & "$(npm prefix --global)\cardea.cmd" version`},
		{windows, `C:\Users\you\scoop\apps\cardea\current\cardea.exe`, "Scoop", "scoop update cardea"},
		{windows, `C:\Users\you\AppData\Local\Microsoft\WinGet\Packages\Cardea.Cardea_x\cardea.exe`, "winget", "winget upgrade Cardea.Cardea"},
		{linux, "/opt/\x1b[31m/cardea", "unknown", ""},
	} {
		got := c.m.Of(c.path)
		if !strings.Contains(got.Way, c.way) || !strings.Contains(got.Line, c.line) || (c.line == "") != (got.Line == "") || c.line == "" && got.Note == "" {
			t.Errorf("%s: %+v", c.path, got)
		}
	}
}

func TestWaysByBuild(t *testing.T) {
	linux := Machine{OS: "linux", Home: "/home/you", GoBin: "/home/you/go/bin"}
	windows := Machine{OS: "windows", Home: `C:\Users\you`}
	built := func(version string, settings ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for _, s := range settings {
			key, value, _ := strings.Cut(s, " ")
			info.Settings = append(info.Settings, debug.BuildSetting{Key: key, Value: value})
		}
		return info
	}
	released := built("v0.1.0", "-trimpath true", "vcs.revision abc")
	clone := built("v0.1.1-0.20261127000000-abcdef", "vcs.revision abc")
	for _, c := range []struct {
		m              Machine
		dir            string
		info           *debug.BuildInfo
		way, line, not string
	}{
		{linux, "/home/you/.local/bin", released, "install.sh", "curl -fsSL " + release.Repository + "/releases/latest/download/install.sh | sh", ""},
		{linux, "/opt/cardea", released, "archive", "curl -fsSL " + latest + "/download/install.sh | CARDEA_BIN=/opt/cardea sh", ""},
		{linux, "/opt/it's $(rm -rf ~)!", released, "archive", "curl -fsSL " + latest + `/download/install.sh | CARDEA_BIN='/opt/it'\''s $(rm -rf ~)!' sh`, ""},
		{linux, "/opt/\u202e\n", released, "archive", "", "cannot be shown"},
		{linux, "/opt/\xff", clone, "clone", "", "cannot be shown"},
		{linux, "/home/you/go/bin", built("v0.1.0"), "go install", "go install cardea.dev/cmd/...@latest", ""},
		{linux, "/usr/local/bin", built("v0.1.0"), "go install", "GOBIN=/usr/local/bin go install cardea.dev/cmd/...@latest", ""},
		{linux, "/home/you/go/bin", clone, "clone", "git pull && go install ./cmd/...", "in the clone"},
		{linux, "/home/you/x/dist", built("(devel)"), "clone", "git pull && GOBIN=/home/you/x/dist go install ./cmd/...", "in the clone"},
		{windows, "/c/it's", clone, "clone", "git pull; $env:GOBIN='/c/it''s'; go install ./cmd/...", "in the clone"},
		{windows, "/c/’‚‛;calc", clone, "clone", "git pull; $env:GOBIN='/c/’’‚‚‛‛;calc'; go install ./cmd/...", "in the clone"},
		{windows, "/c/x", released, "archive", "", "unpack"},
	} {
		got := Copy{Real: c.dir + "/cardea"}
		got.byBuild(c.m, c.info)
		if !strings.Contains(got.Way, c.way) || got.Line != c.line || !strings.Contains(got.Note, c.not) {
			t.Errorf("%q: %+v", c.dir, got)
		}
	}
}

// TestFolderIsOneWord checks that a folder's name is one word for the shell.
func TestFolderIsOneWord(t *testing.T) {
	for _, dir := range []string{"/a b", "/a'b", `/a"b`, "/$(touch x)", "/`x`", "/a;b", "/a!b", `/a\`, "/a*", "/~", "/ü", "/a#b", "/-x"} {
		line, _ := Machine{OS: "linux"}.assigned("CARDEA_BIN", dir)
		out, err := exec.Command("sh", "-c", line+"env").Output()
		if err != nil || !slices.Contains(strings.Split(string(out), "\n"), "CARDEA_BIN="+dir) {
			t.Errorf("%s: %s %v", dir, line, err)
		}
	}
}

// TestInstalledBy checks that the file of npm's launcher only identifies npm.
func TestInstalledBy(t *testing.T) {
	for text, want := range map[string]string{"npm\n": "by npm", "npm": "by npm", "npm; rm -rf ~": "in an unknown way", strings.Repeat("npm\n", 100): "in an unknown way", "": "in an unknown way"} {
		dir := t.TempDir()
		for name, data := range map[string]string{"cardea": "#!/bin/sh\n", "installed-by": text} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if c := (Machine{OS: "linux", Home: "/home/you"}).Of(filepath.Join(dir, "cardea")); c.Way != want {
			t.Errorf("%q: %+v", text, c)
		}
	}
}

func TestCopies(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()}
	for _, dir := range dirs[:2] {
		if err := os.WriteFile(filepath.Join(dir, "cardea"), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if os.Symlink(filepath.Join(dirs[0], "cardea"), filepath.Join(dirs[2], "cardea")) != nil || os.Mkdir(filepath.Join(dirs[3], "cardea"), 0o755) != nil {
		t.Fatal("no links")
	}
	m := Machine{OS: "linux", Path: append([]string{"", ".", "relative", "/nowhere"}, append(slices.Clone(dirs), dirs...)...)}
	got := m.Copies(filepath.Join(dirs[2], "cardea"))
	if len(got) != 2 || got[0].Program != filepath.Join(dirs[2], "cardea") || got[1].Program != filepath.Join(dirs[1], "cardea") {
		t.Errorf("%+v", got)
	}
}

// TestNamesOfPackages checks that the package names are those of a release.
func TestNamesOfPackages(t *testing.T) {
	for path, want := range map[string]string{
		"../../../../.goreleaser.yaml":           "package_identifier: " + winget,
		"../../../../scripts/release/install.sh": "CARDEA_BIN",
		"../../../../scripts/release/npm/build":  "name=" + npm + " ",
	} {
		if text, err := os.ReadFile(path); err == nil && !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s", path, want)
		}
	}
}
