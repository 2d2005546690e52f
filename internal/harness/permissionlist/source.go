package permissionlist

// Source is a place where a harness keeps a list.
type Source struct {
	// Origin describes the list before its file is read.
	Origin
	// Project is the folder of the project whose file it is, "" for files of the user and the
	// system.
	Project string
	// Local marks the user's own file in a project's folder, which a clone must not contain.
	Local bool
	// Nested marks sources from the command line of an agent that another agent started.
	Nested bool
	// Format is the language of the file.
	Format Format
	// Text is the list itself if it is in no file.
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
