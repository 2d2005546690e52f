package roles_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	_ "cardea.dev/internal/base/document/yamltext"

	"cardea.dev"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/decide/roles"
	"cardea.dev/packs"
)

func TestMistakesAreTold(t *testing.T) {
	file := `version: 1
categories:
  tests: ["a/**", "{{docs}}"]
  Bad: [x]
roles:
  coder:
    allow_write: [x]
    paths: {allow_write: ["{{tets}}", "{a,b}", "!x", ""], deny_writ: [x]}
  No: {group: other}
sensitive_paths: {}
`
	_, problems := roles.Read("roles.yaml", cardea.ScopeUser, document.Read("roles.yaml", []byte(file)), packs.Roles().Categories...)
	var all []string
	for _, p := range problems {
		all = append(all, p.String())
		if p.Line == 0 || p.Column == 0 || p.Hint == "" {
			t.Errorf("without a place or a hint: %+v", p)
		}
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{
		"roles.yaml:3:19",
		"did you mean {{tests}}?",
		"globs have no braces",
		"globs cannot be negated",
		"an empty glob",
		`unknown key "deny_writ"`,
		`unknown key "allow_write"; write paths: {allow_write: […]}`,
		`"No" is no name of a role`,
		`"Bad" is no name of a category`,
		`unknown key "sensitive_paths"; write sensitive`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestCompiledForm(t *testing.T) {
	builtin := packs.Roles()
	builtin.Trusted = false // not part of the form
	file, problems := roles.Read(
		"roles.yaml",
		cardea.ScopeUser,
		document.Read("roles.yaml", []byte("categories: {a: [x, y/], b: []}\nroles: {r: {description: 'a\n b', paths: {deny_read: [z, '{{a}}']}}, s: {}}")),
	)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, src := range []roles.Source{builtin, file, {Scope: cardea.ScopeOrg}} {
		for i := range src.Roles {
			src.Roles[i].Scope = src.Scope
		}
		form := roles.Compile(src)
		back, err := roles.OpenCompiled(form, src.Scope)
		if err != nil || !reflect.DeepEqual(back, src) {
			t.Errorf("%v\n%+v\n%+v", err, back, src)
		}
		for i := range len(form) {
			_, _ = roles.OpenCompiled(form[:i], src.Scope) // it must return
		}
		if _, err := roles.OpenCompiled(form+"\x00x", src.Scope); err == nil {
			t.Error("more than a form is one")
		}
	}
	if roles.Compile(roles.Source{Roles: []roles.Role{{Name: "a\x00b"}}}) != "" {
		t.Error("a zero byte has a form")
	}
}

// TestScopesOfDefinitions tests which definitions and categories apply.
func TestScopesOfDefinitions(t *testing.T) {
	parse := func(scope cardea.Scope, trusted bool, text string) roles.Source {
		src, problems := roles.Read(scope.String()+".yaml", scope, document.Read(scope.String()+".yaml", []byte(text)), packs.Roles().Categories...)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		src.Trusted = trusted
		return src
	}
	user := parse(cardea.ScopeUser, true, "categories: {tests: [user/]}\nroles: {mine: {paths: {deny_write: ['{{tests}}']}}}")
	project := parse(cardea.ScopeProject, true, "categories: {tests: [project/], docs: [pages/]}\nroles: {coder: {paths: {allow_write: ['{{docs}}'], deny_write: ['{{tests}}']}}}")
	stranger := parse(cardea.ScopeProject, false, "categories: {tests: [stranger/], docs: []}\nroles: {coder: {paths: {allow_write: ['**'], deny_write: ['{{tests}}']}}, hidden: {}}")

	set := roles.NewSet(project, user, packs.Roles())
	coder := set.Of("coder")
	if len(coder) != 1 || coder[0].Scope != cardea.ScopeProject || !slices.Equal(roles.Texts(coder[0].Paths.DenyWrite), []string{"user/"}) ||
		!slices.Equal(roles.Texts(coder[0].Paths.AllowWrite), []string{"pages/"}) {
		t.Errorf("a project loosens what the person says, or the built-in definition counts still: %+v", coder)
	}
	if tester := roles.NewSet(project, packs.Roles()).Of("tester"); len(tester) != 1 || tester[0].Paths.AllowWrite[0].Text != "project/" || tester[0].Paths.AllowWrite[0].Category != "tests" {
		t.Errorf("a project does not redefine the category of a built-in role: %+v", tester)
	}

	set = roles.NewSet(stranger, packs.Roles())
	coder = set.Of("coder")
	if len(coder) != 2 || coder[0].Paths.AllowWrite != nil || !slices.Equal(roles.Texts(coder[0].Paths.DenyWrite), []string{"stranger/"}) || coder[1].Scope != cardea.ScopeBuiltin ||
		coder[1].Paths.DenyWrite[0].Text != "tests/**" {
		t.Errorf("a stranger's file does more than deny: %+v", coder)
	}
	if set.Has("hidden") || !set.Has("coder") || set.Has("nobody") || len(set.Names()) != 12 {
		t.Errorf("names: %v", set.Names())
	}
}
