package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"cardea.dev/internal/ask/queue/store"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/logfile"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/hook/control"
	"cardea.dev/internal/hook/daemon"
	"cardea.dev/internal/hook/daemon/web"
	"cardea.dev/internal/memory/ledger"
)

// httpAddress returns the address at which the daemon listens for HTTP, or "": that of the
// flag, else of the person's settings.
func httpAddress(p Process, flag string) (string, error) {
	address := flag
	if address == "" {
		l, _, err := gather(p, nil)
		if err != nil {
			return "", err
		}
		address = l.Settings.Daemon.HTTP
	}
	if address == "" || address == "off" {
		return "", nil
	}
	if err := web.CheckAddress(address); err != nil {
		return "", fmt.Errorf("daemon.http, or --http: %w", err)
	}
	return address, nil
}

// unfollowed returns a text for each setting about daemon.http that a daemon ignores which
// listens at the address at, "" for none. why is added as the reason.
func unfollowed(p Process, at, why string) []string {
	l, _, err := gather(p, nil)
	if err != nil {
		return nil // the code that needs the settings reports it
	}
	var out []string
	for i := range l.SettingsFiles {
		for _, d := range l.SettingsFiles[i].Problems {
			if d.Severity == diagnostic.LevelError || d.Code == diagnostic.CodeUnknownKey || strings.Contains(d.Text, "daemon.") {
				out = append(out, "settings are not followed: "+d.String())
			}
		}
	}
	name, _ := settings.FindName("daemon.http") // it always exists
	for _, said := range entryOf(l, name).Said {
		if !said.InForce {
			out = append(out, fmt.Sprintf("daemon.http is %s in %s, which is not followed: %s", said.Value, said.Source, said.Why))
		}
	}
	if want := l.Settings.Daemon.HTTP; want != "" && want != "off" && want != at && !strings.HasSuffix(want, ":0") {
		out = append(out, fmt.Sprintf("daemon.http is %s, which is not followed%s: the daemon listens for HTTP at %s", want, why, cmp.Or(at, "no address")))
	}
	return out
}

// sayUnfollowed reports which settings about daemon.http this daemon ignores, and why.
func sayUnfollowed(p Process, f serveFlags, h *web.Server, log *logfile.Log) {
	at, why := "", ", since the unit opens another socket"
	if h != nil {
		at = h.Addr()
	}
	if f.http != "" {
		why = ", since --http is " + f.http
	}
	if issues := locate(p, "", "", p.Dir).Issues; len(issues) > 0 {
		log.Printf("http: a variable that names your folders is not followed; run cardea doctor") // the log must not contain the value
		p.tell(issues)
	}
	for _, line := range unfollowed(p, at, why) {
		log.Printf("http: %s", hook.Plain(line))
		if log.Path() != "" { // otherwise it is shown already
			p.warn(line)
		}
	}
}

// notBegun logs why the daemon does not start, and returns the error. If another daemon
// runs, it adds that this one does not use the wanted HTTP address.
func notBegun(p Process, f serveFlags, log *logfile.Log, err error) error {
	if want, werr := httpAddress(p, f.http); errors.Is(err, daemon.ErrRuns) && werr == nil && want != "" && want != announced(p) {
		err = fmt.Errorf("%w; it listens for HTTP at %s, and not at %s", err, cmp.Or(announced(p), "no address"), want)
	}
	log.Printf("does not begin: %s", hook.Plain(err.Error()))
	return err
}

// openHTTP opens the daemon's HTTP server, or returns nil if it has no address.
func openHTTP(p Process, f serveFlags, local daemon.Local, log *logfile.Log, counts *web.Counts, status func() map[string]any) (*web.Server, error) {
	given, err := givenSocket(p.Env)
	if err != nil {
		return nil, err
	}
	address, err := httpAddress(p, f.http)
	if err != nil || given == nil && address == "" {
		return nil, err
	}
	folder := harnessPathsOf(p).Place.State
	// Reading the ledger needs the key that signs it.
	if _, err := state.LoadKey(folder); err != nil {
		return nil, err
	}
	token, err := web.Token(folder)
	if err != nil {
		return nil, err
	}
	check := func(c control.CheckRequest, lines func() [][]string, e *hook.Handover, unended *sync.WaitGroup) (control.CheckResult, error) {
		l := local
		l.Lines, l.Elsewhere, l.Unended = lines, e, unended
		return l.Check(c, time.Time{})
	}
	open := func() (*ledger.Ledger, error) {
		l, pl, err := gather(p, nil)
		if err != nil {
			return nil, err
		}
		return ledgerOf(p, &pl, l.Settings.Ledger)
	}
	return web.Open(address, given, web.Options{Check: check, Other: local.OtherFolder, ByAgent: person.StartedByAgent, Cardea: filepath.Join(filepath.Dir(hook.ThisProgram()), "cardea"+filepath.Ext(hook.ThisProgram())),
		Environ: os.Environ(), Token: token, Ledger: open, Status: status, Counts: counts, Gauges: gauges(p, folder, local), Now: p.Now, Log: log.Printf})
}

// gauges returns figures that the HTTP server does not have: the size of the daemon's
// cache, and how many calls wait for a person.
func gauges(p Process, folder string, local daemon.Local) []web.Gauge {
	size := func() (float64, bool) {
		bytes, _ := local.Memory.Size()
		return float64(bytes), true
	}
	entries := func() (float64, bool) {
		_, n := local.Memory.Size()
		return float64(n), true
	}
	waiting := func() (float64, bool) {
		if !state.Exists(store.Path(folder)) {
			return 0, true // no call ever waited
		}
		s, err := store.Open(folder, p.Now)
		if err != nil {
			return 0, false
		}
		defer s.Close()
		all, err := s.Pending(context.Background())
		return float64(len(all)), err == nil
	}
	return []web.Gauge{
		{Name: "cardea_kept_bytes", Help: "Texts of files that are kept between calls, and what was made of them.", Read: size},
		{Name: "cardea_kept_entries", Help: "How many of them there are.", Read: entries},
		{Name: "cardea_queue_waiting", Help: "Calls that wait for a person.", Read: waiting},
	}
}

// givenSocket returns the socket that a systemd unit opened for this process
// (sd_listen_fds(3)), or nil.
func givenSocket(env func(string) string) (net.Listener, error) {
	if env("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	if env("LISTEN_FDS") != "1" {
		return nil, errors.New("the unit gives more than one socket, and cardea serve takes one; make it with --print-unit systemd-socket")
	}
	const first = 3 // SD_LISTEN_FDS_START
	f := os.NewFile(first, "the unit's socket")
	l, err := net.FileListener(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("take the unit's socket: %w", err)
	}
	return l, nil
}

// announcement returns the file that contains the daemon's HTTP address.
func announcement(p Process) string {
	return filepath.Join(filepath.Dir(control.Socket(p.Env)), "http")
}

// announced returns the HTTP address of the running daemon, or "".
func announced(p Process) string {
	text, err := state.Read(announcement(p), 100)
	if at := strings.TrimSpace(string(text)); err == nil && web.CheckAddress(at) == nil {
		return at
	}
	return ""
}

// announce writes the daemon's HTTP address to a file in the folder of its socket, for
// other commands of the person. remove deletes the file.
func announce(p Process, address string) (remove func(), err error) {
	path := announcement(p)
	if err := state.Write(path, []byte(address+"\n")); err != nil {
		return nil, fmt.Errorf("write down the address of HTTP: %w", err)
	}
	return func() { _ = os.Remove(path) }, nil
}

// openLog opens the daemon's log: a file, "-" for standard error, or "" for the one in the
// state folder.
func openLog(p Process, name string) (*logfile.Log, error) {
	if name == "-" {
		return logfile.To(p.Stderr, p.Now), nil
	}
	if name == "" {
		folder := harnessPathsOf(p).Place.State
		if folder == "" {
			return logfile.To(p.Stderr, p.Now), nil
		}
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		name = filepath.Join(folder, "daemon.log")
	}
	return logfile.Open(within(p.Dir, name), p.Now)
}

// stableProgram returns cardea's path for units, in a permanent folder if possible.
func stableProgram(p Process) string {
	if path, err := (installFlags{}).program(p, harnessPathsOf(p)); err == nil {
		return path
	}
	return p.Program
}
