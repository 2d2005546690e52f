package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cardea.dev/internal/base/document"
)

// Name is a dotted key as users write it: a key of the table, a name below a map key, or a
// switch of packs and rules.
type Name struct {
	// Path holds the keys of the file from the top.
	Path []string
	// Key is the key in the table, nil for a switch.
	Key *Key
	// list is set if the value is a list of texts.
	list bool
}

// FindName parses a key. The error suggests a similar one.
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

// Value returns one line of YAML for a value as users type it in a shell. List entries are
// words or YAML, texts have no quotes, and everything else is YAML.
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

// Default returns the default value of the key, "" for a switch.
func (n Name) Default() string {
	v := Defaults()
	if n.Key == nil || len(n.Path) > len(strings.Split(n.Key.Name, ".")) {
		return ""
	}
	return n.Key.Text(&v)
}

// Of reports whether a setting of a file is for this key.
func (n Name) Of(g Given) bool {
	name := strings.Join(n.Path, ".")
	return g.Key == name || n.Key != nil && g.Key == n.Key.Name
}
