package cli

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/hook"
	"cardea.dev/internal/knowledge/source"
)

// The reader of command knowledge takes what --scaffold prints, and asks only for
// what a person must add.
func TestScaffoldIsReadable(t *testing.T) {
	for _, help := range []string{"  -v, --verbose  say more\n  -o, --output=FILE  write FILE\n", "  -v  say more\n"} {
		var out bytes.Buffer
		if err := writeScaffold(Process{Process: hook.Process{Stdin: strings.NewReader(help), Stdout: &out, Stderr: io.Discard, Env: func(string) string { return "" }}}, "sample"); err != nil {
			t.Fatal(err)
		}
		// With the comment taken from complete, as a person does.
		text := strings.Replace(out.String(), "# complete:", "complete:", 1)
		file, problems := source.Read("sample.yaml", []byte(text))
		for _, p := range problems {
			if !strings.Contains(p.Text, "manual") && !strings.Contains(p.Text, "not_read_only") {
				t.Errorf("%s\n%s", p, text)
			}
		}
		if len(file.Programs) != 1 || file.Programs[0].Complete == nil || !slices.Contains(file.Programs[0].Complete.Options, "-v") {
			t.Errorf("the program is not there:\n%s", text)
		} else if valued := slices.Contains(file.Programs[0].ValueOptions, "--output"); valued != strings.Contains(help, "--output") {
			t.Errorf("options with a value: %v", file.Programs[0].ValueOptions)
		}
	}
}
