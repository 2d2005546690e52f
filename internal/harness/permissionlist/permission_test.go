package permissionlist

import (
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/command/knowledge"
)

func parse(text string, e cardea.Effect) Rule { return Parse(text, Context{Effect: e}) }

// TestForms checks how each kind of entry is read, and which are ignored.
func TestForms(t *testing.T) {
	for _, tt := range []struct {
		text        string
		allow, deny Form
	}{
		{"Bash", Whole, Whole}, {"Bash(*)", Whole, Whole}, {" Bash(ls) ", Command, Command}, {"Bash(ls:*)", Command, Command},
		{"Read(./.env)", File, File}, {"Edit(//etc/**)", File, File}, {"Edit(~/x)", File, File}, {"Read(!x)", Exception, Exception}, {"Read(!)", Nothing, Nothing},
		{"Read(~bob/x)", Nothing, Nothing}, {"Read(../x)", Nothing, Nothing}, {"Read([)", Nothing, Nothing}, {"Read(a//b)", Nothing, Nothing},
		{"Write(x)", Nothing, File}, {"Write", Whole, Whole}, {"Write(content:x)", Nothing, Param}, {"Write(file_path:x)", Nothing, File},
		{"MultiEdit(//a/**)", Nothing, File}, {"NotebookEdit(*.ipynb)", Nothing, File}, {"apply_patch(~/x)", Nothing, File}, {"Write(!x)", Nothing, Exception}, {"Write(../x)", Nothing, Nothing},
		{"Grep(secret/**)", Nothing, File}, {"Glob(x)", Nothing, File}, {"LS(x)", Nothing, File}, {"Grep(pattern:x)", Nothing, Param}, {"Grep(path:x)", Nothing, File}, {"Grep([)", Nothing, Nothing},
		{"WebFetch(domain:a.example)", Host, Host}, {"WebFetch(domain:*)", Whole, Whole}, {"WebFetch(domain:a/b)", Nothing, Nothing},
		{"WebFetch(domain:)", Nothing, Nothing}, {"WebFetch(a.example)", Nothing, Nothing}, {"WebFetch(prompt:x)", Nothing, Param}, {"WebFetch(url:x)", Nothing, Nothing},
		{"Agent(Explore)", Named, Named}, {"Agent(model:opus)", Named, Param}, {"Skill(a *)", Named, Named}, {"WebSearch(x)", Nothing, Nothing},
		{"Cd(/x)", Nothing, Nothing}, {"Workflow(x)", Nothing, Named}, {"Other(x)", Nothing, Nothing}, {"Workflow(a:b)", Nothing, Param},
		{"mcp__a", Whole, Whole}, {"mcp__a__*", Whole, Whole}, {"mcp__a__b(x:1)", Nothing, Nothing}, {"mcp__*", Nothing, Whole}, {"*", Nothing, Whole},
		{"B*", Nothing, Whole}, {"mcp__*__x", Nothing, Whole}, {"mcp____x*", Nothing, Whole}, {"B?sh", Nothing, Nothing},
		{"", Nothing, Nothing}, {"(x)", Nothing, Nothing}, {"Bash(ls", Nothing, Nothing}, {"Bash()", Nothing, Nothing}, {"Bash x", Nothing, Nothing},
		{"Bash(ls\n)", Nothing, Nothing}, {"Bash(\x7f)", Nothing, Nothing}, {"Bash(\xff)", Nothing, Nothing}, {"Bash(\ufffd)", Nothing, Nothing}, {"Bash(é)", Command, Command},
	} {
		a, d := parse(tt.text, cardea.Allow), parse(tt.text, cardea.Deny)
		if a.Form != tt.allow || d.Form != tt.deny {
			t.Errorf("%q: %d and %d, want %d and %d (%s; %s)", tt.text, a.Form, d.Form, tt.allow, tt.deny, a.Why, d.Why)
		}
		if (a.Form == Nothing) != (a.Why != "") || (d.Form == Nothing) != (d.Why != "") {
			t.Errorf("%q: why %q, %q", tt.text, a.Why, d.Why)
		}
	}
}

func TestCommands(t *testing.T) {
	for entry, lines := range map[string]struct{ yes, no []string }{
		"Bash(npm test)":     {[]string{"npm test"}, []string{"npm test x", "npm", "Npm test"}},
		"Bash(npm test:*)":   {[]string{"npm test", "npm test x"}, []string{"npm testing", "npm"}},
		"Bash(npm test *)":   {[]string{"npm test", "npm test x", "npm test "}, []string{"npm testing"}},
		"Bash(npm test*)":    {[]string{"npm test", "npm testing"}, []string{"npm tes"}},
		"Bash(git * main)":   {[]string{"git push main", "git a b main", "git -c x main"}, []string{"git main", "git push mainx"}},
		"Bash(* --help *)":   {[]string{"a --help b", "a --help "}, []string{"a --help", "--help x"}},
		"Bash(a*b*c)":        {[]string{"abc", "aXbXc", "abbc"}, []string{"acb", "ab"}},
		"Bash(aa*aa)":        {[]string{"aaaa", "aaxaa"}, []string{"aaa", "aa"}},
		"Bash(git:* push)":   {[]string{"git: push", "git:x push"}, []string{"git push"}},
		"Bash(:*)":           {[]string{"", " x"}, []string{"x"}},
		"Bash(npm run:test)": {[]string{"npm run:test"}, []string{"npm run test"}},
		"Bash(a **)":         {[]string{"a ", "a x"}, []string{"a"}},
		"Bash(echo (a) b)":   {[]string{"echo (a) b"}, []string{"echo a b"}},
	} {
		r := parse(entry, cardea.Allow)
		for _, l := range lines.yes {
			if !r.CommandIs(l) {
				t.Errorf("%s does not match %q", entry, l)
			}
		}
		for _, l := range lines.no {
			if r.CommandIs(l) {
				t.Errorf("%s matches %q", entry, l)
			}
		}
	}
	if r := parse("Read(x)", cardea.Allow); r.CommandIs("x") || r.Prefix() != "" {
		t.Error("an entry of paths is about a command")
	}
}

func TestPrograms(t *testing.T) {
	for entry, want := range map[string]string{"Bash(npm test:*)": "npm", "Bash(npm)": "npm", "Bash(npm:*)": "npm", "Bash(ls*)": "", "Bash(* x)": "", "Bash(ls -*)": "ls", "Bash": ""} {
		r := parse(entry, cardea.Allow)
		got, ok := r.Program()
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%s: %q, want %q", entry, got, want)
		}
	}
}

func TestInWords(t *testing.T) {
	show := strings.NewReplacer("\x01", "_", "\x02", "S", "\x03", "T", "\x04", "E", "\x05", "A")
	for entry, want := range map[string]string{
		`Bash(git commit -m "a b")`: "git commit -m a_b", `Bash(a 'b c' *)`: "a b_c ", `Bash(a "b*)`: `a b`, `Bash(a b)`: "a b", `Bash(a \ b)`: "a _b",
		`Bash(a "x\"y" z)`: `a x"y z`, `Bash(a "$x")`: `a $x`, `Bash(a 'x)`: "a 'x", `Bash(a '$x')`: "a Sx", `Bash(a 'x'y*)`: "a xy", `Bash(a '')`: "a E",
		`Bash(a "" b)`: "a E b", `Bash(npm  test)`: "npm test", `Bash(npm   test:*)`: "npm test ", `Bash( a )`: "a", `Bash(a x""y)`: "a xy",
		`Bash(cat ~/x)`: "cat /home/me/x", `Bash(cat "$HOME/x" '$HOME' a~/b "~/c" ~u/d)`: "cat /home/me/x SHOME a~/b ~/c ~u/d", `Bash(a \*:*)`: "a A ", `Bash(x=a\ b c)`: "x=a_b c",
	} {
		r, _ := parse(entry, cardea.Allow).InWords("/home/me")
		if got := show.Replace(r.Prefix()); got != want {
			t.Errorf("%s: %q, want %q", entry, got, want)
		}
	}
}

func TestHosts(t *testing.T) {
	for entry, hosts := range map[string]struct{ yes, no []string }{
		"WebFetch(domain:A.example.)":    {[]string{"a.example", "A.EXAMPLE."}, []string{"b.a.example", "a.example.evil", ""}},
		"WebFetch(domain:*.a.example)":   {[]string{"x.a.example", "x.y.a.example"}, []string{"a.example", "xa.example", ".a.example"}},
		"WebFetch(domain:a.*)":           {[]string{"a.org"}, []string{"a.evil.org", "a."}},
		"WebFetch(domain: a*.example.*)": {[]string{"ab.example.org"}, []string{"b.example.org", "a.b.example.org"}},
		"WebFetch(domain:*.a.*)":         {[]string{"x.a.org"}, []string{"x.y.a.org"}},
	} {
		r := parse(entry, cardea.Allow)
		for _, h := range hosts.yes {
			if !r.HostIs(h) {
				t.Errorf("%s does not match %q", entry, h)
			}
		}
		for _, h := range hosts.no {
			if r.HostIs(h) {
				t.Errorf("%s matches %q", entry, h)
			}
		}
	}
}

func TestHostSpellings(t *testing.T) {
	loopback := strings.Fields(`http://127.0.0.1/ http://2130706433/ http://0x7f000001/ http://0x7f.1/ http://127.1/ http://0177.0.0.1
		http://017700000001/ http://127.0.0.1./ http://u@127.0.0.1:80/ http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]/
		http://0x7F.0x0.0x0.0x1/ http://127.0.1 http:127.0.0.1/ http:2130706433/ http://%31%32%37.0.0.1/ http:\\127.0.0.1/x`)
	six := strings.Fields(`https://[::1]/x http://[0:0:0:0:0:0:0:1]/ http://[::1]:8080/ http://u:p@[::1]/ HTTP://[0000::1] http://[::1%25lo]/
		http://[::0.0.0.1]/ http://[0::1].`)
	name := strings.Fields(`https://evil.example/ https://EVIL.example https://evil.example.:443/x https://u:p@evil.example/ https://ev%69l.example/
		https://good.example@evil.example/ https:evil.example //evil.example/x evil.example https://evil.example?x ftp://evil.example#x`)
	denied := func(entry, url string) bool {
		r := parse("WebFetch(domain:"+entry+")", cardea.Deny)
		return slices.ContainsFunc(knowledge.Hosts(url), r.HostIs)
	}
	for entry, urls := range map[string][]string{
		"127.0.0.1": loopback, "2130706433": loopback, "0x7f000001": loopback, "127.1": loopback, "*.0.0.1": loopback, "[::ffff:127.0.0.1]": loopback,
		"[::1]": six, "::1": six, "0:0:0:0:0:0:0:1": six, "[0::1]": six,
		"evil.example": name, "EVIL.example.": name, "evil.example:8443": name, "u@evil.example": name, "https://evil.example/": name,
	} {
		for _, url := range urls {
			if !denied(entry, url) {
				t.Errorf("%s does not deny %s", entry, url)
			}
		}
		for _, url := range []string{"https://good.example/", "https://example/", "http://128.0.0.2/", "http://[::2]/", "https://evil.example.org", "https://xevil.example/"} {
			if denied(entry, url) {
				t.Errorf("%s denies %s", entry, url)
			}
		}
	}
	// What allows takes an address as it is written; a port or a path is no host.
	for _, c := range []struct {
		entry, url string
		want       bool
	}{
		{"127.0.0.1", "http://127.0.0.1:80/", true}, {"127.0.0.1", "http://0177.0.0.1/", false}, {"[::1]", "http://[::1]/", true},
		{"evil.example:8443", "https://evil.example/", false}, {"github.com/a", "https://github.com/b", false},
	} {
		r := parse("WebFetch(domain:"+c.entry+")", cardea.Allow)
		if hosts := knowledge.Hosts(c.url); len(hosts) != 1 || r.HostIs(hosts[0]) != c.want {
			t.Errorf("allow %s, %s: %v", c.entry, c.url, !c.want)
		}
	}
	if denied("github.com/a", "https://github.com/b") {
		t.Error("a path denies the whole host")
	}
}

var at = PathBase{Home: "/home/u", Source: "/src", Cwds: []string{"/w", "", "/w"}}

func read(p string) *cardea.Access { return &cardea.Access{Kind: cardea.Read, Path: p} }

// TestCovers: the strict reading of paths.
func TestCovers(t *testing.T) {
	for entry, paths := range map[string]struct{ yes, no []string }{
		"Read(a)":         {[]string{"/w/a", "/w/x/a"}, []string{"/a", "/w/a/b", "/w/ab"}},
		"Read(./a)":       {[]string{"/w/a"}, []string{"/w/x/a"}},
		"Read(a/)":        {[]string{"/w/a/b"}, []string{"/w/a", "/w/x/a/b"}},
		"Read(a/**)":      {[]string{"/w/a/b", "/w/a/b/c"}, []string{"/w/a", "/w/x/a/b"}},
		"Read(a/b/**)":    {[]string{"/w/a/b/c"}, []string{"/w/x/a/b/c"}},
		"Read(**/a/**)":   {[]string{"/w/a/b", "/w/x/a/b"}, []string{"/x/a/b"}},
		"Read(a/**/**/b)": {[]string{"/w/a/b", "/w/a/x/y/b"}, []string{"/w/a"}},
		"Read(*.go)":      {[]string{"/w/a.go", "/w/x/a.go", "/w/.go"}, []string{"/w/a.gox"}},
		"Read(a/*.go)":    {[]string{"/w/a/b.go"}, []string{"/w/a/x/b.go"}},
		"Read([!a]?)":     {[]string{"/w/bc"}, []string{"/w/ac", "/w/b"}},
		"Read(//x/**)":    {[]string{"/x/a"}, []string{"/w/x/a", "/x"}},
		"Read(~/x)":       {[]string{"/home/u/x"}, []string{"/w/x"}},
		"Read(/x/**)":     {[]string{"/src/x/a"}, []string{"/x/a", "/w/x/a"}},
		"Read(**)":        {[]string{"/w/a/b"}, []string{"/a"}},
		"Read":            {[]string{"/anything"}, nil},
	} {
		r := parse(entry, cardea.Allow)
		for _, p := range paths.yes {
			if !r.Covers(read(p), at) {
				t.Errorf("%s does not cover %s", entry, p)
			}
		}
		for _, p := range paths.no {
			if r.Covers(read(p), at) {
				t.Errorf("%s covers %s", entry, p)
			}
		}
	}
	all := parse("Read(a/**)", cardea.Allow)
	for _, tt := range []struct {
		a    cardea.Access
		want bool
	}{
		{cardea.Access{Path: "/w/a", Recursive: true}, true}, {cardea.Access{Path: "/w/a/b", Recursive: true}, true}, {cardea.Access{Path: "/w", Recursive: true}, false},
		{cardea.Access{Path: "/w/a", Glob: true, Pattern: "/w/a/*"}, true}, {cardea.Access{Path: "/w/a", Glob: true, Pattern: "/w/a/../*"}, false},
		{cardea.Access{Path: "/w/a/b", Spelled: "/w/l/b"}, false}, {cardea.Access{Path: "/x/b", Spelled: "/w/a/b"}, false}, {cardea.Access{}, false},
	} {
		if all.Covers(&tt.a, at) != tt.want {
			t.Errorf("%+v: %v", tt.a, !tt.want)
		}
	}
	if one := parse("Read(a/*)", cardea.Allow); one.Covers(&cardea.Access{Path: "/w/a", Recursive: true}, at) {
		t.Error("names cover a folder as a whole")
	}
}

// TestTouches: the generous reading of paths.
func TestTouches(t *testing.T) {
	del := func(p string) cardea.Access { return cardea.Access{Kind: cardea.Delete, Path: p, Recursive: true} }
	look := func(p string) cardea.Access { return cardea.Access{Kind: cardea.Read, Path: p, Recursive: true} }
	glob := func(dir, pattern string) cardea.Access {
		return cardea.Access{Kind: cardea.Read, Path: dir, Glob: true, Pattern: pattern}
	}
	for _, tt := range []struct {
		entry string
		a     cardea.Access
		want  bool
	}{
		{"Read(a/**)", *read("/w/x/a/b"), true}, {"Read(./a/**)", *read("/w/x/a/b"), false}, {"Read(.env)", *read("/w/x/.env"), true}, {"Read(.env)", *read("/x/.env"), false},
		{"Read(a)", *read("/w/a/b/c"), true}, {"Read(~/a)", *read("/home/u/a/b"), true},
		{"Read(a)", cardea.Access{Kind: cardea.Read, Path: "/x", Spelled: "/w/a"}, true}, {"Read(a)", cardea.Access{Kind: cardea.Read, Path: "/w/a", Spelled: "/w/l"}, true},
		{"Edit(a/**)", del("/w/a"), true}, {"Edit(a/b/**)", del("/w/a"), true}, {"Edit(a/b/**)", del("/w"), true}, {"Edit(a/b/**)", del("/"), true}, {"Edit(a/b/**)", del("/x"), false},
		{"Read(a/b/**)", look("/w/a"), false}, {"Read(a/b/**)", look("/w/a/b"), true}, {"Read(a/b/**)", look("/"), false},
		{"Read(.env)", glob("/w", "/w/.e*"), true}, {"Read(.env)", glob("/w", "/w/*"), false}, {"Read(.env)", glob("/w", "/w/.[a-z]nv"), true}, {"Read(.env)", glob("/w", "/w/.{env,x}"), true},
		{"Read(*.pem)", glob("/w", "/w/k*"), true}, {"Read(k*.pem)", glob("/w", "/w/x*"), false}, {"Read(a/b)", glob("/w", "/w/*/b"), true}, {"Read(a/b)", glob("/w", "/w/**"), true},
		{"Read(a/b)", glob("/w/a", "/w/a/c*"), false}, {"Read(a/**)", glob("/w/a", "/w/l/c*"), true}, {"Read(a/**)", glob("/w/a", ""), true}, {"Read(x)", glob("/w/a", ""), true},
		{"Read(b)", glob("/x", "/x/*"), false}, {"Read", *read("/x"), true}, {"Bash(x)", *read("/w/x"), false},
	} {
		r := parse(tt.entry, cardea.Deny)
		if got := r.Touches(&tt.a, at); got != tt.want {
			t.Errorf("%s and %+v: %v", tt.entry, tt.a, got)
		}
	}
	for _, tt := range []struct {
		entry string
		a     cardea.Access
		want  bool
	}{
		{"Read(.env)", look("/w"), true}, {"Read(.env)", look("/"), true}, {"Read(.env)", look("/x"), false}, {"Read(a/b)", look("/w/c"), false}, {"Read(a/b)", look("/w/a"), true},
		{"Read(.env)", *read("/w/.env"), false},
		{"Read(.env)", cardea.Access{Path: "/w", Recursive: true, MetadataOnly: true}, false},
		{"Read", look("/x"), true},
		{"Read(a)", cardea.Access{Recursive: true}, true},
		{"Read(.env)", glob("/w", "/w/*.js"), false}, {"Read(.env)", glob("/w", "/w/.e*"), true}, {"Bash(x)", look("/w"), false},
	} {
		r := parse(tt.entry, cardea.Deny)
		if got := r.MayLieBelow(&tt.a, at); got != tt.want {
			t.Errorf("%s may lie below %+v: %v", tt.entry, tt.a, got)
		}
	}
	none := parse("Read(~/x)", cardea.Deny)
	if none.Touches(read("/x"), PathBase{}) {
		t.Error("without a home folder")
	}
	if slashed(`C:\Users\a`, false) != "/c/Users/a" || slashed("/A/b/../c", true) != "/a/c" {
		t.Error("paths of Windows")
	}
}

func TestParams(t *testing.T) {
	call := &cardea.Call{Tool: "Bash", Input: map[string]any{"a": "x", "b": true, "c": false, "d": []any{}}, Shadowed: map[string][]any{"a": {"y"}}}
	for entry, want := range map[string]bool{
		"Bash(a:x)":    true,
		"Bash(a: y)":   true,
		"Bash(a:z)":    false,
		"Bash(b:true)": true,
		"Bash(c:f*)":   true,
		"Bash(d:*x)":   false,
		"Bash(e:*x)":   false,
		"Bash(a:*)":    false,
	} {
		r := parse(entry, cardea.Deny)
		if r.ParamIs(call) != want {
			t.Errorf("%s: %v", entry, !want)
		}
	}
	if r := parse("Bash(a:x)", cardea.Allow); r.ParamIs(call) {
		t.Error("a parameter allows")
	}
}

// TestRead: the lists of a settings file, with their places.
func TestRead(t *testing.T) {
	from := &Origin{File: "s.json", Harness: "claude-code", Allows: true}
	s := Read(
		from,
		[]byte(
			"\ufeff{\n \"permissions\": {\"allow\": [\"Bash(a)\",\n  \"Bash(b)\"], \"deny\": [\"Read(x)\"], \"ask\": [\"Bash(c)"+
				"\"],\n  \"additionalDirectories\": [\"/x\", 5]},\n \"allowManagedPermissionRulesOnly\": true, \"model\": \"x\"}",
		),
	)
	var got []string
	for _, e := range s.Entries {
		got = append(got, e.Effect.String()+" "+e.Text+" "+e.Source())
	}
	if want := []string{"deny Read(x) s.json:3", "ask Bash(c) s.json:3", "allow Bash(a) s.json:2", "allow Bash(b) s.json:3"}; !slices.Equal(got, want) || len(s.Problems) > 0 || !s.ManagedOnly ||
		!slices.Equal(s.Dirs, []string{"/x"}) {
		t.Errorf("%q, %+v", got, s.Problems)
	}
	if s.Entries[3].Column() != 3 {
		t.Errorf("column %d", s.Entries[3].Column())
	}
	again := Read(&Origin{}, s.Stored)
	if len(again.Entries) != 4 || !again.ManagedOnly || strings.Contains(string(s.Stored), "model") {
		t.Errorf("kept %s", s.Stored)
	}
	// Of two values the harness takes the last one.
	twice := Read(&Origin{}, []byte(`{"permissions":{"allow":["Bash(a)"],"deny":["Bash(x)"]},"permissions":{"allow":["Bash(b)"],"allow":["Bash(c)"],"deny":["Bash(y)"],"deny":["Bash(z)"]}}`))
	got = nil
	for _, e := range twice.Entries {
		got = append(got, e.Text)
	}
	if want := []string{"Bash(x)", "Bash(y)", "Bash(z)", "Bash(c)"}; !slices.Equal(got, want) {
		t.Errorf("twice: %q", got)
	}
	if s := Read(&Origin{}, []byte(`{"permissions":null,"permissions":{"allow":null,"deny":["Bash(a)"]}}`)); len(s.Entries) != 1 || len(s.Problems) > 0 {
		t.Errorf("null: %v", s.Problems)
	}
	// What the vendor does not document denies, and does not allow.
	lax := Read(&Origin{}, []byte("{\"permissions\":{\"allow\":[\"Bash(a)\"],// x\n\"deny\":[\"Bash(b)\",]}}"))
	if len(lax.Entries) != 1 || lax.Entries[0].Text != "Bash(b)" || len(lax.Problems) != 1 || lax.Problems[0].Severity == diagnostic.LevelError {
		t.Errorf("comments: %+v, %v", lax.Entries, lax.Problems)
	}
	for text, want := range map[string]string{
		"": "the file is empty", "{": "a key in double quotes", "[]": "holds a list, not an object", `{"permissions":[]}`: "permissions is a list",
		`{"permissions":{"deny":"x"}}`: "permissions.deny is a text, not a list", `{"permissions":{"ask":[1]}}`: "permissions.ask holds a number",
		`{"permissions":{"deny":[` + strings.Repeat(`"a",`, maxEntries) + `"a"]}}`: "more than 20000 entries",
	} {
		s := Read(&Origin{File: "f"}, []byte(text))
		if len(s.Problems) != 1 || s.Problems[0].Severity != diagnostic.LevelError || !strings.Contains(s.Problems[0].Text, want) || s.Problems[0].Line != 1 {
			t.Errorf("%.40q: %v", text, s.Problems)
		}
	}
	if s := ReadFormat(ClaudeSettings, &Origin{}, make([]byte, MaxSize+1)); len(s.Problems) != 1 {
		t.Errorf("a huge file: %v", s.Problems)
	}
}

func TestCounts(t *testing.T) {
	entry := func(from *Origin, effect cardea.Effect, rule string) Entry {
		return Entry{From: from, Effect: effect, Rule: parse(rule, effect)}
	}
	from := &Origin{Harness: "h", Allows: true}
	for _, tt := range []struct {
		e    Entry
		want bool
	}{
		{entry(from, cardea.Allow, "Bash"), true}, {entry(from, cardea.Allow, "*"), false},
		{entry(&Origin{Harness: "o", Allows: true}, cardea.Allow, "Bash"), false}, {entry(&Origin{Harness: "h"}, cardea.Allow, "Bash"), false},
		{entry(&Origin{Harness: "o"}, cardea.Deny, "Bash"), true},
	} {
		if tt.e.Counts("h") != tt.want {
			t.Errorf("%+v", tt.e)
		}
	}
	e := entry(&Origin{File: "x"}, cardea.Deny, "Bash")
	if e.Source() != "x" || e.Column() != 0 {
		t.Error(e.Source())
	}
}

// TestDoubts: what authors may not have meant.
func TestDoubts(t *testing.T) {
	for entry, want := range map[string]string{
		"Bash": "every command", "Bash(*)": "every command", "Edit": "every file", "WebFetch": "every host", "WebSearch": "", "Bash(npm test:*)": "", "Bash(ls*)": "no blank",
		"Bash(* x)": "program itself", "Bash(bash:*)": "starts any command", "Bash(bash -c:*)": "starts any command", "Bash(sudo *)": "another user", "Bash(docker exec *)": "elsewhere",
		"Bash(docker ps *)": "", "Bash(python3 *)": "runs any program", "Bash(python3 -m pytest *)": "", "Bash(npx:*)": "any package", "Bash(git * main)": "where the subcommand does",
		"Bash(git *)": "", "Bash(find *)": "start programs and delete", "Bash(a && b *)": "taken apart", "Bash(a && b)": "taken apart", "Bash(echo '&&' *)": "", "Bash(git:* push)": "at the very end",
		"Bash( ls)":    "begins with a blank",
		"Bash(A=b ls)": "variables are part",
		"Write(x)":     "write Edit(x), which covers this tool",
		"Grep(a/**)":   "write Read(a/**)",
		"mcp__*":       "behind mcp__SERVER__",
		"Bash(ls":      "parenthesis",
	} {
		e := Entry{From: &Origin{}, Effect: cardea.Allow, Rule: parse(entry, cardea.Allow)}
		var said []string
		for _, d := range e.Doubts() {
			said = append(said, d.Text)
			if d.Hint == "" || d.Code == "" {
				t.Errorf("%s: %+v", entry, d)
			}
		}
		if text := strings.Join(said, "; "); want == "" && text != "" || !strings.Contains(text, want) {
			t.Errorf("%s: %q, want %q", entry, text, want)
		}
	}
}

func TestShadows(t *testing.T) {
	for _, tt := range []struct {
		e, o string
		want bool
	}{
		{"Bash", "Bash(x)", true}, {"Bash(x)", "Bash", false}, {"Bash(npm:*)", "Bash(npm test:*)", true}, {"Bash(npm:*)", "Bash(npm)", true}, {"Bash(npm test:*)", "Bash(npm:*)", false},
		{"Bash(npm:*)", "Bash(npmx)", false}, {"Bash(ls*)", "Bash(ls:*)", true}, {"Bash(ls:*)", "Bash(ls*)", false}, {"Bash(* x)", "Bash(a x)", true}, {"Bash(* x)", "Bash(a *)", false},
		{"Bash(a * b)", "Bash(a * b)", true}, {"Bash(x)", "Read(x)", false}, {"Read(x)", "Read(x)", true}, {"Read(x)", "Read(y)", false}, {"mcp__a", "mcp__a__b", true}, {"mcp__a", "mcp__ab__c", false},
		{"WebFetch(domain:*.a.b)", "WebFetch(domain:x.a.b)", true},
		{"WebFetch(domain:a.b)", "WebFetch(domain:*.a.b)", false},
		{"Agent(a)", "Agent(a)", true},
		{"Agent(m:a)", "Agent(m:a)", true},
		{"(", "(", false},
	} {
		e, o := Entry{From: &Origin{}, Effect: cardea.Deny, Rule: parse(tt.e, cardea.Deny)}, Entry{From: &Origin{}, Effect: cardea.Deny, Rule: parse(tt.o, cardea.Deny)}
		if e.Shadows(&o) != tt.want {
			t.Errorf("%s shadows %s: %v", tt.e, tt.o, !tt.want)
		}
	}
}

// TestPathsOfOtherTools: what is denied for a tool that writes or searches is denied as for
// Edit and Read, which cover it.
func TestPathsOfOtherTools(t *testing.T) {
	for entry, as := range map[string]string{
		"Write(docs/**)": "Edit(docs/**)", "MultiEdit(//etc/*)": "Edit(//etc/*)", "NotebookEdit(./n.ipynb)": "Edit(./n.ipynb)", "apply_patch(~/x)": "Edit(~/x)", "Write(file_path:a)": "Edit(a)",
		"Grep(secret/**)": "Read(secret/**)", "Glob(*.pem)": "Read(*.pem)", "LS(/x/)": "Read(/x/)", "Grep(path:a)": "Read(a)",
	} {
		for _, effect := range []cardea.Effect{cardea.Deny, cardea.Ask} {
			r, other := parse(entry, effect), parse(as, effect)
			for _, tool := range []string{"Write", "Edit", "Read", "Bash"} {
				if c := (&cardea.Call{Tool: tool}); r.Names(c) != other.Names(c) {
					t.Errorf("%s, %s", entry, tool)
				}
			}
			for _, path := range []string{"/w/docs/a", "/w/a", "/etc/passwd", "/w/n.ipynb", "/home/u/x", "/w/secret/b", "/w/k/a.pem", "/src/x/y", "/w/other"} {
				if r.Touches(read(path), at) != other.Touches(read(path), at) {
					t.Errorf("%s is not as %s about %s", entry, as, path)
				}
			}
		}
	}
}
