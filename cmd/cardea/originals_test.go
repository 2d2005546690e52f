package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/testing/sharedtest"
	"cardea.dev/internal/testing/testrun"
)

// original is a case of another tool's own tests, with that tool's answer.
type original struct {
	project, suite, id string
	setup              originalSetup
	home               string // the set-up that rows share, as text
	tool, input, want  string
}

// originalSetup holds the files of a home folder with a project, and how the hook is called.
type originalSetup struct {
	Harness                *string
	Event, Mode, Says      string
	Env                    map[string]string
	Args                   []string
	Raw, JSON, Trust       bool
	Payload                map[string]any
	Allow, Deny, Ask       []string
	Settings               map[string]any
	YAML, Rulebook, Routes string
	Policies, Signals      map[string]string
	PluginRoutes           map[string]string `json:"plugin-routes"`
	Bouncer                json.RawMessage
	Files, Links, After    map[string]string
	Dirs, Exec             []string
	Import                 [][]string
}

// difference is a class of cases that Cardea answers differently on purpose. why is in the
// page about the original.
type difference struct {
	project string
	// rows holds the suites and ids, answers is "original>Cardea".
	rows, answers, why string
}

// differences returns all of them. The first that fits applies.
func differences() []difference {
	return []difference{
		{"cupcake", `^built-ins .* whole files`, `^deny>(allow|silent)$`, "parts of a file are denied where a harness shows all of it at once"},
		{"cupcake", `^built-ins .* check after an edit`, `^(context>silent|ask>block)$`, "a check that passes says nothing, and one that fails says so"},
		{"cupcake", `^built-ins .* check before git, fails`, `^allow>deny$`, "the checks before git run, as documented"},
		{"cupcake", `^(built-ins|project of init)`, `^allow>(ask|deny)$`, "built-in rules guard git's hooks, and what runs at a login"},
		{"cupcake", `^project of init`, `^(halt|deny)>(allow|ask|silent)$`, "words of a line are no access: reading a protected path, or naming an option in a text"},
		{"cupcake", `^global built-ins`, `^(halt|deny)>(allow|silent)$`, "reading what belongs to the system, and a word such as token in a name or a line"},
		{"cupcake", `^global built-ins`, `^allow>(ask|deny)$`, "additional_paths, and writing a .env file, which Cupcake does not read"},
		{"cupcake", `^scripts .* content of a script`, `^deny>silent$`, "the content of a script is no field of the input"},
		{"cupcake", `^routing`, `^allow>(ask|deny)$`, "both names of the tool Task are one"},
		{"cupcake", `^routing`, `^notice>silent$`, "A message for the person on an event that does not show one is kept"},
		{"cupcake", `^string matching .* protected, reads`, `^allow>ask$`, "a name that says it holds a secret asks, also where reading is not protected"},
		{"permitter", `.`, `^ask>deny$`, "an entry that denies, or a built-in rule, denies; Permitter leaves it to the prompt"},
		{"permitter", `.`, `^ask>allow$`, "all commands inside of a line are seen, so a line of several words may be listed as a whole"},
		{"permitter", `^security`, `^allow>(ask|silent)$`, "a line that no shell reads as it looks, or that is too long, is left to the prompt"},
		{"permitter", `.`, `^allow>silent$`, "a file that the shell writes, and a word that may become several, need an entry"},
		{"permitter", `.`, `^allow>(ask|deny)$`, "a built-in rule, or an entry that denies, stops what an entry names"},
		{"tool-routing", `^configuration`, `^silent>deny$`, "a route counts although another one is broken or has its name, and for every tool"},
		{"tool-routing", `^exit codes`, `^exit 0>exit 2$`, "a message that cannot be read is denied: exit code 2"},
		{"bouncer", `.`, `^(silent|allow|exit 0)>(ask|deny|exit 2)$`, "Bouncer's groups also miss spellings of what they deny"},
		{"bouncer", `.`, `^allow>silent$`, "is left to the agent's own prompt where Cardea does not know that it only reads"},
		{"bouncer", `defaults|default allow|config`, `^deny>(ask|silent|allow)$|^exit 2>exit 0$`, "Cardea's packs deny what cannot be undone beyond the project, and ask a person"},
		{"bouncer", `keep-denials`, `^deny>(ask|silent|allow)$`, "a name or a text is no deed"},
	}
}

// TestOriginals runs the cases of the originals' own tests through the built programs. Each
// answer must be the original's, or in a class that differs on purpose.
func TestOriginals(t *testing.T) {
	if !sharedtest.Available(t) {
		t.Skip("the cases are not part of the repository")
	}
	all, used := differences(), map[int]bool{}
	homes := map[string]*originalHome{}
	rows := originalRows(t)
	every := testrun.Pick(5, 1)
	for n, row := range rows {
		if n%every != 0 {
			continue
		}
		if homes[row.home] == nil {
			homes[row.home] = newOriginalHome(t, row.setup)
		}
		got := homes[row.home].ask(row)
		if originalAnswer(row.project, row.want, got) {
			continue
		}
		at := slices.IndexFunc(all, func(d difference) bool {
			return d.project == row.project && regexp.MustCompile(d.rows).MatchString(row.suite+" "+row.id) && regexp.MustCompile(d.answers).MatchString(row.want+">"+got)
		})
		if at < 0 {
			t.Errorf("%s, %s %s: %s %s: %s, the original says %s", row.project, row.suite, row.id, row.tool, row.input, got, row.want)
		}
		used[at] = true
	}
	for n, d := range all {
		page, err := os.ReadFile("../../docs/coming-from/" + d.project + ".md")
		if text := strings.Join(strings.Fields(string(page)), " "); err != nil || !strings.Contains(text, d.why) {
			t.Errorf("docs/coming-from/%s.md does not say: %s", d.project, d.why)
		}
		if every == 1 && !used[n] {
			t.Errorf("%s, %s %s: no case differs so", d.project, d.rows, d.answers)
		}
	}
}

// originalAnswer reports whether an answer has the effect of the original's. The original
// denies where Cardea stops the agent or not, and is silent where Cardea allows as the
// harness does. Permitter asks by silence.
func originalAnswer(project, want, got string) bool {
	switch want {
	case "halt", "deny":
		return slices.Contains([]string{"halt", "deny", "block"}, got)
	case "allow":
		return got == "allow" || project == "cupcake" && slices.Contains([]string{"silent", "notice", "context"}, got)
	case "silent":
		return slices.Contains([]string{"silent", "allow", "notice"}, got)
	case "ask":
		return got == "ask" || project == "permitter" && got == "silent"
	case "context":
		return got == "context" || got == "allow" // with the text
	}
	return got == want
}

// originalRows reads the cases.
func originalRows(t *testing.T) (rows []original) {
	t.Helper()
	for n, line := range strings.Split(strings.TrimSpace(string(sharedtest.Read(t, "corpus", "originals-cases.tsv"))), "\n") {
		cols := strings.Split(line, "\t")
		if n == 0 {
			continue
		}
		for i := range cols {
			cols[i] = sharedtest.Unescape(cols[i])
		}
		row := original{project: cols[0], suite: cols[1], id: cols[2], tool: cols[4], input: cols[5], want: cols[6]}
		parts := map[string]json.RawMessage{}
		if err := errors.Join(json.Unmarshal([]byte(cols[3]), &row.setup), json.Unmarshal([]byte(cols[3]), &parts)); err != nil {
			t.Fatalf("line %d: %v", n+1, err)
		}
		for _, call := range strings.Fields("harness event mode env args raw says payload json") {
			delete(parts, call)
		}
		home, _ := json.Marshal(parts)
		row.home = string(home)
		rows = append(rows, row)
	}
	return rows
}

// originalHome is a home folder with a project.
type originalHome struct {
	t         *testing.T
	home, app string
	asked     int
}

func newOriginalHome(t *testing.T, s originalSetup) *originalHome {
	t.Helper()
	home, err := os.MkdirTemp(testrun.OnDisk(t), "originals")
	if err != nil {
		t.Fatal(err)
	}
	h := &originalHome{t: t, home: home, app: filepath.Join(home, "app")}
	settings := s.Settings
	if settings == nil {
		settings = map[string]any{}
	}
	if s.Allow != nil || s.Deny != nil || s.Ask != nil {
		settings["permissions"] = map[string]any{"allow": s.Allow, "deny": s.Deny, "ask": s.Ask}
	}
	files := map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n", ".git/objects/x": "", ".git/refs/heads/.x": ""}
	plugins, enabled := map[string]any{}, map[string]any{}
	for name, text := range s.PluginRoutes {
		dir := "~/.claude/plugins/cache/market/" + name + "/1.0.0"
		files[dir+"/hooks/tool-routes.yaml"], files[dir+"/.claude-plugin/plugin.json"] = text, `{"name":"`+name+`"}`
		plugins[name+"@market"] = []any{map[string]any{"scope": "user", "installPath": filepath.Join(home, dir[2:]), "version": "1.0.0"}}
		enabled[name+"@market"] = true
	}
	if len(plugins) > 0 {
		list, _ := json.Marshal(map[string]any{"version": 2, "plugins": plugins})
		files["~/.claude/plugins/installed_plugins.json"] = string(list)
		if settings["enabledPlugins"] == nil {
			settings["enabledPlugins"] = enabled
		}
	}
	if len(settings) > 0 {
		text, _ := json.Marshal(settings)
		files["~/.claude/settings.json"] = string(text)
	}
	bouncer := string(s.Bouncer)
	if text := ""; json.Unmarshal(s.Bouncer, &text) == nil {
		bouncer = text
	}
	for path, text := range map[string]string{"~/.config/cardea/cardea.yaml": s.YAML, ".cupcake/rulebook.yml": s.Rulebook, ".claude/tool-routes.yaml": s.Routes, "~/.bouncer/config.json": bouncer} {
		if text != "" {
			files[path] = text
		}
	}
	for below, texts := range map[string]map[string]string{".cupcake/policies/claude/": s.Policies, ".cupcake/signals/": s.Signals, "": s.Files} {
		for name, text := range texts {
			files[below+name] = text
		}
	}
	h.write(files)
	h.fill(s)
	return h
}

// fill makes what is not a file, and runs the import.
func (h *originalHome) fill(s originalSetup) {
	h.t.Helper()
	var err error
	for _, dir := range append(s.Dirs, "~/.config/cardea", "~/.claude") {
		err = errors.Join(err, os.MkdirAll(h.path(dir), 0o755))
	}
	for name, to := range s.Links {
		err = errors.Join(err, os.MkdirAll(filepath.Dir(h.path(name)), 0o755), os.Symlink(h.filled(to), h.path(name)))
	}
	for _, name := range s.Exec {
		err = errors.Join(err, os.Chmod(h.path(name), 0o755))
	}
	if err != nil {
		h.t.Fatal(err)
	}
	person := func(args ...string) {
		cmd := exec.Command("person", args...)
		cmd.Dir, cmd.Env = h.app, h.env(nil)
		if out, err := cmd.CombinedOutput(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			h.t.Fatalf("%q: %v: %s", args, err, out)
		}
	}
	for _, args := range s.Import {
		args = slices.Clone(args)
		for i := range args {
			args[i] = h.filled(args[i])
		}
		person(append([]string{"import"}, args...)...)
	}
	if s.Trust {
		person("trust")
	}
	h.write(s.After)
}

func (h *originalHome) path(name string) string {
	if below, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(h.home, below)
	}
	return filepath.Join(h.app, name)
}

// filled returns a text with the paths of this home folder, and with repeated characters.
func (h *originalHome) filled(text string) string {
	text = strings.NewReplacer("@APP@", h.app, "@HOME@", h.home).Replace(text)
	return regexp.MustCompile(`@(.)\*(\d+)@`).ReplaceAllStringFunc(text, func(m string) string {
		var n int
		_, _ = fmt.Sscanf(m[strings.Index(m, "*")+1:], "%d", &n)
		return strings.Repeat(string([]rune(m)[1]), n)
	})
}

func (h *originalHome) write(files map[string]string) {
	h.t.Helper()
	for name, text := range files {
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(name, ".cupcake/signals/") {
			mode = 0o755
		}
		path := h.path(name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(h.filled(text)), mode)); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *originalHome) env(more map[string]string) []string {
	out := []string{"HOME=" + h.home, "PATH=" + builtIn + string(os.PathListSeparator) + os.Getenv("PATH"), "TERM=xterm", "LANG=C.UTF-8"}
	for name, value := range more {
		out = append(out, name+"="+h.filled(value))
	}
	return out
}

// ask returns the answer to a case.
func (h *originalHome) ask(row original) string {
	h.t.Helper()
	if err := build(); err != nil {
		h.t.Fatal(err)
	}
	s := row.setup
	harness, event := "claude-code", s.Event
	if s.Harness != nil {
		harness = *s.Harness
	}
	if event == "" {
		event = "PreToolUse"
	}
	args := []string{"check"}
	if harness != "" {
		args = append(args, "--harness", harness)
	}
	args = append(args, s.Args...)
	cmd := exec.Command(filepath.Join(builtIn, "cardea"), args...)
	cmd.Dir, cmd.Env, cmd.Stdin = h.app, h.env(s.Env), strings.NewReader(h.message(row, harness, event))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		h.t.Fatal(err)
	}
	switch code := cmd.ProcessState.ExitCode(); {
	case code != 0 || slices.Contains(s.Args, "--exit-code"):
		return fmt.Sprintf("exit %d", code)
	case strings.TrimSpace(out.String()) == "":
		return "silent"
	}
	return saidBy(out.Bytes(), h.filled(s.Says))
}

// message returns what the harness sends.
func (h *originalHome) message(row original, harness, event string) string {
	s := row.setup
	if s.Raw {
		return h.filled(row.input)
	}
	h.asked++
	mode := s.Mode
	if mode == "" {
		mode = "default"
	}
	message := map[string]any{"session_id": fmt.Sprint("s-", h.asked), "transcript_path": h.home + "/t.jsonl", "cwd": h.app, "permission_mode": mode, "hook_event_name": event}
	input := map[string]any{"command": h.filled(row.input)}
	if row.tool != "Bash" || s.JSON {
		input = nil
		if err := json.Unmarshal([]byte(h.filled(row.input)), &input); err != nil && row.input != "" {
			h.t.Fatalf("%s: %v", row.id, err)
		}
	}
	switch {
	case harness == "copilot-cli":
		message = map[string]any{"sessionId": "s-1", "timestamp": 1764150000000, "cwd": h.app, "toolName": row.tool, "toolArgs": input}
	case row.tool != "":
		message["tool_name"], message["tool_input"] = row.tool, input
		if event == "PreToolUse" {
			message["tool_use_id"] = "t1"
		}
	default:
		for key, value := range input {
			message[key] = value
		}
	}
	if harness != "copilot-cli" {
		for key, value := range s.Payload {
			message[key] = value
		}
	}
	text, err := json.Marshal(message)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.filled(string(text))
}

// saidBy returns an answer in one word, and whether a required text is missing.
func saidBy(out []byte, says string) string {
	var a struct {
		Continue                               *bool
		PermissionDecision, Behavior, Decision string
		AdditionalContext, SystemMessage       string
		ModifiedArgs                           json.RawMessage
		HookSpecificOutput                     struct {
			PermissionDecision, AdditionalContext string
			UpdatedInput                          json.RawMessage
			Decision                              struct {
				Behavior     string
				UpdatedInput json.RawMessage
			}
		}
	}
	if json.Unmarshal(out, &a) != nil {
		return "no JSON"
	}
	specific := a.HookSpecificOutput
	word := ""
	for _, w := range []string{specific.PermissionDecision, specific.Decision.Behavior, a.PermissionDecision, a.Behavior, a.Decision} {
		if word == "" {
			word = w
		}
	}
	switch {
	case a.Continue != nil && !*a.Continue:
		word = "halt"
	case word == "allow" && (specific.UpdatedInput != nil || specific.Decision.UpdatedInput != nil || a.ModifiedArgs != nil):
		word = "modify"
	case word != "":
	case specific.AdditionalContext != "" || a.AdditionalContext != "":
		word = "context"
	case a.SystemMessage != "":
		word = "notice"
	default:
		word = "other"
	}
	if text, _ := json.Marshal(says); says != "" && !bytes.Contains(out, bytes.Trim(text, `"`)) {
		word += " (without the text)"
	}
	return word
}

// TestOriginalsInit imports the files that the originals write at their start, unchanged
// and with changes of a person. The import must report a loss exactly where there is one.
func TestOriginalsInit(t *testing.T) {
	const claude, builtins = "project/.cupcake/policies/claude/", "project/.cupcake/policies/claude/builtins/"
	routing := func(scope, event string) string {
		return "# METADATA\n# scope: " + scope + "\n# custom:\n#   routing:\n#     required_events: [" + event + "]\n"
	}
	const begin, rule = "package cupcake.policies.mine\n\nimport rego.v1\n\n", "deny contains {\"rule_id\": \"M-1\", \"reason\": \"r\"} if input.tool_input.command == \"x\"\n"
	const prompt = "deny contains {\"rule_id\": \"M-1\", \"reason\": \"r\"} if input.prompt == \"x\"\n"
	own := func(name string) string { return strings.Replace(begin, ".mine", ".builtins."+name, 1) }
	all := "builtins:\n  system_protection: {enabled: true}\n  sensitive_data_protection: {enabled: true}\n  cupcake_exec_protection: {enabled: true}\n"
	const global = "global/.config/cupcake/rulebook.yml"
	for name, c := range map[string]struct {
		write string            // a file, with its text
		text  string            // what is appended if the file exists
		edit  map[string]string // what is replaced in it
		says  string            // what is lost, "" for nothing
	}{
		"as it is":                 {},
		"global":                   {write: "global/x"},
		"signals are an empty map": {write: "project/.cupcake/rulebook.yml", edit: map[string]string{"signals:\n": "signals: {}\n"}},
		"builtins are null":        {write: "project/.cupcake/rulebook.yml", edit: map[string]string{"builtins:\n": "builtins:\nx:\n"}},
		"a rule is added":          {write: builtins + "git_block_no_verify.rego", text: strings.Replace(rule, "M-1", "MINE-1", 1), says: "it decides MINE-1"},
		"a verb is added":          {write: builtins + "git_block_no_verify.rego", text: strings.Replace(rule, "deny", "ask", 1), says: "it says ask"},
		"another package": {
			write: builtins + "protected_paths.rego",
			edit:  map[string]string{"package cupcake.policies.builtins.protected_paths": "package cupcake.policies.own"},
			says:  "its package is cupcake.policies.own",
		},
		"another event":                {write: builtins + "git_pre_check.rego", edit: map[string]string{`["PreToolUse"]`: `["PreToolUse", "Stop"]`}, says: "it is routed to Stop"},
		"another id":                   {write: builtins + "git_pre_check.rego", edit: map[string]string{`"rule_id": "BUILTIN-GIT-CHECK"`: `"rule_id": "OURS"`}, says: "it decides OURS"},
		"a rule in a file that is off": {write: builtins + "post_edit_check.rego", text: rule},
		"a message is changed":         {write: builtins + "git_block_no_verify.rego", edit: map[string]string{"own words": "other words"}},
		"a builtin of one's own":       {write: builtins + "mine.rego", text: routing("package", "PreToolUse") + own("mine") + rule, says: "Cupcake loads it where rulebook.yml has builtins"},
		"a further policy":             {write: claude + "mine.rego", text: routing("package", "PreToolUse") + begin + rule},
		"on a prompt":                  {write: claude + "mine.rego", text: routing("package", "UserPromptSubmit") + begin + prompt},
		"routing of a rule":            {write: claude + "mine.rego", text: begin + routing("rule", "PreToolUse") + rule},
		"routing of a document":        {write: claude + "mine.rego", text: begin + routing("document", "UserPromptSubmit") + prompt},
		"routing in a wrong place":     {write: claude + "mine.rego", text: begin + routing("package", "PreToolUse") + rule, says: "it is broken"},
		"no routing":                   {write: claude + "mine.rego", text: begin + rule, says: "so it is never asked, in Cupcake neither"},
		"global, all on":               {write: global, text: all, says: "Read: /etc/hosts"},
		"global, words":                {write: global, text: all, says: "Read: tokens.md"},
		"global, one on":               {write: global, text: "signals:\nbuiltins: {system_protection: {enabled: false}, cupcake_exec_protection: {enabled: true}}\n"},
		"global, null":                 {write: global, text: "signals:\nbuiltins:\n"},
		"project, guardrails on":       {write: "project/.cupcake/rulebook.yml", edit: map[string]string{"rulebook_security_guardrails:\n": "rulebook_security_guardrails:\n    enabled: true\n"}},
		"project, paths of all kinds": {write: "project/.cupcake/rulebook.yml", edit: map[string]string{
			"      - \"/etc/\"\n      - \"/System/\"\n      - \"~/.ssh/\"\n": "      - 'src/legacy/'\n      - '*.lock'\n      - ./db/schema.sql\n",
			"      - \".cupcake/\"\n": "      - \"~/notes/\"\n      - secrets.json\n", "rulebook_security_guardrails:\n": "rulebook_security_guardrails:\n    enabled: true\n"}},
		"project, full reads on": {write: "project/.cupcake/rulebook.yml", text: "  claude_code_enforce_full_file_read: {enabled: true}\n", says: `"offset": 10`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(sharedtest.Path(t, "corpus", "originals-init"))); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, filepath.FromSlash(c.write))
			if c.write != "" {
				data, _ := os.ReadFile(path)
				text := string(data) + c.text
				for from, to := range c.edit {
					if !strings.Contains(text, from) {
						t.Fatalf("no %q in %s", from, text)
					}
					text = strings.Replace(text, from, to, 1)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			args := []string{"import", "cupcake"}
			if strings.HasPrefix(c.write, "global/") {
				args = append(args, filepath.Join(dir, "global/.config/cupcake"), "--user")
			}
			cmd := exec.Command("person", args...)
			cmd.Dir, cmd.Env = filepath.Join(dir, "project"), []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			_ = cmd.Run()
			if code := cmd.ProcessState.ExitCode(); (c.says == "") != (code == 0) || !strings.Contains(errs.String(), c.says) || c.says == "" && strings.Contains(out.String()+errs.String(), "LOST") {
				t.Errorf("exit %d, want a loss that says %q:\n%s\n%s", code, c.says, errs.String(), out.String())
			}
			for line := range strings.Lines(errs.String()) {
				if strings.HasPrefix(line, "    ") && !strings.Contains(line, "; ") {
					t.Errorf("a call passes for no reason: %s", line)
				}
			}
		})
	}
}
