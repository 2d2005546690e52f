package rego

import (
	"context"
	"strconv"

	"github.com/open-policy-agent/opa/v1/storage"
)

// store holds the data documents. The evaluator reads every path that no rule defines from
// it. It never changes, so concurrent reads are safe.
type store struct {
	storage.Store
	root map[string]any
}

// Read returns the value at a path.
func (s store) Read(_ context.Context, _ storage.Transaction, path storage.Path) (any, error) {
	if v, there := lookup(s.root, path); there {
		return v, nil
	}
	return nil, &storage.Error{Code: storage.NotFoundErr, Message: "there is no data " + path.String()}
}

// lookup returns the value at a path of a document, and whether it exists.
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
