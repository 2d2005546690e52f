package rules

import (
	"cardea.dev"
)

// kindReach says of each rule of the program's own table whether it may hold on parts of a
// kind, by the kind alone. Agents start the same few commands again and again, and most
// rules are about none of them, so a process that stays works it out once for a kind.
type kindReach struct {
	table []Rule
	reach []reach
}

// knownReaches are those of the parts of a call; nil: they are not known.
type knownReaches []*kindReach

// The bounds of what is kept: how many kinds, and the length of what tells one from others.
// Beyond them it is worked out again, or not at all.
const (
	maxKinds   = 1 << 10
	maxKindKey = 512
)

// knownReaches gives the reaches of the call's parts, nil where nothing is kept between
// calls, and where parts are many: then they are looked at together.
func (c *call) knownReaches() knownReaches {
	parts, keys := c.ev.Call.Parts, c.d.settings.Keys
	table := c.d.rules.table()
	if keys == nil || table == nil || len(parts) == 0 || len(parts) > fewParts {
		return nil
	}
	out := make(knownReaches, len(parts))
	var room [maxKindKey]byte
	for i := range parts {
		key := kindOf(room[:0], &parts[i], false)
		if len(key) > maxKindKey {
			return nil
		}
		out[i] = keys.reach(key, table, &parts[i])
	}
	return out
}

// table is the program's own table, nil where none of the rules is of it.
func (l List) table() []Rule {
	for i := range l {
		if l[i].table != nil {
			return l[i].table
		}
	}
	return nil
}

// has reports whether it is known where a rule may hold.
func (k knownReaches) has(e *Entry) bool {
	return k != nil && e != nil && e.table != nil && &e.table[0] == &k[0].table[0]
}

// mayReach reports whether a rule may hold on any part, or on the call without one.
func (k knownReaches) mayReach(e *Entry) bool {
	for i := range k {
		if r := &k[i].reach[e.at]; r.may || r.call {
			return true
		}
	}
	// What allows reads a part in another way.
	return e.table[e.at].Effect == cardea.Allow || e.effect != nil && *e.effect == cardea.Allow
}

// reach gives what is known of the kind of a part, of which the key tells all that counts.
func (x *Keys) reach(key []byte, table []Rule, p *cardea.Part) *kindReach {
	x.mu.RLock()
	known := x.kinds[string(key)]
	x.mu.RUnlock()
	if known != nil && &known.table[0] == &table[0] {
		return known
	}
	known = &kindReach{table, make([]reach, len(table))}
	for i := range table {
		r, m := &known.reach[i], &table[i].Match
		r.may, r.among = m.mayHold(func(m *Match) bool { return m.fits(p) })
		r.call = m.Opaque // what is opaque may belong to no part
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.kinds == nil || len(x.kinds) >= maxKinds {
		x.kinds = map[string]*kindReach{}
	}
	x.kinds[string(key)] = known
	return known
}
