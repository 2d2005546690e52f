package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// demo holds the lines that are typed for the picture in the README.
var demo = []string{`cardea try "git add . && git push --force"`}

// The picture in the README matches a terminal; scripts/demo draws it.
func TestDemo(t *testing.T) {
	h := newHome(t)
	c := h.command("bash", "--norc", "--noprofile", "-i")
	c.Env = append(c.Env, "PS1=$ ", "LANG=C.UTF-8", "GOCOVERDIR="+t.TempDir()) // otherwise a program built for coverage prints a warning
	x := onTerminal(t, c, 120, 24)
	x.waits("$\n")
	for _, line := range demo {
		x.types(line + "\r")
		x.waits(line, "\n$\n") // the next prompt
	}
	picture := drawn(x)
	x.types("exit\r")
	x.ends()
	const path = "../../docs/demo.svg"
	if *update {
		if err := os.WriteFile(path, []byte(picture), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if was, err := os.ReadFile(path); err != nil || string(was) != picture {
		t.Errorf("%s is not what a terminal shows (%v); run scripts/demo\n%s", filepath.Base(path), err, x.text())
	}
}

// drawn returns the terminal's screen as an SVG picture, up to the last prompt.
func drawn(x *terminal) string {
	const cell, row = 8.4, 20
	lines := strings.Split(x.text(), "\n")
	n := 0
	for n < len(lines) && lines[n] != "$" {
		n++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %d\" font-family=\"ui-monospace,Menlo,Consolas,monospace\" font-size=\"14\" fill=\"#d8dee9\">\n"+
		"<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"#1e222a\"/>\n", float64(x.screen.Width())*cell+24, n*row+24)
	for y := range n {
		fmt.Fprintf(&b, "<text y=\"%d\" xml:space=\"preserve\">", 26+y*row)
		for at := 0; at < len([]rune(lines[y])); {
			style, from := styleAt(x, at, y), at
			var run strings.Builder
			for ; at < x.screen.Width() && styleAt(x, at, y) == style; at++ {
				run.WriteString(x.screen.CellAt(at, y).Content)
			}
			if strings.TrimSpace(run.String()) == "" {
				continue
			}
			fmt.Fprintf(&b, "<tspan x=\"%.1f\"%s>", 12+float64(from)*cell, style)
			_ = xml.EscapeText(&b, []byte(strings.TrimRight(run.String(), " "))) // a Builder does not fail
			b.WriteString("</tspan>")
		}
		b.WriteString("</text>\n")
	}
	return b.String() + "</svg>\n"
}

// styleAt returns the style of a cell of the screen, as attributes.
func styleAt(x *terminal, column, line int) string {
	style := x.screen.CellAt(column, line).Style
	out := map[any]string{ansi.Red: ` fill="#ff6b6b"`, ansi.Green: ` fill="#8bd649"`, ansi.Yellow: ` fill="#ffd166"`}[style.Fg]
	switch style.Attrs {
	case 1:
		out += ` font-weight="bold"`
	case 2:
		out += ` fill-opacity="0.6"`
	}
	return out
}
