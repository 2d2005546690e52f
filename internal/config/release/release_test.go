package release

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the folder of the repository.
const root = "../../.."

// installLine installs the newest release on Linux and macOS.
const installLine = "curl -fsSL " + Repository + "/releases/latest/download/install.sh | sh"

// TestRepositoryInFiles checks that files other than Go code have the same repository
// address as the constant.
func TestRepositoryInFiles(t *testing.T) {
	address := regexp.MustCompile(`(?i)https?://(?:www\.)?(?:github\.com|raw\.githubusercontent\.com|api\.github\.com/repos)/([\w.-]+)/([\w.-]+)|git@github\.com:([\w.-]+)/([\w.-]+)`)
	kinds := []string{".md", ".yml", ".yaml", ".json", ".sh", ".ps1", ".js", ".rb", ".service", ""}
	seen := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := e.Name(); e.IsDir() && (name == ".git" || name == "dist" || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		if e.IsDir() || !slices.Contains(kinds, filepath.Ext(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range address.FindAllStringSubmatch(string(text), -1) {
			owner, name := m[1]+m[3], strings.TrimSuffix(strings.TrimSuffix(m[2]+m[4], "."), ".git")
			if !strings.EqualFold(name, "cardea") && !strings.Contains(strings.ToLower(owner), "cardea") {
				continue // of another project
			}
			if beside := []string{"homebrew-tap", "scoop-bucket", "winget-pkgs"}; slices.Contains(beside, name) {
				name = "cardea" // lists of ours for package managers
			}
			if seen++; !strings.HasSuffix(Repository, "/"+owner+"/"+name) || !strings.HasPrefix(m[0], "https://") {
				t.Errorf("%s: %s, and the repository is %s", path, m[0], Repository)
			}
		}
		return nil
	})
	if err != nil || seen < 6 {
		t.Errorf("%d addresses, %v", seen, err)
	}
}

// TestPluginNamesTheRelease checks that the plugin names the command that installs a
// release, and its source.
func TestPluginNamesTheRelease(t *testing.T) {
	type about struct{ Description, Homepage, Repository, License string }
	var plugin about
	var market struct{ Plugins []about }
	for path, into := range map[string]any{"plugin/.claude-plugin/plugin.json": &plugin, ".claude-plugin/marketplace.json": &market} {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatal(path, err)
		}
	}
	for _, a := range append(market.Plugins, plugin) {
		if a.Homepage != Repository || a.Repository != Repository || a.License != "Apache-2.0" || !strings.Contains(a.Description, installLine) {
			t.Errorf("%+v", a)
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/plugin.md"))
	short := strings.TrimPrefix(Repository, "https://github.com/")
	for _, want := range []string{installLine, "claude plugin marketplace add " + short + " ", "copilot plugin marketplace add " + short + " "} {
		if err != nil || !strings.Contains(string(page), want) {
			t.Errorf("docs/plugin.md lacks %q %v", want, err)
		}
	}
	script, err := os.ReadFile(filepath.Join(root, "plugin/scripts/cardea-hook.ps1"))
	if err != nil || !strings.Contains(string(script), "$repository = \""+Repository+"\"\n") {
		t.Errorf("cardea-hook.ps1: %v", err)
	}
}
