package testrun

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCases(t *testing.T) {
	file := filepath.Join(t.TempDir(), "table.txt")
	if err := os.WriteFile(file, []byte("# note\n#\n\na⏎b\t#c␍⟨00a0⟩\n#no note\t⟨xff⟩⇥\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := Cases(t, file, 2)
	if len(all) != 2 || !slices.Equal(all[0].Columns, []string{"a\nb", "#c\r\u00a0"}) || !slices.Equal(all[1].Columns, []string{"#no note", "\xff\t"}) {
		t.Errorf("%+v", all)
	}
	if all[1].At() != "table.txt:5" || all[1].Text() != "\xff\t" {
		t.Error(all[1].At())
	}
	if _, err := ReadCases(file + "x"); err == nil {
		t.Error("a table that is missing is read")
	}
}
