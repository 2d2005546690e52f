package cli

import "cardea.dev"

// showDiagnostics writes diagnostics, one a line, for every command alike:
// "file:line:col: severity: text; hint". It counts errors and warnings.
func showDiagnostics(s *screen, all []cardea.Diagnostic) (errors, warnings int) {
	for _, d := range all {
		style := faint
		switch d.Severity {
		case cardea.LevelError:
			style = red
			errors++
		case cardea.LevelWarning:
			style = yellow
			warnings++
		}
		place, text := "", d.Text
		if d.File != "" {
			place = d.Place() + ": "
		}
		if d.Hint != "" {
			text += "; " + d.Hint
		}
		s.printf("%s%s: %s\n", place, painted{style, d.Severity.String()}, text)
	}
	return errors, warnings
}

// notNil is the list as JSON needs it: no diagnostics are [], not null.
func notNil(all []cardea.Diagnostic) []cardea.Diagnostic {
	if all == nil {
		return []cardea.Diagnostic{}
	}
	return all
}

// report is what commands that only look for mistakes say with --json.
type report struct {
	Diagnostics []cardea.Diagnostic `json:"diagnostics"`
}

// encodeDiagnostics writes diagnostics as JSON.
func encodeDiagnostics(p Process, all []cardea.Diagnostic) error {
	return encode(p, report{notNil(all)})
}
