// Package transcript reads what harnesses write about their own sessions: who decided about a call.
// It is for reports to people, and never for a verdict: the agent runs as the user and can write
// these files.
package transcript

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/state"
)

// The limits of reading: bytes of a session, of a file and of a row, and the number of files and
// folders in a folder.
const maxSession, maxFile, maxRow, maxFiles = 128 << 20, 64 << 20, 4 << 20, 1000

// readers read the decisions of a session from the harness's folder in the person's home.
var readers = map[string]func(folder, session string) map[string]cardea.Review{"claude-code": claudeCode}

// Decisions returns the decisions about the calls of a session, by the harness's id of the call. It
// is empty for a harness without a reader, and for a session without a readable file.
func Decisions(harness, folder, session string) map[string]cardea.Review {
	read := readers[harness]
	plain := strings.Trim(session, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == ""
	if read == nil || folder == "" || session == "" || !plain || len(session) > 128 {
		return nil
	}
	return read(folder, session)
}

// claudeCode reads projects/KEY/SESSION.jsonl and projects/KEY/SESSION/subagents/*.jsonl (seen:
// 2.1.332). Links below the folder are not followed.
func claudeCode(folder, session string) map[string]cardea.Review {
	out, left := map[string]cardea.Review{}, int64(maxSession)
	projects, _ := state.Entries(filepath.Join(folder, "projects"), maxFiles)
	for _, e := range projects {
		main := filepath.Join(folder, "projects", e.Name(), session)
		agents := filepath.Join(main, "subagents")
		if !e.IsDir() {
			continue
		}
		addRows(out, main+".jsonl", &left)
		if state.IsLink(main) || state.IsLink(agents) {
			continue
		}
		names, _ := state.Names(agents, maxFiles)
		for _, name := range names {
			addRows(out, filepath.Join(agents, name), &left)
		}
	}
	return out
}

// RecordedCall is a call in a transcript, with its reviewer.
type RecordedCall struct {
	Tool   string
	Input  json.RawMessage
	Folder string
	Time   time.Time
	Review cardea.Review
}

// Calls returns the calls of the last sessions of Claude Code that have a recorded decision. Claude
// Code 2.1.332 and later record it.
func Calls(folder string, sessions int) (out []RecordedCall) {
	var files []string
	times := map[string]time.Time{}
	projects, _ := state.Entries(filepath.Join(folder, "projects"), maxFiles)
	for _, e := range projects {
		names, _ := state.Entries(filepath.Join(folder, "projects", e.Name()), maxFiles)
		for _, n := range names {
			if info, err := n.Info(); err == nil && info.Mode().IsRegular() && strings.HasSuffix(n.Name(), ".jsonl") {
				files = append(files, filepath.Join(folder, "projects", e.Name(), n.Name()))
				times[files[len(files)-1]] = info.ModTime()
			}
		}
	}
	slices.SortFunc(files, func(a, b string) int { return times[b].Compare(times[a]) })
	for _, file := range files[:min(sessions, len(files))] {
		session := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		reviews := Decisions("claude-code", folder, session)
		data, err := state.Read(file, maxFile)
		if len(reviews) == 0 || err != nil {
			continue
		}
		for line := range bytes.Lines(data) {
			var r use
			if len(line) > maxRow || !bytes.Contains(line, []byte(`"tool_use"`)) || json.Unmarshal(line, &r) != nil {
				continue
			}
			for _, c := range r.Message.Content {
				if review, known := reviews[c.ID]; known {
					out = append(out, RecordedCall{c.Name, c.Input, r.Cwd, r.Timestamp, review})
				}
			}
		}
	}
	return out
}

// use is a row of a message with calls.
type use struct {
	Cwd       string    `json:"cwd"`
	Timestamp time.Time `json:"timestamp"`
	Message   struct {
		Content []struct {
			ID    string          `json:"id"`
			Name  string          `json:"name"`
			Input json.RawMessage `json:"input"`
		} `json:"content"`
	} `json:"message"`
}

// addRows adds the decisions in a file. It skips a row that is not JSON, or too long. Of several
// rows about one call the last applies. left is how many bytes may still be read.
func addRows(out map[string]cardea.Review, path string, left *int64) {
	if !strings.HasSuffix(path, ".jsonl") {
		return
	}
	data, err := state.Read(path, min(maxFile, *left))
	if err != nil {
		return
	}
	*left -= int64(len(data))
	for line := range bytes.Lines(data) {
		if len(line) > maxRow || !bytes.Contains(line, []byte(`"tool_result"`)) {
			continue
		}
		var r row
		_ = json.Unmarshal(line, &r) // a field of another type leaves the others as they are
		for _, c := range r.Message.Content {
			if review := r.review(); review.Effect != cardea.Abstain && c.ID != "" {
				out[c.ID] = review
			}
		}
	}
}

// row is a result of a call.
type row struct {
	Denied    string                                                                            `json:"toolDenialKind"`
	Sandboxed bool                                                                              `json:"sandboxed"`
	Decision  struct{ Decision, Source, ReasonType, ReasonCode, RuleSource, GrantScope string } `json:"permissionDecision"`
	Message   struct {
		Content []struct {
			ID string `json:"tool_use_id"`
		} `json:"content"`
	} `json:"message"`
}

// says is the beginning of each reason, for people.
const says = "says its transcript, which the agent can write: "

// review returns the decision of a row. Its effect is Abstain for a row without a decision.
func (r *row) review() cardea.Review {
	d, yes := &r.Decision, r.Decision.Decision == "accept"
	out := cardea.Review{Effect: cardea.Deny, Reason: says + strings.Join(strings.Fields(strings.Join([]string{r.Denied, d.ReasonCode, d.RuleSource, d.GrantScope}, " ")), ", ")}
	if yes {
		out.Effect = cardea.Allow
	} else if d.Decision != "reject" && r.Denied == "" {
		return cardea.Review{}
	}
	switch {
	case d.Source == "config" && r.Denied == "user-rejected":
		out.By = cardea.ByNobody
	case strings.HasPrefix(d.Source, "user_") || d.Source == "" && r.Denied == "user-rejected":
		out.By = cardea.ByPerson
	case d.Source == "hook" || d.ReasonType == "hook":
		out.By = cardea.ByHook
	case d.ReasonType == "classifier" || d.Source == "classifier" || strings.HasPrefix(r.Denied, "automode-"):
		out.By = cardea.ByClassifier
	case strings.Contains(strings.ToLower(d.ReasonType+d.ReasonCode), "sandbox") || yes && r.Sandboxed && d.ReasonType != "rule":
		out.By = cardea.BySandbox
	case d.ReasonType == "rule" || d.ReasonType == "subcommandResults" || r.Denied == "permission-rule":
		out.By = cardea.ByList
	case d.Source != "":
		out.By = cardea.ByHarness
	}
	return out
}
