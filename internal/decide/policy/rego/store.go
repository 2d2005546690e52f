package rego

import (
	"context"
	"strconv"

	"github.com/open-policy-agent/opa/v1/storage"
)

// store has what data documents say. The evaluator asks it for every path that no
// rule defines. Nobody changes it, so that many may read at once.
type store struct {
	storage.Store
	root map[string]any
}

// Read finds what lies at a path.
func (s store) Read(_ context.Context, _ storage.Transaction, path storage.Path) (any, error) {
	if v, there := lookup(s.root, path); there {
		return v, nil
	}
	return nil, &storage.Error{Code: storage.NotFoundErr, Message: "there is no data " + path.String()}
}

// lookup is what lies at a path of a document.
func lookup(v any, path []string) (any, bool) {
	for _, name := range path {
		switch in := v.(type) {
		case map[string]any:
			below, there := in[name]
			if !there {
				return nil, false
			}
			v = below
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n < 0 || n >= len(in) {
				return nil, false
			}
			v = in[n]
		default:
			return nil, false
		}
	}
	return v, true
}
