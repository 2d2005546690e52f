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
	// maxBody is the largest size of a provider's body, in bytes; a list of models is longer than
	// an answer. maxHeaders is the largest size of its headers.
	maxBody    = 1 << 20
	maxHeaders = 64 << 10
)

// NewClient returns a client that sends a key only to its target. It follows no redirect, keeps no
// cookies, and uses plain HTTP only to this machine.
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

// CloseIdleConnections closes unused connections.
func (t transports) CloseIdleConnections() {
	t.overTLS.CloseIdleConnections()
	t.inTheClear.CloseIdleConnections()
}

// httpCall is one HTTP request.
type httpCall struct {
	method, url string
	body        []byte
	key         string
	api         api
}

// do sends a request, and returns the body of a successful answer.
func (c *Chain) do(ctx context.Context, k httpCall) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, k.method, k.url, bytes.NewReader(k.body))
	if err != nil {
		return nil, &providerError{cause: judge.Misconfigured, unsent: true, why: "the endpoint is no address"}
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
		return nil, &providerError{cause: judge.Malformed, why: fmt.Sprintf("it sends more than %d bytes", maxBody)}
	}
	return data, nil
}

// rejected returns the failure for an error status.
func (c *Chain) rejected(answer *http.Response, key string) error {
	status := answer.StatusCode
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 16<<10))
	f := &providerError{cause: judge.ServerError, free: true, why: fmt.Sprintf("it answers with status %d", status)}
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

// errorName returns the name of an error in the form that all these providers use, or "". It never
// returns text that might be more than a name.
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

// retryAfter returns how long a provider asks not to be contacted: from milliseconds, seconds, or a
// date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	const most = 1 << 31 // far longer than any wait, and no overflow
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

// broken returns the failure of a connection that was not made, or was interrupted. Errors of the
// HTTP client may quote the server, which may have received a key. So only their kind is reported,
// not their text.
func broken(ctx context.Context, err error) error {
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var op *net.OpError
	dialing := errors.As(err, &op) && op.Op == "dial"
	f := &providerError{cause: judge.Unreachable, unsent: dialing, why: "it cannot be reached"}
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

// briefly returns the reason why a command failed, without any of its output.
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
