package routes

import (
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
)

// Parse reads the text of a file.
func Parse(file string, data []byte, from Origin) (list []Route, files []string, problems []diagnostic.Diagnostic) {
	return read(file, document.Read(file, data), from)
}
