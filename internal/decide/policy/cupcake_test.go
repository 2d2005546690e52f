package policy

import "testing"

func TestCommandAsCupcakeShowsIt(t *testing.T) {
	for _, c := range []struct {
		command, want string
		merged        bool
	}{
		{"  rm   -rf\t/ \n", "rm -rf /", false},
		{"a\n\nb", "a b", true},
		{"a |\n b", "a | b", true},
		{"\n a \n", "a", false},
		{`echo "a  b"  'c  d'`, `echo "a  b" 'c  d'`, false},
		{`a\  b`, `a\  b`, false},
		{`a \' b  c`, `a \' b c`, false},
		{`'a\'  b`, `'a\' b`, false},
		{`"a\"  b"  c`, `"a\"  b" c`, false},
		{"a\u00a0\u2003b", "a b", true},
		{"a\fb", "a b", true},
		{"'never  closed", "'never  closed", false},
		{"", "", false},
		{"# don't\nrm   -rf  /", "# don't\nrm   -rf  /", true},
		{"ls # x", "ls # x", true},
		{"ls;#x", "ls;#x", true},
		{"ls a#b $# ${#a}", "ls a#b $# ${#a}", false},
		{"cat <<E\n'\nE\nrm   x", "cat <<E '\nE\nrm   x", true},
		{`echo $'\'  x'  y`, `echo $'\' x'  y`, true},
		{"rm \\\n  -rf x", "rm \\\n -rf x", true},
		{`echo "$(rm   -rf x)"`, `echo "$(rm   -rf x)"`, true},
		{`echo $(rm   -rf x)`, `echo $(rm -rf x)`, false},
		{"echo `rm   -rf x`", "echo `rm -rf x`", true},
		{`echo "${a:-"b  c"}"`, `echo "${a:-"b c"}"`, true},
		{`echo '$(  x)' "\$(  x)"`, `echo '$(  x)' "\$(  x)"`, false},
	} {
		if got := read(c.command); got.text != c.want || got.merged != c.merged {
			t.Errorf("%q: %q %v, want %q %v", c.command, got.text, got.merged, c.want, c.merged)
		}
	}
}
