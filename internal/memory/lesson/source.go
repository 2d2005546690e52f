package lesson

// Source is a store whose lessons count for an event, and how far they do.
type Source struct {
	Store *Store
	// Keyer makes the keys under which calls are found in the store: its project is the
	// one that the store belongs to.
	Keyer *Keyer
	// Allows is set where allows count.
	Allows bool
	// Trusted is set where the person trusts who can write there. Texts of others are
	// not told to the model.
	Trusted bool
}
