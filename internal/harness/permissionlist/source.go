package permissionlist

// Source is a place where a harness keeps a list.
type Source struct {
	// Origin is what counts of it, before anybody has looked at the file.
	Origin
	// Project is the folder of the project whose file it is, "" for the
	// person's and the system's.
	Project string
	// Local marks the person's own file in a project's folder, which a clone
	// must not bring.
	Local bool
	// Nested marks what the command line of an agent names that another agent
	// started.
	Nested bool
	// Format is the language of the file.
	Format Format
	// Text is the list itself where it stands in no file.
	Text []byte
}

// Format is the language of a list.
type Format uint8

// The formats.
const (
	// ClaudeSettings is Claude Code's settings.json.
	ClaudeSettings Format = iota
	// CodexRules is Codex CLI's execpolicy: prefix_rule(…).
	CodexRules
	// OpenCodeConfig is OpenCode's opencode.json.
	OpenCodeConfig
	// GeminiPolicy is Gemini CLI's policy in TOML.
	GeminiPolicy
	// AmpSettings is Amp's settings.json.
	AmpSettings
	// AugmentSettings is Auggie's settings.json.
	AugmentSettings
)
