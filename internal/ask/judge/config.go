package judge

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"cardea.dev/internal/base/lists"
)

// The types of providers.
const (
	Anthropic    = "anthropic"
	GitHubModels = "github-models"
	OpenAI       = "openai"
	Ollama       = "ollama"
	// Compatible is any endpoint that speaks OpenAI's chat completions.
	Compatible = "openai-compatible"
)

// Types are the types of providers, those of the default chain first, in its order.
func Types() []string { return []string{Anthropic, GitHubModels, OpenAI, Ollama, Compatible} }

// Provider is one entry of the chain. What is not given has the type's default.
type Provider struct {
	// Type is one of [Types].
	Type string `json:"type"`
	// Model and Endpoint: the endpoint is the address in front of "/v1/messages" for
	// Anthropic, "/api/chat" for Ollama, "/chat/completions" for all others.
	Model    string `json:"model"`
	Endpoint string `json:"endpoint"`
	// KeyCommand prints the key, if there is none in the environment: a program with
	// its arguments, or one text for the shell in KeyShell.
	KeyCommand []string `json:"key_command,omitempty"`
	KeyShell   string   `json:"key_shell,omitempty"`
	// Timeout is how long one request may take, MaxTokens how long the answer may be.
	Timeout   time.Duration `json:"timeout"`
	MaxTokens int           `json:"max_tokens"`
}

const (
	// MaxTokens is how long an answer may be, in tokens, if settings say nothing.
	MaxTokens = 150
	// FewestTokens is the least that settings can say: fewer hold no answer.
	FewestTokens = 50
	// MostTokens is the most that settings can say.
	MostTokens = 8192
)

// usual has the defaults of the types, and the environment variables that hold their keys.
var usual = map[string]struct{ model, endpoint, variable string }{
	Anthropic:    {"claude-haiku-4-5", "https://api.anthropic.com", "ANTHROPIC_API_KEY"},
	GitHubModels: {"openai/gpt-4o-mini", "https://models.github.ai/inference", "GITHUB_TOKEN"},
	OpenAI:       {"gpt-4o-mini", "https://api.openai.com/v1", "OPENAI_API_KEY"},
	Ollama:       {"llama3.2", "http://localhost:11434", ""},
}

// Complete fills in what is not given with the defaults of the type.
func (p Provider) Complete() Provider {
	d, timeout := usual[p.Type], 2*time.Second
	if p.Type == Ollama {
		timeout = 3 * time.Second
	}
	p.Model, p.Endpoint = cmp.Or(p.Model, d.model), cmp.Or(p.Endpoint, d.endpoint)
	p.Timeout, p.MaxTokens = cmp.Or(p.Timeout, timeout), cmp.Or(p.MaxTokens, MaxTokens)
	p.Endpoint = strings.TrimRight(p.Endpoint, "/")
	return p
}

// Variable is the environment variable that holds the type's key, "" for none. The
// variable of one vendor is never sent to the endpoint of another type.
func (p Provider) Variable() string { return usual[p.Type].variable }

// Check says what keeps a complete provider from being used, nil for nothing.
func (p Provider) Check() error {
	switch {
	case p.Type == Compatible && (p.Endpoint == "" || p.Model == ""):
		return errors.New("a provider of type openai-compatible needs an endpoint and a model")
	case p.Endpoint == "" || p.Model == "":
		return fmt.Errorf("there is no type %q; use one of %s", p.Type, strings.Join(Types(), ", "))
	}
	return CheckEndpoint(p.Endpoint)
}

// CheckEndpoint says why an endpoint cannot be used, nil for nothing. A key travels over
// TLS, or does not leave the machine.
func CheckEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return errors.New("the endpoint is no address, such as https://host/v1")
	case u.User != nil:
		return errors.New("the endpoint holds a name or password; use api_key_command")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("the endpoint has more than a host and a path")
	case u.Scheme == "https", u.Scheme == "http" && Loopback(u.Hostname()):
		return nil
	case u.Scheme == "http":
		return errors.New("http is for this machine only (localhost, 127.0.0.1, ::1); use https")
	}
	return errors.New("the endpoint begins with neither https:// nor http://")
}

// Loopback reports whether a host is this machine by its name or number.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Zone() == "" && ip.IsLoopback()
}

// Budget is how much may be spent; 0 is no limit. A call is one request to a provider. A
// day begins at midnight UTC.
type Budget struct {
	CallsPerDay     int   `json:"calls_per_day"`
	CallsPerSession int   `json:"calls_per_session"`
	TokensPerDay    int   `json:"tokens_per_day"`
	MoneyPerDay     Money `json:"money_per_day"`
}

// None reports whether there is no limit at all.
func (b Budget) None() bool { return b == Budget{} }

// Config is who is asked, and what that may cost.
type Config struct {
	// Chain are the providers in order; none is the default chain.
	Chain  []Provider `json:"chain"`
	Budget Budget     `json:"budget"`
	// Prices are the person's, by model. They come before the built-in ones.
	Prices map[string]Price `json:"prices,omitempty"`
	// Unreadable is the file whose settings of the judge cannot be read, "" for none. It
	// may have named another chain, or a limit, so nobody is asked.
	Unreadable string `json:"unreadable,omitempty"`
}

// Usable says why nobody may be asked, nil for nothing.
func (c Config) Usable() error {
	if c.Unreadable == "" {
		return nil
	}
	return fmt.Errorf("what %s says about the judge cannot be read, so nobody is asked; see \"cardea rules lint\"", c.Unreadable)
}

// Providers are the providers of the chain, complete.
func (c Config) Providers() []Provider {
	chain := c.Chain
	if len(chain) == 0 {
		chain = []Provider{{Type: Anthropic}, {Type: GitHubModels}, {Type: OpenAI}, {Type: Ollama}}
	}
	return lists.Of(chain, Provider.Complete)
}

// Price is what a provider's model costs. A model of Ollama on this machine costs
// nothing. It is false where no price is known.
func (c Config) Price(p Provider) (Price, bool) {
	if price, ok := c.Prices[p.Model]; ok {
		return price, true
	}
	if u, err := url.Parse(p.Endpoint); p.Type == Ollama && err == nil && Loopback(u.Hostname()) {
		return Price{}, true
	}
	if !p.official() {
		return Price{}, false // somebody else's prices
	}
	return listPrice(p.Model)
}

// official reports whether a provider is asked where its vendor answers.
func (p Provider) official() bool {
	return p.Type != Compatible && p.Endpoint == Provider{Type: p.Type}.Complete().Endpoint
}
