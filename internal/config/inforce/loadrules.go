package inforce

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
)

// unread returns the problem of a file that cannot be read.
func unread(path string, err error) diagnostic.Diagnostic {
	return diagnostic.Diagnostic{File: path, Code: diagnostic.CodeUnreadable, Text: "cannot be read: " + err.Error(), Hint: "mend or remove it"}
}

// readRules reads the rules of a scope's folder, sorted by file name. left is the number of
// bytes that may still be read.
func (l *Loaded) readRules(at folder, left *int) (list rules.List, files []RulesFile) {
	if at.dir == "" {
		return nil, nil
	}
	dir := filepath.Join(at.dir, "rules")
	var paths []string
	for path := range l.Where.Drafts {
		if filepath.Dir(path) == dir {
			paths = append(paths, path)
		}
	}
	if l.absent.Folder(dir) && paths == nil {
		return nil, nil
	}
	if p := l.doubt(dir, at); p != nil {
		return nil, []RulesFile{{Path: dir, Scope: at.scope, Problems: p}}
	}
	there, err := project.RuleFiles(dir)
	if err != nil {
		return nil, []RulesFile{{Path: dir, Scope: at.scope, Problems: []diagnostic.Diagnostic{unread(dir, err)}}}
	}
	paths = append(paths, there...)
	slices.Sort(paths)
	paths = slices.Compact(paths)
	lists := make([]rules.List, len(paths))
	for i, path := range paths {
		var f RulesFile
		f, lists[i] = l.readRulesFile(path, at, left)
		files = append(files, f)
	}
	return slices.Concat(lists...), files
}

// readRulesFile reads a rule file, or its last good form if it is broken.
func (l *Loaded) readRulesFile(path string, at folder, left *int) (RulesFile, rules.List) {
	f := RulesFile{Path: path, Scope: at.scope}
	data, when, problems := l.read(path, at)
	*left -= len(data)
	if *left < 0 {
		f.Problems = []diagnostic.Diagnostic{{File: path, Code: diagnostic.CodeTooLarge, Text: "is not read: the files of rules before it are too large together", Hint: "remove what is not needed"}}
		return f, nil
	}
	var list rules.List
	if f.Problems = problems; data != nil {
		list = l.parseRules(&f, at, data)
	}
	if !diagnostic.HasError(f.Problems) {
		l.note(path, at, data, when)
	} else if old := l.cached.Form(path, at.source()); old != nil && len(old) <= *left {
		*left -= len(old)
		// A form that was valid for an earlier version may be invalid now.
		cached := f
		if good := l.parseRules(&cached, at, old); !diagnostic.HasError(cached.Problems) {
			cached.Problems, cached.Cached = cachedInForce(f.Problems), true
			f, list = cached, good
		}
	}
	f.Rules = len(list)
	return f, list
}

// parseRules parses a rule file. Harness names of tools become canonical ones.
func (l *Loaded) parseRules(f *RulesFile, at folder, data []byte) rules.List {
	f.Counts = l.counts(f.Path, at, data)
	from := rules.Origin{Scope: at.scope, Trusted: f.Counts, Root: at.root, Tool: harness.ToolWord, Events: policy.EventNames()}
	name := fmt.Sprintf("rules %q %v %v %s", f.Path, at.scope, f.Counts, at.root)
	if got, is := l.Where.files().Made(name, data, l.madeBy).(opened); is {
		f.Problems = slices.Clone(got.problems)
		return got.list
	}
	if form := l.compiled.Load(f.Path, data, l.madeBy); form != "" {
		if list, problems, err := rules.OpenCompiled(form, f.Path, from); err == nil {
			l.Where.files().Keep(name, opened{list, problems}, len(form)+100*len(list), data, l.madeBy)
			f.Problems = slices.Clone(problems)
			return list
		}
	}
	list, problems := rules.Read(f.Path, l.document(f.Path, data), from)
	if f.Problems = problems; !diagnostic.HasError(problems) && l.compiled != nil {
		l.compiled.Keep(f.Path, rules.Compile(list, problems), data, l.madeBy)
		l.compiled.Forget(documentForm(f.Path))
	}
	return rules.ListOf(list)
}

// opened is the cached result for a compiled rule file. It must not be changed.
type opened struct {
	list     rules.List
	problems []diagnostic.Diagnostic
}

// cachedInForce adds to the first error of a file that an earlier form is in force.
func cachedInForce(problems []diagnostic.Diagnostic) []diagnostic.Diagnostic {
	out := slices.Clone(problems)
	for i := range out {
		if p := &out[i]; p.Severity == diagnostic.LevelError {
			p.Hint = strings.TrimPrefix(p.Hint+"; its last good form is in force until then", "; ")
			break
		}
	}
	return out
}
