package rules

import (
	"cardea.dev"
)

// kindReach records which rules of the program's own table may hold on parts of a kind, by
// the kind alone. Agents start the same few commands repeatedly, and most rules apply to
// none of them. So a process that stays computes it once for a kind.
type kindReach struct {
	table []Rule
	reach []reach
}

// knownReaches are the reaches of the parts of a call, nil if unknown.
type knownReaches []*kindReach

// Limits of the cache: the number of kinds, and the length of a kind's key. Above maxKinds
// the cache starts again; a longer key is not stored.
const (
	maxKinds   = 1 << 10
	maxKindKey = 512
)

// knownReaches returns the reaches of the call's parts. It is nil if there is no cache, or
// if there are more than fewParts parts, which are checked together.
func (c *evaluation) knownReaches() knownReaches {
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

// table returns the program's own table, nil if no rule of the list is in it.
func (l List) table() []Rule {
	for i := range l {
		if l[i].table != nil {
			return l[i].table
		}
	}
	return nil
}

// has reports whether the reach of a rule is known.
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
	// A rule that allows reads parts in another way.
	return e.table[e.at].Effect == cardea.Allow || e.effect != nil && *e.effect == cardea.Allow
}

// reach returns the reach of each rule for the kind of a part. key contains all relevant
// facts of the kind.
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
		r.call = m.Opaque // opaque spots may belong to no part
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.kinds == nil || len(x.kinds) >= maxKinds {
		x.kinds = map[string]*kindReach{}
	}
	x.kinds[string(key)] = known
	return known
}
