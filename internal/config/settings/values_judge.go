package settings

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/limit"
)

// This file reads and writes settings of the judge with a format of their own.

// shortestTimeout and limit.Judge are the limits for the timeout of a provider.
const shortestTimeout = 100 * time.Millisecond

// ratio reads a number from 0 to 1 with at most three decimal places.
func ratio(v document.Value) float64 {
	text := v.Text()
	m, err := judge.ParseMoney(text)
	if err != nil || m > judge.Dollar || m%1000 != 0 {
		v.Problem(diagnostic.CodeBadValue, "write a number from 0 to 1, such as 0.75", "%q is no such number", text)
		return 1
	}
	return float64(m) / float64(judge.Dollar)
}

// money reads an amount in dollars.
func money(v document.Value) judge.Money {
	m, err := judge.ParseMoney(v.Text())
	if err != nil {
		v.Problem(diagnostic.CodeBadValue, "write dollars, such as 0.25", "%v", err)
	}
	return m
}

// price reads the price of a model.
func price(v document.Value) judge.Price {
	m := v.Map()
	p := judge.Price{In: money(m.Need("in")), Out: money(m.Need("out"))}
	m.Only()
	return p
}

// chain reads a list of providers: types alone, or maps with changes of their defaults.
func chain(v document.Value) []judge.Provider {
	var out []judge.Provider
	for _, e := range v.List() {
		if p := provider(e); p.Type != "" {
			out = append(out, p)
		}
	}
	return out
}

// provider reads an entry of a chain.
func provider(v document.Value) judge.Provider {
	if !v.IsMap() {
		p := judge.Provider{Type: v.Word(judge.Types()...)}
		possible(v, p)
		return p
	}
	m := v.Map()
	p := judge.Provider{Type: m.Need("type").Word(judge.Types()...), Model: m.Text("model"), Endpoint: m.Text("endpoint")}
	if c := m.Get("api_key_command"); c.IsList() {
		p.KeyCommand = c.Texts()
	} else {
		p.KeyShell = c.Text()
	}
	if t := m.Get("timeout"); t.Present() {
		if p.Timeout = t.Duration(); p.Timeout < shortestTimeout || p.Timeout > limit.Judge {
			t.Problem(diagnostic.CodeBadValue, fmt.Sprintf("write %s to %s", shortestTimeout, limit.Judge), "%s is out of range", p.Timeout)
		}
	}
	if t := m.Get("max_tokens"); t.Present() {
		p.MaxTokens = t.Int(judge.FewestTokens, judge.MostTokens)
	}
	for _, name := range []string{"api_key", "apiKey", "key"} {
		if k := m.Get(name); k.Present() {
			k.ReportKey(diagnostic.CodeUnknownKey, "use the variable of the provider, or api_key_command", "keys are not kept in settings")
		}
	}
	m.Only()
	possible(v, p)
	return p
}

// possible reports why a provider cannot be used.
func possible(v document.Value, p judge.Provider) {
	if p.Type == "" {
		return // already reported
	}
	if err := p.Complete().Check(); err != nil {
		v.Problem(diagnostic.CodeBadValue, "see docs/judge.md", "%v", err)
	}
}

func ratioText(r float64) string { return strconv.FormatFloat(r, 'f', -1, 64) }

func priceText(p judge.Price) string { return fmt.Sprintf("{in: %s, out: %s}", p.In, p.Out) }

// providerText returns a provider as YAML in one line, without default values.
func providerText(p judge.Provider) string {
	fields := []string{"type: " + p.Type}
	for _, f := range []struct{ key, text string }{{"model", p.Model}, {"endpoint", p.Endpoint}, {"api_key_command", p.KeyShell}} {
		if f.text != "" {
			fields = append(fields, f.key+": "+scalar(f.text))
		}
	}
	if len(p.KeyCommand) > 0 {
		fields = append(fields, "api_key_command: "+list(p.KeyCommand, scalar))
	}
	if p.Timeout > 0 {
		fields = append(fields, "timeout: "+p.Timeout.String())
	}
	if p.MaxTokens > 0 {
		fields = append(fields, "max_tokens: "+strconv.Itoa(p.MaxTokens))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}
