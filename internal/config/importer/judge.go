package importer

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/lists"
)

// judge imports llmFallback as the settings of the judge. If the file has none, Bouncer
// uses its default providers, and so does Cardea.
func (b *bouncer) judge(top section) {
	v := top.get("llmFallback", "llm", "judge")
	m := open(v)
	on := m.enabled()
	tokens := judge.MaxTokens
	if t := m.get("maxTokens"); t.Present() {
		tokens = min(max(t.Int(1, 1_000_000), judge.FewestTokens), judge.MostTokens)
	}
	threshold := m.get("confidenceThreshold")
	chain := m.get("providerChain", "providers")
	if !chain.Present() {
		chain = top.get("providerChain", "providers")
	}
	lost := len(b.rows)
	providers := b.providers(chain, tokens)
	m.done()
	var at located // nil if Bouncer's defaults apply
	for _, there := range []document.Value{chain, v} {
		if there.Present() {
			at = there
		}
	}
	switch {
	case len(providers) > 0:
	case !on:
		b.left(v, "llmFallback", "it was switched off")
		return
	case len(b.rows) > lost:
		b.lost(at, "llmFallback", "no provider of its chain is left, so no model is asked")
		return
	case tokens != judge.MaxTokens:
		providers = append(providers, lists.Of(judge.Types()[:4], func(kind string) string { return fmt.Sprintf("{type: %s, max_tokens: %d}", kind, tokens) })...)
	}
	b.judgeSettings(at, on, providers)
	b.threshold(threshold, on)
}

// judgeSettings adds the settings that enable the judge and choose its models.
func (b *bouncer) judgeSettings(at located, on bool, providers []string) {
	if len(providers) > 0 {
		b.settings = append(b.settings, Setting{Path: []string{"judge", "chain"}, Items: providers, Protects: on})
	}
	b.settings = append(b.settings, Setting{Path: []string{"judge", "enabled"}, Value: strconv.FormatBool(on), Protects: on})
	switch {
	case !on:
		b.taken(at, "llmFallback", "judge: {enabled: false, chain: […]}")
	case len(providers) == 0:
		b.changed(at, "llmFallback", "judge: {enabled: true} with Cardea's own chain: %s", judgeDiffers)
	default:
		b.changed(at, "llmFallback", "judge: {enabled: true, chain: […]} asks the providers of the file, and not Bouncer's defaults before them: %s", judgeDiffers)
	}
}

// judgeDiffers describes how the judge differs from Bouncer's model.
const judgeDiffers = "an answer that is not certain enough asks a person, and what is sent is redacted (docs/judge.md)"

// threshold imports the confidence that a model must have.
func (b *bouncer) threshold(v document.Value, on bool) {
	if !v.Present() {
		return
	}
	r, err := strconv.ParseFloat(v.Text(), 64)
	if err != nil || !(r >= 0 && r <= 1) {
		v.Problem(diagnostic.CodeBadValue, "write a number from 0 to 1", "%q is no confidence", v.Text())
		return
	}
	text := strconv.FormatFloat(r, 'f', 3, 64)
	text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	for _, scope := range []string{"user", "project"} {
		b.settings = append(b.settings, Setting{Path: []string{"confidence", scope}, Value: text, Protects: on})
	}
}

// providers returns the entries of a chain as YAML. It reports providers that Cardea does
// not support.
func (b *bouncer) providers(chain document.Value, tokens int) []string {
	if !chain.Present() {
		return nil
	}
	var out []string
	for _, v := range chain.List() {
		p := judge.Provider{}
		if v.IsMap() {
			p = b.provider(v)
		} else {
			p.Type = v.Text()
		}
		if tokens != judge.MaxTokens {
			p.MaxTokens = tokens
		}
		p.Type = strings.ToLower(p.Type)
		if err := p.Complete().Check(); err != nil {
			b.lost(v, "providerChain", "%q cannot be asked: %v", p.Type, err)
			continue
		}
		out = with(out, providerText(p))
	}
	return out
}

func (b *bouncer) provider(v document.Value) judge.Provider {
	m := open(v)
	p := judge.Provider{Type: m.get("type", "name").Text(), Model: m.get("model").Text(), Endpoint: m.get("endpoint", "baseUrl").Text(), KeyShell: m.get("apiKeyCommand").Text()}
	if t := m.get("timeoutSeconds"); t.Present() {
		p.Timeout = min(time.Duration(t.Int(1, 3600))*time.Second, limit.Judge)
	}
	if t := m.get("apiKey"); t.Present() {
		b.left(t, "apiKey", "keys are not kept in settings; use api_key_command or a variable")
	}
	m.done()
	return p
}

// providerText returns an entry of judge.chain, without default values.
func providerText(p judge.Provider) string {
	fields := []string{"type: " + p.Type}
	for _, f := range []struct{ key, text string }{{"model", p.Model}, {"endpoint", p.Endpoint}, {"api_key_command", p.KeyShell}} {
		if f.text != "" {
			fields = append(fields, f.key+": "+quoted(f.text))
		}
	}
	if p.Timeout > 0 {
		fields = append(fields, "timeout: "+p.Timeout.String())
	}
	if p.MaxTokens > 0 {
		fields = append(fields, fmt.Sprintf("max_tokens: %d", p.MaxTokens))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}
