package rego

import (
	"github.com/open-policy-agent/opa/v1/topdown/print"

	"cardea.dev/internal/decide/policy/engine"
)

// Limits of the output of a rule: texts, and bytes of each.
const (
	maxPrinted     = 100
	maxPrintedText = 4 << 10
)

// printer collects the output of a rule.
type printer struct{ lines []engine.Printed }

// Print adds a text and its position. It cuts long texts, and drops those above maxPrinted.
func (p *printer) Print(c print.Context, text string) error {
	if len(p.lines) >= maxPrinted {
		return nil
	}
	line := engine.Printed{Text: text[:min(len(text), maxPrintedText)]}
	if c.Location != nil {
		line.File, line.Line = c.Location.File, c.Location.Row
	}
	p.lines = append(p.lines, line)
	return nil
}
