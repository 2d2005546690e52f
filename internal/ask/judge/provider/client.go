package provider

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/base/script"
)

const (
	// maxBody bounds what a provider sends, in bytes; a list of models is longer than an
	// answer. maxHeaders bounds its headers.
	maxBody    = 1 << 20
	maxHeaders = 64 << 10
)

// NewClient makes a client that sends a key nowhere but where it is told: it follows no
// redirect, keeps no cookies, and speaks in the clear to this machine only.
func NewClient(proxy func(*http.Request) (*url.URL, error)) *http.Client {
	dialer := &net.Dialer{}
	local := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		if host, _, err := net.SplitHostPort(address); err != nil || !judge.Loopback(host) {
			return errNotLocal
		}
		return nil
	}}
	// A proxy may be anywhere, and speak plain HTTP: it sees a host's name, and TLS.
	overTLS := &http.Transport{Proxy: proxy, DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		DisableCompression: true, MaxResponseHeaderBytes: maxHeaders}
	inTheClear := &http.Transport{DialContext: local.DialContext, DisableCompression: true, MaxResponseHeaderBytes: maxHeaders}
	return &http.Client{
		Transport:     transports{overTLS, inTheClear},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

var errNotLocal = errors.New("http leads to another machine")

// transports are those for https and http.
type transports struct{ overTLS, inTheClear *http.Transport }

// RoundTrip sends a request by its scheme.
func (t transports) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == "https" {
		return t.overTLS.RoundTrip(r)
	}
	return t.inTheClear.RoundTrip(r)
}

// CloseIdleConnections closes what no request uses.
func (t transports) CloseIdleConnections() {
	t.overTLS.CloseIdleConnections()
	t.inTheClear.CloseIdleConnections()
}

// call is one HTTP request.
type call struct {
	method, url string
	body        []byte
	key         string
	api         api
}

// do sends a request, and gives the body of its success.
func (c *Chain) do(ctx context.Context, k call) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, k.method, k.url, bytes.NewReader(k.body))
	if err != nil {
		return nil, &fault{cause: judge.Misconfigured, unsent: true, why: "the endpoint is no address"}
	}
	r.Header.Set("User-Agent", "cardea")
	r.Header.Set("Accept", "application/json")
	if len(k.body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	k.api.headers(k.key, r.Header)
	answer, err := c.client.Do(r)
	if err != nil {
		return nil, broken(ctx, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, c.rejected(answer, k.key)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, broken(ctx, err)
	case len(data) > maxBody:
		return nil, &fault{cause: judge.Malformed, why: fmt.Sprintf("it sends more than %d bytes", maxBody)}
	}
	return data, nil
}

// rejected is the fault of a status that is no success.
func (c *Chain) rejected(answer *http.Response, key string) error {
	status := answer.StatusCode
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 16<<10))
	f := &fault{cause: judge.ServerError, free: true, why: fmt.Sprintf("it answers with status %d", status)}
	if name := errorName(body, key); name != "" {
		f.why += " (" + name + ")"
	}
	switch {
	case status >= 300 && status < 400:
		f.why += ": redirects are not followed, since a key would travel; write the final address as endpoint"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		f.cause = judge.Rejected
		f.why += ": it does not accept the key"
	case status == http.StatusNotFound:
		f.why += ": there is no such model or address; see model and endpoint in judge.chain"
	case status == http.StatusTooManyRequests || status == 529 || status == http.StatusServiceUnavailable:
		f.cause = judge.Busy
		f.retryAfter = retryAfter(answer.Header, c.machine.Now())
		f.why += ": it has too much to do"
	}
	return f
}

// errorName is the name of an error as all these providers give it. Only what can be
// nothing but a name is told.
func errorName(body []byte, key string) string {
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	var inner struct {
		Type string `json:"type"`
		Code any    `json:"code"`
	}
	if json.Unmarshal(body, &e) != nil || json.Unmarshal(e.Error, &inner) != nil {
		return ""
	}
	code, _ := inner.Code.(string)
	for _, name := range []string{code, inner.Type} {
		plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == ""
		if name != "" && len(name) <= 40 && plain && !strings.Contains(key, name) {
			return name
		}
	}
	return ""
}

// retryAfter is how long a provider does not want to be asked: in milliseconds, in
// seconds, or as a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	const most = 1 << 31 // far more than anybody waits, and no overflow
	if n, err := strconv.ParseInt(h.Get("Retry-After-Ms"), 10, 64); err == nil && n > 0 && n < most {
		return time.Duration(n) * time.Millisecond
	}
	text := h.Get("Retry-After")
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 && n < most {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// broken is the fault of a connection that did not come about, or was cut. Errors of the
// HTTP client may quote what a server sent, which may be a key that it was sent: so their
// text is not told, only their kind.
func broken(ctx context.Context, err error) error {
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var op *net.OpError
	dialing := errors.As(err, &op) && op.Op == "dial"
	f := &fault{cause: judge.Unreachable, unsent: dialing, why: "it cannot be reached"}
	switch {
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		f.cause, f.why = judge.TimedOut, "it gave no answer in time"
	case errors.Is(err, errNotLocal):
		f.why, f.unsent = "its http address leads to another machine; use https", true
	case errors.As(err, &dns):
		f.why, f.unsent = "its host name is not found", true
	case errors.As(err, &cert):
		f.why, f.unsent = "its certificate is not accepted", true
	case errors.Is(err, syscall.ECONNREFUSED):
		f.why = "it does not listen: connection refused"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		f.why = "the connection was cut"
	}
	return f
}

// briefly says why a command failed, without a word of what it wrote.
func briefly(err error) string {
	var exit *exec.ExitError
	var start script.StartError
	switch {
	case errors.Is(err, script.ErrTime):
		return "it took too long"
	case errors.Is(err, script.ErrTooMuch):
		return fmt.Sprintf("it prints more than %d bytes", maxKey)
	case errors.As(err, &exit):
		return "it ended with " + exit.ProcessState.String()
	case errors.As(err, &start):
		return "it cannot be started"
	}
	return "it cannot be run"
}
