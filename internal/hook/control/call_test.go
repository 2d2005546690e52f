package control

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	c := CheckRequest{Program: "p", Args: []string{"--limit", "5s", ""}, Dir: "/work", Message: []byte("{\x00}"),
		Variables: VariablesOf([]string{"HOME=/h", "HOME=/other", "OPENAI_API_KEY=secret", "EMPTY=", "=x", "CLAUDECODE=1"})}
	all, err := c.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(all, []byte("secret")) {
		t.Error("the value of a variable is sent that no hook reads")
	}
	got, err := ReadCall(bytes.NewReader(all))
	if err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("got %+v, %v", got, err)
	}
	if want := (Variables{Values: map[string]string{"HOME": "/h", "CLAUDECODE": "1"}, Names: map[string]bool{"OPENAI_API_KEY": true}}); !reflect.DeepEqual(c.Variables, want) {
		t.Errorf("got %+v", c.Variables)
	}
	for n := range all {
		if _, err := ReadCall(bytes.NewReader(all[:n])); err == nil {
			t.Errorf("%d bytes of it are read", n)
		}
	}
	if _, err := (CheckRequest{Message: make([]byte, MaxMessage+1)}).Bytes(); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if _, err := (CheckRequest{Args: []string{strings.Repeat("x", maxHead)}}).Bytes(); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

func TestReadAnswer(t *testing.T) {
	a := CheckResult{Exit: 2, Stdout: []byte("out"), Stderr: []byte("errs")}
	got, err := ReadAnswer(bytes.NewReader(append(append(Works(), Works()...), a.Bytes()...)))
	if err != nil || !reflect.DeepEqual(got, a) {
		t.Errorf("got %+v, %v", got, err)
	}
	var left LeftError
	if _, err := ReadAnswer(bytes.NewReader(Leaves("why"))); !errors.As(err, &left) || left != "why" {
		t.Errorf("got %v", err)
	}
	for name, text := range map[string]string{"nothing": "", "no answer": string(Works()), "cut": string(a.Bytes()[:9]), "another exit code": string(CheckResult{Exit: 1}.Bytes()),
		"another kind": "x\x00\x00\x00\x00", "endless": "a\xff\xff\xff\xff", "too short": "a\x00\x00\x00\x01\x00", "a wrong length": "a\x00\x00\x00\x05\x00\x00\x00\x00\x09"} {
		if got, err := ReadAnswer(strings.NewReader(text)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func FuzzReadCall(f *testing.F) {
	all, err := CheckRequest{Program: "p", Args: []string{"a"}, Variables: VariablesOf([]string{"HOME=/h", "X=y"}), Message: []byte("m")}.Bytes()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(all)
	f.Add([]byte(greeting + "\x00\x00\x00\x02\x00\x00\x00\x00\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ReadCall(bytes.NewReader(data))
		if err != nil {
			return
		}
		again, err := c.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if d, err := ReadCall(bytes.NewReader(again)); err != nil || !reflect.DeepEqual(c, d) {
			t.Errorf("%+v, %+v, %v", c, d, err)
		}
	})
}

func TestSocket(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"XDG_RUNTIME_DIR": "/run/user/1", "HOME": "/h"}, "/run/user/1/cardea/daemon"},
		{map[string]string{"XDG_STATE_HOME": "/s/", "HOME": "/h"}, "/s/cardea/run/daemon"},
		{map[string]string{"HOME": "/h"}, "/h/.local/state/cardea/run/daemon"},
		{map[string]string{"XDG_RUNTIME_DIR": "here", "HOME": "/h"}, ""},
		{map[string]string{"HOME": "/" + strings.Repeat("x", 100)}, ""},
		{nil, ""},
	} {
		if got := Socket(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %q", c.env, got)
		}
	}
}

// The value of each variable in FolderVariables is sent.
func TestFolderVariables(t *testing.T) {
	for _, name := range FolderVariables {
		if v := VariablesOf([]string{name + "=/x"}); v.Value(name) != "/x" {
			t.Errorf("%s is not sent", name)
		}
	}
}
