package hook

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// Accepted words mean the same as to the library that parses the commands of people. A
// lead's call is judged by what "cardea register" will do.
func TestFlagsMeanTheSame(t *testing.T) {
	type values struct {
		Text   string
		List   []string
		Length time.Duration
		Switch bool
	}
	for _, line := range []string{
		"",
		"--text a",
		"--text=a",
		"--text=",
		"--text --switch",
		"--text",
		"--text a --text b",
		"--list a --list=b",
		"--length 5s",
		"--length=1m30s",
		"--length 5",
		"--length soon",
		"--switch",
		"--switch=false",
		"--switch=1",
		"--switch=maybe",
		"--switch false",
		"--switch --text=x=y",
		"--unknown",
		"--unknown=1",
		"-switch",
		"-s",
		"-t a",
		"-text=a",
		"-",
		"--",
		"-- --text a",
		"word",
		"--text a word",
		"--=a",
		"--text -- --switch",
		"---text a",
		"--text=--",
		"--Text a",
		"--tex a",
	} {
		var words []string
		if line != "" {
			words = strings.Split(line, " ")
		}
		var ours, theirs values
		err := parseFlags(words, flags{"text": &ours.Text, "list": &ours.List, "length": &ours.Length, "switch": &ours.Switch})
		fs := pflag.NewFlagSet("x", pflag.ContinueOnError)
		fs.Usage = func() {}
		fs.StringVar(&theirs.Text, "text", "", "")
		fs.StringArrayVar(&theirs.List, "list", nil, "")
		fs.DurationVar(&theirs.Length, "length", 0, "")
		fs.BoolVar(&theirs.Switch, "switch", false, "")
		refused := fs.Parse(words) != nil || fs.NArg() > 0
		if (err != nil) != refused {
			t.Errorf("%q: %v, and the library refuses it: %v", line, err, refused)
		}
		if err == nil && !reflect.DeepEqual(ours, theirs) {
			t.Errorf("%q: %+v, and the library %+v", line, ours, theirs)
		}
	}
}
