package call

// mostRevisions is how many revisions of one call are looked at.
const mostRevisions = 8

// fewDiffers asks about each revision once, and about no more than are looked at.
func fewDiffers(ask func(dir, revision string) ([]string, error)) func(dir, revision string) ([]string, error) {
	type answer struct {
		names []string
		err   error
	}
	answers := map[[2]string]answer{}
	if ask == nil {
		return nil
	}
	return func(dir, revision string) ([]string, error) {
		at := [2]string{dir, revision}
		a, asked := answers[at]
		switch {
		case asked:
		case len(answers) == mostRevisions:
			a.err = errTooMany
		default:
			a.names, a.err = ask(dir, revision)
			answers[at] = a
		}
		return a.names, a.err
	}
}
