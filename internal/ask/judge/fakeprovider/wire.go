package fakeprovider

import (
	"encoding/json"
	"net/http"

	"cardea.dev/internal/ask/judge"
)

// read parses a question as its provider does, and returns the status and reason of a refusal.
func (a *Asked) read() (status int, wrong string) {
	if status, wrong = authorized(a.Type, a.Header); wrong != "" {
		return status, wrong
	}
	if a.Header.Get("Content-Type") != "application/json" {
		return http.StatusUnsupportedMediaType, "unsupported media type"
	}
	var body struct {
		Model    string `json:"model"`
		System   string `json:"system"`
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
		Temperature   *float64 `json:"temperature"`
		MaxTokens     int      `json:"max_tokens"`
		MaxCompletion int      `json:"max_completion_tokens"`
		Stream        *bool    `json:"stream"`
		Tools         []struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
		Choice struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"tool_choice"`
		ResponseFormat struct {
			Type   string `json:"type"`
			Schema struct {
				Name   string          `json:"name"`
				Strict bool            `json:"strict"`
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
		Format  json.RawMessage `json:"format"`
		Options struct {
			Temperature *float64 `json:"temperature"`
			NumPredict  int      `json:"num_predict"`
		} `json:"options"`
	}
	if json.Unmarshal(a.Body, &body) != nil {
		return http.StatusBadRequest, "the request body is not valid JSON"
	}
	a.Model, a.System, a.Temperature, a.MaxTokens = body.Model, body.System, body.Temperature, max(body.MaxTokens, body.MaxCompletion)
	for _, m := range body.Messages {
		switch m.Role {
		case "system":
			a.System = m.Content
		case "user":
			a.User = m.Content
		default:
			return http.StatusBadRequest, "messages: unexpected role"
		}
	}
	if a.Model == "" {
		return missing("model")
	}
	if a.User == "" {
		return missing("messages")
	}
	switch a.Type + " " + a.Path {
	case "anthropic v1/messages":
		if body.MaxTokens == 0 {
			return missing("max_tokens")
		}
		if len(body.Tools) != 1 || body.Choice.Type != "tool" || body.Choice.Name != body.Tools[0].Name || !json.Valid(body.Tools[0].Schema) {
			return missing("tools")
		}
	case "openai v1/chat/completions", "github-models inference/chat/completions", "openai-compatible v1/chat/completions":
		if f := body.ResponseFormat; f.Type != "json_schema" || f.Schema.Name == "" || !f.Schema.Strict || !json.Valid(f.Schema.Schema) {
			return missing("response_format")
		}
	case "ollama api/chat":
		if body.Stream == nil || *body.Stream || !json.Valid(body.Format) {
			return missing("format")
		}
		a.Temperature, a.MaxTokens = body.Options.Temperature, body.Options.NumPredict
	default:
		return http.StatusNotFound, "there is nothing"
	}
	return 0, ""
}

// success returns the body of an answer.
func success(a Asked, b Behaviour) []byte {
	in, out := TokensIn, TokensOut
	if b.Fail == LyingUsage {
		in, out = -1_000_000, -1_000_000
	}
	var body object
	switch a.Type {
	case judge.Anthropic:
		body = anthropic(a, b, in, out)
	case judge.Ollama:
		body = ollama(a, b, in, out)
	default:
		body = chat(a, b, in, out)
	}
	if b.Fail == NoUsage {
		for _, key := range []string{"usage", "prompt_eval_count", "eval_count"} {
			delete(body, key)
		}
	}
	data, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return data
}

// input returns a text as the input of a tool: an object where the text is one.
func input(text string) any {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return object{"text": text}
}

// anthropic returns an answer in the form of Anthropic's Messages API.
func anthropic(a Asked, b Behaviour, in, out int) object {
	content, stop := []any{object{"type": "tool_use", "id": "toolu_01A09q90qw90lq917835lq9", "name": "answer", "input": input(b.Text)}}, "tool_use"
	switch b.Fail {
	case Refusal:
		content, stop = []any{}, "refusal"
	case Truncated:
		content, stop = []any{object{"type": "tool_use", "id": "toolu_01A09q90qw90lq917835lq9", "name": "answer", "input": object{}}}, "max_tokens"
	case NoTool:
		content, stop = []any{object{"type": "text", "text": Good}}, "end_turn"
	}
	return object{"id": "msg_01XFDUDYJgAACzvnptvVoYEL", "type": "message", "role": "assistant", "model": a.Model, "content": content,
		"stop_reason": stop, "stop_sequence": nil,
		"usage": object{"input_tokens": in, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": out, "service_tier": "standard"}}
}

// chat returns an answer in the form of OpenAI's chat completions.
func chat(a Asked, b Behaviour, in, out int) object {
	message := object{"role": "assistant", "content": b.Text, "refusal": nil, "annotations": []any{}}
	finish := "stop"
	switch b.Fail {
	case Refusal:
		message["content"], message["refusal"] = nil, "I'm sorry, I cannot assist with that request."
	case Truncated:
		message["content"], finish = b.Text[:min(len(b.Text), 20)], "length"
	case NoTool:
		message["content"] = "Certainly! " + Good
	}
	return object{"id": "chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG", "object": "chat.completion", "created": 1741570283, "model": a.Model,
		"choices": []any{object{"index": 0, "message": message, "logprobs": nil, "finish_reason": finish}},
		"usage":   object{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}, "service_tier": "default"}
}

// ollama returns an answer in the form of Ollama's chat API.
func ollama(a Asked, b Behaviour, in, out int) object {
	text, reason := b.Text, "stop"
	switch b.Fail {
	case Refusal:
		text = "I cannot help with that."
	case Truncated:
		text, reason = b.Text[:min(len(b.Text), 20)], "length"
	case NoTool:
		text = "Certainly! " + Good
	}
	return object{"model": a.Model, "created_at": "2025-11-01T12:00:00.123456Z", "message": object{"role": "assistant", "content": text},
		"done": true, "done_reason": reason, "total_duration": 174560334, "load_duration": 101397084,
		"prompt_eval_count": in, "prompt_eval_duration": 13074791, "eval_count": out, "eval_duration": 52479709}
}
