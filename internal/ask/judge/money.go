package judge

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Money is an amount in millionths of a US dollar, so that sums are exact.
type Money int64

// Dollar is one US dollar.
const Dollar Money = 1_000_000

// MostMoney is the largest amount that settings can name.
const MostMoney = 1_000_000 * Dollar

// ParseMoney parses an amount in dollars with at most six digits after the point: "0.25".
func ParseMoney(s string) (Money, error) {
	whole, part, point := strings.Cut(s, ".")
	digits := func(t string, most int) bool {
		return t != "" && len(t) <= most && strings.Trim(t, "0123456789") == ""
	}
	if !digits(whole, 7) || point && !digits(part, 6) {
		return 0, fmt.Errorf("%q is no amount in dollars, such as 0.25", s)
	}
	n, err := strconv.ParseInt(whole+(part + "000000")[:6], 10, 64)
	if err != nil {
		return 0, err
	}
	if Money(n) > MostMoney {
		return 0, fmt.Errorf("%s is more than %s dollars", s, MostMoney)
	}
	return Money(n), nil
}

// String returns the amount in dollars, without a currency sign: "0.25".
func (m Money) String() string {
	s := fmt.Sprintf("%d.%06d", m/Dollar, m%Dollar)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Price is the price of a model per million tokens.
type Price struct {
	In  Money `json:"in"`
	Out Money `json:"out"`
}

// Of returns the cost of so many tokens, rounded up.
func (p Price) Of(in, out int) Money {
	sum := float64(p.In)*float64(in) + float64(p.Out)*float64(out)
	return Money(math.Ceil(sum / 1e6))
}
