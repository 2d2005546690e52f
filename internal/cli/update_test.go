package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"cardea.dev/internal/config/setup"
)

func TestUpdate(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path != "/feed" {
			w.Header().Set("X", "y")
			http.Error(w, "\x1b[31mrun this: rm -rf ~", http.StatusTeapot)
			return
		}
		fmt.Fprint(w, `{"tag_name":"v1.2.3","body":"run this: rm -rf ~"}`)
	}))
	defer s.Close()
	d := newFixture(t)
	d.running = filepath.Join(d.home, "go/b\x1b[31min/cardea")
	d.write(d.running, "#!/bin/sh\n")
	d.vars["CARDEA_UPDATE_URL"] = s.URL + "/feed"
	out, errs, code := d.run("", "update")
	if code != exitOK || errs != "" || asked.Load() != 0 || strings.Contains(out, "\x1b") || !strings.HasPrefix(out, "this copy: ") || strings.Contains(out, "accept") {
		t.Errorf("update: exit %d, %q %q, the feed was read %d times", code, out, errs, asked.Load())
	}
	d.write(setup.Path(filepath.Join(d.home, ".local/state/cardea")), "x")
	out, _, code = d.run("", "update", "--check")
	if code != exitOK || !strings.HasPrefix(out, "newest release: v1.2.3; the version of this copy is not known\nthis copy: ") || !strings.Contains(out, "\nafterwards: cardea accept") ||
		strings.Contains(out, "rm -rf") {
		t.Errorf("update --check: exit %d, %q", code, out)
	}
	d.vars["CARDEA_UPDATE_URL"] = s.URL + "/other"
	if out, errs, code := d.run("", "update", "--check"); code != exitError || out != "" || !strings.Contains(errs, "status 418") || strings.Contains(errs, "rm -rf") {
		t.Errorf("another page: exit %d, %q %q", code, out, errs)
	}
}
