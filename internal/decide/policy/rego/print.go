package rego

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/topdown/print"
)

// printer gives what policies print to a function.
type printer struct{ to func(at, text string) }

// Print is called by the evaluator.
func (p printer) Print(c print.Context, text string) error {
	at := ""
	if c.Location != nil {
		at = fmt.Sprintf("%s:%d", c.Location.File, c.Location.Row)
	}
	p.to(at, text)
	return nil
}
