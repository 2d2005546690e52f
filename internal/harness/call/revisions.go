package call

import "sync"

// mostRevisions is the largest number of revisions of one call that are read.
const mostRevisions = 8

// fewDiffers returns ask with its answers cached, for at most mostRevisions revisions.
func fewDiffers(ask func(dir, revision string) ([]string, error)) func(dir, revision string) ([]string, error) {
	if ask == nil {
		return nil
	}
	answers := map[[2]string]func() ([]string, error){}
	return func(dir, revision string) ([]string, error) {
		at := [2]string{dir, revision}
		if answers[at] == nil {
			if len(answers) == mostRevisions {
				return nil, errTooMany
			}
			answers[at] = sync.OnceValues(func() ([]string, error) { return ask(dir, revision) })
		}
		return answers[at]()
	}
}
