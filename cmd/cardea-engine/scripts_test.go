package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The two programs as built and installed. Other scripts run both in one process.
func TestScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for a shell")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			bin := filepath.Join(env.WorkDir, "bin")
			if err := os.Mkdir(bin, 0o755); err != nil {
				return err
			}
			for _, name := range []string{"cardea", "cardea-engine"} {
				// A link would change the file of the other scripts' programs, and invalidate what they
				// compiled.
				data, err := os.ReadFile(filepath.Join(built, name))
				if err == nil {
					err = os.WriteFile(filepath.Join(bin, name), data, 0o755)
				}
				if err != nil {
					return err
				}
			}
			plugin, err := filepath.Abs("../../plugin")
			if err != nil {
				return err
			}
			env.Setenv("PLUGIN", plugin)
			for name, value := range map[string]string{"HOME": filepath.Join(env.WorkDir, "home"), "CLAUDE_PROJECT_DIR": filepath.Join(env.WorkDir, "app"),
				"PATH": bin + string(filepath.ListSeparator) + "/usr/bin" + string(filepath.ListSeparator) + "/bin"} {
				env.Setenv(name, value)
			}
			return os.MkdirAll(filepath.Join(env.WorkDir, "app", ".git"), 0o755)
		},
	})
}
