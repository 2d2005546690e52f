// Package notice notifies a person that a call waits: on the desktop, or by a request to an address
// of theirs. The texts are redacted before.
package notice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"time"
	"unicode"

	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/script"
)

// maxText is the longest text of a call in a notice, in bytes.
const maxText = 300

// Desktop shows notifications. It looks for programs in the system's own folders, since PATH may
// find a program of the agent's.
type Desktop struct {
	// System is runtime.GOOS, Env looks up a variable.
	System string
	Env    func(string) string
	// Run runs a program with arguments.
	Run func(ctx context.Context, program string, args []string) error
	// Exists reports whether a file exists.
	Exists func(path string) bool
}

// ThisDesktop returns the desktop of the process.
func ThisDesktop() Desktop {
	return Desktop{System: runtime.GOOS, Env: os.Getenv, Run: run, Exists: func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}}
}

func run(ctx context.Context, program string, args []string) error {
	_, told, err := script.Process{Path: program, Args: args, Env: os.Environ(), MaxErrors: 1 << 10}.Run(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w %s", program, err, strings.TrimSpace(string(told)))
	}
	return nil
}

// Tell sends notices of a new entry, as the settings say. The errors are for the person.
func (d Desktop) Tell(ctx context.Context, n queue.Notices, e queue.Entry) (errs []error) {
	ctx, cancel := context.WithTimeout(ctx, limit.Notice)
	defer cancel()
	failed := make(chan error, 3)
	started := 0
	start := func(on bool, what string, f func() error) {
		if !on {
			return
		}
		started++
		go func() {
			err := f()
			if err != nil {
				err = fmt.Errorf("the notice by %s was not sent: %w", what, err)
			}
			failed <- err
		}()
	}
	start(n.Desktop, "human.notify", func() error { return d.show(ctx, e) })
	start(n.Webhook != "", "human.webhook", func() error { return post(ctx, n.Webhook, "application/json", message(e), nil) })
	start(n.Ntfy != "", "human.ntfy", func() error {
		return post(ctx, n.Ntfy, "text/plain; charset=utf-8", []byte(body(e)), map[string]string{"Title": title(e), "Tags": "question"})
	})
	for range started {
		if err := <-failed; err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// title and body return the text of a notice.
func title(e queue.Entry) string { return fmt.Sprintf("Cardea: call %d waits for you", e.ID) }

func body(e queue.Entry) string {
	who := ""
	if e.Role != "" {
		who = " (" + e.Role + ")"
	}
	return fmt.Sprintf("%s%s: %s", e.Tool, who, line(e.Subject.String()))
}

// line returns a text in one line, without control characters for a terminal or a server.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsGraphic(r) && r != ' ' {
			return ' '
		}
		return r
	}, s)
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + " ..."
	}
	return s
}

// Command returns the program that shows a notification, with its arguments. It returns nil for a
// machine without a known desktop. The text is an argument of its own, never part of a script.
func (d Desktop) Command(e queue.Entry) (argv []string, err error) { return d.words(title(e), body(e)) }

// words is Command for a title and a body.
func (d Desktop) words(title, body string) (argv []string, err error) {
	switch d.System {
	case "linux":
		if d.Env("DISPLAY") == "" && d.Env("WAYLAND_DISPLAY") == "" {
			return nil, nil
		}
		for _, program := range []string{"/usr/bin/notify-send", "/usr/local/bin/notify-send"} {
			if d.Exists(program) {
				// The program interprets the body as markup.
				return []string{program, "--app-name=Cardea", "--", title, html.EscapeString(body)}, nil
			}
		}
		return nil, errors.New("there is no /usr/bin/notify-send; install it, or set human.notify to false")
	case "darwin":
		return []string{"/usr/bin/osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run",
			title, body}, nil
	}
	return nil, nil
}

// Say shows a text on the desktop, if there is one.
func (d Desktop) Say(ctx context.Context, title, body string) error {
	argv, err := d.words(line(title), line(body))
	if err != nil || argv == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit.Notice)
	defer cancel()
	return d.Run(ctx, argv[0], argv[1:])
}

func (d Desktop) show(ctx context.Context, e queue.Entry) error {
	argv, err := d.Command(e)
	if err != nil || argv == nil {
		return err
	}
	return d.Run(ctx, argv[0], argv[1:])
}

// message returns the JSON body for a webhook.
func message(e queue.Entry) []byte {
	text, err := json.Marshal(struct {
		ID       int64     `json:"id"`
		Title    string    `json:"title"`
		Tool     string    `json:"tool"`
		Subject  string    `json:"subject"`
		Role     string    `json:"role"`
		Session  string    `json:"session"`
		Project  string    `json:"project"`
		Reason   string    `json:"reason"`
		Ticket   bool      `json:"ticket"`
		Deadline time.Time `json:"deadline"`
	}{e.ID, title(e), e.Tool, line(e.Subject.String()), e.Role, e.Session.String(), e.Project.String(), line(e.Reason.String()), e.Ticket, e.Deadline})
	if err != nil {
		panic(err) // the fields can be encoded
	}
	return text
}

// withoutAddress returns an error without its address: the path of a webhook, or a topic of ntfy,
// gives the right to write there.
func withoutAddress(err error) error {
	if about := (*url.Error)(nil); errors.As(err, &about) {
		return about.Err
	}
	return err
}

// post sends a request. It follows no redirection and uses no proxy: the address is the one in the
// person's settings.
func post(ctx context.Context, address, kind string, text []byte, headers map[string]string) error {
	if !queue.SafeAddress(address) {
		return errors.New("it is no https address")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(text))
	if err != nil {
		return withoutAddress(err)
	}
	r.Header.Set("Content-Type", kind)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("%s://%s: %w", r.URL.Scheme, r.URL.Host, withoutAddress(err))
	}
	if err := answer.Body.Close(); err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the server says %s", answer.Status)
	}
	return nil
}
