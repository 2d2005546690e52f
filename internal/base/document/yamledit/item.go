package yamledit

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// RemoveItem removes one item of a list in which each item begins on its own line. The last
// item is removed together with its key.
func RemoveItem(text string, path []string, item int) (string, error) {
	root, err := parse(text)
	if err != nil {
		return text, err
	}
	at, found := find(root, path)
	if !found || at.value.Kind != yaml.SequenceNode || item < 0 || item >= len(at.value.Content) || at.value.Style&yaml.FlowStyle != 0 {
		return text, errChange
	}
	if len(at.value.Content) == 1 {
		out, _, err := Remove(text, path)
		return out, err
	}
	lines := strings.SplitAfter(text, "\n")
	from, to := at.value.Content[item].Line-1, 0
	if item+1 < len(at.value.Content) {
		to = at.value.Content[item+1].Line - 1
	} else {
		_, end := at.span(text)
		if end < 0 {
			return text, errChange
		}
		to = strings.Count(text[:end], "\n")
	}
	if from >= to {
		return text, errChange
	}
	out := strings.Join(slices.Delete(slices.Clone(lines), from, to), "")
	now, err := parse(out)
	if err != nil || !reflect.DeepEqual(but(root, path), but(now, path)) {
		return text, errChange
	}
	left, found := find(now, path)
	if !found || !reflect.DeepEqual(decoded(slices.Delete(slices.Clone(at.value.Content), item, item+1)), decoded(left.value.Content)) {
		return text, errChange
	}
	return out, nil
}

// decoded returns the values of some nodes.
func decoded(nodes []*yaml.Node) []any {
	out := make([]any, len(nodes))
	for i, n := range nodes {
		_ = n.Decode(&out[i]) // a failure is the same for both sides
	}
	return out
}
