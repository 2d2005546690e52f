//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// breaks starts to break something, until end is called.
func (s *testbed) breaks(way, fault string) (end func() error, err error) {
	stop := make(chan struct{})
	var all sync.WaitGroup
	var mu sync.Mutex
	var problem error
	again := func(every time.Duration, do func() error) {
		all.Go(func() {
			for wait := 10 * time.Millisecond; ; wait = every {
				select {
				case <-stop:
					return
				case <-time.After(wait):
					if err := do(); err != nil {
						mu.Lock()
						defer mu.Unlock()
						problem = errors.Join(problem, err)
						return
					}
				}
			}
		})
	}
	stopped := func() error { close(stop); all.Wait(); return problem }
	switch fault {
	case "none", "clock":
	case "kill":
		again(150*time.Millisecond, func() error {
			s.stop(syscall.SIGKILL)
			return s.start()
		})
	case "hang":
		again(300*time.Millisecond, func() error {
			s.signal(syscall.SIGSTOP)
			time.Sleep(700 * time.Millisecond)
			s.signal(syscall.SIGCONT)
			return nil
		})
	case "disk":
		full, err := s.fill()
		if err != nil {
			return nil, err
		}
		return func() error { return errors.Join(stopped(), full()) }, nil
	case "ledger":
		again(20*time.Millisecond, s.damage)
	case "queue":
		last, err := s.queues()
		if err != nil {
			return nil, err
		}
		n, done := 0, new(atomic.Int64)
		again(70*time.Millisecond, func() error { n++; return s.damageQueue(n) })
		again(20*time.Millisecond, func() error { return s.person(done) })
		return func() error {
			err := stopped()
			before := done.Load()
			err = errors.Join(err, s.whole(s.asker(way, "none"), done), last())
			if err == nil && done.Load() == before {
				err = errors.New("a call was allowed that no person allowed")
			}
			return err
		}, nil
	case "slow":
		silent, err := s.silent()
		if err != nil {
			return nil, err
		}
		return func() error { silent(); return stopped() }, nil
	default:
		return nil, fmt.Errorf("there is no fault %q", fault)
	}
	return stopped, nil
}

// fill mounts a full file system over the state folder.
func (s *testbed) fill() (end func() error, err error) {
	state := s.dir + "/home/.local/state"
	// The daemon started with another folder there, and continues in this one.
	if err := syscall.Mount("load", state, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		return nil, fmt.Errorf("a full disk needs root and the right to mount: %w; leave disk out of -faults", err)
	}
	end = func() error { return syscall.Unmount(state, syscall.MNT_DETACH) }
	f, err := os.Create(state + "/full")
	if err != nil {
		return nil, errors.Join(err, end())
	}
	defer f.Close()
	chunk := make([]byte, 4096)
	for {
		if _, err := f.Write(chunk); errors.Is(err, syscall.ENOSPC) {
			return end, nil
		} else if err != nil {
			return nil, errors.Join(err, end())
		}
	}
}

// damage writes invalid data into the ledger.
func (s *testbed) damage() error {
	folder := s.dir + "/home/.local/state/cardea/ledger"
	days, err := filepath.Glob(folder + "/*.jsonl")
	if err != nil {
		return err
	}
	for i, path := range append(days, folder+"/head") {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err == nil {
			switch now := time.Now().UnixMilli(); {
			case now%5 == 0 && i < len(days):
				err = f.Truncate(info.Size() * 9 / 10)
			case now%5 == 1:
				_, err = f.WriteAt([]byte("\x00\xff{"), info.Size()/2)
			default:
				_, err = f.WriteAt([]byte(`{"v":1,"id":"`), info.Size())
			}
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// silent opens connections that send slowly, and ones that follow and read nothing.
func (s *testbed) silent() (end func(), err error) {
	var open []net.Conn
	end = func() {
		for _, c := range open {
			_ = c.Close()
		}
	}
	for i := range 200 {
		c, err := net.Dial("tcp", s.address)
		if err != nil {
			end()
			return nil, err
		}
		open = append(open, c)
		text := "POST /cardea/check HTTP/1.1\r\nHost: "
		if i < 8 {
			r, err := http.NewRequest("GET", "http://"+s.address+"/v1/decisions/stream", nil)
			if err != nil {
				end()
				return nil, err
			}
			r.Header.Set("Authorization", "Bearer "+s.token)
			if err := r.Write(c); err != nil {
				end()
				return nil, err
			}
			continue
		}
		if _, err := c.Write([]byte(text)); err != nil {
			end()
			return nil, err
		}
	}
	return end, nil
}
