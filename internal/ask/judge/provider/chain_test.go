package provider

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/judge/fakeprovider"
	"cardea.dev/internal/ask/judge/usage"
	"cardea.dev/internal/command/redact"
)

// environ has all keys.
func environ() []string {
	return []string{"ANTHROPIC_API_KEY=" + fakeprovider.Key, "GITHUB_TOKEN=" + fakeprovider.Key, "OPENAI_API_KEY= " + fakeprovider.Key + "\n"}
}

func question() judge.Question {
	r := redact.New()
	return judge.Question{System: r.Text("You judge tool calls."), User: r.Text("<call>ls && \"x\"</call> ünïcode"), Session: "s1"}
}

func machine(t *testing.T) Machine {
	t.Helper()
	return Machine{Environ: environ(), Dir: t.TempDir(), Book: usage.Open(t.TempDir(), time.Now), Now: time.Now}
}

// guard is far more than any question here may take: what hangs fails.
const guard = 30 * time.Second

func ask(t *testing.T, c *Chain) (judge.Assessment, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	begin := time.Now()
	a, err := c.Ask(ctx, question())
	if took := time.Since(begin); took > guard {
		t.Fatalf("it took %s", took)
	}
	return a, err
}

func TestEveryProviderAnswers(t *testing.T) {
	for _, kind := range judge.Types() {
		t.Run(kind, func(t *testing.T) {
			s := fakeprovider.Start(t)
			p := s.Provider(kind)
			c := New(judge.Config{Chain: []judge.Provider{p}, Prices: map[string]judge.Price{p.Model: {In: judge.Dollar, Out: 5 * judge.Dollar}}}, machine(t))
			a, err := ask(t, c)
			if err != nil {
				t.Fatal(err)
			}
			if a.Decision != cardea.Allow || a.Confidence != 0.93 || a.Reason.String() != "It only lists files." || a.Rule.String() != "" {
				t.Errorf("got %+v", a)
			}
			if a.Provider != kind || a.Model != p.Model || a.TokensIn != 812 || a.TokensOut != 41 || !a.Priced || a.Cost != 812+5*41 {
				t.Errorf("got %+v", a)
			}
			asked, others := s.Asked()
			if len(asked) != 1 || others != 0 {
				t.Fatalf("%d questions, %d others", len(asked), others)
			}
			q := asked[0]
			if q.System != question().System.String() || q.User != question().User.String() || q.MaxTokens != 150 || q.Temperature == nil || *q.Temperature != 0 {
				t.Errorf("asked %+v", q)
			}
			if strings.Contains(string(q.Body), "s1") {
				t.Errorf("the session is sent: %s", q.Body)
			}
		})
	}
}

// causes returns the cause for each way to fail.
func causes() map[string]judge.Cause {
	return map[string]judge.Cause{
		fakeprovider.Refusal: judge.Refused, fakeprovider.Truncated: judge.Truncated, fakeprovider.NoTool: judge.Malformed,
		fakeprovider.Malformed: judge.Malformed, fakeprovider.OtherJSON: judge.Malformed, fakeprovider.Slow: judge.TimedOut, fakeprovider.Drip: judge.TimedOut,
		fakeprovider.Unauthorized: judge.Rejected, fakeprovider.RateLimited: judge.Busy, fakeprovider.ServerError: judge.ServerError,
		fakeprovider.Overloaded: judge.Busy, fakeprovider.Cut: judge.Unreachable, fakeprovider.Reset: judge.Unreachable, fakeprovider.Huge: judge.Malformed,
		fakeprovider.HugeHeader: judge.Unreachable, fakeprovider.Redirect: judge.ServerError, fakeprovider.Echo: judge.ServerError,
	}
}

// Each provider fails in each way, and the next one answers.
func TestTheNextProviderOnAnyFailure(t *testing.T) {
	for _, kind := range judge.Types() {
		for _, how := range fakeprovider.Failures() {
			t.Run(kind+"/"+how, func(t *testing.T) {
				s := fakeprovider.Start(t)
				s.Answer(func(a fakeprovider.Asked) fakeprovider.Behaviour {
					b := fakeprovider.Behaviour{Text: fakeprovider.Good}
					if a.Type == kind {
						b.Fail = how
					}
					return b
				})
				next := judge.Anthropic
				if kind == next {
					next = judge.OpenAI
				}
				first := s.Provider(kind)
				first.Timeout = 5 * time.Second
				if how == fakeprovider.Slow || how == fakeprovider.Drip {
					first.Timeout = 100 * time.Millisecond
				}
				a, err := ask(t, New(judge.Config{Chain: []judge.Provider{first, s.Provider(next)}}, machine(t)))
				if err != nil || a.Provider != next || len(a.Failed) != 1 {
					t.Fatalf("got %+v, %v", a, err)
				}
				want := causes()[how]
				if kind == judge.Ollama && how == fakeprovider.Refusal {
					want = judge.Malformed // Ollama has no sign for it
				}
				f := a.Failed[0]
				if f.Provider != kind || f.Model != first.Model || f.Cause != want {
					t.Errorf("got %+v, want %s", f, want)
				}
				if strings.Contains(f.Why, fakeprovider.Key) || strings.Contains(f.Why, "ls &&") || len(f.Why) > 200 {
					t.Errorf("it tells %q", f.Why)
				}
				if asked, others := s.Asked(); len(asked) != 2 || others != 0 {
					t.Errorf("%d questions, %d others: a redirect was followed", len(asked), others)
				}
			})
		}
	}
}

// No provider answers: the whole question ends at its deadline, whatever each provider may take.
func TestOneDeadlineForAll(t *testing.T) {
	s := fakeprovider.Start(t)
	s.Answer(func(fakeprovider.Asked) fakeprovider.Behaviour {
		return fakeprovider.Behaviour{Fail: fakeprovider.Slow}
	})
	var chain []judge.Provider
	for _, kind := range judge.Types() {
		p := s.Provider(kind)
		p.Timeout = time.Hour
		chain = append(chain, p)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := New(judge.Config{Chain: chain}, machine(t)).Ask(ctx, question())
	var f *judge.Failure
	if !errors.As(err, &f) || len(f.Attempts) != 5 {
		t.Fatalf("got %v", err)
	}
	for _, a := range f.Attempts {
		if a.Cause != judge.TimedOut {
			t.Errorf("got %+v", a)
		}
	}
	if asked, _ := s.Asked(); len(asked) != 1 {
		t.Errorf("%d were asked", len(asked))
	}
	if took := time.Since(begin); took > guard {
		t.Errorf("it took %s", took)
	}
}

// Without keys no provider is contacted, and the reason is reported.
func TestNoKey(t *testing.T) {
	s := fakeprovider.Start(t)
	m := machine(t)
	m.Environ = []string{"ANTHROPIC_API_KEY=  "}
	_, err := ask(t, New(judge.Config{Chain: []judge.Provider{s.Provider(judge.Anthropic), s.Provider(judge.GitHubModels), s.Provider(judge.OpenAI)}}, m))
	if err == nil || !strings.Contains(err.Error(), "set ANTHROPIC_API_KEY, or api_key_command") || !strings.Contains(err.Error(), "github-models: it has no key; set GITHUB_TOKEN") {
		t.Errorf("got %v", err)
	}
	if asked, others := s.Asked(); len(asked)+others > 0 {
		t.Error("something was contacted")
	}
}

// A key of one vendor is not sent to the endpoint of another type.
func TestKeysStayWithTheirVendor(t *testing.T) {
	s := fakeprovider.Start(t)
	_, err := ask(t, New(judge.Config{Chain: []judge.Provider{s.Provider(judge.Compatible), s.Provider(judge.Ollama)}}, machine(t)))
	if err != nil {
		t.Fatal(err)
	}
	asked, _ := s.Asked()
	for name, values := range asked[0].Header {
		if strings.Contains(strings.Join(values, " "), fakeprovider.Key) {
			t.Errorf("%s has a key", name)
		}
	}
}

// A header cannot be smuggled into a request by what a variable holds.
func TestKeysThatAreNone(t *testing.T) {
	for _, key := range []string{"a\r\nX-Other: b", "a b", "schlüssel", strings.Repeat("x", maxKey+1)} {
		s := fakeprovider.Start(t)
		m := machine(t)
		m.Environ = []string{"OPENAI_API_KEY=" + key}
		_, err := ask(t, New(judge.Config{Chain: []judge.Provider{s.Provider(judge.OpenAI)}}, m))
		if asked, _ := s.Asked(); err == nil || len(asked) > 0 || strings.Contains(err.Error(), key) {
			t.Errorf("%.20q: %v", key, err)
		}
	}
}

func TestEndpoints(t *testing.T) {
	for _, endpoint := range []string{"http://example.com/v1", "http://10.0.0.1", "http://localhost.example.com", "ftp://localhost", "https://me:secret@host/v1",
		"https://host/v1?key=secret", "https://host/#x", "localhost:11434", "//host", "http:localhost", "http://0.0.0.0:1", "http://[::ffff:10.0.0.1]", "unix:///run/x", ""} {
		if judge.CheckEndpoint(endpoint) == nil {
			t.Errorf("%s is taken", endpoint)
		}
	}
	for _, endpoint := range []string{"https://host/v1", "http://localhost:11434", "http://127.0.0.1:1", "http://[::1]:1", "http://127.9.9.9"} {
		if err := judge.CheckEndpoint(endpoint); err != nil {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
	// One that got past the check reaches nothing either.
	c := New(judge.Config{}, machine(t))
	_, err := c.do(t.Context(), httpCall{method: http.MethodGet, url: "http://192.0.2.1:80/", api: api{headers: func(string, http.Header) {}}})
	if err == nil || !strings.Contains(err.Error(), "another machine") {
		t.Errorf("got %v", err)
	}
}

// A server with an untrusted certificate gets no key.
func TestCertificates(t *testing.T) {
	reached := false
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	s.StartTLS()
	defer s.Close()
	p := judge.Provider{Type: judge.OpenAI, Endpoint: s.URL}
	_, err := ask(t, New(judge.Config{Chain: []judge.Provider{p}}, machine(t)))
	if err == nil || !strings.Contains(err.Error(), "certificate") || reached {
		t.Errorf("got %v, reached %t", err, reached)
	}
}

// A proxy is asked only where one is given, and never for this machine.
func TestProxy(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, r.Method+" "+r.Host)
		w.WriteHeader(http.StatusForbidden)
	}))
	defer proxy.Close()
	t.Setenv("HTTPS_PROXY", proxy.URL)
	t.Setenv("HTTP_PROXY", proxy.URL)
	s := fakeprovider.Start(t)
	far := judge.Provider{Type: judge.OpenAI, Endpoint: "https://api.invalid/v1"}
	chain := judge.Config{Chain: []judge.Provider{far, s.Provider(judge.Ollama)}}
	if _, err := ask(t, New(chain, machine(t))); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 0 {
		t.Errorf("without a proxy: %v", lines)
	}
	m := machine(t)
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	m.Proxy = http.ProxyURL(u)
	if a, err := ask(t, New(chain, m)); err != nil || a.Provider != judge.Ollama {
		t.Fatal(err)
	}
	if len(lines) != 1 || lines[0] != "CONNECT api.invalid:443" {
		t.Errorf("with a proxy: %v", lines)
	}
}

// A provider that failed three times is left alone: neither contacted, nor its command run.
func TestADeadProviderCostsNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := judge.Provider{Type: judge.OpenAI, Endpoint: "http://" + l.Addr().String()}
	_ = l.Close()
	s := fakeprovider.Start(t)
	m := machine(t)
	chain := judge.Config{Chain: []judge.Provider{dead, s.Provider(judge.Ollama)}}
	for i := range 5 {
		a, err := ask(t, New(chain, m)) // each as if in a process of its own
		if err != nil {
			t.Fatal(err)
		}
		want := judge.Unreachable
		if i >= 3 {
			want = judge.Paused
		}
		if a.Failed[0].Cause != want {
			t.Errorf("%d: %+v", i, a.Failed[0])
		}
	}
}

// Retry-After is honoured by not asking, and never by waiting.
func TestRetryAfter(t *testing.T) {
	for _, how := range []string{fakeprovider.RateLimited, fakeprovider.Overloaded} {
		s := fakeprovider.Start(t)
		s.Answer(func(a fakeprovider.Asked) fakeprovider.Behaviour {
			if a.Type == judge.Anthropic {
				return fakeprovider.Behaviour{Fail: how, RetryAfter: "600"}
			}
			return fakeprovider.Behaviour{Text: fakeprovider.Good}
		})
		m, now := machine(t), time.Now()
		m.Book = usage.Open(t.TempDir(), func() time.Time { return now })
		chain := judge.Config{Chain: []judge.Provider{s.Provider(judge.Anthropic), s.Provider(judge.OpenAI)}}
		for _, step := range []struct {
			after time.Duration
			want  judge.Cause
		}{{0, judge.Busy}, {time.Second, judge.Paused}, {598 * time.Second, judge.Paused}, {2 * time.Second, judge.Busy}} {
			now = now.Add(step.after)
			if a, err := ask(t, New(chain, m)); err != nil || a.Failed[0].Cause != step.want {
				t.Errorf("%s: %+v, %v, want %s", how, a.Failed, err, step.want)
			}
		}
	}
	h, now := http.Header{}, time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"":                              0,
		"5":                             5 * time.Second,
		"-5":                            0,
		"x":                             0,
		"99999999999999999999":          0,
		"Sun, 01 Nov 2026 12:00:30 GMT": 30 * time.Second,
		"Sun, 01 Nov 2026 11:00:00 GMT": 0,
	} {
		if h.Set("Retry-After", text); retryAfter(h, now) != want {
			t.Errorf("%q: %s", text, retryAfter(h, now))
		}
	}
}

func TestBudgets(t *testing.T) {
	for _, tt := range []struct {
		name   string
		budget judge.Budget
		want   string
	}{
		{"calls_per_day", judge.Budget{CallsPerDay: 2}, "the budget of 2 calls a day is spent"},
		{"calls_per_session", judge.Budget{CallsPerSession: 2}, "the budget of 2 calls for this session is spent"},
		{"tokens_per_day", judge.Budget{TokensPerDay: 2*853 + 1500}, "of the budget of 3206 tokens a day 1500 are left"},
		{"money_per_day", judge.Budget{MoneyPerDay: 2*(812+5*41) + 1000}, "of the budget of 0.003034 dollars a day 0.001 are left"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := fakeprovider.Start(t)
			m := machine(t)
			c := judge.Config{Chain: []judge.Provider{s.Provider(judge.Anthropic)}, Budget: tt.budget, Prices: map[string]judge.Price{"claude-haiku-4-5": {In: judge.Dollar, Out: 5 * judge.Dollar}}}
			if tt.budget.TokensPerDay+int(tt.budget.MoneyPerDay) > 0 {
				c.Budget.TokensPerDay *= 2 // what a question may take at most is more than it takes
				c.Budget.MoneyPerDay *= 2
			}
			n := 0
			var err error
			for ; err == nil && n < 10; n++ {
				_, err = ask(t, New(c, m))
			}
			var f *judge.Failure
			if !errors.As(err, &f) || !f.Spent() || !strings.Contains(err.Error(), "judge.budget."+tt.name) {
				t.Fatalf("after %d: %v", n, err)
			}
			if asked, _ := s.Asked(); len(asked) != n-1 || n < 3 {
				t.Errorf("%d were asked in %d questions", len(asked), n)
			}
			if tt.budget.TokensPerDay+int(tt.budget.MoneyPerDay) == 0 && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// With a budget in money, a model without a price is not asked, and the next one is.
func TestNoPrice(t *testing.T) {
	s := fakeprovider.Start(t)
	chain := []judge.Provider{s.Provider(judge.Compatible), s.Provider(judge.Ollama)}
	a, err := ask(t, New(judge.Config{Chain: chain, Budget: judge.Budget{MoneyPerDay: judge.Dollar}}, machine(t)))
	if err != nil || a.Provider != judge.Ollama || a.Cost != 0 || !a.Priced || a.Failed[0].Cause != judge.Spent || !strings.Contains(a.Failed[0].Why, `judge.prices: {"local"`) {
		t.Errorf("got %+v, %v", a, err)
	}
	if asked, _ := s.Asked(); len(asked) != 1 {
		t.Errorf("%d were asked", len(asked))
	}
	if a, err = ask(t, New(judge.Config{Chain: chain}, machine(t))); err != nil || a.Provider != judge.Compatible || a.Priced {
		t.Errorf("without a budget: %+v, %v", a, err)
	}
	// The price list is the vendor's own: another endpoint has other prices.
	if _, known := (judge.Config{}).Price(judge.Provider{Type: judge.OpenAI, Endpoint: "https://reseller.example/v1"}.Complete()); known {
		t.Error("a reseller's price is known")
	}
	for _, kind := range []string{judge.Anthropic, judge.GitHubModels, judge.OpenAI, judge.Ollama} {
		if _, known := (judge.Config{}).Price(fakeprovider.Provider(kind)); !known {
			t.Errorf("the default model of %s has no price", kind)
		}
	}
}

// What a provider says it took may be a lie, or missing. Then what was claimed stays spent.
func TestUsageThatCannotBe(t *testing.T) {
	for _, how := range []string{fakeprovider.NoUsage, fakeprovider.LyingUsage} {
		for _, kind := range judge.Types() {
			s := fakeprovider.Start(t)
			s.Answer(func(fakeprovider.Asked) fakeprovider.Behaviour {
				return fakeprovider.Behaviour{Text: fakeprovider.Good, Fail: how}
			})
			m := machine(t)
			c := judge.Config{Chain: []judge.Provider{s.Provider(kind)}, Budget: judge.Budget{TokensPerDay: 6000}}
			n := 0
			for n < 10 {
				if a, err := ask(t, New(c, m)); err != nil {
					break
				} else if a.TokensIn != 0 || a.TokensOut != 0 {
					t.Errorf("%s: %+v", kind, a)
				}
				n++
			}
			if n == 0 || n > 5 {
				t.Errorf("%s, %s: %d questions", kind, how, n)
			}
		}
	}
}

// The state of a chain that cannot be written down is a failure: nothing bounds it then.
func TestNoStateFolder(t *testing.T) {
	s := fakeprovider.Start(t)
	m := machine(t)
	m.Book = usage.Open("", time.Now)
	_, err := ask(t, New(judge.Config{Chain: []judge.Provider{s.Provider(judge.Ollama)}}, m))
	if asked, _ := s.Asked(); err == nil || len(asked) > 0 {
		t.Errorf("got %v", err)
	}
}

func TestCheckSpendsNothing(t *testing.T) {
	s := fakeprovider.Start(t)
	var chain []judge.Provider
	for _, kind := range judge.Types() {
		chain = append(chain, s.Provider(kind))
	}
	wrong := s.Provider(judge.Ollama)
	wrong.Model = "absent"
	other := s.Provider(judge.OpenAI)
	other.Model = "gpt-absent"
	chain = append(chain, wrong, other)
	got := New(judge.Config{Chain: chain, Budget: judge.Budget{CallsPerDay: 1}}, machine(t)).Check(t.Context())
	for i, a := range got {
		if a.OK() != (i < 5) {
			t.Errorf("%+v", a)
		}
	}
	if asked, others := s.Asked(); len(asked) != 0 || others != 7 {
		t.Errorf("%d questions, %d others", len(asked), others)
	}
	m := machine(t)
	m.Environ = []string{"ANTHROPIC_API_KEY=sk-wrong"}
	got = New(judge.Config{Chain: chain[:3]}, m).Check(t.Context())
	if got[0].Cause != judge.Rejected || got[1].Cause != judge.NoKey || strings.Contains(got[0].Why, "sk-wrong") {
		t.Errorf("got %+v", got)
	}
}

// Serve answers the hook's program in JSON.
func TestServe(t *testing.T) {
	s := fakeprovider.Start(t)
	t.Setenv("ANTHROPIC_API_KEY", fakeprovider.Key)
	q := question()
	r := judge.Request{Config: judge.Config{Chain: []judge.Provider{s.Provider(judge.Anthropic)}}, State: t.TempDir(), Home: t.TempDir(), Question: &q, Left: guard}
	serve := func(r judge.Request) judge.Reply {
		t.Helper()
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := Serve(strings.NewReader(string(data)), &out, nil); err != nil {
			t.Fatal(err)
		}
		var reply judge.Reply
		if err := json.Unmarshal([]byte(out.String()), &reply); err != nil {
			t.Fatal(err)
		}
		return reply
	}
	got := serve(r)
	if got.Answer == nil || got.Answer.Decision != "allow" || got.Answer.Confidence != 0.93 {
		t.Errorf("got %+v", got)
	}
	if r.Question = nil; len(serve(r).Available) != 1 {
		t.Error("it does not say who is there")
	}
	r.Question, r.Left = &q, -time.Second
	if got := serve(r); got.Failure == nil || got.Failure.Attempts[0].Cause != judge.TimedOut {
		t.Errorf("without time: %+v", got)
	}
}
