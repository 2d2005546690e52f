package importer

import (
	"cmp"
	_ "embed" // the calls that builtins stop
	"fmt"
	"slices"
	"strings"

	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/memory/evidence"
)

// CupcakeOptions are options for importing a rulebook.yml.
type CupcakeOptions struct {
	// Moved returns a command with the new paths of the scripts.
	Moved func(string) string
	// Judged is set if the user's settings enable the judge.
	Judged bool
	// Own holds the builtins that the user wrote, and that are copied.
	Own []string
}

// Cupcake imports a rulebook.yml. Policies need no translation, so it only returns settings
// for signals and actions, and rules and policies for Cupcake's builtins.
func Cupcake(path string, data []byte, o CupcakeOptions) Imported {
	r := rulebook(path, data)
	c := cupcake{table: table{file: path}, moved: o.Moved, judged: o.Judged, own: o.Own}
	top := r.Top().Map()
	c.signals(top.Map("signals"))
	c.actions(top.Map("actions"))
	c.builtins(top.Map("builtins"))
	c.watchdog(top.Get("watchdog"))
	top.Get("version")
	top.Done()
	out := Imported{Settings: c.settings, Files: c.files, Calls: append(c.calls, c.stops...)}
	if len(c.rules) > 0 {
		out.Files = append(out.Files, rulesFile("rules/imported-cupcake.yaml", "# What Cupcake had built in.\n", c.rules))
		out.Problems = unreadable(out.Files[len(out.Files)-1], len(c.rules))
	}
	out.Problems = append(c.remarks(r.Problems()), out.Problems...)
	out.Table = c.rows
	return out
}

// rulebook reads a rulebook.yml. Cupcake treats null as missing.
func rulebook(path string, data []byte) *document.Reader {
	r := document.Read(path, data)
	r.DropNulls()
	return r
}

type cupcake struct {
	table
	moved    func(string) string
	judged   bool
	own      []string
	settings []Setting
	files    []File
	rules    []string
	calls    []TrialCall
	stops    []TrialCall
}

// signals imports the signals.
func (c *cupcake) signals(m document.Map) {
	for _, name := range m.Keys() {
		s := m.Get(name)
		command, limit := "", 5
		either(s, &command, func(m document.Map) {
			command = m.Need("command").Text()
			if t := m.Get("timeout_seconds"); t.Present() {
				limit = t.Int(1, 600)
			}
		})
		c.signal(name, c.moved(command), limit)
		c.taken(s, "signals."+name, "signals.%s in cardea.yaml", name)
	}
}

// either reads a text, or a map whose keys read reads.
func either(v document.Value, text *string, read func(m document.Map)) {
	if !v.IsMap() {
		*text = v.Text()
		return
	}
	m := v.Map()
	read(m)
	m.Done()
}

// signal adds a signal to the settings.
func (c *cupcake) signal(name, command string, limit int) {
	c.settings = append(c.settings, Setting{Path: []string{"signals", name}, Protects: true,
		Value: fmt.Sprintf("{command: %s, timeout_seconds: %d}", quoted(command), limit)})
}

// actions imports the actions of answers and of rules.
func (c *cupcake) actions(m document.Map) {
	for _, key := range []string{"on_any_denial", "on_halt", "on_ask"} {
		c.action(m.Get(key), "actions."+key, "actions", key)
	}
	// Newer versions have the actions of rules under by_rule_id.
	for _, key := range []string{"violations", "by_rule_id"} {
		rules := m.Map(key)
		for _, id := range rules.Keys() {
			c.action(rules.Get(id), "actions."+key+"."+id, "actions", "violations", id)
		}
	}
	m.Done()
}

// action imports a list of commands that run after an answer.
func (c *cupcake) action(v document.Value, what string, path ...string) {
	if !v.Present() {
		return
	}
	var items []string
	for _, e := range v.Items() {
		command := ""
		either(e, &command, func(m document.Map) { command = m.Need("command").Text() })
		items = append(items, "{command: "+quoted(c.moved(command))+"}")
	}
	c.settings = append(c.settings, Setting{Path: path, Items: items})
	c.taken(v, what, "%s in cardea.yaml; newer versions of Cupcake do not run actions", strings.Join(path, "."))
}

// watchdog imports the switch of the model that judges calls.
func (c *cupcake) watchdog(v document.Value) {
	on := false
	if v.IsMap() {
		m := v.Map()
		on = m.Has("enabled") && m.Bool("enabled")
	} else if v.Present() {
		on = v.Bool()
	}
	switch {
	case on && c.judged:
		c.changed(v, "watchdog", "the judge of your settings answers input.signals.watchdog, for policies that require that signal (docs/judge.md)")
	case on:
		c.lost(v, "watchdog", "no model looks at calls, since the judge is off: judge: {enabled: true} in your own settings switches it on (docs/judge.md)")
	case v.Present():
		c.left(v, "watchdog", "it was off")
	}
}

// builtins translates Cupcake's builtins to rules, policies and settings.
func (c *cupcake) builtins(m document.Map) {
	for _, name := range m.Keys() {
		v := m.Get(name)
		if why := off(v); why != "" {
			c.left(v, "builtins."+name, "%s", why)
			continue
		}
		b := builtin{name: name, at: v, Map: v.Map()}
		b.Know("enabled")
		if slices.Contains(c.own, name) {
			c.changed(v, "builtins."+name, "its policy is copied, and is on; what it reads of input.builtin_config is not there")
			continue
		}
		b.message = b.Text("message")
		write := builtinOf(name).write
		if write == nil {
			c.lost(v, "builtins."+name, "Cardea does not know it")
			continue
		}
		b.how = write(c, &b)
		if b.changed {
			c.changed(v, "builtins."+name, "%s", b.how)
		} else {
			c.taken(v, "builtins."+name, "%s", b.how)
		}
		c.stops = append(c.stops, stops(&b)...)
		for _, key := range b.Unknown() {
			c.left(b.Get(key), "builtins."+name+"."+key, "Cupcake does not read it")
		}
	}
}

// cupcakePolicy describes a builtin of Cupcake: its verbs, its event, and the function that
// translates it, nil if Cardea has no translation.
type cupcakePolicy struct {
	verbs []string
	event string
	write func(*cupcake, *builtin) string
}

// builtins holds Cupcake's builtins by name. Some names have the prefix of a harness.
var builtins = map[string]cupcakePolicy{
	"protected_paths":              {[]string{"halt"}, "PreToolUse", (*cupcake).protectedPaths},
	"rulebook_security_guardrails": {[]string{"halt"}, "PreToolUse", (*cupcake).guardrails},
	"git_pre_check":                {[]string{"halt"}, "PreToolUse", (*cupcake).gitPreCheck},
	"system_protection":            {[]string{"halt"}, "PreToolUse", (*cupcake).systemProtection},
	"cupcake_exec_protection":      {[]string{"halt"}, "PreToolUse", (*cupcake).execProtection},
	"sensitive_data_protection":    {[]string{"deny", "halt"}, "PreToolUse", (*cupcake).sensitiveData}, // the file for Cursor uses halt
	"git_block_no_verify":          {[]string{"deny"}, "PreToolUse", (*cupcake).noVerify},
	"enforce_full_file_read":       {[]string{"deny"}, "PreToolUse", (*cupcake).fullReads},
	"global_file_lock":             {[]string{"halt", "deny"}, "PreToolUse", nil}, // of older versions
	"post_edit_check":              {[]string{"ask", "block", "add_context"}, "PostToolUse", (*cupcake).postEditCheck},
	"always_inject_on_prompt":      {[]string{"add_context"}, "UserPromptSubmit", (*cupcake).alwaysInject},
}

// builtinOf returns the builtin of a name, empty if Cupcake has none.
func builtinOf(name string) cupcakePolicy {
	for _, harness := range []string{"claude_code_", "opencode_", "factory_"} {
		if of, has := strings.CutPrefix(name, harness); has && (of == "enforce_full_file_read" || of == "always_inject_on_prompt") {
			return builtins[of]
		}
	}
	return builtins[name]
}

// BuiltinVerbs returns the verbs and the event of a builtin of Cupcake. Both are empty if
// Cupcake has none of this name.
func BuiltinVerbs(name string) (verbs []string, event string) {
	b := builtinOf(name)
	return b.verbs, b.event
}

// BuiltinSwitches returns the builtins that a rulebook.yml names, and whether each is
// enabled.
func BuiltinSwitches(path string, data []byte) map[string]bool {
	m, out := rulebook(path, data).Top().Map().Map("builtins"), map[string]bool{}
	for _, name := range m.Keys() {
		out[name] = off(m.Get(name)) == ""
	}
	return out
}

// off returns why Cupcake does not run a builtin, "" if it does.
func off(v document.Value) string {
	if !v.IsMap() {
		return "Cupcake reads only a map here, so it was off"
	}
	switch e := v.Map().Get("enabled"); {
	case !e.Present():
		return "it was off, since Cupcake wants enabled: true, and stays off; write that, if it is meant, and import again"
	case !e.Bool():
		return "it was off"
	}
	return ""
}

// builtin is an entry of a builtin in a rulebook.yml.
type builtin struct {
	document.Map
	name, message string
	at            document.Value
	// paths holds the paths that it protects.
	paths []string
	// how describes the translation; changed is set if it behaves differently.
	how     string
	changed bool
}

// guardrails denies all access to files that define what agents may do.
func (c *cupcake) guardrails(b *builtin) string {
	if b.paths = b.Texts("protected_paths"); len(b.paths) == 0 {
		b.paths = []string{".cupcake/"}
	}
	b.changed = true
	c.rule("guardrails", "    match:\n      path: ["+quotedList(anywhere(b.paths))+"]\n", cmp.Or(b.message, "These files say what agents may do."))
	c.calls = append(c.calls, call("Read", "file_path", strings.TrimSuffix(b.paths[0], "/")+"/rulebook.yml", "deny"), call("Bash", "command", "rm -r "+b.paths[0], "deny"))
	return "the rule cupcake-guardrails denies every access to these files. A text that only mentions them is not denied. Cardea's own files are guarded by the pack builtins"
}

// noVerify denies skipping or changing the hooks of git.
func (c *cupcake) noVerify(b *builtin) string {
	c.rule("no-verify", "    tool: [Bash]\n    match:\n      any:\n        - {command: git commit, flags: [-n]}\n        - {command: git, flags: [--no-verify]}\n",
		cmp.Or(b.message, "Hooks of git must run; fix what they find."))
	c.rule("git-hooks", "    tool: [Bash]\n    match: {access: [write, delete], path: '**/.git/hooks/**'}\n", cmp.Or(b.message, "Hooks of git must stay as they are."))
	c.calls = append(c.calls, call("Bash", "command", "git commit --no-verify -m x", "deny"), call("Bash", "command", "chmod -x .git/hooks/pre-commit", "deny"),
		call("Bash", "command", "git commit -m 'about --no-verify'", "allow"))
	return "rules cupcake-no-verify and cupcake-git-hooks, beside the built-in rules of the same kind"
}

// execProtection denies running Cupcake.
func (c *cupcake) execProtection(b *builtin) string {
	c.rule("exec", "    tool: [Bash]\n    match: {command: cupcake}\n", cmp.Or(b.message, "The gate is run by the harness, not by the agent."))
	c.calls = append(c.calls, call("Bash", "command", "cupcake eval", "deny"))
	return "rule cupcake-exec; the built-in rule gate-commands does the same for cardea"
}

// rule adds a deny rule.
func (c *cupcake) rule(id, match, message string) {
	c.rules = append(c.rules, "  - id: cupcake-"+id+"\n"+match+"    effect: deny\n    message: "+quoted(message)+"\n")
}

// systemProtection denies changes to system files, and commands as another user.
func (c *cupcake) systemProtection(b *builtin) string {
	paths := append([]string{"/etc/", "/bin/", "/sbin/", "/lib/", "/usr/bin/", "/usr/sbin/", "/usr/lib/", "/boot/", "/proc/", "/sys/", "/System/"}, b.Texts("additional_paths")...)
	message := cmp.Or(b.message, "This belongs to the system.")
	c.rule("system-paths", "    match:\n      any:\n        - access: [write, delete]\n          path: ["+quotedList(anywhere(paths))+"]\n        - {access: read, path: '/proc/*/environ'}\n", message)
	c.rule("sudo", "    tool: [Bash]\n    match: {command: [sudo, su, doas, mount, umount]}\n", message)
	at := strings.TrimSuffix(paths[len(paths)-1], "/") + "/x"
	c.calls = append(c.calls, call("Write", "file_path", "/etc/hosts", "deny"), call("Write", "file_path", at, "deny"), call("Bash", "command", "sudo ls", "deny"), call("Bash", "command", "cat /etc/hosts", ""))
	return "rules cupcake-system-paths, for what writes or deletes, and cupcake-sudo"
}

// sensitiveData denies reading files that hold secrets.
func (c *cupcake) sensitiveData(b *builtin) string {
	extra := b.Texts("additional_patterns")
	match := "    match:\n      any:\n        - access: read\n          files: [env-files, private-keys, secret-names, secret-folders, credentials]\n          unless: {metadata: true, search: true, files: [templates, source-code]}\n" +
		"        - access: read\n          path: ['*.pem', '*.key', '*.p12', '*.pfx', '*.jks', '*.keystore', .npmrc, .pypirc, .netrc, .git-credentials]\n" +
		"          pattern: '\\.(pem|key|p12|pfx|jks|keystore|npmrc|pypirc|netrc|git-credentials)\\b'\n          unless: {metadata: true}\n" + // files that a search finds are not in its text
		"        - {access: read, path: ['~/.ssh/**', '~/.aws/**', '~/.gnupg/**', '~/.kube/**', '~/.docker/**'], unless: {metadata: true, search: true}}\n" +
		"        - {command: [docker login, podman login, npm login, aws configure, gh auth login, gh auth token, gcloud auth print-access-token, git credential fill]}\n"
	if len(extra) > 0 {
		match += "        - {access: read, path: [" + quotedList(substrings(extra)) + "]}\n"
		c.calls = append(c.calls, call("Bash", "command", "cat "+strings.ReplaceAll(extra[0], "*", "x"), "deny"))
	}
	c.rule("sensitive-data", match, cmp.Or(b.message, "This may hold secrets."))
	c.rule("sensitive-names", "    tool: [Glob]\n    match: {field: pattern, pattern: '\\.(env|pem|key|ssh|aws)\\b|id_rsa|secret|credential|password'}\n", cmp.Or(b.message, "This may hold secrets."))
	c.calls = append(c.calls, call("Read", "file_path", ".env", "deny"), call("Bash", "command", "cat ~/.ssh/id_rsa", "deny"), call("Read", "file_path", "src/tokenizer.py", ""))
	b.changed = true
	return "rules cupcake-sensitive-data and cupcake-sensitive-names, for files that are known to hold secrets and for additional_patterns, beside the pack secrets-exposure; a name that only contains such a word (tokenizer.py) is not denied, as it was in Cupcake"
}

// protectedPaths denies writing and deleting the paths.
func (c *cupcake) protectedPaths(b *builtin) string {
	b.paths = b.Texts("paths")
	if len(b.paths) == 0 {
		b.changed = true
		return "it names no paths, so there is nothing to protect"
	}
	var items []string
	for _, p := range b.paths {
		items = append(items, quoted(p))
		at := below(p)
		c.calls = append(c.calls, call("Write", "file_path", at, "deny"), call("Bash", "command", "rm "+at, "deny"), call("Bash", "command", "cat "+at, "allow"))
	}
	c.settings = append(c.settings, Setting{Path: []string{"policies", "protected"}, Items: items})
	c.rule("protected-paths", "    match:\n      access: [write, delete, link]\n      path: ["+quotedList(anywhere(b.paths))+"]\n", cmp.Or(b.message, "This path is protected: it can be read, not changed."))
	return "policies.protected in cardea.yaml, and the rule cupcake-protected-paths, which has the message and finds relative paths at any depth"
}

// below returns a sample path that a path of a builtin covers.
func below(p string) string {
	at := strings.ReplaceAll(strings.TrimSuffix(p, "/"), "*", "x")
	if strings.HasSuffix(p, "/") {
		at += "/x"
	}
	return at
}

//go:embed cupcake-calls.tsv
var cupcakeCalls string

// maxStops is the maximum number of paths of a builtin to make calls for.
const maxStops = 3

// stops returns calls that a builtin stops in Cupcake.
func stops(b *builtin) (out []TrialCall) {
	for _, line := range strings.Split(cupcakeCalls, "\n") {
		row := append(strings.Split(line, "\t"), "")
		if len(row) < 4 || b.name != row[0] && !strings.HasSuffix(b.name, "_"+row[0]) {
			continue
		}
		paths := b.paths[:min(len(b.paths), maxStops)]
		if !strings.Contains(row[2], "@") {
			paths = []string{""}
		}
		for _, p := range paths {
			about := strings.ReplaceAll(row[2], "@", below(p))
			c := TrialCall{Tool: row[1], Input: about, Said: "deny"}
			if !strings.HasPrefix(about, "{") {
				c = call(row[1], cmp.Or(searched(row[1], about), "command"), about, "deny")
			}
			c.Group, c.About, c.Why = "builtins."+b.name, about, row[3]
			out = append(out, c)
		}
	}
	return out
}

// searched returns the field of a tool for a path or a pattern of paths.
func searched(tool, about string) string {
	if tool == "Glob" && strings.Contains(about, "*") {
		return "pattern"
	}
	return filesField[tool]
}

// anywhere returns path globs that match as in Cupcake: relative paths at any depth, and
// folders with everything in them.
func anywhere(paths []string) []string {
	var out []string
	for _, p := range paths {
		p = strings.TrimPrefix(p, "./")
		whole := strings.TrimSuffix(p, "/")
		all := []string{whole, whole + "/**"}
		if strings.Contains(whole, "/") && !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~") {
			all = append(all, "**/"+whole, "**/"+whole+"/**")
		} else if !strings.Contains(whole, "/") {
			all = []string{whole, "**/" + whole + "/**"}
		}
		out = append(out, all...)
	}
	return out
}

// substrings returns path globs that match texts anywhere in a path.
func substrings(texts []string) []string {
	var out []string
	for _, t := range texts {
		t = "*" + strings.Trim(t, "*") + "*"
		out = append(out, t, "**/"+t, "**/"+t+"/**")
	}
	return out
}

// gitPreCheck requires checks to succeed before git commits, pushes or merges.
func (c *cupcake) gitPreCheck(b *builtin) string {
	operations := b.Texts("operations")
	var checks []check
	for _, e := range b.Get("checks").Items() {
		one := check{}
		either(e, &one.command, func(m document.Map) { one.command, one.message = m.Text("command"), m.Text("message") })
		if one.command = c.moved(one.command); one.command == "" {
			c.left(e, "builtins."+b.name+".checks", "an entry has no command")
			continue
		}
		checks = append(checks, one)
	}
	b.changed = true
	if len(checks) == 0 {
		return "it has no checks, so there is nothing to do"
	}
	c.calls = append(c.calls, call("Bash", "command", "git commit -m x", ""))
	if len(operations) == 0 && !slices.ContainsFunc(checks, func(k check) bool { return k.message != "" }) {
		var items []string
		how := "policies.checks in cardea.yaml: the checks must have succeeded since the last change, and are not run by the gate; the hook needs --events PostToolUse"
		for _, k := range checks {
			items = append(items, quoted(k.command))
			for check, why := range evidence.Mistakes([]string{k.command}) {
				how += fmt.Sprintf("; the check %q can never hold: %s", check, why)
			}
		}
		c.settings = append(c.settings, Setting{Path: []string{"policies", "checks"}, Items: items, Protects: true})
		return how
	}
	if len(operations) == 0 {
		operations = []string{"commit", "push", "merge"}
	}
	when := list(operations, "|", func(o string) string { return `*'"command":["git","` + o + `"'*` })
	for i := range checks {
		checks[i].signal = fmt.Sprintf("git_pre_check_%d", i+1)
		checks[i].message = cmp.Or(checks[i].message, "The check fails: "+checks[i].command)
		c.signal(checks[i].signal, onlyIf(when, checks[i].command), 30)
	}
	c.policy("git_pre_check", gitPreCheck(operations, checks))
	return "policies/cupcake/imported/git_pre_check.rego runs the checks as signals before these operations; a check that takes longer than the hook has needs cardea install claude --timeout 90s"
}

// check is a command, its signal, and the message if it fails.
type check struct{ command, signal, message, extension string }

// onlyIf returns a command that runs only if the event on its standard input matches one of
// the shell patterns. Signals run for every call of a tool.
func onlyIf(patterns, command string) string {
	return "case \"$(cat)\" in " + patterns + ") " + command + " ;; esac"
}

// postEditCheck runs commands that check edited files.
func (c *cupcake) postEditCheck(b *builtin) string {
	var checks []check
	m := b.Get("by_extension").Map()
	for _, key := range m.Keys() {
		one := m.Get(key).Map()
		ext := strings.TrimPrefix(key, ".")
		k := check{signal: "post_edit_check_" + strings.Map(wordRune, ext), extension: "." + ext, command: c.moved(one.Text("command")), message: cmp.Or(one.Text("message"), "The check of this file fails.")}
		one.Done()
		if k.command == "" {
			c.left(m.Get(key), "builtins."+b.name+".by_extension."+key, "it has no command")
			continue
		}
		c.signal(k.signal, onlyIf(`*'.`+strings.ReplaceAll(ext, "'", "")+`"'*`, k.command), 30)
		checks = append(checks, k)
	}
	b.changed = true
	if len(checks) == 0 {
		return "it names no extension, so there is nothing to do"
	}
	c.policy("post_edit_check", postEditCheck(checks))
	return "policies/cupcake/imported/post_edit_check.rego runs the commands as signals after an edit and tells the model what fails; it did nothing in Cupcake; the hook needs --events PostToolUse"
}

// wordRune replaces characters that a name must not have.
func wordRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return '_'
}

// alwaysInject adds texts to every prompt.
func (c *cupcake) alwaysInject(b *builtin) string {
	var items, names []string
	for _, e := range b.Get("context").Items() {
		text, command := "", ""
		either(e, &text, func(m document.Map) {
			text, command = m.Text("content"), c.moved(m.Text("command"))
			if f := m.Text("file"); f != "" {
				command = "cat '" + strings.ReplaceAll(f, "'", `'\''`) + "'"
			}
		})
		switch {
		case text != "":
			items = append(items, quoted(text))
		case command != "":
			name := fmt.Sprintf("prompt_context_%d", len(names)+1)
			names = append(names, name)
			c.signal(name, command, 5)
		default:
			c.left(e, "builtins."+b.name+".context", "an entry has no text, file or command")
		}
	}
	how := "policies.context in cardea.yaml"
	if len(items) > 0 {
		c.settings = append(c.settings, Setting{Path: []string{"policies", "context"}, Items: items})
	}
	if len(names) > 0 {
		b.changed = true
		c.policy("prompt_context", promptContext(names))
		how += ", and policies/cupcake/imported/prompt_context.rego for files and commands, which did not arrive in Cupcake"
	}
	c.calls = append(c.calls, TrialCall{Event: "UserPromptSubmit", Input: "hello"})
	return how + "; the hook needs --events UserPromptSubmit"
}

// fullReads denies partial reads of a file.
func (c *cupcake) fullReads(b *builtin) string {
	c.settings = append(c.settings, Setting{Path: []string{"packs", "full-reads"}, Value: "on", Protects: true})
	how := "packs: {full-reads: on}, for files of up to 2000 lines and 64 000 bytes, which harnesses show at once; Cupcake denies every part of a file"
	if lines := b.Get("max_lines"); lines.Present() {
		how += "; Cupcake does not read max_lines"
	}
	b.changed = true
	if b.message != "" {
		c.rules = append(c.rules, "  - id: cupcake-full-reads\n    tool: [Read]\n    match:\n      any:\n        - {field: offset, pattern: '[0-9]'}\n        - {field: limit, pattern: '[0-9]'}\n    context: "+quoted(b.message)+"\n")
		how += "; rule cupcake-full-reads tells the model the message"
	}
	return how
}

// policy adds a policy file.
func (c *cupcake) policy(name, text string) {
	c.files = append(c.files, File{Path: "policies/cupcake/imported/" + name + ".rego", Text: text, Sealed: true, Protects: true})
}

// LiteralCalls returns sample calls with the texts that a policy compares commands with, so
// that a user sees whether it matches.
func LiteralCalls(text string, tools []string) []TrialCall {
	if len(tools) > 0 && !slices.Contains(tools, "Bash") && !slices.Contains(tools, "*") {
		return nil
	}
	return lists.Of(literal().FindAllStringSubmatch(text, 5), func(m []string) TrialCall { return call("Bash", "command", m[1], "") })
}
