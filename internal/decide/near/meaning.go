package near

import (
	"context"
	"fmt"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/memory/lesson"
	"cardea.dev/internal/memory/meaning"
)

// Meaning finds lessons about commands that mean nearly the same, whatever their words.
type Meaning struct {
	// Engine knows what commands mean.
	Engine *meaning.Engine
}

// Find asks the engine. An engine that fails finds nothing and changes no verdict: the
// error is a warning.
func (m Meaning) Find(ctx context.Context, src *lesson.Source, key *lesson.Key) ([]Like, error) {
	if info, known := harness.Tool(key.Tool); !known || len(info.FieldsOf(harness.Command)) == 0 {
		return nil, nil
	}
	found, err := m.Engine.Near(ctx, src.Store, key.Tool, key.Role, key.Subject)
	if err != nil {
		return nil, cardea.Troubles{cardea.Warning("", cardea.CodeNoEngine, "see \"cardea doctor\"; set near.embedding to 0 to do without",
			fmt.Sprintf("lessons are not compared by meaning: %v", err))}
	}
	return lists.Of(found, func(f meaning.Near) Like { return Like{f.Found, f.Similarity} }), nil
}
