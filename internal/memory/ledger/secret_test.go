package ledger

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/command/redact"
)

// secret returns put together here, so that no scanner takes this file for a leak.
func secret() string { return "gh" + "p_" + "x7Kq9TzW2mVb4NcR8sLd3FhJ6gYp1QaZ5eUo" }

// A secret, wherever the agent puts it, is in no file of the state folder: not
// in the lines, and not in the spool.
func TestNoSecretReachesTheDisk(t *testing.T) {
	s := secret()
	spellings := []string{s, base64.StdEncoding.EncodeToString([]byte("token=" + s + " ")), url.QueryEscape("a b=" + s)}
	set := map[string]func(ev *cardea.Event, v *cardea.Verdict, x string){
		"kind":          func(ev *cardea.Event, _ *cardea.Verdict, x string) { ev.Kind = cardea.Kind(x) },
		"harness":       func(ev *cardea.Event, _ *cardea.Verdict, x string) { ev.Harness = x },
		"session":       func(ev *cardea.Event, _ *cardea.Verdict, x string) { ev.Session = x },
		"agent":         func(ev *cardea.Event, _ *cardea.Verdict, x string) { ev.Agent = x },
		"call":          func(ev *cardea.Event, _ *cardea.Verdict, x string) { ev.CallID = x },
		"reviewer":      func(ev *cardea.Event, _ *cardea.Verdict, x string) { ev.Review = &cardea.Review{By: x} },
		"review reason": func(ev *cardea.Event, _ *cardea.Verdict, x string) { ev.Review = &cardea.Review{Reason: "say " + x} },
		"agent type":    func(ev *cardea.Event, _ *cardea.Verdict, x string) { ev.AgentType = x },
		"cwd":           func(ev *cardea.Event, _ *cardea.Verdict, x string) { ev.Cwd = "/tmp/" + x },
		"project":       func(ev *cardea.Event, _ *cardea.Verdict, x string) { ev.Project = "/tmp/" + x },
		"mode":          func(ev *cardea.Event, _ *cardea.Verdict, x string) { ev.Mode = cardea.Mode(x) },
		"role":          func(ev *cardea.Event, _ *cardea.Verdict, x string) { ev.Role = x },
		"tool":          func(ev *cardea.Event, _ *cardea.Verdict, x string) { ev.Call.Tool = x },
		"command": func(ev *cardea.Event, _ *cardea.Verdict, x string) {
			ev.Call.Input["command"] = "curl -H 'X: " + x + "' h"
		},
		"field": func(ev *cardea.Event, _ *cardea.Verdict, x string) { ev.Call.Input = map[string]any{"q": x} },
		"key":   func(ev *cardea.Event, _ *cardea.Verdict, x string) { ev.Call.Input = map[string]any{x: "v"} },
		"nested": func(ev *cardea.Event, _ *cardea.Verdict, x string) {
			ev.Call.Input = map[string]any{"l": []any{map[string]any{"k": x}}}
		},
		"shadowed": func(ev *cardea.Event, _ *cardea.Verdict, x string) {
			ev.Call.Shadowed = map[string][]any{"command": {x}}
		},
		"file name": func(ev *cardea.Event, _ *cardea.Verdict, x string) {
			ev.Call.EditsFiles = true
			ev.Call.Parts[0].Text = "Write " + x
		},
		"part":       func(ev *cardea.Event, _ *cardea.Verdict, x string) { ev.Call.Parts[0].Text = "echo " + x },
		"by":         func(_ *cardea.Event, v *cardea.Verdict, x string) { v.By = x },
		"reason":     func(_ *cardea.Event, v *cardea.Verdict, x string) { v.Reason = "because of " + x },
		"instead":    func(_ *cardea.Event, v *cardea.Verdict, x string) { v.Instead = x },
		"rewrite":    func(_ *cardea.Event, v *cardea.Verdict, x string) { v.Rewrite = map[string]any{"command": x} },
		"decider":    func(_ *cardea.Event, v *cardea.Verdict, x string) { v.Opinions[0].Decider = x },
		"rule":       func(_ *cardea.Event, v *cardea.Verdict, x string) { v.Opinions[0].Rule = x },
		"source":     func(_ *cardea.Event, v *cardea.Verdict, x string) { v.Opinions[0].Source = "/tmp/" + x },
		"severity":   func(_ *cardea.Event, v *cardea.Verdict, x string) { v.Opinions[0].Severity = cardea.Severity(x) },
		"its reason": func(_ *cardea.Event, v *cardea.Verdict, x string) { v.Opinions[0].Reason = "because of " + x },
		"a trouble": func(_ *cardea.Event, v *cardea.Verdict, x string) {
			v.Issues = cardea.Issues{cardea.Warning("", diagnostic.CodeIgnored, "", "cannot read "+x)}
		},
		"in the text": func(ev *cardea.Event, _ *cardea.Verdict, x string) {
			ev.Call.Input["command"] = "echo a\necho " + x + "\necho b"
		},
	}
	for name, plant := range set {
		for _, x := range spellings {
			b := start(t)
			entry := func() Entry {
				ev, v := command("ls", cardea.Deny)
				plant(ev, &v, x)
				return NewEntry(ev, v, circumstances())
			}
			if err := b.Append(entry()); err != nil {
				t.Fatal(err)
			}
			e := entry()
			body, err := e.encode()
			if err == nil {
				err = b.spool(e.ID, body)
			}
			if err != nil {
				t.Fatal(err)
			}
			if file := holds(t, filepath.Dir(b.dir), s, x); file != "" {
				t.Errorf("%s: the secret, as %q, is in %s", name, x, file)
			}
		}
	}
}

// holds gives a file below a folder that has one of the texts, in its content
// or its name.
func holds(t *testing.T, dir string, texts ...string) (found string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, x := range texts {
			if bytes.Contains(data, []byte(x)) || bytes.Contains([]byte(path), []byte(x)) {
				found = path
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A secret in a planted line is not shown.
func TestASecretInAForgedLineIsNotShown(t *testing.T) {
	b := start(t)
	e := b.add(1)[0]
	b.put(day1+dayEnd, bytes.ReplaceAll(b.read(day1+dayEnd), []byte("echo 0"), []byte("echo "+secret())))
	l, err := b.Get(e.ID)
	if err != nil || l.Genuine || bytes.Contains([]byte(l.Entry.Input.Text.String()), []byte(secret())) {
		t.Errorf("%s, %v", l.Entry.Input.Text, err)
	}
}

// The name of a secret may be in another place of the call than the secret: parts have their
// variables filled in, and reasons quote them.
func TestASecretIsOneInEveryText(t *testing.T) {
	const value = "hunter2-correct-horse"
	ev, v := command("export DB_PASSWORD="+value+"; deploy "+value, cardea.Deny)
	ev.Cwd = "/srv/" + value
	ev.Call.Parts[0].Text = "deploy " + value
	v.Reason = "deploy " + value + " is not allowed"
	v.Opinions[0].Reason = v.Reason
	e := NewEntry(ev, v, circumstances())
	if body, err := e.encode(); err != nil || bytes.Contains(body, []byte(value)) {
		t.Errorf("%s, %v", body, err)
	}
	// A variable of the part itself.
	ev, v = command("deploy", cardea.Deny)
	ev.Call.Parts[0].Text = "deploy " + value
	ev.Call.Parts[0].Assigns = []cardea.Assign{{Name: "DB_PASSWORD", Value: value, Static: true}}
	e = NewEntry(ev, v, circumstances())
	if body, err := e.encode(); err != nil || bytes.Contains(body, []byte(value)) {
		t.Errorf("%s, %v", body, err)
	}
}

// Where no time is left, an entry is written all the same, without its long
// texts.
func TestALateEntryHasNoLongTexts(t *testing.T) {
	ev, v := command("echo "+strings.Repeat("a ", maxName), cardea.Deny)
	c := circumstances()
	c.Late = func() bool { return true }
	e := NewEntry(ev, v, c)
	if got := e.Input.Text.String(); got != redact.Mark || e.Effect != cardea.Deny || e.Tool.String() != "Bash" {
		t.Errorf("%s %s %q", e.Effect, e.Tool, got)
	}
}

// A reason quotes a command, and cuts it.
func TestABegunSecretIsOne(t *testing.T) {
	ev, v := command("DB_PASSWORD=hunter2-correct-horse deploy", cardea.Deny)
	for _, reason := range []string{"cannot see through: \"DB_PASSWORD=hunter2-cor…\"", "a… b … hunter2-correct-h… and …"} {
		v.Reason = reason
		e := NewEntry(ev, v, circumstances())
		if got := e.Reason.String(); strings.Contains(got, "hunter2") || !strings.Contains(got, redact.Mark+ellipsis) {
			t.Errorf("%q becomes %q", reason, got)
		}
	}
}

// A name in a path may be a secret that only its place before a space shows.
func TestASecretIsAFolder(t *testing.T) {
	name := "4Pr" + "9Q~x_RJh1HmPWbd8HA-YltYaE.Jyi9RCfcG"
	for _, paths := range [][]string{
		{"/x/" + name + "/y"},
		{"/x/y", "/x/" + name},
		{"/x/" + name[:20], "/x/" + name},
		{"/x/" + name + "/y", "/x/" + name + "/z"},
		{"/x/" + name + "y", "/z", "/x/" + name},
	} {
		ev, v := command("ls", cardea.Deny)
		ev.Cwd = "/srv/" + name + "/app"
		for _, path := range paths {
			ev.Call.Parts[0].Access = append(ev.Call.Parts[0].Access, cardea.Access{Kind: cardea.Read, Path: path})
		}
		v.Opinions[0].Source = "/srv/" + name + "/app/rules.yaml:1"
		for _, cwd := range []string{"/srv/" + name + "/app", "/"} {
			ev.Cwd = cwd
			e := NewEntry(ev, v, circumstances())
			if body, err := e.encode(); err != nil || bytes.Contains(body, []byte(name)) {
				t.Errorf("%q: %s, %v", paths, body, err)
			}
		}
	}
}
