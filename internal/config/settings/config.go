package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cardea.dev/internal/base/document"
)

// A Name is a key as people write it, dotted: one of the table, a name below one that
// is a map, or a switch of packs and rules.
type Name struct {
	// Path are the keys of the file from the top.
	Path []string
	// Key is that of the table, nil for a switch.
	Key *Key
	// list is set where the value is a list of texts.
	list bool
}

// FindName reads a key. The error says which one may be meant.
func FindName(text string) (Name, error) {
	var names []string
	for _, k := range Keys() {
		if k.Name == text {
			_, list := k.At(new(Values)).(*[]string)
			return Name{Path: strings.Split(text, "."), Key: &k, list: list}, nil
		}
		if rest, below := strings.CutPrefix(text, k.Name+"."); below && rest != "" && k.isMap() {
			return Name{Path: append(strings.Split(k.Name, "."), rest), Key: &k}, nil
		}
		names = append(names, k.Name)
	}
	if text == "rules.off" {
		return Name{Path: []string{"rules", "off"}, list: true}, nil
	}
	for _, head := range [][]string{{"packs"}, {"rules", "effect"}} {
		if rest, below := strings.CutPrefix(text, strings.Join(head, ".")+"."); below && rest != "" {
			return Name{Path: append(slices.Clone(head), rest)}, nil
		}
	}
	hint := "see \"cardea config\" for the keys there are"
	if near := document.NearestName(text, append(names, "rules.off", "packs.NAME", "rules.effect.ID")); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return Name{}, fmt.Errorf("there is no key %q; %s", text, hint)
}

func (k Key) isMap() bool {
	return reflect.TypeOf(k.At(new(Values))).Elem().Kind() == reflect.Map
}

// Value is YAML in one line for a value as people type it in a shell: words of a list
// one by one or as YAML, texts without quotes, everything else as YAML.
func (n Name) Value(words []string) (string, error) {
	first := strings.TrimSpace(strings.Join(words, " "))
	switch {
	case strings.ContainsAny(first, "\n\r"):
		return "", fmt.Errorf("the value has more than one line; use \"cardea config edit\"")
	case n.list && !strings.HasPrefix(first, "["):
		return list(words, scalar), nil
	case len(words) > 1 && !n.list:
		return "", fmt.Errorf("%s takes one value; put what belongs together into quotes", strings.Join(n.Path, "."))
	case n.Key == nil || n.list || len(n.Key.Words) > 0:
		return first, nil
	}
	if _, text := n.Key.At(new(Values)).(*string); text {
		return scalar(words[0]), nil
	}
	return first, nil
}

// Default is the value of the key where nobody says anything, "" for a switch.
func (n Name) Default() string {
	v := Defaults()
	if n.Key == nil || len(n.Path) > len(strings.Split(n.Key.Name, ".")) {
		return ""
	}
	return n.Key.Text(&v)
}

// Of reports whether what a file says about a key is about this one.
func (n Name) Of(g Given) bool {
	name := strings.Join(n.Path, ".")
	return g.Key == name || n.Key != nil && g.Key == n.Key.Name
}
