package lesson

// Source is a store whose lessons apply to an event, with limits on them.
type Source struct {
	Store *Store
	// Keyer makes the keys of calls for the store. Its project is the one of the store.
	Keyer *Keyer
	// Allows is set where allows apply.
	Allows bool
	// Trusted is set where the person trusts everyone who can write to the store. The model does
	// not receive texts from other stores.
	Trusted bool
}
