package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/memory/ledger"
)

// sendJSON sends a value as indented JSON.
func (s *Server) sendJSON(w http.ResponseWriter, r *http.Request, v any) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		s.refuse(w, r, http.StatusInternalServerError, err.Error())
		return
	}
	send(w, http.StatusOK, jsonText, append(text, '\n'))
}

// health reports that the daemon works and can read the ledger.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	l, err := s.Ledger()
	if err == nil {
		_, _, err = l.Span()
	}
	if err != nil {
		s.refuse(w, r, http.StatusInternalServerError, "the ledger cannot be read: "+hook.Plain(err.Error()))
		return
	}
	s.sendJSON(w, r, map[string]any{"ok": true, "version": hook.ThisVersion()})
}

// seen is a project or session in the status.
type seen struct {
	Name    string    `json:"name"`
	Harness string    `json:"harness,omitempty"`
	Project string    `json:"project,omitempty"`
	Role    string    `json:"role,omitempty"`
	Last    time.Time `json:"last"`
	Calls   int       `json:"calls"`
	Denied  int       `json:"denied"`
	Asked   int       `json:"asked"`
}

// The status reads the entries of the last day, at most maxStatus.
const (
	statusSince = 24 * time.Hour
	maxStatus   = 20_000
)

// status sends the projects and sessions of the last day, and the daemon's own figures.
func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	out := map[string]any{"version": hook.ThisVersion(), "started": s.started.UTC(), "http": s.Addr()}
	out["decisions"], out["left"] = s.Counts.Totals()
	if s.Status != nil {
		maps.Copy(out, s.Status())
	}
	l, err := s.Ledger()
	if err != nil {
		s.refuse(w, r, http.StatusInternalServerError, "the ledger cannot be read: "+hook.Plain(err.Error()))
		return
	}
	projects, sessions := map[string]*seen{}, map[string]*seen{}
	n := 0
	for rec, err := range l.Records(ledger.Query{Since: s.Now().Add(-statusSince)}) {
		if err != nil {
			out["ledger"] = hook.Plain(err.Error())
			continue
		}
		if n++; n > maxStatus || r.Context().Err() != nil {
			out["cut"] = true
			break
		}
		note(projects, rec.Project, rec)
		if at := note(sessions, rec.Session, rec); at != nil {
			at.Harness, at.Project, at.Role = cmp.Or(at.Harness, rec.Harness), cmp.Or(at.Project, rec.Project), cmp.Or(at.Role, rec.Role)
		}
	}
	out["projects"], out["sessions"] = latest(projects), latest(sessions)
	s.sendJSON(w, r, out)
}

// note counts an entry for a name, unless it reports the decision of another reviewer.
func note(all map[string]*seen, name string, rec ledger.Record) *seen {
	if name == "" || rec.Review != "" {
		return nil
	}
	at := all[name]
	if at == nil {
		at = &seen{Name: name}
		all[name] = at
	}
	at.Calls++
	switch rec.Effect.String() {
	case "ask":
		at.Asked++
	case "deny", "halt":
		at.Denied++
	}
	if rec.Time.After(at.Last) {
		at.Last = rec.Time
	}
	return at
}

// latest returns the 500 most recent ones, the most recent first.
func latest(all map[string]*seen) []*seen {
	out := slices.SortedFunc(maps.Values(all), func(a, b *seen) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Name, b.Name)) })
	return append([]*seen{}, out[:min(len(out), 500)]...)
}

// maxDecisions is the most decisions of one response.
const maxDecisions = 1000

// decisions sends the last decisions, the most recent first. Parameters: limit=N, session=,
// project=, decider=.
func (s *Server) decisions(w http.ResponseWriter, r *http.Request) {
	q := ledger.Query{Limit: 100, Session: r.FormValue("session"), Project: r.FormValue("project"), Decider: r.FormValue("decider")}
	if text := r.FormValue("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxDecisions {
			s.refuse(w, r, http.StatusBadRequest, fmt.Sprintf("limit is a number from 1 to %d", maxDecisions))
			return
		}
		q.Limit = n
	}
	l, err := s.Ledger()
	if err != nil {
		s.refuse(w, r, http.StatusInternalServerError, "the ledger cannot be read: "+hook.Plain(err.Error()))
		return
	}
	found, problems := []ledger.Line{}, []string{}
	for line, err := range l.Search(q) {
		if r.Context().Err() != nil {
			return // the client is gone
		}
		if err != nil {
			problems = append(problems, hook.Plain(err.Error()))
			continue
		}
		found = append(found, line)
	}
	s.sendJSON(w, r, map[string]any{"decisions": found, "problems": problems})
}

// stream sends new decisions as server-sent events. It keeps no backlog for a slow client:
// it continues in the ledger where it stopped. A client that takes nothing for a time is
// disconnected.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	l, err := s.Ledger()
	var follower *ledger.Follower
	if err == nil {
		// Other readers report unreadable entries of the beginning.
		follower, _, _ = l.Follow(ledger.Query{Limit: 1})
	}
	if err != nil {
		s.refuse(w, r, http.StatusInternalServerError, "the ledger cannot be read: "+hook.Plain(err.Error()))
		return
	}
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	put := func(text []byte) bool {
		_ = out.SetWriteDeadline(time.Now().Add(limit.HTTPWrite))
		_, err := w.Write(text)
		return err == nil
	}
	alive := time.Now()
	ok := put([]byte(": follows the ledger\n\n")) && out.Flush() == nil
	tick := time.NewTicker(limit.HTTPFollow)
	defer tick.Stop()
	for ok {
		select {
		case <-r.Context().Done():
			return
		case <-s.ending:
			return
		case <-tick.C:
		}
		lines, _, err := follower.Next()
		if err != nil {
			ok = put(fmt.Appendf(nil, "event: problem\ndata: %q\n\n", hook.Plain(err.Error())))
		}
		for _, line := range lines {
			text, err := json.Marshal(line)
			if err != nil {
				continue // never happens: the entry was read from JSON
			}
			ok = ok && put(fmt.Appendf(nil, "id: %s\nevent: decision\ndata: %s\n\n", line.Entry.ID, text))
		}
		if len(lines) > 0 || time.Since(alive) > limit.HTTPAlive {
			alive = time.Now()
			ok = ok && (len(lines) > 0 || put([]byte(": alive\n\n"))) && out.Flush() == nil
		}
	}
}
