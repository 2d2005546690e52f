package judge

// Agreement counts how often a person followed or overruled a recommendation of the judge that was
// below the threshold, as far as the end is known.
type Agreement struct {
	Agreed    int `json:"agreed"`
	Overruled int `json:"overruled"`
}

// The limits of a threshold that follows the person.
const (
	// leastEnds is the number of ended questions from which the threshold changes.
	leastEnds = 20
	// usualRate is the share of overruled recommendations that causes no change.
	usualRate = 0.2
	// mostLower and mostHigher limit the change, lowest and highest the result.
	mostLower, mostHigher = 0.1, 0.2
	lowest, highest       = 0.5, 0.99
)

// Adapt returns the required confidence for a person with these answers, where settings ask for
// base. Each tenth of overruled recommendations above a fifth raises it by 0.05, each tenth below
// lowers it by as much. It changes by at most 0.2 up and 0.1 down, never falls below 0.5, and stays
// as it is for fewer than 20 recommendations.
func (a Agreement) Adapt(base float64) float64 {
	n := a.Agreed + a.Overruled
	if a.Agreed < 0 || a.Overruled < 0 || n < leastEnds {
		return base
	}
	change := (float64(a.Overruled)/float64(n) - usualRate) / 2
	change = min(max(change, -mostLower), mostHigher)
	return min(max(base+change, min(lowest, base)), max(highest, base))
}
