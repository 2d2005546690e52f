package call

import (
	"regexp"
	"strings"
	"sync"

	"cardea.dev/internal/bash"
)

// This file reads what certain calls of the standard library do in a file of Python or
// JavaScript: those that delete, write and start programs, with constant arguments. All
// others say nothing, so that nobody is asked about a text that only looks like one.

// codeCalls are calls of a language.
type codeCalls struct {
	// call finds the beginning of a call, up to its parenthesis.
	call *regexp.Regexp
	// lines are what a call does, as a line for a shell, by the end of its name: %s is
	// its first argument. "" runs it: a text, or a list of words.
	lines map[string]string
	// home finds what stands for the home folder.
	home *regexp.Regexp
}

var python = sync.OnceValue(func() codeCalls {
	return codeCalls{
		call: regexp.MustCompile(`\b(?:shutil\.(rmtree)|os\.(remove|unlink|rmdir|removedirs|system|popen)|subprocess\.(run|call|check_call|check_output|Popen))\(`),
		lines: map[string]string{"rmtree": "rm -rf -- %s", "remove": "rm -f -- %s", "unlink": "rm -f -- %s", "rmdir": "rmdir -- %s", "removedirs": "rmdir -p -- %s",
			"system": "", "popen": "", "run": "", "call": "", "check_call": "", "check_output": "", "Popen": ""},
		home: regexp.MustCompile(`(?:pathlib\.)?Path\.home\(\)|os\.environ\[["']HOME["']\]|os\.(?:environ\.get|getenv)\(["']HOME["']\)`),
	}
})

var javaScript = sync.OnceValue(func() codeCalls {
	return codeCalls{
		call: regexp.MustCompile(`\b(?:(?:fs|fsp|promises|fse)\.(rmSync|rm|rmdirSync|rmdir|unlinkSync|unlink|writeFileSync|writeFile|removeSync)|(?:child_process\.|cp\.)?(execSync|execFileSync|spawnSync|execFile|spawn)|(?:child_process|cp)\.(exec))\(`),
		lines: map[string]string{"rmSync": "rm -rf -- %s", "rm": "rm -rf -- %s", "rmdirSync": "rmdir -- %s", "rmdir": "rmdir -- %s", "unlinkSync": "rm -f -- %s",
			"unlink": "rm -f -- %s", "removeSync": "rm -rf -- %s", "writeFileSync": "tee -- %s", "writeFile": "tee -- %s"},
		home: regexp.MustCompile(`(?:require\(["'](?:node:)?os["']\)|os)\.homedir\(\)|\bhomedir\(\)|process\.env\.HOME\b`),
	}
})

var (
	codeAssignment = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^[ \t]*(?:const |let |var )?([A-Za-z_][A-Za-z0-9_]*) *= *([^=\n].*?);?[ \t]*$`)
	})
	codeJoins = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:os\.path\.(?:join|expanduser|abspath|realpath)|path\.(?:join|resolve)|(?:pathlib\.)?Path|str|String)\(`)
	})
)

// codeLines are the lines for a shell that do what calls in a text do.
func codeLines(text string, calls codeCalls) []piece {
	found := calls.call.FindAllStringSubmatchIndex(text, maxScriptParts)
	if len(found) == 0 {
		return nil
	}
	k := constants{home: calls.home, values: map[string]string{}}
	for _, m := range codeAssignment().FindAllStringSubmatch(text, maxScriptParts) {
		if _, twice := k.values[m[1]]; twice {
			k.values[m[1]] = "" // which one counts is not known
		} else if v, rest, ok := k.value(m[2], 0); ok && strings.TrimSpace(rest) == "" {
			k.values[m[1]] = v
		}
	}
	var out []piece
	for _, at := range found {
		begin := strings.LastIndexByte(text[:at[0]], '\n') + 1
		if before := strings.TrimSpace(text[begin:at[0]]); strings.HasPrefix(before, "#") || strings.HasPrefix(before, "//") || strings.HasPrefix(before, "*") {
			continue // a comment
		}
		var name string
		for i := 2; i+1 < len(at); i += 2 {
			if at[i] >= 0 {
				name = text[at[i]:at[i+1]]
			}
		}
		if line := k.line(calls.lines[name], text[at[1]:]); line != "" {
			out = append(out, piece{line, 1 + strings.Count(text[:at[0]], "\n")})
		}
	}
	return out
}

// constants evaluates expressions that are constant.
type constants struct {
	home   *regexp.Regexp
	values map[string]string
}

// line is what a call does with the arguments at the beginning of a text, "" where
// that is not known.
func (k constants) line(does, args string) string {
	args = strings.TrimLeft(args, " \t\n")
	if does == "" && strings.HasPrefix(args, "[") {
		return strings.Join(k.list(args), " ")
	}
	v, rest, ok := k.value(args, 0)
	if !ok || v == "" {
		return ""
	}
	if does != "" {
		return strings.Replace(does, "%s", shellWord(v), 1)
	}
	rest = strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(rest, " \t\n"), ","), " \t\n")
	if strings.HasPrefix(rest, "[") { // spawn("rm", ["-rf", x])
		return strings.Join(append([]string{shellWord(v)}, k.list(rest)...), " ")
	}
	return v
}

// list are the quoted words of a list of constants, nil where one is not constant.
func (k constants) list(text string) []string {
	var out []string
	rest := text[1:]
	for {
		rest = strings.TrimLeft(rest, " \t\n,")
		if strings.HasPrefix(rest, "]") || rest == "" {
			return out
		}
		v, after, ok := k.value(rest, 0)
		if !ok {
			return nil
		}
		out, rest = append(out, shellWord(v)), after
	}
}

// value evaluates the expression at the beginning of a text, and gives what follows.
func (k constants) value(text string, depth int) (value, rest string, ok bool) {
	value, rest, ok = k.term(text, depth)
	for ok {
		next := strings.TrimLeft(rest, " \t")
		if next == "" || next[0] != '+' && next[0] != '/' {
			return value, rest, next == "" || strings.ContainsRune(",;)]\n\r#", rune(next[0]))
		}
		more, after, known := k.term(next[1:], depth)
		if !known {
			return "", rest, false
		}
		if next[0] == '/' {
			value = strings.TrimSuffix(value, "/") + "/"
		}
		value, rest = value+more, after
	}
	return "", rest, false
}

func (k constants) term(text string, depth int) (value, rest string, ok bool) {
	text = strings.TrimLeft(text, " \t\n")
	if text == "" || depth > 8 {
		return "", text, false
	}
	if at := k.home.FindStringIndex(text[:min(len(text), 80)]); at != nil && at[0] == 0 {
		return "~", text[at[1]:], true
	}
	if c := text[0]; c == '"' || c == '\'' || c == '`' {
		end := strings.IndexByte(text[1:], c)
		if end < 0 || strings.Contains(text[1:1+end], `\`) || c == '`' && strings.Contains(text[1:1+end], "${") || end == 0 && len(text) > 2 && text[2] == c {
			return "", text, false
		}
		return text[1 : 1+end], text[end+2:], true
	}
	if at := codeJoins().FindStringIndex(text[:min(len(text), 80)]); at != nil {
		rest = text[at[1]:]
		for {
			v, after, known := k.value(rest, depth+1)
			if !known {
				return "", text, false
			}
			if value != "" {
				value = strings.TrimSuffix(value, "/") + "/"
			}
			value += v
			after = strings.TrimLeft(after, " \t\n")
			if strings.HasPrefix(after, ")") {
				return value, after[1:], true
			}
			if rest, ok = strings.CutPrefix(after, ","); !ok {
				return "", text, false
			}
		}
	}
	end := 0
	for end < len(text) && (text[end] == '_' || text[end] >= 'a' && text[end] <= 'z' || text[end] >= 'A' && text[end] <= 'Z' || text[end] >= '0' && text[end] <= '9') {
		end++
	}
	value = k.values[text[:end]]
	return value, text[end:], value != ""
}

// shellWord is a constant as one word for a shell, the home folder as it is.
func shellWord(v string) string {
	if rest, ok := strings.CutPrefix(v, "~"); ok && (rest == "" || rest[0] == '/') {
		if rest == "" {
			return "~"
		}
		return "~/" + bash.Quote(rest[1:])
	}
	return bash.Quote(v)
}
