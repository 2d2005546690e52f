package jsonedit

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Field is a member of a value that is put in.
type Field struct {
	Key string
	// Value is a string, an int, a [Raw], a []Field or a []any of these.
	Value any
}

// Raw is JSON that is put in as it is.
type Raw string

// style is how a file is laid out, so that what is put in looks like the rest.
type style struct {
	eol, unit string
	// colon and comma are what stands behind a key and between values of one
	// line.
	colon, comma string
}

// Render is a value as a new file of its own, in two spaces.
func Render(v any) []byte {
	st := style{eol: "\n", unit: "  ", colon: ": ", comma: ", "}
	return []byte(st.render(v, "") + "\n")
}

// render writes a value over several lines, all but the first indented.
func (s style) render(v any, indent string) string {
	deeper := indent + s.unit
	switch v := v.(type) {
	case []Field:
		var lines []string
		for _, f := range v {
			lines = append(lines, deeper+quote(f.Key)+s.colon+s.render(f.Value, deeper))
		}
		return s.enclose("{", lines, "}", indent)
	case []any:
		if line := s.line(v); !strings.Contains(line, "{") {
			return line
		}
		var lines []string
		for _, e := range v {
			lines = append(lines, deeper+s.render(e, deeper))
		}
		return s.enclose("[", lines, "]", indent)
	}
	return s.line(v)
}

func (s style) enclose(opener string, lines []string, closer, indent string) string {
	return opener + s.eol + strings.Join(lines, ","+s.eol) + s.eol + indent + closer
}

// line writes a value in one line.
func (s style) line(v any) string {
	switch v := v.(type) {
	case Raw:
		return string(v)
	case []Field:
		var parts []string
		for _, f := range v {
			parts = append(parts, quote(f.Key)+s.colon+s.line(f.Value))
		}
		return "{" + strings.Join(parts, s.comma) + "}"
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, s.line(e))
		}
		return "[" + strings.Join(parts, s.comma) + "]"
	case string:
		return quote(v)
	}
	return fmt.Sprint(v)
}

// quote writes a text as JSON, without escaping what only HTML minds.
func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return `""` // no string fails to encode
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// styleOf reads the style of a document from its root.
func styleOf(d *Document) style {
	s := style{eol: "\n", unit: "  ", colon: ": ", comma: ", "}
	if strings.Contains(string(d.Data), "\r\n") {
		s.eol = "\r\n"
	}
	if len(d.Root.Items) == 0 {
		return s
	}
	first := d.Root.Items[0]
	if indent, own := lineIndent(d.Data, first.Start); own && indent != "" {
		s.unit = indent
	}
	if d.Root.Kind == Object && !strings.Contains(string(d.Data), "\n") && d.Data[first.Value.Start-1] == ':' {
		s.colon, s.comma = ":", ","
	}
	return s
}

// lineIndent is the white space that begins the line of an offset, and whether
// nothing else stands before the offset.
func lineIndent(data []byte, at int) (indent string, own bool) {
	begin := strings.LastIndexByte(string(data[:at]), '\n') + 1
	end := begin
	for end < at && (data[end] == ' ' || data[end] == '\t') {
		end++
	}
	return string(data[begin:end]), end == at && begin > 0
}
