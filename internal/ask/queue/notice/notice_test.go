package notice

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/command/redact"
)

func entry(subject string) queue.Entry {
	return queue.Entry{ID: 7, Tool: "Bash", Role: "tester", Subject: redact.New().Text(subject)}
}

func desktop(system string, ran *[]string) Desktop {
	return Desktop{System: system, Env: func(string) string { return ":0" }, Exists: func(string) bool { return true },
		Run: func(_ context.Context, program string, args []string) error {
			*ran = append([]string{program}, args...)
			return nil
		}}
}

// A call's text is never an option, a script or markup.
func TestDesktop(t *testing.T) {
	const hostile = "--help <b>x</b> \" & do shell script \"touch /tmp/x\n\x1b[2J"
	for system, want := range map[string][]string{
		"linux": {"/usr/bin/notify-send", "--app-name=Cardea", "--", "Cardea: call 7 waits for you",
			"Bash (tester): --help &lt;b&gt;x&lt;/b&gt; &#34; &amp; do shell script &#34;touch /tmp/x  [2J"},
		"darwin": {"/usr/bin/osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run",
			"Cardea: call 7 waits for you", "Bash (tester): --help <b>x</b> \" & do shell script \"touch /tmp/x  [2J"},
		"windows": nil,
	} {
		var ran []string
		if errs := desktop(system, &ran).Tell(context.Background(), queue.Notices{Desktop: true}, entry(hostile)); len(errs) > 0 || !slices.Equal(ran, want) {
			t.Errorf("%s: %q %v; want %q", system, ran, errs, want)
		}
	}
	var ran []string
	d := desktop("linux", &ran)
	d.Exists = func(string) bool { return false }
	if errs := d.Tell(context.Background(), queue.Notices{Desktop: true}, entry("x")); len(errs) != 1 {
		t.Errorf("no word about what is missing: %v", errs)
	}
	d.Env = func(string) string { return "" }
	if errs := d.Tell(context.Background(), queue.Notices{Desktop: true}, entry("x")); len(errs) > 0 || ran != nil {
		t.Errorf("without a desktop: %v", errs)
	}
}

func TestWeb(t *testing.T) {
	type request struct{ kind, title, body string }
	got := make(chan request, 4)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/hook", http.StatusTemporaryRedirect)
			return
		case "/slow":
			select {
			case <-r.Context().Done():
			case <-time.After(4 * time.Second):
			}
		}
		text, _ := io.ReadAll(r.Body)
		got <- request{r.Header.Get("Content-Type"), r.Header.Get("Title"), string(text)}
	}))
	defer s.Close()
	d := desktop("", nil)
	secret := "curl -H 'Authorization: Bearer sk-ant-api03-" + strings.Repeat("x7Qa", 23) + "-AA' https://example.com"
	if errs := d.Tell(context.Background(), queue.Notices{Webhook: s.URL + "/hook"}, entry(secret)); len(errs) > 0 {
		t.Error(errs)
	}
	var sent map[string]any
	r := <-got
	if err := json.Unmarshal([]byte(r.body), &sent); err != nil || sent["id"] != 7.0 || strings.Contains(r.body, "x7Qa") {
		t.Errorf("%s: %v", r.body, err)
	}
	if errs := d.Tell(context.Background(), queue.Notices{Ntfy: s.URL + "/topic"}, entry("npm publish\nX-Injected: yes")); len(errs) > 0 {
		t.Error(errs)
	}
	if r := <-got; r.title != "Cardea: call 7 waits for you" || r.body != "Bash (tester): npm publish X-Injected: yes" {
		t.Errorf("%+v", r)
	}
	for path, want := range map[string]string{"/moved": "307", "/slow": "deadline"} {
		begin := time.Now()
		errs := d.Tell(context.Background(), queue.Notices{Webhook: s.URL + path}, entry("x"))
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), want) || time.Since(begin) > 8*time.Second {
			t.Errorf("%s: %v", path, errs)
		}
	}
	// A failure is reported without the part of the address after the host.
	gone := httptest.NewServer(nil)
	gone.Close()
	const hidden = "/services/T000?token=hidden"
	for _, n := range []queue.Notices{{Webhook: gone.URL + hidden}, {Ntfy: gone.URL + hidden}} {
		errs := d.Tell(context.Background(), n, entry("x"))
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), "http://127.0.0.1:") || strings.Contains(errs[0].Error(), "T000") || strings.Contains(errs[0].Error(), "hidden") {
			t.Errorf("%v", errs)
		}
	}
	if errs := d.Tell(context.Background(), queue.Notices{Webhook: "http://192.0.2.1/x"}, entry("x")); len(errs) != 1 {
		t.Error("it is sent in the clear")
	}
}

// A text is shown as an argument of its own, in one line.
func TestSay(t *testing.T) {
	var got []string
	d := Desktop{System: "linux", Env: func(string) string { return ":0" }, Exists: func(string) bool { return true }, Run: func(_ context.Context, program string, args []string) error {
		got = append([]string{program}, args...)
		return nil
	}}
	if err := d.Say(t.Context(), "a title", "--x <b>\n\x1b[31m"); err != nil || len(got) != 5 || got[3] != "a title" || got[2] != "--" || got[4] != "--x &lt;b&gt;  [31m" {
		t.Errorf("%q, %v", got, err)
	}
	d.Env = func(string) string { return "" }
	if got = nil; d.Say(t.Context(), "a", "b") != nil || got != nil {
		t.Error("it is shown where there is no desktop")
	}
}
