package knowledge

import "strings"

// scanner reads a script from its beginning.
type scanner struct {
	s  string
	at int
}

func (c *scanner) skip() {
	c.at = min(c.at, len(c.s))
	c.at += len(c.s[c.at:]) - len(strings.TrimLeft(c.s[c.at:], " \t\n"))
}

// next takes what stands next, where it is this.
func (c *scanner) next(text string) bool {
	found := c.at <= len(c.s) && strings.HasPrefix(c.s[c.at:], text)
	if found {
		c.at += len(text)
	}
	return found
}

// run takes bytes as long as they are of a kind.
func (c *scanner) run(of func(byte) bool) string {
	first := c.at
	for c.at < len(c.s) && of(c.s[c.at]) {
		c.at++
	}
	return c.s[first:c.at]
}

func isDigit(c byte) bool      { return '0' <= c && c <= '9' }
func isNameLetter(c byte) bool { return isLetter(c) || isDigit(c) }
