package judge

// Agreement is how often a person did what the judge recommended where it was not sure
// enough, and how often the contrary, as far as it is known.
type Agreement struct {
	Agreed    int `json:"agreed"`
	Overruled int `json:"overruled"`
}

// The bounds of a threshold that follows the person.
const (
	// leastEnds is how many questions must have ended before anything follows.
	leastEnds = 20
	// usualRate is the share of recommendations that may be overruled without a change.
	usualRate = 0.2
	// mostLower and mostHigher bound the change, lowest and highest the result.
	mostLower, mostHigher = 0.1, 0.2
	lowest, highest       = 0.5, 0.99
)

// Adapt is the confidence that is needed where settings ask for base, for a person who
// overruled so many recommendations: each tenth of them above a fifth raises it by 0.05,
// each below lowers it by as much. It changes by no more than 0.2 up and 0.1 down, never
// falls below 0.5, and stays as it is for fewer than 20 recommendations.
func (a Agreement) Adapt(base float64) float64 {
	n := a.Agreed + a.Overruled
	if a.Agreed < 0 || a.Overruled < 0 || n < leastEnds {
		return base
	}
	change := (float64(a.Overruled)/float64(n) - usualRate) / 2
	change = min(max(change, -mostLower), mostHigher)
	return min(max(base+change, min(lowest, base)), max(highest, base))
}
