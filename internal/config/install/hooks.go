package install

import (
	"cmp"
	"fmt"
	"slices"

	"cardea.dev/internal/base/jsonedit"
)

// spot is a handler of Cardea in a file: item i of list, which is the value of the event's
// key or the list of a matcher group.
type spot struct {
	event   string
	list    *jsonedit.Node
	i       int
	handler *jsonedit.Node
	// group is the matcher group, nil if the handler is directly in the event's list. outer
	// and at are the place of the group.
	group *jsonedit.Node
	outer *jsonedit.Node
	at    int
}

// spots returns Cardea's handlers of all events, in every form that a harness reads.
func spots(root *jsonedit.Node) []spot { return handlers(root, isOurs) }

// handlers returns the handlers for which wanted returns true.
func handlers(root *jsonedit.Node, wanted func(*jsonedit.Node) bool) []spot {
	var out []spot
	for _, hooks := range root.All("hooks") {
		if hooks.Kind != jsonedit.Object {
			continue
		}
		for _, m := range hooks.Items {
			for i, e := range m.Value.Elements() {
				if wanted(e) {
					out = append(out, spot{event: m.Key, list: m.Value, i: i, handler: e})
				}
				inner := e.Get("hooks")
				for k, handler := range inner.Elements() {
					if wanted(handler) {
						out = append(out, spot{event: m.Key, list: inner, i: k, handler: handler, group: e, outer: m.Value, at: i})
					}
				}
			}
		}
	}
	return out
}

func otherHooks(d *jsonedit.Document, h Harness) []string {
	// Events with handlers of Cardea that are not among the harness's.
	var out []string
	for _, s := range spots(d.Root) {
		if !slices.Contains(h.events, s.event) && !slices.Contains(out, s.event) {
			out = append(out, s.event)
		}
	}
	return out
}

// without returns the document without one handler, and without its group if that becomes
// empty.
func without(d *jsonedit.Document, s spot) []byte {
	if s.group != nil && len(s.list.Items) == 1 {
		return d.Remove(s.outer, s.at)
	}
	return d.Remove(s.list, s.i)
}

// strip removes all of Cardea's handlers, and the containers that become empty if mayDrop
// allows it.
func strip(d *jsonedit.Document, mayDrop func(path string) bool) (*jsonedit.Document, error) {
	touched := map[string]bool{}
	for {
		found := spots(d.Root)
		if len(found) == 0 {
			break
		}
		touched[found[0].event] = true
		again, err := jsonedit.Parse(without(d, found[0]))
		if err != nil {
			return nil, fmt.Errorf("take out %s: %w", found[0].event, err)
		}
		d = again
	}
	for event := range touched {
		if !mayDrop("hooks." + event) {
			continue
		}
		again, err := dropEmpty(d, d.Root.Get("hooks"), event)
		if err != nil {
			return nil, err
		}
		d = again
	}
	if len(touched) == 0 || !mayDrop("hooks") {
		return d, nil
	}
	return dropEmpty(d, d.Root, "hooks")
}

// dropEmpty removes an empty member from an object.
func dropEmpty(d *jsonedit.Document, in *jsonedit.Node, key string) (*jsonedit.Document, error) {
	if in == nil {
		return d, nil
	}
	i := slices.IndexFunc(in.Items, func(it jsonedit.Item) bool {
		return it.Key == key && it.Value.Kind != jsonedit.String && it.Value.Kind != jsonedit.Literal && len(it.Value.Items) == 0
	})
	if i < 0 || hasComment(d.Data[in.Items[i].Value.Start+1:in.Items[i].Value.End-1]) {
		return d, nil
	}
	return jsonedit.Parse(d.Remove(in, i))
}

// hasComment reports whether an empty container has a comment.
func hasComment(inside []byte) bool {
	return slices.ContainsFunc(inside, func(c byte) bool { return c > ' ' })
}

// asWanted reports whether a document has exactly the wanted entries and no others of
// Cardea.
func asWanted(d *jsonedit.Document, h Harness, w Wanted) bool {
	found := spots(d.Root)
	if len(found) != len(h.events) {
		return false
	}
	for _, event := range h.events {
		want, err := jsonedit.Parse(jsonedit.Render(h.entry(w, event)))
		if err != nil {
			return false
		}
		j := slices.IndexFunc(found, func(s spot) bool { return s.event == event })
		if j < 0 {
			return false
		}
		s := found[j]
		if h.grouped != (s.group != nil) || saying(cmp.Or(s.group, s.handler)) != saying(want.Root) {
			return false
		}
	}
	return true
}

// saying returns the content of a value, without layout and comments.
func saying(n *jsonedit.Node) string {
	if n == nil {
		return ""
	}
	out := fmt.Sprintf("%d%q", n.Kind, n.Text)
	for _, it := range n.Items {
		out += fmt.Sprintf("(%q %s)", it.Key, saying(it.Value))
	}
	return out
}

// foreign returns the content of a document without Cardea's entries, and without
// containers that become empty.
func foreign(d *jsonedit.Document) (string, error) {
	always := func(string) bool { return true }
	d, err := strip(d, always)
	if err != nil {
		return "", err
	}
	for _, key := range emptyEvents(d.Root.Get("hooks")) {
		if d, err = dropEmpty(d, d.Root.Get("hooks"), key); err != nil {
			return "", err
		}
	}
	if d, err = dropEmpty(d, d.Root, "hooks"); err != nil {
		return "", err
	}
	return saying(d.Root), nil
}

func emptyEvents(hooks *jsonedit.Node) []string {
	var out []string
	if hooks == nil {
		return nil
	}
	for _, m := range hooks.Items {
		if m.Value.Kind == jsonedit.Array && len(m.Value.Items) == 0 {
			out = append(out, m.Key)
		}
	}
	return out
}

// add appends the wanted entries to every event's list. It also returns the insertions and
// the containers that it created.
func add(d *jsonedit.Document, h Harness, w Wanted) (*jsonedit.Document, []jsonedit.Insertion, []string, error) {
	var all []jsonedit.Insertion
	var made []string
	for _, event := range h.events {
		ins, created := addOne(d, event, h.entry(w, event))
		var err error
		if d, err = jsonedit.Parse(jsonedit.Apply(d.Data, ins)); err != nil {
			return nil, nil, nil, fmt.Errorf("put in %s: %w", event, err)
		}
		all, made = append(all, ins...), append(made, created...)
	}
	return d, all, made, nil
}

func addOne(d *jsonedit.Document, event string, entry []jsonedit.Field) (ins []jsonedit.Insertion, made []string) {
	hooks := d.Root.Get("hooks")
	if hooks == nil {
		v := []jsonedit.Field{{Key: event, Value: []any{entry}}}
		return d.Append(d.Root, "hooks", v), []string{"hooks", "hooks." + event}
	}
	list := hooks.Get(event)
	if list == nil {
		return d.Append(hooks, event, []any{entry}), []string{"hooks." + event}
	}
	return d.Append(list, "", entry), nil
}

// fits returns why an installation is impossible, with the offset in the file; why is "" if
// it is possible.
func fits(d *jsonedit.Document, h Harness) (at int, why string) {
	if d.Root.Kind != jsonedit.Object {
		return d.Root.Start, "the file must hold an object, and holds " + d.Root.Kind.String()
	}
	all := d.Root.All("hooks")
	switch {
	case len(all) > 1:
		return all[1].Start, "the key \"hooks\" stands here for the second time; unite the two, since only one of them counts"
	case len(all) == 0:
		return 0, ""
	case all[0].Kind != jsonedit.Object:
		return all[0].Start, "hooks must be an object, and is " + all[0].Kind.String()
	}
	for _, event := range h.events {
		lists := all[0].All(event)
		switch {
		case len(lists) > 1:
			return lists[1].Start, "the key \"" + event + "\" stands here for the second time; unite the two, since only one of them counts"
		case len(lists) == 1 && lists[0].Kind != jsonedit.Array:
			return lists[0].Start, "hooks." + event + " must be a list, and is " + lists[0].Kind.String()
		}
	}
	return 0, ""
}
