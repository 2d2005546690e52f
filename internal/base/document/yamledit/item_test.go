package yamledit

import "testing"

func TestRemoveItem(t *testing.T) {
	const text = "# top\nversion: 1\nlist:\n  # about a\n  - {a: 1}\n  - b: 2\n    c: 3\n  - {d: 4}\nmore: x\n"
	for item, want := range []string{
		"# top\nversion: 1\nlist:\n  # about a\n  - b: 2\n    c: 3\n  - {d: 4}\nmore: x\n",
		"# top\nversion: 1\nlist:\n  # about a\n  - {a: 1}\n  - {d: 4}\nmore: x\n",
		"# top\nversion: 1\nlist:\n  # about a\n  - {a: 1}\n  - b: 2\n    c: 3\nmore: x\n",
	} {
		if got, err := RemoveItem(text, []string{"list"}, item); err != nil || got != want {
			t.Errorf("%d: %v\n%s", item, err, got)
		}
	}
	if got, err := RemoveItem("a: 1\nlist:\n  - x\n", []string{"list"}, 0); err != nil || got != "a: 1\n" {
		t.Errorf("the last: %v\n%s", err, got)
	}
	for _, c := range []struct {
		text string
		item int
	}{{text, 3}, {text, -1}, {"list: [a, b]\n", 0}, {"list: x\n", 0}, {"other: x\n", 0}, {"list: [", 0}} {
		if got, err := RemoveItem(c.text, []string{"list"}, c.item); err == nil || got != c.text {
			t.Errorf("%q %d: %v, %q", c.text, c.item, err, got)
		}
	}
}
