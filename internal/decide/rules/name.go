package rules

import "strings"

// This file is about single names: "*", "?" and "[…]". They serve for segments
// of paths, and as a whole for tool names, roles and hosts.

// char is one element of a name pattern.
type char struct {
	// r is the character, or '*' or '?' or '[' where wild is set.
	r    rune
	wild bool
	// set is what a class names, "!" in front where it names the rest.
	set string
}

// chars reads a name pattern: "*", "?" and "[…]". It takes time in proportion
// to the pattern's length, brackets without end included.
func chars(s string) []char {
	var out []char
	rs := []rune(s)
	closed := true // no bracket without end was seen yet
	for i := 0; i < len(rs); i++ {
		switch r := rs[i]; {
		case r == '*' || r == '?':
			out = append(out, char{r: r, wild: true})
		case r == '[' && closed:
			n := class(rs[i:])
			if n == 0 {
				closed = false
				out = append(out, char{r: r})
				continue
			}
			set := string(rs[i+1 : i+n-1])
			if strings.HasPrefix(set, "^") {
				set = "!" + set[1:]
			}
			out = append(out, char{r: '[', wild: true, set: set})
			i += n - 1
		default:
			out = append(out, char{r: r})
		}
	}
	return out
}

// class is the length of the class at the front of rs, 0 where it has no end.
// A "]" in front is a member of it, and so is a named class ("[:alpha:]").
func class(rs []rune) int {
	end := 1
	if end < len(rs) && (rs[end] == '!' || rs[end] == '^') {
		end++
	}
	if end < len(rs) && rs[end] == ']' {
		end++
	}
	for end < len(rs) && rs[end] != ']' {
		end += member(rs[end:])
	}
	if end >= len(rs) {
		return 0
	}
	return end + 1
}

// member is the length of the next member of a class. What looks like a named
// class is none where no ":]" follows within the length that a name may have.
func member(rs []rune) int {
	const longest = 32
	if len(rs) < 2 || rs[0] != '[' || rs[1] != ':' {
		return 1
	}
	for i := 2; i+1 < len(rs) && i < longest; i++ {
		if rs[i] == ':' && rs[i+1] == ']' {
			return i + 2
		}
	}
	return 1
}

// holds reports whether a single-character pattern matches a character.
func (c char) holds(r rune) bool {
	if !c.wild {
		return c.r == r
	}
	if c.r == '?' {
		return true
	}
	set, not := strings.CutPrefix(c.set, "!")
	if strings.Contains(set, "[:") { // a named class: taken for anything
		return true
	}
	rs := []rune(set)
	for i := 0; i < len(rs); i++ {
		if i+2 < len(rs) && rs[i+1] == '-' {
			if rs[i] <= r && r <= rs[i+2] {
				return !not
			}
			i += 2
		} else if rs[i] == r {
			return !not
		}
	}
	return not
}

// overlapName reports whether a name of the line, or a pattern where wild is
// set, and a glob's segment can be the same name. As in the shell, a wildcard
// at the front of a pattern on the line leaves hidden files alone.
func overlapName(line string, rule seg, wild bool) bool {
	if line == rule.text {
		return true
	}
	if !wild || !strings.ContainsAny(line, "*?[(") {
		return !rule.literal && matchName(rule.text, line)
	}
	if strings.Contains(line, "(") { // an extended pattern: taken for anything
		return true
	}
	l, r := chars(line), chars(rule.text)
	if rule.literal {
		r = r[:0]
		for _, c := range rule.text {
			r = append(r, char{r: c})
		}
	}
	if len(l) > 0 && l[0].wild && len(r) > 0 && r[0] == (char{r: '.'}) {
		return false
	}
	star := func(c char) bool { return c.wild && c.r == '*' }
	every := func(char) bool { return true }
	return meets(l, r, star, star, every, func(a, b char) bool {
		if a.wild && b.wild {
			return true
		}
		if a.wild {
			return a.holds(b.r)
		}
		return b.holds(a.r)
	})
}

// matchName reports whether a name matches a pattern of "*", "?" and "[…]".
// "*" crosses everything, so that it also serves for tool names, roles and
// hosts.
func matchName(pattern, name string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return pattern == name
	}
	if pattern == "*" {
		return true
	}
	p, n := chars(pattern), []rune(name)
	i, j, star, mark := 0, 0, -1, 0
	for j < len(n) {
		switch {
		case i < len(p) && p[i].wild && p[i].r == '*':
			star, mark = i, j
			i++
		case i < len(p) && p[i].holds(n[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i].wild && p[i].r == '*' {
		i++
	}
	return i == len(p)
}
