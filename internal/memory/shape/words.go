package shape

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/command/knowledge/form"
)

// pair is a word of the allowed call, and the word in its position in the other call.
type pair struct{ first, second knowledge.Argument }

// Limits of words that may differ, in bytes.
const (
	maxText = 4096
	maxName = 256
)

// differ returns the reason why words may not replace others, or "". all are the pairs of operands,
// including the equal ones.
func (c *comparison) differ(differing, all []pair, dir string) string {
	var places []replacedPath
	for _, p := range differing {
		text := p.second.Text
		switch p.first.Kind {
		case "":
			if p.first.Name != "" {
				return "the option " + p.first.Name + " has another value: " + text
			}
			return text + " may not stand for " + p.first.Text
		case form.VariesText:
			if text == "" || len(text) > maxText || hasControl(text) || c.system.Secret != nil && c.system.Secret(text) {
				return "its text is empty or too long, or holds a secret or characters that are not seen"
			}
			c.otherText = true
			continue
		case form.VariesNumber:
			if text == "" || len(text) > 6 || strings.Trim(text, "0123456789") != "" {
				return text + " is no number"
			}
		case form.VariesName:
			if !plain(text, "_-") || !plain(p.first.Text, "_-") {
				return text + " is no name of a part of the project"
			}
		case form.VariesPattern:
			if !plain(text, "_.-: |^$*+/") || strings.Contains(text, "..") {
				return text + " is no plain pattern for names of tests"
			}
		default:
			at, why := c.place(p, dir)
			if why != "" {
				return why
			}
			places = append(places, at)
		}
		c.otherOperand = true
	}
	if why := c.within(places); why != "" {
		return why
	}
	return swapped(places, all, dir)
}

// plain reports whether a word has only ASCII letters, digits and the characters of others, and is
// not an option.
func plain(text, others string) bool {
	return text != "" && len(text) <= maxName && text[0] != '-' && !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(others, r))
	})
}

func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x2069 || r == 0xfeff
	})
}

// replacedPath is an allowed file or folder, and the one in its position.
type replacedPath struct {
	kind string
	// allowed and other are absolute and clean. text is other as written.
	allowed, other, text string
}

// place reads a word as a path.
func (c *comparison) place(p pair, dir string) (replacedPath, string) {
	kind, text := p.first.Kind, p.second.Text
	at := replacedPath{kind: kind, text: text}
	first, second := p.first.Text, text
	if kind == form.VariesTests {
		var rest string
		if second, rest = selection(second); rest != "" && !plain(rest, "_.:-") {
			return at, text + " names no test"
		}
		first, _ = selection(first)
	}
	if kind == form.VariesTests || kind == form.VariesSubtree {
		// All below a folder, as go writes it.
		first, second = strings.TrimSuffix(first, "/..."), strings.TrimSuffix(second, "/...")
	}
	switch {
	case !plain(second, "_./+@-") || second[0] == '@' || second[0] == '+':
		return at, text + " is no plain name of a file"
	case slices.Contains(strings.Split(second, "/"), ".."):
		return at, text + " leads out of its folder"
	case slices.Contains(strings.Split(first, "/"), ".."):
		return at, "the folder of " + first + " is not clear"
	}
	at.allowed, at.other = knowledge.Absolute(dir, first), knowledge.Absolute(dir, second)
	if at.allowed == "" || at.other == "" {
		return at, "the folder of " + text + " is not known"
	}
	return at, ""
}

// selection splits a path from the selection of tests in its file.
func selection(text string) (file, rest string) {
	file, rest, _ = strings.Cut(text, ":")
	return file, rest
}

// within returns the reason why the places are not in the folder of the allowed ones, or "". That
// folder is the lowest that holds them all, and never one that holds the whole project.
func (c *comparison) within(places []replacedPath) string {
	if len(places) == 0 {
		return ""
	}
	folder := path.Dir(places[0].allowed)
	for _, p := range places[1:] {
		for !paths.Within(folder, p.allowed) || folder == p.allowed {
			folder = path.Dir(folder)
		}
	}
	for _, p := range places {
		if why := c.one(p, folder); why != "" {
			return why
		}
	}
	return ""
}

// one returns the reason why one place differs from the allowed one, or "".
func (c *comparison) one(p replacedPath, folder string) string {
	inside := (p.kind == form.VariesTests || p.kind == form.VariesSubtree) && paths.Below(p.allowed, p.other)
	if inside {
		folder = p.allowed
	}
	real, realFolder := c.system.Resolve(p.other), c.system.Resolve(folder)
	switch {
	case p.kind == form.VariesTemporary:
		return c.temporary(p, folder, real)
	case !c.inProject(folder) || !c.inProject(realFolder):
		return p.text + " does not lie in the folder of the other: that is the project, or no folder of it"
	case paths.Within(p.other, folder):
		return p.text + " covers more than what was allowed"
	case !paths.Below(folder, p.other) || !paths.Below(realFolder, real):
		return p.text + " lies outside of " + path.Base(folder)
	case hidden(folder, p.other) || hidden(realFolder, real):
		return p.text + " is a hidden file"
	case files.MayHoldSecret(p.other) || real != p.other && files.MayHoldSecret(real):
		return p.text + " may hold a secret"
	}
	if p.kind != form.VariesWrite {
		return ""
	}
	switch {
	case path.Ext(p.other) != path.Ext(p.allowed) || path.Ext(real) != path.Ext(p.other):
		return p.text + " is a file of another type"
	case files.Protected(p.other) || files.Protected(real) || path.Base(p.other) != path.Base(p.allowed) && decides(path.Base(p.other)):
		return p.text + " decides what other programs do"
	}
	return ""
}

// inProject reports whether a folder is below a folder of the work.
func (c *comparison) inProject(folder string) bool {
	return slices.ContainsFunc(c.roots, func(root string) bool {
		return root != "" && (paths.Below(root, folder) || paths.Below(c.system.Resolve(root), folder))
	})
}

// temporary returns the reason why an entry of a temporary folder may not be deleted as another one
// was, or "".
func (c *comparison) temporary(p replacedPath, folder, real string) string {
	realFolder := c.system.Resolve(folder)
	ofWork := func(root string) bool {
		return root != "" && (paths.Within(root, folder) || paths.Within(p.other, root) || paths.Within(c.system.Resolve(root), realFolder) || paths.Within(real, c.system.Resolve(root)))
	}
	switch {
	case !slices.ContainsFunc(files.Temporary(), func(t string) bool { return paths.Within(t, folder) || paths.Within(t, realFolder) }):
		return "it deletes outside of a temporary folder"
	case slices.ContainsFunc(c.roots, ofWork):
		return "it deletes in the project"
	case path.Dir(p.other) != folder || path.Dir(p.allowed) != folder || path.Dir(real) != realFolder:
		return p.text + " does not lie beside what the other deletes"
	case strings.HasSuffix(p.text, "/") || path.Base(p.other)[0] == '.' || path.Base(real) != path.Base(p.other):
		return p.text + " is hidden, or leads elsewhere"
	}
	return ""
}

// hidden reports whether a path is hidden in a folder.
func hidden(folder, p string) bool {
	return strings.Contains(strings.TrimPrefix(p, folder), "/.")
}

// decides reports whether programs look for code or settings under this name.
//
// Many such names cannot be listed: a file without an ending and with a capital letter
// (Jenkinsfile, BUILD), one of settings (package.json, compose.yaml), and one named after what it
// configures or builds (vite.config.ts, gulpfile.js, setup.py).
func decides(name string) bool {
	ending := strings.ToLower(path.Ext(name))
	stem := strings.ToLower(strings.TrimSuffix(name, path.Ext(name)))
	switch {
	case ending == "" && strings.ToLower(name) != name || slices.Contains(settingsEndings, ending),
		strings.Contains(stem, "config") || strings.Contains(stem, ".conf") || strings.HasSuffix(stem, "file") || strings.HasSuffix(stem, "rc"),
		slices.Contains([]string{"setup", "conftest", "tasks", "build", "manage", "configure", "gradlew", "mvnw"}, stem):
		return true
	}
	for _, property := range [...]form.Property{form.ProjectFiles, form.RunsByName} {
		for _, h := range knowledge.Holders(property) {
			if slices.ContainsFunc(h.Words, func(w string) bool { return strings.EqualFold(path.Base(w), name) }) {
				return true
			}
		}
	}
	return false
}

// settingsEndings are the endings of files that configure programs.
var settingsEndings = []string{".json", ".json5", ".jsonc", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".xml", ".properties", ".gradle", ".kts", ".mk", ".cmake", ".env", ".lock", ".plist", ".tf", ".tfvars"}

// swapped returns the reason why a call writes a file that the other one only reads, or "".
func swapped(places []replacedPath, all []pair, dir string) string {
	for _, p := range places {
		if p.kind != form.VariesWrite {
			continue
		}
		for _, o := range all {
			if o.first.Kind == form.VariesRead && knowledge.Absolute(dir, o.first.Text) == p.other {
				return "its operands are swapped: it writes " + p.text + ", which the other only reads"
			}
		}
	}
	return ""
}

// files compares parts that are not commands: the effects of a tool on files.
func (c *comparison) files(a, b *cardea.Part) string {
	if len(a.Access) != len(b.Access) {
		return "it touches other files"
	}
	var differing []replacedPath
	for i := range b.Access {
		x, y := a.Access[i], b.Access[i]
		if x == y {
			continue
		}
		at := replacedPath{allowed: spelled(x), other: spelled(y), text: spelled(y), kind: form.VariesRead}
		x.Path, x.Spelled, y.Path, y.Spelled = "", "", "", ""
		switch {
		case x != y || y.Glob || y.Recursive || y.HoldsKey || at.allowed == "" || at.other == "":
			return "it touches other files in another way"
		case y.Kind == cardea.Write:
			at.kind = form.VariesWrite
		case y.Kind != cardea.Read:
			return "it may " + string(y.Kind) + " something else"
		}
		if !plain(strings.TrimPrefix(at.other, "/"), "_./+@- ") {
			return at.text + " is no plain name of a file"
		}
		differing = append(differing, at)
	}
	if len(differing) > 0 {
		c.otherOperand = true
		return c.within(differing)
	}
	if a.Text != b.Text {
		return "it is about something else"
	}
	return ""
}

// spelled returns the path of an access as the call names it.
func spelled(a cardea.Access) string { return cmp.Or(a.Spelled, a.Path) }
