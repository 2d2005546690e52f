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
	// Compatible is any endpoint with the API of OpenAI's chat completions.
	Compatible = "openai-compatible"
)

// Types returns the types of providers, those of the default chain first, in its order.
func Types() []string { return []string{Anthropic, GitHubModels, OpenAI, Ollama, Compatible} }

// Provider is one entry of the chain. An empty field has the type's default.
type Provider struct {
	// Type is one of [Types].
	Type string `json:"type"`
	// The endpoint is the address before "/v1/messages" for Anthropic, "/api/chat" for Ollama, and
	// "/chat/completions" for all others.
	Model    string `json:"model"`
	Endpoint string `json:"endpoint"`
	// KeyCommand prints the key, if the environment has no key: a program with its arguments, or
	// one text for the shell in KeyShell.
	KeyCommand []string `json:"key_command,omitempty"`
	KeyShell   string   `json:"key_shell,omitempty"`
	// Timeout limits the time of one request, MaxTokens the length of the answer.
	Timeout   time.Duration `json:"timeout"`
	MaxTokens int           `json:"max_tokens"`
}

const (
	// MaxTokens is the default limit of an answer, in tokens.
	MaxTokens = 150
	// FewestTokens is the smallest limit that settings can set: less holds no answer.
	FewestTokens = 50
	// MostTokens is the largest limit that settings can set.
	MostTokens = 8192
)

// usual holds the defaults of the types, and the environment variables of their keys.
var usual = map[string]struct{ model, endpoint, variable string }{
	Anthropic:    {"claude-haiku-4-5", "https://api.anthropic.com", "ANTHROPIC_API_KEY"},
	GitHubModels: {"openai/gpt-4o-mini", "https://models.github.ai/inference", "GITHUB_TOKEN"},
	OpenAI:       {"gpt-4o-mini", "https://api.openai.com/v1", "OPENAI_API_KEY"},
	Ollama:       {"llama3.2", "http://localhost:11434", ""},
}

// Complete returns p with the defaults of its type in the empty fields.
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

// Variable returns the environment variable with the type's key, or "". The variable of one vendor
// is never sent to the endpoint of another type.
func (p Provider) Variable() string { return usual[p.Type].variable }

// Check returns an error for a complete provider that cannot be used.
func (p Provider) Check() error {
	switch {
	case p.Type == Compatible && (p.Endpoint == "" || p.Model == ""):
		return errors.New("a provider of type openai-compatible needs an endpoint and a model")
	case p.Endpoint == "" || p.Model == "":
		return fmt.Errorf("there is no type %q; use one of %s", p.Type, strings.Join(Types(), ", "))
	}
	return CheckEndpoint(p.Endpoint)
}

// CheckEndpoint returns an error for an endpoint that cannot be used. A key is only sent over TLS,
// or to this machine.
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

// Loopback reports whether a host name or address is this machine.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Zone() == "" && ip.IsLoopback()
}

// Budget limits the spending; 0 is no limit. A call is one request to a provider. A day begins at
// midnight UTC.
type Budget struct {
	CallsPerDay     int   `json:"calls_per_day"`
	CallsPerSession int   `json:"calls_per_session"`
	TokensPerDay    int   `json:"tokens_per_day"`
	MoneyPerDay     Money `json:"money_per_day"`
}

// None reports whether the budget has no limit.
func (b Budget) None() bool { return b == Budget{} }

// Config configures the providers and the spending.
type Config struct {
	// Chain holds the providers in order; an empty list is the default chain.
	Chain  []Provider `json:"chain"`
	Budget Budget     `json:"budget"`
	// Prices are the user's prices, by model. They replace the built-in ones.
	Prices map[string]Price `json:"prices,omitempty"`
	// Unreadable is the file whose settings of the judge cannot be read, or "". It may have named
	// another chain, or a limit, so no provider is asked.
	Unreadable string `json:"unreadable,omitempty"`
}

// Usable returns an error if no provider may be asked.
func (c Config) Usable() error {
	if c.Unreadable == "" {
		return nil
	}
	return fmt.Errorf("what %s says about the judge cannot be read, so nobody is asked; see \"cardea rules lint\"", c.Unreadable)
}

// Providers returns the providers of the chain, completed.
func (c Config) Providers() []Provider {
	chain := c.Chain
	if len(chain) == 0 {
		chain = []Provider{{Type: Anthropic}, {Type: GitHubModels}, {Type: OpenAI}, {Type: Ollama}}
	}
	return lists.Of(chain, Provider.Complete)
}

// Price returns the price of a provider's model, or false for an unknown price. A model of Ollama
// on this machine costs nothing.
func (c Config) Price(p Provider) (Price, bool) {
	if price, ok := c.Prices[p.Model]; ok {
		return price, true
	}
	if u, err := url.Parse(p.Endpoint); p.Type == Ollama && err == nil && Loopback(u.Hostname()) {
		return Price{}, true
	}
	if !p.official() {
		return Price{}, false // another vendor's prices
	}
	return listPrice(p.Model)
}

// official reports whether the endpoint of a provider is the vendor's own.
func (p Provider) official() bool {
	return p.Type != Compatible && p.Endpoint == Provider{Type: p.Type}.Complete().Endpoint
}
