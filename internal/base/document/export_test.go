package document

// Registered returns the parser of this program.
func Registered() Parser { return parse }
