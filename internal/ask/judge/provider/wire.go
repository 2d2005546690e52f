package provider

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cardea.dev/internal/ask/judge"
)

// api is the API of a type of provider.
type api struct {
	// path is the path of a question after the endpoint.
	path string
	// headers carry the key.
	headers func(key string, h http.Header)
	// question returns the body of a question, read parses the answer.
	question func(p judge.Provider, q judge.Question) ([]byte, error)
	read     func(data []byte) (reply, error)
	// list returns the address of a request without tokens that shows whether the provider accepts
	// the key; listed checks its answer.
	list   func(p judge.Provider) string
	listed func(p judge.Provider, data []byte) error
}

// reply is the text of a model, with the numbers of tokens. counted is false if the provider does
// not report them.
type reply struct {
	text    []byte
	in, out int
	counted bool
}

// apiOf returns the API of a provider, or an error for invalid settings.
func apiOf(p judge.Provider) (api, error) {
	if err := p.Check(); err != nil {
		return api{}, err
	}
	bearer := func(key string, h http.Header) {
		if key != "" {
			h.Set("Authorization", "Bearer "+key)
		}
	}
	chat := api{path: "/chat/completions", headers: bearer, read: readChat, listed: listedIDs, question: func(p judge.Provider, q judge.Question) ([]byte, error) { return chatQuestion(p, q, false) }}
	switch p.Type {
	case judge.Anthropic:
		return api{path: "/v1/messages", headers: anthropicHeaders, question: anthropicQuestion, read: readAnthropic, list: oneModel("/v1/models/"), listed: isObject}, nil
	case judge.Ollama:
		return api{path: "/api/chat", headers: bearer, question: ollamaQuestion, read: readOllama, list: fixed("/api/tags"), listed: listedNames}, nil
	case judge.OpenAI:
		chat.question = func(p judge.Provider, q judge.Question) ([]byte, error) { return chatQuestion(p, q, true) }
		chat.list, chat.listed = oneModel("/models/"), isObject
	case judge.GitHubModels:
		chat.headers = func(key string, h http.Header) {
			bearer(key, h)
			h.Set("X-GitHub-Api-Version", "2022-11-28")
		}
		chat.list = func(p judge.Provider) string { return strings.TrimSuffix(p.Endpoint, "/inference") + "/catalog/models" }
	default:
		chat.list = fixed("/models")
	}
	return chat, nil
}

func fixed(path string) func(judge.Provider) string {
	return func(p judge.Provider) string { return p.Endpoint + path }
}

func oneModel(path string) func(judge.Provider) string {
	return func(p judge.Provider) string { return p.Endpoint + path + url.PathEscape(p.Model) }
}

// toolName is the name of the tool that a model must call with its answer.
const toolName = "answer"

func malformed(why string) error { return &providerError{cause: judge.Malformed, why: why} }

func refused() error {
	return &providerError{cause: judge.Refused, alive: true, why: "the model refused to answer"}
}

func truncated() error {
	return &providerError{cause: judge.Truncated, alive: true, why: "the answer is longer than max_tokens in judge.chain"}
}

// maxCount is the largest accepted number of tokens.
const maxCount = 10_000_000

// count sets the numbers of tokens, unless they are impossible.
func (r reply) count(in, out int) reply {
	if in > 0 && in <= maxCount && out >= 0 && out <= maxCount {
		r.in, r.out, r.counted = in, out, true
	}
	return r
}

// Anthropic: the Messages API, with a tool that must be called.

func anthropicHeaders(key string, h http.Header) {
	h.Set("X-Api-Key", key)
	h.Set("Anthropic-Version", "2023-06-01")
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// anthropicQuestion returns the body of a question in the form of the Messages API.
func anthropicQuestion(p judge.Provider, q judge.Question) ([]byte, error) {
	type tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	}
	type choice struct {
		Type            string `json:"type"`
		Name            string `json:"name"`
		DisableParallel bool   `json:"disable_parallel_tool_use"`
	}
	return json.Marshal(struct {
		Model       string    `json:"model"`
		MaxTokens   int       `json:"max_tokens"`
		Temperature float64   `json:"temperature"`
		System      string    `json:"system"`
		Messages    []message `json:"messages"`
		Tools       []tool    `json:"tools"`
		ToolChoice  choice    `json:"tool_choice"`
	}{p.Model, p.MaxTokens, 0, q.System.String(), []message{{"user", q.User.String()}},
		[]tool{{toolName, "Give the decision about the tool call.", judge.Schema()}}, choice{"tool", toolName, true}})
}

// readAnthropic parses an answer of the Messages API. An error is a failure of the provider.
func readAnthropic(data []byte) (reply, error) {
	var m struct {
		Type       string `json:"type"`
		StopReason string `json:"stop_reason"`
		Content    []struct {
			Type  string          `json:"type"`
			Name  string          `json:"name"`
			Input json.RawMessage `json:"input"`
		} `json:"content"`
		Usage struct {
			In         int `json:"input_tokens"`
			CacheWrite int `json:"cache_creation_input_tokens"`
			CacheRead  int `json:"cache_read_input_tokens"`
			Out        int `json:"output_tokens"`
		} `json:"usage"`
	}
	if json.Unmarshal(data, &m) != nil || m.Type != "message" {
		return reply{}, malformed("what it sends is no message")
	}
	r := reply{}
	if m.Usage.CacheWrite >= 0 && m.Usage.CacheRead >= 0 {
		r = r.count(m.Usage.In+m.Usage.CacheWrite+m.Usage.CacheRead, m.Usage.Out)
	}
	switch m.StopReason {
	case "tool_use":
	case "max_tokens", "model_context_window_exceeded":
		return r, truncated()
	case "refusal":
		return r, refused()
	default:
		return r, &providerError{cause: judge.Malformed, alive: true, why: "the model did not give its answer by the tool"}
	}
	for _, c := range m.Content {
		switch {
		case c.Type == "text" || c.Type == "thinking" || c.Type == "redacted_thinking":
		case c.Type == "tool_use" && c.Name == toolName && r.text == nil:
			r.text = c.Input
		default:
			return r, &providerError{cause: judge.Malformed, alive: true, why: "the model did other things than to give its answer"}
		}
	}
	if r.text == nil {
		return r, &providerError{cause: judge.Malformed, alive: true, why: "the model did not give its answer by the tool"}
	}
	return r, nil
}

// OpenAI's chat completions, with a schema for the answer. OpenAI itself has a newer name for the
// limit of tokens, and an option not to store the conversation. Others do not support these.

// chatQuestion returns the body of a question in the form of chat completions. openai is set for
// OpenAI itself.
func chatQuestion(p judge.Provider, q judge.Question, openai bool) ([]byte, error) {
	type schema struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	}
	type format struct {
		Type   string `json:"type"`
		Schema schema `json:"json_schema"`
	}
	body := struct {
		Model               string    `json:"model"`
		Messages            []message `json:"messages"`
		Temperature         float64   `json:"temperature"`
		MaxTokens           int       `json:"max_tokens,omitempty"`
		MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
		Store               *bool     `json:"store,omitempty"`
		ResponseFormat      format    `json:"response_format"`
	}{Model: p.Model, Messages: []message{{"system", q.System.String()}, {"user", q.User.String()}}, MaxTokens: p.MaxTokens,
		ResponseFormat: format{"json_schema", schema{toolName, true, judge.Schema()}}}
	if openai {
		body.MaxTokens, body.MaxCompletionTokens, body.Store = 0, p.MaxTokens, new(bool)
	}
	return json.Marshal(body)
}

// readChat parses an answer of chat completions. An error is a failure of the provider.
func readChat(data []byte) (reply, error) {
	var m struct {
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Content   *string           `json:"content"`
				Refusal   *string           `json:"refusal"`
				ToolCalls []json.RawMessage `json:"tool_calls"`
			} `json:"message"`
		} `json:"choices"`
		Usage struct {
			In  int `json:"prompt_tokens"`
			Out int `json:"completion_tokens"`
		} `json:"usage"`
	}
	if json.Unmarshal(data, &m) != nil || len(m.Choices) != 1 {
		return reply{}, malformed("what it sends is no chat completion with one choice")
	}
	r, c := reply{}.count(m.Usage.In, m.Usage.Out), m.Choices[0]
	switch {
	case c.Message.Refusal != nil && *c.Message.Refusal != "" || c.FinishReason == "content_filter":
		return r, refused()
	case c.FinishReason == "length":
		return r, truncated()
	case c.FinishReason != "stop" || len(c.Message.ToolCalls) > 0 || c.Message.Content == nil:
		return r, &providerError{cause: judge.Malformed, alive: true, why: "the model did other things than to give its answer"}
	}
	r.text = []byte(*c.Message.Content)
	return r, nil
}

// Ollama: its own chat, with a schema as format.

// ollamaQuestion returns the body of a question in the form of Ollama's chat API.
func ollamaQuestion(p judge.Provider, q judge.Question) ([]byte, error) {
	type options struct {
		Temperature float64 `json:"temperature"`
		NumPredict  int     `json:"num_predict"`
	}
	return json.Marshal(struct {
		Model    string          `json:"model"`
		Messages []message       `json:"messages"`
		Stream   bool            `json:"stream"`
		Format   json.RawMessage `json:"format"`
		Options  options         `json:"options"`
	}{p.Model, []message{{"system", q.System.String()}, {"user", q.User.String()}}, false, judge.Schema(), options{0, p.MaxTokens}})
}

// readOllama parses an answer of Ollama's chat API. An error is a failure of the provider.
func readOllama(data []byte) (reply, error) {
	var m struct {
		Message struct {
			Content   string            `json:"content"`
			ToolCalls []json.RawMessage `json:"tool_calls"`
		} `json:"message"`
		Done       bool   `json:"done"`
		DoneReason string `json:"done_reason"`
		In         int    `json:"prompt_eval_count"`
		Out        int    `json:"eval_count"`
	}
	if json.Unmarshal(data, &m) != nil || !m.Done {
		return reply{}, malformed("what it sends is no whole chat response")
	}
	r := reply{}.count(m.In, m.Out)
	switch {
	case m.DoneReason == "length":
		return r, truncated()
	case m.DoneReason != "stop" || len(m.Message.ToolCalls) > 0:
		return r, &providerError{cause: judge.Malformed, alive: true, why: "the model did other things than to give its answer"}
	}
	r.text = []byte(m.Message.Content)
	return r, nil
}

// Lists of models.

// isObject accepts any object with an id. The address names the model, and does not exist without
// the model.
func isObject(_ judge.Provider, data []byte) error {
	var m map[string]json.RawMessage
	if json.Unmarshal(data, &m) != nil || len(m["id"]) == 0 {
		return malformed("what it sends is no description of a model")
	}
	return nil
}

// listedIDs looks for the model in a list, or in an object with a list.
func listedIDs(p judge.Provider, data []byte) error {
	type model struct {
		ID string `json:"id"`
	}
	var list []model
	if json.Unmarshal(data, &list) != nil {
		var m struct {
			Data []model `json:"data"`
		}
		if json.Unmarshal(data, &m) != nil {
			return malformed("what it sends is no list of models")
		}
		list = m.Data
	}
	if slices.ContainsFunc(list, func(m model) bool { return m.ID == p.Model }) {
		return nil
	}
	return &providerError{cause: judge.Misconfigured, why: "it does not have the model; see model in judge.chain"}
}

// listedNames looks for a model of Ollama. A name without a tag means the tag latest.
func listedNames(p judge.Provider, data []byte) error {
	var m struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if json.Unmarshal(data, &m) != nil {
		return malformed("what it sends is no list of models")
	}
	for _, there := range m.Models {
		if there.Name == p.Model || there.Name == p.Model+":latest" {
			return nil
		}
	}
	return &providerError{cause: judge.Misconfigured, why: "it does not have the model; run ollama pull with its name"}
}
