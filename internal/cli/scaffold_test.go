package cli

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/command/knowledge/source"
	"cardea.dev/internal/hook"
)

// The parser of command knowledge accepts the output of --scaffold, and requires only what
// a person must add.
func TestScaffoldIsReadable(t *testing.T) {
	for _, help := range []string{"  -v, --verbose  say more\n  -o, --output=FILE  write FILE\n", "  -v  say more\n", "  -v  say more\nCommands:\n  run, r  Run it\n  stop    End it\n"} {
		var out bytes.Buffer
		if err := writeScaffold(Process{Process: hook.Process{Stdin: strings.NewReader(help), Stdout: &out, Stderr: io.Discard, Env: func(string) string { return "" }}}, "sample"); err != nil {
			t.Fatal(err)
		}
		// Without the comment before complete, as after a person's edit.
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
		} else if n := len(file.Programs[0].Subcommands); n != strings.Count(help, "run")+strings.Count(help, "stop") {
			t.Errorf("%d subcommands:\n%s", n, text)
		}
	}
}

// Commands are found in the help texts of common libraries.
func TestScaffoldFindsCommands(t *testing.T) {
	for _, c := range []struct{ of, help, want string }{
		{"cobra", "Usage:\n  x [command]\n\nAvailable Commands:\n" +
			"  completion  Generate it\n  run         Run it\n              and wait\n\nFlags:\n  -h, --help   help\n\nUse \"x [command] --help\".\n", "completion|run"},
		{"click", "Usage: x [OPTIONS] COMMAND [ARGS]...\n\nOptions:\n  --help  Show it.\n\nCommands:\n  add   Add it.\n  list  List it.\n", "add|list"},
		{"argparse", "usage: x [-h] {add,rm} ...\n\npositional arguments:\n" +
			"  file        a file\n  {add,rm}    sub-command help\n    add       add it\n    rm        remove it\n\noptions:\n  -h, --help  show it\n", "add|rm"},
		{"argparse with a title", "usage: x COMMAND ...\n\nsubcommands:\n  COMMAND\n    add       add it\n    rm        remove it\n", "add|rm"},
		{"clap", "Usage: x [COMMAND]\n\nCommands:\n  build, b    Compile it\n  clean       Remove it\n\nOptions:\n  -h, --help  Print it\n", "build,b|clean"},
		{"groups", "Usage:  x COMMAND\n\nCommon Commands:\n  run         Run it\n\nManagement Commands:\n  buildx*     Build it\n\nGlobal Options:\n  -D, --debug   more\n", "run|buildx"},
		{"capitals", "USAGE\n  x <command>\n\nCORE COMMANDS\n  auth:          Log in\n  repo:          Work\n\nFLAGS\n  --help   Show it\n", "auth|repo"},
		{"tabs", "Usage:\n\n\tx <command>\n\nThe commands are:\n\n\tbug         start it\n\tbuild       compile it\n\nUse it.\n", "bug|build"},
		{"a list", "x <command>\n\nAll commands:\n\n    access, add,\n    audit, ci\n\nSpecify it:\n    -a\n", "access|add|audit|ci"},
		{"operands", "Unit Commands:\n  start UNIT...   Start it\n  cat PATTERN...  Show it,\n                  all of it\n", "start|cat"},
		{"none", "Usage: x FILE\n\nRuns commands.\n  --list    List commands\n              installed\n", ""},
	} {
		if got := strings.Join(listOf(helpCommands(c.help), func(names []string) string { return strings.Join(names, ",") }), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.of, got, c.want)
		}
	}
}
