package cli

import (
	"cardea.dev/internal/config"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
)

// gather reads the files that are named, or everything that is in force where
// the person stands.
func gather(p Process, paths []string) (*config.Loaded, place, error) {
	if p.Dir == "" {
		return nil, place{}, errNoFolder
	}
	pl := locate(p, "", "", p.Dir)
	if len(paths) == 0 {
		return load(p, &pl), pl, nil
	}
	l, err := config.LoadPaths(paths)
	return l, pl, err
}

const errNoFolder = errorText("the working folder cannot be told; change into one that exists")

// stand is where inline tests take place.
func stand(pl place) rules.Stand {
	return rules.Stand{
		Settings: rules.Settings{Home: pl.dirs.Home},
		Project:  pl.project,
		Harness:  "claude-code",
		Known:    func(name string) bool { _, ok := harness.Tool(name); return ok },
	}
}
