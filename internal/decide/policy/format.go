package policy

import (
	"context"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/decide/policy/engine"
)

// Format returns the texts, by path, of the policy files that OPA's formatter would change,
// and the number of policy files. found holds the reasons why some cannot be formatted. It
// ignores data documents. The error is the engine's.
func (s Sources) Format(ctx context.Context) (changed map[string]string, files int, found []diagnostic.Diagnostic, err error) {
	sources := lists.Where(s.files(), func(f engine.Source) bool { return f.Data == "" })
	if len(sources) == 0 {
		return nil, 0, nil, nil
	}
	all, err := s.Engine.Format(ctx, sources)
	changed = map[string]string{}
	for i, f := range all {
		found = append(found, coded(engine.CodeParse, f.Problems)...)
		if path := sources[i].Path; f.Problems == nil && f.Text != s.Texts[path] {
			changed[path] = f.Text
		}
	}
	return changed, len(sources), found, err
}
