package jsonedit

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Field is an object member to insert.
type Field struct {
	Key string
	// Value is a string, an int, a [Raw], a []Field or a []any of these.
	Value any
}

// Raw is JSON that is inserted unchanged.
type Raw string

// style is the layout of a file, so that inserted text looks like the rest.
type style struct {
	eol, unit string
	// colon is the text between a key and its value, comma the text between values in one
	// line.
	colon, comma string
}

// Render returns a value as a new file, indented by two spaces.
func Render(v any) []byte {
	st := style{eol: "\n", unit: "  ", colon: ": ", comma: ", "}
	return []byte(st.render(v, "") + "\n")
}

// render returns a value over several lines. All lines but the first begin with indent.
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

// line returns a value in one line.
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

// quote returns a text as JSON, without the HTML escapes of encoding/json.
func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return `""` // no string fails to encode
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// styleOf returns the style of a document, taken from its root.
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

// lineIndent returns the white space that begins the line of an offset. own reports whether
// nothing else precedes the offset on that line.
func lineIndent(data []byte, at int) (indent string, own bool) {
	begin := strings.LastIndexByte(string(data[:at]), '\n') + 1
	end := begin
	for end < at && (data[end] == ' ' || data[end] == '\t') {
		end++
	}
	return string(data[begin:end]), end == at && begin > 0
}
