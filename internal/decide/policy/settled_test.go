package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// While an editor writes a policy, no half of it applies: no empty file, no file without
// its last rules, and none that is briefly moved away.
func TestHalfWrittenFiles(t *testing.T) {
	text := routed("a", events("[PreToolUse]"))
	half := text[:len(text)/2]
	for name, begin := range map[string]func(path string) error{
		"emptied": func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"half":    func(path string) error { return os.WriteFile(path, []byte(half), 0o600) },
		"away":    func(path string) error { return os.Rename(path, path+"~") },
		"removed": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, map[string]string{"a.rego": text})
			cache := &memory{}
			path := filepath.Join(p.dir, "a.rego")
			seen := 0 // a busy machine may write too late for the wait
			for round := 0; seen < 3 && round < 30; round++ {
				time.Sleep(2 * settle)
				p.lib = &Library{Tool: wordsOf, Engines: here(), Cache: cache}
				if got, err := p.decide(bash("x")); got != "deny:a" || err != nil {
					t.Fatalf("before: %q, %v", got, err)
				}
				old := p.lib
				if err := begin(path); err != nil {
					t.Fatal(err)
				}
				began, wrote := time.Now(), make(chan time.Time, 1)
				go func() {
					time.Sleep(quiet / 4)
					if err := os.WriteFile(path, []byte(text+"\n# edited\n"), 0o600); err != nil {
						t.Error(err)
					}
					wrote <- time.Now()
				}()
				var wrong []string
				for _, lib := range []*Library{old, {Tool: wordsOf, Engines: here(), Cache: cache}} {
					p.lib = lib
					if got, err := p.decide(bash("x")); got != "deny:a" || err != nil {
						wrong = append(wrong, fmt.Sprintf("while it is written: %q, %v", got, err))
					}
				}
				if (<-wrote).Sub(began) > quiet/2 {
					continue
				}
				if seen++; len(wrong) > 0 {
					t.Error(wrong)
				}
			}
			if seen == 0 {
				t.Error("nothing was written in time")
			}
		})
	}
}

// A file that is written all the time causes only a short wait.
func TestFileThatIsWrittenAllTheTime(t *testing.T) {
	p := newPlace(t, map[string]string{"a.rego": routed("a", events("[PreToolUse]"))})
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(lookAgain):
				p.write("b.rego", routed("b", events("[Stop]")))
			}
		}
	}()
	begin := time.Now()
	if got, _ := p.decide(bash("x")); got != "deny:a" {
		t.Errorf("%q", got)
	}
	if took := time.Since(begin); took > 20*maxWait {
		t.Errorf("it took %s", took)
	}
	close(stop)
	<-done
}

// A file that changes between two reads is not compiled with its old facts.
func TestTextThatIsNotTheIndexs(t *testing.T) {
	p := newPlace(t, map[string]string{"a.rego": "package a\n"})
	s := &set{folder: p.folder, texts: map[string]string{}}
	e := &entry{file: file{path: filepath.Join(p.dir, "a.rego")}}
	e.stamp = p.folder.stampOf(e.path)
	if text, err := s.text(p.folder, e); text != "package a\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	p.write("a.rego", "")
	if _, err := s.text(p.folder, e); err != errWritten {
		t.Errorf("%v", err)
	}
}
