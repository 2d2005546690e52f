package call

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cardea.dev"
)

// operandsOf are the words of a part that say what of a file runs: subcommands and
// operands.
func operandsOf(p *cardea.Part) []string {
	out := slices.Clone(p.Command[1:])
	for _, i := range p.Operands {
		if i < len(p.Argv) && p.Argv[i].Static {
			out = append(out, p.Argv[i].Text)
		}
	}
	return out
}

// packageScripts reads the scripts of a package.json that a part runs.
func packageScripts(p *cardea.Part) func(text string) []piece {
	return func(text string) []piece {
		var file struct{ Scripts map[string]any }
		if json.Unmarshal([]byte(text), &file) != nil {
			return nil
		}
		var out []piece
		for _, name := range scriptNames(operandsOf(p)) {
			if line, ok := file.Scripts[name].(string); ok {
				out = append(out, piece{line, lineOf(text, name)})
			}
		}
		return out
	}
}

// scriptNames are the scripts that words behind npm, pnpm, yarn and bun run.
func scriptNames(words []string) []string {
	install := []string{"preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare"}
	if len(words) == 0 {
		return install // yarn
	}
	name := words[0]
	switch name {
	case "run", "run-script", "rum", "urn":
		if len(words) < 2 {
			return nil
		}
		name = words[1]
	case "i", "install", "add", "ci":
		return install
	case "t", "tst":
		name = "test"
	case "publish", "pack":
		return []string{"prepublishOnly", "prepack", "prepare", "postpack", "prepublish", "publish", "postpublish"}
	}
	return []string{"pre" + name, name, "post" + name}
}

// lineOf is the line of a JSON text in which a key of the scripts stands, 0 where it
// cannot be found.
func lineOf(text, key string) int {
	from := max(strings.Index(text, `"scripts"`), 0)
	at := strings.Index(text[from:], `"`+key+`"`)
	if at < 0 {
		return 0
	}
	return 1 + strings.Count(text[:from+at], "\n")
}

// makeRule is a target of a Makefile.
type makeRule struct {
	needs   []string
	recipes []piece
}

var makeLines = sync.OnceValue(func() (re struct{ assign, rule, variable *regexp.Regexp }) {
	re.assign = regexp.MustCompile(`^ *(?:export +|override +)*([A-Za-z_][A-Za-z0-9_]*) *(?:\?|::?)?= *(.*?) *$`)
	re.rule = regexp.MustCompile(`^([^\t#:=][^:=#]*)::?(?:([^=].*)|)$`)
	re.variable = regexp.MustCompile(`\$\$|\$\(([A-Za-z_][A-Za-z0-9_]*)\)|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\([^()]*\)|\$\{[^{}]*\}|\$[@<^*]`)
	return re
})

// recipes reads the recipes of the targets that a part makes, and of those that they
// need.
func recipes(p *cardea.Part) func(text string) []piece {
	return func(text string) []piece {
		rules, first, values := readMakefile(text)
		var targets []string
		for _, word := range operandsOf(p) {
			if name, value, ok := strings.Cut(word, "="); ok {
				values[name] = value
			} else {
				targets = append(targets, word)
			}
		}
		if len(targets) == 0 {
			targets = []string{first}
		}
		var out []piece
		done := map[string]bool{}
		for len(targets) > 0 {
			name := targets[0]
			targets = targets[1:]
			if done[name] || rules[name] == nil {
				continue
			}
			done[name] = true
			targets = append(targets, rules[name].needs...)
			for _, c := range rules[name].recipes {
				out = append(out, piece{strings.TrimLeft(expandMake(c.text, values, 4), "@-+ \t"), c.line})
			}
		}
		return out
	}
}

// readMakefile takes a Makefile apart. Conditions are not looked at: each branch
// counts.
func readMakefile(text string) (rules map[string]*makeRule, first string, values map[string]string) {
	re := makeLines()
	rules, values = map[string]*makeRule{}, map[string]string{}
	var current []*makeRule
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line, at := strings.TrimSuffix(lines[i], "\r"), i+1
		var whole strings.Builder
		for strings.HasSuffix(line, "\\") && i+1 < len(lines) {
			whole.WriteString(strings.TrimSuffix(line, "\\") + " ")
			i++
			line = strings.TrimSuffix(lines[i], "\r")
		}
		whole.WriteString(line)
		line = whole.String()
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			for _, r := range current {
				r.recipes = append(r.recipes, piece{recipe, at})
			}
			continue
		}
		if m := re.assign.FindStringSubmatch(line); m != nil {
			values[m[1]] = m[2]
			continue
		}
		m := re.rule.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		current = nil
		needs, recipe, has := strings.Cut(m[2], ";")
		for _, name := range strings.Fields(m[1]) {
			r := rules[name]
			if r == nil {
				r = &makeRule{}
				rules[name] = r
			}
			r.needs = append(r.needs, strings.Fields(expandMake(needs, values, 4))...)
			if has {
				r.recipes = append(r.recipes, piece{recipe, at})
			}
			if current = append(current, r); first == "" && name[0] != '.' {
				first = name
			}
		}
	}
	return rules, first, values
}

// expandMake puts in the variables of make that hold a text. Another one stands as a
// plain word, so that it is neither nothing nor a command for the shell.
func expandMake(text string, values map[string]string, depth int) string {
	return makeLines().variable.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.Trim(found, "$(){}")
		value, ok := values[name]
		switch {
		case found == "$$":
			return "$"
		case name == "HOME" && !ok:
			return "$HOME"
		case name == "RM" && !ok:
			return "rm -f"
		case name == "MAKE" && !ok:
			return "make"
		case ok && depth > 0 && len(value) < 1024:
			return expandMake(value, values, depth-1)
		}
		return "unknown"
	})
}
