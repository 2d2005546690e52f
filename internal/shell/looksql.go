package shell

import "strings"

// harmlessSQL reports whether SQL for SQLite (lang_select, lang_corefunc 3.46)
// only selects: no statement but SELECT, VALUES, WITH and EXPLAIN of these, no
// command of the shell, no function that is not known to compute. Views may call
// functions of their own, but none that leaves the database (SQLITE_DIRECTONLY).
func harmlessSQL(text string) bool {
	begins, word := true, ""
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == ';':
			begins, word = true, ""
			i++
		case c == '\'' || c == '"' || c == '`':
			end := closingSQL(text, i+1, c)
			if end < 0 || begins {
				return false
			}
			i, word = end+1, ""
			if c != '\'' { // a function may be called by a quoted name
				word = "?"
			}
		case isNameStart(c):
			j := i
			for j < len(text) && (isNameStart(text[j]) || '0' <= text[j] && text[j] <= '9') {
				j++
			}
			word = strings.ToLower(text[i:j])
			if begins && !startsSelect(word) || changesSQL(word) {
				return false
			}
			begins, i = false, j
		case begins:
			return false // a command of the shell, or no statement at all
		case c == '(':
			if word != "" && !computesSQL(word) {
				return false
			}
			word = ""
			i++
		case c == '-' && strings.HasPrefix(text[i:], "--"), c == '/' && strings.HasPrefix(text[i:], "/*"):
			return false
		case c == '-' && strings.HasPrefix(text[i:], "->"):
			i, word = i+1, ""
		case '0' <= c && c <= '9' || strings.IndexByte(".,*+-/%=<>!|&~)?", c) >= 0:
			word = ""
			i++
		default:
			return false
		}
	}
	return true
}

// closingSQL is where a quoted text ends; a doubled quote stands for itself.
func closingSQL(s string, i int, q byte) int {
	for ; i < len(s); i++ {
		if s[i] == q {
			if i+1 >= len(s) || s[i+1] != q {
				return i
			}
			i++
		}
	}
	return -1
}

func startsSelect(word string) bool {
	return word == "select" || word == "values" || word == "with" || word == "explain"
}

// changesSQL reports the words with which a statement does more than select.
func changesSQL(word string) bool {
	switch word {
	case "insert", "update", "delete", "replace", "create", "drop", "alter", "attach", "detach", "pragma", "vacuum", "reindex", "analyze", "begin", "commit", "rollback", "savepoint", "release", "into":
		return true
	}
	return false
}

// computesSQL reports words that may stand in front of a parenthesis: keywords,
// and functions that only compute.
func computesSQL(word string) bool {
	switch word {
	case "select", "from", "where", "in", "and", "or", "not", "on", "as", "by", "over", "filter", "exists", "values", "when", "then", "else", "case", "union", "all", "except", "intersect", "join", "like", "glob", "between", "is", "having",
		"limit", "offset", "using", "with", "materialized", "distinct", "cast", "partition",
		"abs", "avg", "changes", "char", "coalesce", "concat", "concat_ws", "count", "cume_dist", "date", "datetime", "dense_rank", "first_value", "format", "group_concat", "hex", "ifnull", "iif", "instr", "json", "json_array",
		"json_array_length", "json_extract", "json_group_array", "json_group_object", "json_object", "json_type", "json_valid", "julianday", "lag", "last_value", "lead", "length", "lower", "ltrim", "max", "min", "nth_value", "ntile",
		"nullif", "octet_length", "percent_rank", "printf", "quote", "rank", "round", "row_number", "rtrim", "sign", "strftime", "substr", "substring", "sum", "time", "timediff", "total", "trim", "typeof", "unicode", "unixepoch", "upper":
		return true
	}
	return false
}
