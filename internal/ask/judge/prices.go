package judge

// listPrice returns the vendor's list price of a model, in US dollars for a million tokens, as
// known when this was written. Prices are not looked up, and change: settings override them
// (judge.prices). Aliases and dated names of a model have their own entries, since a name with the
// same beginning may cost more.
func listPrice(model string) (Price, bool) {
	switch model {
	case "claude-haiku-4-5", "claude-haiku-4-5-20251001":
		return Price{In: 1 * Dollar, Out: 5 * Dollar}, true
	case "claude-sonnet-4-5", "claude-sonnet-4-5-20250929":
		return Price{In: 3 * Dollar, Out: 15 * Dollar}, true
	case "claude-opus-4-5", "claude-opus-4-5-20251101":
		return Price{In: 5 * Dollar, Out: 25 * Dollar}, true
	case "gpt-4o-mini", "gpt-4o-mini-2024-07-18", "openai/gpt-4o-mini":
		return Price{In: 150_000, Out: 600_000}, true
	case "gpt-4o", "gpt-4o-2024-08-06", "openai/gpt-4o":
		return Price{In: 2_500_000, Out: 10 * Dollar}, true
	case "gpt-4.1-mini", "gpt-4.1-mini-2025-04-14", "openai/gpt-4.1-mini":
		return Price{In: 400_000, Out: 1_600_000}, true
	case "gpt-4.1-nano", "gpt-4.1-nano-2025-04-14", "openai/gpt-4.1-nano":
		return Price{In: 100_000, Out: 400_000}, true
	case "gpt-4.1", "gpt-4.1-2025-04-14", "openai/gpt-4.1":
		return Price{In: 2 * Dollar, Out: 8 * Dollar}, true
	}
	return Price{}, false
}
