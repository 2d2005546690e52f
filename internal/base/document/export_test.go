package document

// Registered is the parser of this program.
func Registered() Parser { return parse }
