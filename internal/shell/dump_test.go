package shell

import (
	"bufio"
	"fmt"
	"os"
	"testing"
)

func TestDump(t *testing.T) {
	f, err := os.Open("/tmp/lines")
	if err != nil {
		t.Skip()
	}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		var line string
		if _, err := fmt.Sscanf("\""+sc.Text()+"\"", "%q", &line); err != nil {
			line = sc.Text()
		}
		a := Analyse(line, Env{Cwd: "/proj", Home: "/home/u", Roots: []string{"/proj"}})
		fmt.Printf("### %q\n", line)
		for _, p := range a.Parts {
			fmt.Printf("   %q cmd=%v opts=%v null=%v wr=%v el=%v via=%v acc=%+v opq=%v as=%v\n", p.Text, p.Command, p.Options, p.Null, p.Wrappers, p.Elevated, p.Via, p.Access, p.Opaque, p.Assigns)
		}
		if len(a.Opaque) > 0 || len(a.Flows) > 0 {
			fmt.Println("   LINE", a.Opaque, a.Flows)
		}
	}
}
