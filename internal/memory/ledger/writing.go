package ledger

import (
	"slices"
	"strconv"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
)

// writing makes the texts of one entry. The same text comes several times: a
// command is its only part, a reason that of an opinion.
type writing struct {
	redactor *redact.Redactor
	late     func() bool
	done     map[string]redact.Text
	// path is the last one in which secrets were looked for.
	path string
	// secrets are those that were found, as they stood and as a text that
	// quotes them has them.
	secrets []string
}

// minSecret is the least length, in bytes, of a secret that is taken out of
// other texts than the one that shows it to be one, and maxSecrets how many
// are; shorter ones would take words apart.
const minSecret, maxSecrets = 8, 256

func (w *writing) text(s string, limit int) redact.Text {
	if s == "" {
		return redact.Text{}
	}
	t, ok := w.done[s]
	if !ok {
		t = w.redact(s)
		w.done[s] = t
	}
	return cut(w.redactor, t, limit)
}

// redact takes out what looks like a secret, and what was found to be one
// elsewhere: a part has its variables filled in, but not the names that said
// what they hold, and a reason quotes the beginning of a command.
func (w *writing) redact(s string) redact.Text {
	if len(s) > maxName && w.late != nil && w.late() {
		return w.redactor.Text(redact.Mark)
	}
	known := w.without(s)
	t := w.redactor.Text(known)
	if t.String() != known {
		w.learn(s)
	}
	return t
}

// learn remembers the secrets of a text.
func (w *writing) learn(s string) {
	for _, f := range w.redactor.Find(s) {
		secret := s[f.Start:f.End]
		quoted := strconv.Quote(secret)
		for _, x := range []string{secret, quoted[1 : len(quoted)-1], strings.Trim(secret, "\"'`")} {
			if len(x) >= minSecret && len(w.secrets) < maxSecrets && !slices.Contains(w.secrets, x) {
				w.secrets = append(w.secrets, x)
			}
		}
	}
}

// learnPath remembers the secrets that are names in a path. A slash is not
// what stands before a secret, so a path alone does not show them.
func (w *writing) learnPath(path string) {
	from := sharedFolders(path, w.path)
	w.path = path
	for name := range strings.FieldsFuncSeq(path[from:], func(r rune) bool { return r == '/' || r == '\\' }) {
		if len(name) >= minSecret && len(name) <= maxName {
			w.learn(name)
		}
	}
}

// sharedFolders is how many bytes of a path are folders that another one has, too: a
// line names many files of the same folder.
func sharedFolders(path, other string) int {
	shared := 0
	for i := 0; i < min(len(path), len(other)) && path[i] == other[i]; i++ {
		if path[i] == '/' {
			shared = i
		}
	}
	return shared
}

// learnPart remembers the secrets of a part that its text does not show.
func (w *writing) learnPart(p *cardea.Part) {
	for _, a := range p.Assigns {
		w.text(a.Name+"="+a.Value, maxText)
	}
	for k := range p.Access {
		w.learnPath(p.Access[k].Path)
	}
}

// ellipsis is where texts that quote others were cut.
const ellipsis = "…"

// without takes the secrets that are known out of a text, and the beginnings of
// secrets that stand where it was cut.
func (w *writing) without(s string) string {
	if len(w.secrets) == 0 {
		return s
	}
	for _, secret := range w.secrets {
		s = strings.ReplaceAll(s, secret, redact.Mark)
	}
	for at := 0; ; {
		i := strings.Index(s[at:], ellipsis)
		if i < 0 {
			return s
		}
		if n := w.begun(s[:at+i]); n > 0 {
			s = s[:at+i-n] + redact.Mark + s[at+i:]
			i += len(redact.Mark) - n
		}
		at += i + len(ellipsis)
	}
}

// begun is the length of the longest beginning of a secret with which a text
// ends, 0 where it is too short to matter.
func (w *writing) begun(s string) int {
	longest := 0
	for _, secret := range w.secrets {
		for n := min(len(secret), len(s), maxInput); n >= minSecret && n > longest; n-- {
			if strings.HasSuffix(s, secret[:n]) {
				longest = n
			}
		}
	}
	return longest
}
