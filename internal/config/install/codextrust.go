package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
)

// This file checks the trust that Codex CLI requires for each hook. Its config.toml
// records, by file, event and position of the hook, a digest of the hook (seen with
// 0.169.0). Codex silently skips a hook without a valid record, including one that was
// changed or moved.

// codexTrusts reports whether Codex CLI starts a hook.
func codexTrusts(at Places, h Harness, w Wiring) (bool, error) {
	file := filepath.Join(at.User[h.Name], "config.toml")
	data, err := state.ReadLinked(file, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	event := snake(w.Event)
	for _, path := range []string{w.File, paths.Real(w.File)} {
		entry := tomlTable(string(data), fmt.Sprintf("%s:%s:%d:%d", path, event, w.group, w.index))
		if entry["trusted_hash"] == `"`+codexDigest(event, w)+`"` {
			return entry["enabled"] != "false", nil
		}
	}
	return false, nil
}

// codexSessionEnd is Codex CLI's maximum time limit for a SessionEnd hook in seconds.
const codexSessionEnd = 3

// codexDigest returns the digest of a hook as Codex CLI computes it: of JSON with sorted
// keys and no spaces.
func codexDigest(event string, w Wiring) string {
	seconds := int(w.Timeout / time.Second)
	if w.Event == "SessionEnd" {
		seconds = min(seconds, codexSessionEnd)
	}
	identity := map[string]any{"event_name": event, "hooks": []any{map[string]any{"type": "command", "command": w.Shell, "timeout": seconds, "async": false}}}
	if w.matcher != "" && w.Event != "UserPromptSubmit" && w.Event != "Stop" { // these events have no matcher
		identity["matcher"] = w.matcher
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(identity) != nil {
		return "" // strings and numbers never fail
	}
	sum := sha256.Sum256([]byte(strings.TrimSuffix(b.String(), "\n")))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// tomlTable returns the table [hooks.state."KEY"] of a TOML file as Codex CLI writes it:
// the header on its own line, then lines of a key and a value.
func tomlTable(text, key string) map[string]string {
	out := map[string]string{}
	quoted, _ := json.Marshal(key)
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inside = line == "[hooks.state."+string(quoted)+"]" || line == "[hooks.state.'"+key+"']"
			continue
		}
		if name, value, found := strings.Cut(line, "="); inside && found {
			out[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return out
}

// snake converts PreToolUse to pre_tool_use.
func snake(event string) string {
	var b strings.Builder
	for i, r := range event {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
