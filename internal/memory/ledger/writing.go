package ledger

import (
	"slices"
	"strconv"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
)

// writing redacts the texts of one entry, and caches them. The same text appears several times: a
// command is its only part, and a reason is that of an opinion.
type writing struct {
	redactor *redact.Redactor
	late     func() bool
	done     map[string]redact.Text
	// path is the last path that was searched for secrets.
	path string
	// secrets are the secrets found, as written and as a quotation shows them.
	secrets []string
}

// minSecret is the minimum length, in bytes, of a secret that is also removed from other texts;
// shorter ones would take words apart. maxSecrets is the largest number of such secrets.
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

// redact removes secrets, including those that another text revealed. A part has its variables
// filled in without the names that reveal a secret, and a reason quotes the beginning of a command.
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

// learn remembers the secrets in a text.
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

// learnPath remembers the secrets that are names in a path. The redactor does not find a secret
// after a slash.
func (w *writing) learnPath(path string) {
	from := sharedFolders(path, w.path)
	w.path = path
	for name := range strings.FieldsFuncSeq(path[from:], func(r rune) bool { return r == '/' || r == '\\' }) {
		if len(name) >= minSecret && len(name) <= maxName {
			w.learn(name)
		}
	}
}

// sharedFolders returns the length in bytes of the folders that path and other share. A line often
// names many files of the same folder.
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

// ellipsis marks the end of a quotation that was cut.
const ellipsis = "…"

// without removes the known secrets from a text, and the beginnings of secrets before an ellipsis.
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

// begun returns the length of the longest beginning of a secret at the end of a text, 0 where it is
// too short to matter.
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
