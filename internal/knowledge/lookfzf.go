package knowledge

import "strings"

// harmlessFzf reports whether bindings of fzf (--bind, fzf 0.54) only move,
// mark and show: no execute, reload, transform, preview, become and the like.
// What could be a key or an action, nobody knows, it does not vouch for.
func harmlessFzf(bindings string) bool {
	for _, b := range strings.Split(bindings, ",") {
		key, actions, found := strings.Cut(b, ":")
		if !found || key == "" {
			return false
		}
		for _, a := range strings.Split(actions, "+") {
			if !fzfMoves(a) {
				return false
			}
		}
	}
	return true
}

// fzfMoves lists actions that change nothing but what fzf shows.
func fzfMoves(action string) bool {
	switch action {
	case "abort", "accept", "accept-non-empty", "accept-or-print-query", "backward-char", "backward-delete-char", "backward-kill-word", "backward-word", "beginning-of-line", "bell", "cancel", "clear-multi", "clear-query", "clear-screen",
		"clear-selection", "close", "delete-char", "deselect", "deselect-all", "disable-search", "down", "enable-search", "end-of-line", "exclude", "first", "forward-char", "forward-word", "half-page-down", "half-page-up", "hide-header",
		"hide-preview", "ignore", "jump", "jump-accept", "kill-line", "kill-word", "last", "next-selected", "offset-down", "offset-up", "page-down", "page-up", "preview-bottom", "preview-down", "preview-half-page-down",
		"preview-half-page-up", "preview-page-down", "preview-page-up", "preview-top", "preview-up", "prev-selected", "print-query", "select", "select-all", "show-header", "toggle", "toggle-all", "toggle-header", "toggle-hscroll", "toggle-in",
		"toggle-out", "toggle-search", "toggle-sort", "toggle-track", "toggle-wrap", "track-current", "unix-line-discard", "unix-word-rubout", "up", "yank", "toggle-preview", "toggle-preview-wrap", "show-preview":
		return true
	}
	return false
}
