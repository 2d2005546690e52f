package redact

import (
	"slices"
	"strings"
)

// Together redacts related texts. A secret that one text shows as such, by the text before it,
// is removed from all: the analysis of a command separates a password from its option.
type Together struct {
	r       *Redactor
	secrets []string
}

// minTogether is the minimum length in bytes of a secret that is removed from other
// texts. A shorter one would be in every second word.
const minTogether = 4

// Together returns a Together for the secrets of texts.
func (r *Redactor) Together(texts ...string) *Together {
	t := &Together{r: r}
	for _, s := range texts {
		for _, f := range r.Find(s) {
			t.add(s[f.Start:f.End])
		}
	}
	slices.SortFunc(t.secrets, func(a, b string) int { return len(b) - len(a) })
	return t
}

// add adds a secret in the forms that the analysis may use: as it is, without the
// shell's quotes, and with the escapes of a URL decoded.
func (t *Together) add(secret string) {
	forms := []string{secret, strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(secret)}
	if plain := percent(secret).text(); plain != "" {
		forms = append(forms, plain)
	}
	for _, form := range forms {
		if len(form) >= minTogether && !slices.Contains(t.secrets, form) {
			t.secrets = append(t.secrets, form)
		}
	}
}

// Text redacts one of the texts, or a text derived from them.
func (t *Together) Text(s string) Text {
	for _, secret := range t.secrets {
		s = strings.ReplaceAll(s, secret, Mark)
	}
	return t.r.Text(s)
}

// Head returns at most the first n bytes of a redacted text, and whether that is all of
// it. It cuts no character and no mark.
func (t Text) Head(n int) (Text, bool) {
	if len(t.s) <= n {
		return t, true
	}
	end := n
	if at := strings.LastIndex(t.s[:end], "<"); at >= 0 && at > end-len(Mark) && strings.HasPrefix(t.s[at:], Mark) {
		end = at
	}
	return Text{strings.ToValidUTF8(t.s[:end], "")}, false
}
