package redact

import "strings"

// This file finds values that are separate from the name that marks them as secrets: in
// elements, pairs, lists, blocks and words of a file. Each function takes the keyword's
// position, s[at:], and the position i after the whole name.

// nameStart returns the beginning of the name that holds s[at].
func (f *search) nameStart(at int) int {
	for at > 0 && isName(f.s[at-1]) {
		at--
	}
	return at
}

// element finds the text of an XML element with this name, and the string after a key of
// a property list: <password>x</password>, <key>password</key><string>x</string>.
func (f *search) element(n, at, i int) bool {
	s, k := f.s, f.nameStart(at)
	if k > 1 && s[k-1] == ':' {
		k = f.nameStart(k - 1) // a namespace
	}
	if k == 0 {
		return false
	}
	start := 0
	switch rest := s[i:]; {
	case s[k-1] == '<' && rest != "" && rest[0] == '>':
		start = i + 1
	case s[k-1] == '>' && strings.HasPrefix(rest, "</key>"):
		start = i + len("</key>")
		for start < len(s) && isSpace(s[start]) {
			start++
		}
		if !strings.HasPrefix(s[start:], "<string>") {
			return false
		}
		start += len("<string>")
	default:
		return false
	}
	end := strings.IndexByte(s[start:min(len(s), start+maxValue)], '<')
	if end <= 0 {
		return false
	}
	f.hold(n, start, start+end, rules[n].min, true)
	return true
}

// maxApart is the maximum distance in bytes between the value of a pair and its name.
const maxApart = 160

// pair finds the value of a pair whose name is itself a value: {"name": "DB_PASSWORD",
// "value": "x"}, <add key="DbPassword" value="x"/>, and the same in YAML.
func (f *search) pair(n, at, i int) bool {
	s := f.s
	before := strings.TrimRight(s[max(0, f.nameStart(at)-8):f.nameStart(at)], ` "'\`+"\t")
	if before == "" || before[len(before)-1] != ':' && before[len(before)-1] != '=' {
		return false
	}
	apart := s[i:min(len(s), i+maxApart)]
	if end := strings.IndexAny(apart, "{}>"); end >= 0 {
		apart = apart[:end]
	}
	for _, stop := range [...]string{"\n\n", "\n-", "- "} {
		if end := strings.Index(apart, stop); end >= 0 {
			apart = apart[:end]
		}
	}
	for k := range apart {
		if !prefixFold(apart[k:], "value") || k == 0 || isName(apart[k-1]) {
			continue
		}
		if value := colon(s, i+k+len("value"), ":="); value >= 0 && value < len(s) {
			f.taken(n, value, false, true)
			return true
		}
	}
	return false
}

// listItem finds the item of a list after an option: ["--password", "x"].
func (f *search) listItem(n, at, i int) bool {
	s := f.s
	if f.optionStart(at) < 0 || i >= len(s) || strings.IndexByte(`"'\`, s[i]) < 0 {
		return false
	}
	value := colon(s, i, ",")
	for value >= 0 && value < len(s) && (isSpace(s[value]) || s[value] == ',') {
		value++
	}
	if value < 0 || value >= len(s) || strings.IndexByte(`"'\`, s[value]) < 0 {
		return false
	}
	if item := opening(s, value); item < len(s) && s[item] != '-' {
		f.taken(n, value, false, true)
	}
	return true
}

// netrc finds the password of an entry of .netrc, on any line.
func (f *search) netrc(n, at, i int) bool {
	s := f.s
	if i >= len(s) || !isSpace(s[i]) || at == 0 || !isSpace(s[at-1]) {
		return false
	}
	words := strings.Fields(s[max(0, at-maxApart):at])
	pairs := 0
	for len(words) >= 2 && (words[len(words)-2] == "login" || words[len(words)-2] == "account") {
		words, pairs = words[:len(words)-2], pairs+1
	}
	last := func(n int) string {
		if n > len(words) {
			return ""
		}
		w := words[len(words)-n]
		return w[strings.LastIndexAny(w, `"'`)+1:]
	}
	if pairs == 0 || last(1) != "default" && last(2) != "machine" {
		return false
	}
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	f.taken(n, i, true, true)
	return true
}

// yamlBlock returns the text of a block scalar that begins at value, for the key whose
// name holds s[at]: the lines after it that are indented further than the key.
func yamlBlock(s string, at, value int) (start, end int) {
	i := value
	if s[i] != '|' && s[i] != '>' {
		return 0, 0
	}
	for i++; i < len(s) && strings.IndexByte("+-0123456789 \t", s[i]) >= 0; i++ {
	}
	if i >= len(s) || s[i] != '\n' {
		return 0, 0
	}
	line := strings.LastIndexByte(s[:at], '\n') + 1
	depth := indent(s, line)
	for i < len(s) {
		i++ // the end of the line
		stop := strings.IndexByte(s[i:], '\n')
		if stop < 0 {
			stop = len(s) - i
		}
		switch in := indent(s, i); {
		case in == stop: // an empty line
		case in <= depth:
			return start, end
		default:
			if start == 0 {
				start = i + in
			}
			end = i + stop
		}
		i += stop
	}
	return start, end
}

// indent returns the number of blanks at the beginning of a line. The dash of a list is
// included.
func indent(s string, i int) int {
	n := 0
	for i+n < len(s) && (s[i+n] == ' ' || s[i+n] == '-' && i+n+1 < len(s) && s[i+n+1] == ' ') {
		n++
	}
	return n
}
