package rego

import (
	"context"

	"github.com/open-policy-agent/opa/v1/storage"
)

// nothing is a store without data: what policies find under data is what they
// define themselves. The evaluator asks it for every path that no rule defines.
type nothing struct{ storage.Store }

// Read finds nothing but the root.
func (nothing) Read(_ context.Context, _ storage.Transaction, path storage.Path) (any, error) {
	if len(path) == 0 {
		return map[string]any{}, nil
	}
	return nil, &storage.Error{Code: storage.NotFoundErr, Message: "there is no data " + path.String()}
}
