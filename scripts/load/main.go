//go:build linux

// Command load puts the daemon under load, and causes faults meanwhile. Many sessions ask
// over HTTP, over the socket and by processes of cardea-hook. The daemon is killed or
// stopped, the disk is full, the ledger or the queue is damaged, the clock jumps, or
// clients read nothing. It prints a table, and ends with exit code 1 if an answer was wrong
// or late.
//
//	go run ./scripts/load                        every way, and every fault, for some seconds each
//	go run ./scripts/load -ways http -faults none -clients 64 -calls 5000
//	go run ./scripts/load -memory 100000         how the daemon's memory grows
//
// The column "computes" is the daemon's processor time for each call. It shows what a
// machine can do that is also busy with other work.
//
// A blocked call is one that was refused or not answered, so that a harness blocks it. That
// happens over HTTP when the daemon is not running, and is not a wrong answer.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// options are the command-line flags.
type options struct {
	clients, calls int
	ways, faults   string
	memory         int
	limit          time.Duration
	cpus, bin      string
}

// main parses the flags and runs the load.
func main() {
	var o options
	flag.IntVar(&o.clients, "clients", 16, "sessions that ask at the same time")
	flag.IntVar(&o.calls, "calls", 200, "calls of each session, by HTTP and by the socket; a tenth of them by processes")
	flag.StringVar(&o.ways, "ways", "http,socket,process", "how they ask")
	flag.StringVar(&o.faults, "faults", "none,kill,hang,disk,ledger,queue,clock,slow", "what breaks meanwhile; disk needs root")
	flag.IntVar(&o.memory, "memory", 0, "measure memory instead: so many calls for 1, 10 and 100 projects each")
	flag.DurationVar(&o.limit, "limit", 5*time.Second, "the limit of each call")
	flag.StringVar(&o.cpus, "cpus", "", "the processors of the daemon, such as 0,1, by taskset")
	flag.StringVar(&o.bin, "bin", "", "the folder of the programs (default: they are built)")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// place is the variable with the folder of a run, for the process that does the run. The
// daemon trusts a caller with its own home, so the process must start with that home.
const place = "CARDEA_LOAD_PLACE"

// run builds or copies the programs into a new folder, and starts this program there for
// the run.
func run(o options) error {
	if dir := os.Getenv(place); dir != "" {
		return load(o, dir)
	}
	// The path of a socket must be short.
	dir, err := os.MkdirTemp("", "load")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, d := range []string{"/bin", "/home", "/run", "/work/.git"} {
		if err := os.MkdirAll(dir+d, 0o700); err != nil {
			return err
		}
	}
	if o.bin == "" {
		if out, err := exec.Command("go", "build", "-o", dir+"/bin/", "cardea.dev/cmd/...").CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w\n%s", err, out)
		}
	} else if err := copyPrograms(o.bin, dir+"/bin"); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(self, os.Args[1:]...)
	c.Dir, c.Stdout, c.Stderr = dir+"/work", os.Stdout, os.Stderr
	c.Env = []string{"HOME=" + dir + "/home", "XDG_RUNTIME_DIR=" + dir + "/run", "PATH=" + os.Getenv("PATH"), place + "=" + dir}
	var exit *exec.ExitError
	if err := c.Run(); errors.As(err, &exit) {
		return errors.New("an answer was wrong or late, or the run failed; see above")
	} else if err != nil {
		return err
	}
	return nil
}

func copyPrograms(from, to string) error {
	for _, name := range []string{"cardea", "cardea-engine", "cardea-hook"} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name), data, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// load does the run.
func load(o options, dir string) error {
	s := &testbed{dir: dir, cpus: o.cpus, limit: o.limit}
	defer s.end()
	if err := s.prepare(); err != nil {
		return err
	}
	fmt.Printf("%d processors, %s, load %s\n", runtime.NumCPU(), time.Now().UTC().Format("2006-01-02"), loadAverage())
	if o.memory > 0 {
		return s.memory(o.memory)
	}
	truth, err := s.bare()
	if err != nil {
		return err
	}
	fmt.Printf("/bin/true: %s (median of 200)\n\n", round(truth))
	fmt.Printf("%-8s %-7s %7s %7s %8s %9s %9s %9s %9s %9s %6s %5s %5s %7s\n", "way", "fault", "clients", "calls", "per s", "p50", "p99", "p99.9", "max", "computes", "x true", "wrong", "late", "blocked")
	bad := false
	for _, fault := range strings.Split(o.faults, ",") {
		for _, way := range strings.Split(o.ways, ",") {
			if fault == "clock" && way != "socket" {
				continue // the two ways share the code that uses the clock
			}
			r, err := s.round(way, fault, o)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", way, fault, err)
			}
			fmt.Println(r.row(way, fault, truth))
			bad = bad || r.wrong > 0 || r.late > 0
		}
	}
	if bad {
		return errors.New("an answer was wrong or late")
	}
	return nil
}

// bare returns how long /bin/true takes.
func (s *testbed) bare() (time.Duration, error) {
	var took []time.Duration
	for range 200 {
		begin := time.Now()
		if err := exec.Command("/bin/true").Run(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	word, _, _ := strings.Cut(string(data), " ")
	return word
}

// result is the result of one round.
type result struct {
	took    []time.Duration
	all     time.Duration
	clients int
	// work is the daemon's processor time for each call, 0 if unknown.
	work                 time.Duration
	wrong, late, blocked int
	first                string
}

func (r *result) at(part float64) time.Duration {
	if len(r.took) == 0 {
		return 0
	}
	return r.took[min(len(r.took)-1, int(part*float64(len(r.took))))]
}

func (r *result) row(way, fault string, truth time.Duration) string {
	slices.Sort(r.took)
	out := fmt.Sprintf("%-8s %-7s %7d %7d %8.0f %9s %9s %9s %9s %9s %6.2f %5d %5d %7d", way, fault, r.clients, len(r.took), float64(len(r.took))/r.all.Seconds(),
		round(r.at(0.5)), round(r.at(0.99)), round(r.at(0.999)), round(r.at(1)), round(r.work), float64(r.at(0.5))/float64(truth), r.wrong, r.late, r.blocked)
	if r.first != "" {
		out += "\n  " + r.first
	}
	return out
}

func round(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}
