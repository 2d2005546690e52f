package near

import (
	"context"
	"fmt"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/memory/lesson"
	"cardea.dev/internal/memory/meaning"
)

// Meaning finds lessons about commands with nearly the same meaning, whatever their words.
type Meaning struct {
	// Engine compares commands by meaning.
	Engine *meaning.Engine
}

// Find asks the engine. If the engine fails, Find returns no lessons and a warning, and no
// verdict changes.
func (m Meaning) Find(ctx context.Context, src *lesson.Source, key *lesson.Key) ([]Like, error) {
	if info, known := harness.Tool(key.Tool); !known || len(info.FieldsOf(harness.Command)) == 0 {
		return nil, nil
	}
	found, err := m.Engine.Near(ctx, src.Store, key.Tool, key.Role, key.Subject)
	if err != nil {
		return nil, cardea.Issues{cardea.Warning("", diagnostic.CodeNoEngine, "see \"cardea doctor\"; set near.embedding to 0 to do without",
			fmt.Sprintf("lessons are not compared by meaning: %v", err))}
	}
	return lists.Of(found, func(f meaning.Near) Like { return Like{f.Found, f.Similarity} }), nil
}
