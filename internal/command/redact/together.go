package redact

import (
	"slices"
	"strings"
)

// Together redacts texts that are about the same thing. A secret that one of them
// shows to be one, by what stands before it, is taken out of all: the analysis of a
// command takes a password apart from the option that says what it is.
type Together struct {
	r       *Redactor
	secrets []string
}

// minTogether is the length of the shortest secret that is looked for in other texts,
// in bytes. A shorter one would be found in every second word.
const minTogether = 4

// Together finds the secrets of texts.
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

// add adds a secret in the forms in which the analysis may have it: as it stands,
// without the shell's quotes, and as a URL's escapes mean it.
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

// Text redacts one of the texts, or what was made of them.
func (t *Together) Text(s string) Text {
	for _, secret := range t.secrets {
		s = strings.ReplaceAll(s, secret, Mark)
	}
	return t.r.Text(s)
}

// Head is the beginning of a redacted text, at most n bytes of it, and whether that
// is all. No character and no mark is cut in two.
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
