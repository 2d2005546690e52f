// Package sdktest lets the vendors' own Go packages read what the server of the judge's
// tests sends, and what Cardea sends. It is a module of its own, so that the program does
// not depend on them. Run it with "go test" in this folder.
package sdktest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/judge/fakeprovider"
	"cardea.dev/internal/ask/judge/provider"
	"cardea.dev/internal/ask/judge/usage"
	"cardea.dev/internal/command/redact"
)

// answering starts a server that answers in one way.
func answering(t *testing.T, fail string) *fakeprovider.Server {
	t.Helper()
	s := fakeprovider.Start(t)
	s.Answer(func(fakeprovider.Asked) fakeprovider.Behaviour {
		return fakeprovider.Behaviour{Text: fakeprovider.Good, Fail: fail, RetryAfter: "7"}
	})
	return s
}

// sent returns the request that Cardea sends to a type of provider.
func sent(t *testing.T, kind string) []byte {
	t.Helper()
	s := fakeprovider.Start(t)
	r := redact.New()
	chain := provider.New(judge.Config{Chain: []judge.Provider{s.Provider(kind)}}, provider.Machine{
		Environ: []string{"ANTHROPIC_API_KEY=" + fakeprovider.Key, "OPENAI_API_KEY=" + fakeprovider.Key, "GITHUB_TOKEN=" + fakeprovider.Key},
		Dir:     t.TempDir(), Book: usage.Open(t.TempDir(), time.Now), Now: time.Now})
	if _, err := chain.Ask(t.Context(), judge.Question{System: r.Text("You judge."), User: r.Text("<call>ls</call>")}); err != nil {
		t.Fatal(err)
	}
	asked, _ := s.Asked()
	return asked[0].Body
}

// reads reads a body into the vendor's type, and reports what is lost on the way: a key
// that the vendor does not know, or a value of another type.
func reads(t *testing.T, body []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(into)
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := errors.Join(json.Unmarshal(body, &want), json.Unmarshal(again, &got)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("sent %s\nread %s", body, again)
	}
}

// isSchema reports a schema that is not the judge's.
func isSchema(t *testing.T, schema any) {
	t.Helper()
	data, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := errors.Join(json.Unmarshal(judge.Schema(), &want), json.Unmarshal(data, &got)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the schema is %s, %v", data, err)
	}
}

func askAnthropic(t *testing.T, s *fakeprovider.Server, key string) (*anthropic.Message, error) {
	t.Helper()
	c := anthropic.NewClient(anthropicoption.WithBaseURL(s.Endpoint(judge.Anthropic)), anthropicoption.WithAPIKey(key), anthropicoption.WithMaxRetries(0))
	return c.Messages.New(t.Context(), anthropic.MessageNewParams{
		Model: "claude-haiku-4-5", MaxTokens: 150, Temperature: anthropic.Float(0),
		System:     []anthropic.TextBlockParam{},
		Messages:   []anthropic.MessageParam{},
		Tools:      []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "answer", InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{}}}}},
		ToolChoice: anthropic.ToolChoiceParamOfTool("answer"),
	}, anthropicoption.WithJSONSet("messages", []map[string]any{{"role": "user", "content": "x"}}), anthropicoption.WithJSONSet("system", "x"))
}

func TestAnthropicReadsTheServer(t *testing.T) {
	m, err := askAnthropic(t, answering(t, ""), fakeprovider.Key)
	if err != nil {
		t.Fatal(err)
	}
	if m.StopReason != anthropic.StopReasonToolUse || len(m.Content) != 1 || m.Usage.InputTokens != fakeprovider.TokensIn || m.Usage.OutputTokens != fakeprovider.TokensOut {
		t.Errorf("got %s", m.RawJSON())
	}
	if use, ok := m.Content[0].AsAny().(anthropic.ToolUseBlock); !ok || use.Name != "answer" || string(use.Input) != fakeprovider.Good {
		t.Errorf("got %s", m.Content[0].RawJSON())
	}
	for fail, want := range map[string]anthropic.StopReason{
		fakeprovider.Refusal:   anthropic.StopReasonRefusal,
		fakeprovider.Truncated: anthropic.StopReasonMaxTokens,
		fakeprovider.NoTool:    anthropic.StopReasonEndTurn,
	} {
		if m, err := askAnthropic(t, answering(t, fail), fakeprovider.Key); err != nil || m.StopReason != want {
			t.Errorf("%s: %v, %v", fail, m, err)
		}
	}
	for fail, want := range failures() {
		_, err := askAnthropic(t, answering(t, fail), fakeprovider.Key)
		var e *anthropic.Error
		if !errors.As(err, &e) || e.StatusCode != want || want != 500 && e.Response.Header.Get("Retry-After") != "7" {
			t.Errorf("%s: %v", fail, err)
		}
	}
	var e *anthropic.Error
	if _, err := askAnthropic(t, answering(t, ""), "wrong"); !errors.As(err, &e) || e.StatusCode != http.StatusUnauthorized {
		t.Errorf("got %v", err)
	}
	c := anthropic.NewClient(anthropicoption.WithBaseURL(answering(t, "").Endpoint(judge.Anthropic)), anthropicoption.WithAPIKey(fakeprovider.Key))
	if model, err := c.Models.Get(t.Context(), "claude-haiku-4-5", anthropic.ModelGetParams{}); err != nil || model.ID != "claude-haiku-4-5" {
		t.Errorf("got %v, %v", model, err)
	}
}

// failures returns failures with their status.
func failures() map[string]int {
	return map[string]int{fakeprovider.Unauthorized: 401, fakeprovider.RateLimited: 429, fakeprovider.ServerError: 500, fakeprovider.Overloaded: 529}
}

func TestAnthropicReadsCardea(t *testing.T) {
	body := sent(t, judge.Anthropic)
	// The SDK writes texts as lists of blocks. Both forms are of the API.
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatal(err)
	}
	blocks := func(text any) []any { return []any{map[string]any{"type": "text", "text": text}} }
	m["system"] = blocks(m["system"])
	for _, one := range m["messages"].([]any) {
		one.(map[string]any)["content"] = blocks(one.(map[string]any)["content"])
	}
	same, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var p anthropic.MessageNewParams
	reads(t, same, &p)
	if p.Model != "claude-haiku-4-5" || p.MaxTokens != 150 || p.Temperature.Value != 0 || !p.Temperature.Valid() || p.System[0].Text != "You judge." ||
		p.Messages[0].Content[0].OfText.Text != "<call>ls</call>" {
		t.Errorf("got %+v", p)
	}
	if p.ToolChoice.OfTool == nil || p.ToolChoice.OfTool.Name != p.Tools[0].OfTool.Name || !p.ToolChoice.OfTool.DisableParallelToolUse.Value {
		t.Errorf("got %+v", p.ToolChoice)
	}
	isSchema(t, p.Tools[0].OfTool.InputSchema)
}

func askOpenAI(t *testing.T, s *fakeprovider.Server, kind, key string) (*openai.ChatCompletion, error) {
	t.Helper()
	c := openai.NewClient(openaioption.WithBaseURL(s.Endpoint(kind)), openaioption.WithAPIKey(key), openaioption.WithMaxRetries(0))
	return c.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{
		Model: "gpt-4o-mini", Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("x"), openai.UserMessage("x")},
		ResponseFormat: openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: &openai.ResponseFormatJSONSchemaParam{
			JSONSchema: openai.ResponseFormatJSONSchemaJSONSchemaParam{Name: "answer", Strict: openai.Bool(true), Schema: judge.Schema()}}},
	})
}

func TestOpenAIReadsTheServer(t *testing.T) {
	for _, kind := range []string{judge.OpenAI, judge.GitHubModels, judge.Compatible} {
		c, err := askOpenAI(t, answering(t, ""), kind, fakeprovider.Key)
		if err != nil {
			t.Fatal(err)
		}
		if c.Choices[0].FinishReason != "stop" || c.Choices[0].Message.Content != fakeprovider.Good || c.Usage.PromptTokens != fakeprovider.TokensIn || c.Usage.CompletionTokens != fakeprovider.TokensOut {
			t.Errorf("%s: got %s", kind, c.RawJSON())
		}
		if c, err := askOpenAI(t, answering(t, fakeprovider.Refusal), kind, fakeprovider.Key); err != nil || c.Choices[0].Message.Refusal == "" {
			t.Errorf("%s: got %v, %v", kind, c, err)
		}
		if c, err := askOpenAI(t, answering(t, fakeprovider.Truncated), kind, fakeprovider.Key); err != nil || c.Choices[0].FinishReason != "length" {
			t.Errorf("%s: got %v, %v", kind, c, err)
		}
		for fail, want := range failures() {
			_, err := askOpenAI(t, answering(t, fail), kind, fakeprovider.Key)
			var e *openai.Error
			if !errors.As(err, &e) || e.StatusCode != want {
				t.Errorf("%s, %s: %v", kind, fail, err)
			}
		}
	}
	c := openai.NewClient(openaioption.WithBaseURL(answering(t, "").Endpoint(judge.OpenAI)), openaioption.WithAPIKey(fakeprovider.Key))
	if m, err := c.Models.Get(t.Context(), "gpt-4o-mini"); err != nil || m.ID != "gpt-4o-mini" {
		t.Errorf("got %v, %v", m, err)
	}
}

func TestOpenAIReadsCardea(t *testing.T) {
	for _, kind := range []string{judge.OpenAI, judge.GitHubModels, judge.Compatible} {
		var p openai.ChatCompletionNewParams
		reads(t, sent(t, kind), &p)
		if p.Temperature.Value != 0 || !p.Temperature.Valid() || p.MaxTokens.Value+p.MaxCompletionTokens.Value != 150 || p.Messages[0].OfSystem == nil ||
			p.Messages[1].OfUser.Content.OfString.Value != "<call>ls</call>" {
			t.Errorf("%s: %+v", kind, p)
		}
		if kind == judge.OpenAI && (!p.Store.Valid() || p.Store.Value || !p.MaxCompletionTokens.Valid()) {
			t.Errorf("%+v", p)
		}
		f := p.ResponseFormat.OfJSONSchema
		if f == nil || !f.JSONSchema.Strict.Value {
			t.Fatalf("%s: %+v", kind, p.ResponseFormat)
		}
		isSchema(t, f.JSONSchema.Schema)
	}
}

func askOllama(t *testing.T, s *fakeprovider.Server) (api.ChatResponse, error) {
	t.Helper()
	u, err := url.Parse(s.Endpoint(judge.Ollama))
	if err != nil {
		t.Fatal(err)
	}
	var got api.ChatResponse
	no := false
	err = api.NewClient(u, http.DefaultClient).Chat(t.Context(), &api.ChatRequest{Model: "llama3.2", Messages: []api.Message{{Role: "user", Content: "x"}}, Stream: &no, Format: judge.Schema()},
		func(r api.ChatResponse) error { got = r; return nil })
	return got, err
}

func TestOllamaReadsTheServer(t *testing.T) {
	r, err := askOllama(t, answering(t, ""))
	if err != nil || !r.Done || r.DoneReason != "stop" || r.Message.Content != fakeprovider.Good || r.PromptEvalCount != fakeprovider.TokensIn || r.EvalCount != fakeprovider.TokensOut {
		t.Errorf("got %+v, %v", r, err)
	}
	if r, err = askOllama(t, answering(t, fakeprovider.Truncated)); err != nil || r.DoneReason != "length" {
		t.Errorf("got %+v, %v", r, err)
	}
	for fail := range failures() {
		if _, err := askOllama(t, answering(t, fail)); err == nil {
			t.Errorf("%s is none", fail)
		}
	}
	u, err := url.Parse(answering(t, "").Endpoint(judge.Ollama))
	if err != nil {
		t.Fatal(err)
	}
	list, err := api.NewClient(u, http.DefaultClient).List(context.Background())
	if err != nil || !strings.HasPrefix(list.Models[0].Name, "llama3.2") {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestOllamaReadsCardea(t *testing.T) {
	body := sent(t, judge.Ollama)
	var r api.ChatRequest
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if r.Model != "llama3.2" || r.Stream == nil || *r.Stream || r.Messages[1].Content != "<call>ls</call>" {
		t.Errorf("got %+v", r)
	}
	isSchema(t, r.Format)
	options := api.DefaultOptions()
	if err := options.FromMap(r.Options); err != nil || options.Temperature != 0 || options.NumPredict != 150 {
		t.Errorf("got %+v, %v", options, err)
	}
}
