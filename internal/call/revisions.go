package call

// mostRevisions is how many revisions of one call are looked at.
const mostRevisions = 8

// fewDiffers asks about each revision once, and about no more than are looked at.
func fewDiffers(ask func(dir, revision string) ([]string, bool)) func(dir, revision string) ([]string, bool) {
	type answer struct {
		names []string
		known bool
	}
	answers := map[[2]string]answer{}
	if ask == nil {
		return nil
	}
	return func(dir, revision string) ([]string, bool) {
		at := [2]string{dir, revision}
		if _, asked := answers[at]; !asked && len(answers) < mostRevisions {
			names, known := ask(dir, revision)
			answers[at] = answer{names, known}
		}
		return answers[at].names, answers[at].known
	}
}
