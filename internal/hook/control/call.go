// Package control is how programs of Cardea speak with the daemon: the form of a call and
// of its answer, the place of the socket, and the client. It imports little, since
// cardea-hook links it, which is started at every call.
package control

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"time"
)

// Client answers calls as "cardea check" does: by the daemon ([Remote]), or in this
// process (package daemon).
type Client interface {
	// Check answers a call. An error says why there is no answer; "cardea check" must give
	// one then. Nothing is decided by an error.
	Check(c Call, until time.Time) (Answer, error)
}

// Call is all that a process knows which was started as "cardea check".
type Call struct {
	// Program is the stamp of the program that must answer ([StampOf]).
	Program string
	// Nonce is a random text that the answer must repeat, so that it cannot have been
	// written before the call was sent.
	Nonce string
	// Args are those behind "check".
	Args []string
	// Dir is the working folder, "" where it cannot be told.
	Dir string
	// Variables are the environment.
	Variables Variables
	// Message is what was on standard input.
	Message []byte
}

// Answer is what "cardea check" writes, and its exit code.
type Answer struct {
	// Nonce is that of the call.
	Nonce          string
	Exit           int
	Stdout, Stderr []byte
}

// Variables are an environment: the values that a hook reads, and the names alone of all
// other variables that have a value. What those hold, keys of providers among it, stays
// where it is.
type Variables struct {
	Values map[string]string
	Names  map[string]bool
}

// sent are the variables whose values are sent. A call for which another one is read is
// answered by a process of the caller's own.
const sent = " HOME PATH XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR " +
	"CLAUDE_CONFIG_DIR CLAUDE_PROJECT_DIR CLAUDE_CODE_SESSION_ATTENDED CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SESSION_ID CLAUDE_PLUGIN_ROOT CLAUDECODE " +
	"CARDEA_DEBUG CARDEA_UNATTENDED CARDEA_ROLE CARDEA_PERMISSIONS COPILOT_HOME COPILOT_CLI COPILOT_PROJECT_DIR " +
	"CODEX_HOME CODEX_MANAGED_BY_NPM CRUSH CARDEA_HOOK CURSOR_VERSION GROK_HOOK_EVENT QWEN_PROJECT_DIR DROID_PROJECT_DIR FACTORY_PROJECT_DIR FACTORY_EXEC_TARGET_AUTONOMY "

// FolderVariables are the variables that say where the person's files are. A daemon works
// for one set of folders.
var FolderVariables = [...]string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}

// VariablesOf takes what is sent from an environment, as os.Environ gives it. Of a name
// that is there twice the first value counts, as for os.Getenv.
func VariablesOf(environ []string) Variables {
	v := Variables{Values: map[string]string{}, Names: map[string]bool{}}
	seen := make(map[string]bool, len(environ))
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		switch {
		case value == "":
		case strings.Contains(sent, " "+name+" "):
			v.Values[name] = value
		default:
			v.Names[name] = true
		}
	}
	return v
}

// Value looks up the value of a variable that is sent.
func (v Variables) Value(name string) string { return v.Values[name] }

// The bounds of what is sent, in bytes. A larger call is answered by "cardea check".
const (
	MaxMessage = 4 << 20
	maxHead    = 1 << 20
	maxAnswer  = 2*MaxMessage + 4<<20
)

// greeting begins every call. Another version of the protocol has another one.
const greeting = "cardea control 2\n"

// ErrForm is the error of what is not in this package's form.
var ErrForm = errors.New("the other end does not speak this protocol")

// ErrTooLarge is the error of a call beyond the bounds.
var ErrTooLarge = errors.New("the call is too large for the daemon")

// Bytes is a call as it is sent.
func (c Call) Bytes() ([]byte, error) {
	head := text(text(nil, c.Program), c.Nonce)
	head = texts(head, c.Args)
	head = text(head, c.Dir)
	head = binary.AppendUvarint(head, uint64(len(c.Variables.Values)))
	for name, value := range c.Variables.Values {
		head = text(text(head, name), value)
	}
	head = binary.AppendUvarint(head, uint64(len(c.Variables.Names)))
	for name := range c.Variables.Names {
		head = text(head, name)
	}
	if len(head) > maxHead || len(c.Message) > MaxMessage {
		return nil, ErrTooLarge
	}
	out := make([]byte, 0, len(greeting)+8+len(head)+len(c.Message))
	out = append(out, greeting...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(head)))
	out = binary.BigEndian.AppendUint32(out, uint32(len(c.Message)))
	return append(append(out, head...), c.Message...), nil
}

func text(out []byte, s string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(s))), s...)
}

func texts(out []byte, all []string) []byte {
	out = binary.AppendUvarint(out, uint64(len(all)))
	for _, s := range all {
		out = text(out, s)
	}
	return out
}

// ReadCall reads a call.
func ReadCall(r io.Reader) (c Call, err error) {
	begin := make([]byte, len(greeting)+8)
	if _, err = io.ReadFull(r, begin); err != nil {
		return c, err
	}
	if string(begin[:len(greeting)]) != greeting {
		return c, ErrForm
	}
	head, message := binary.BigEndian.Uint32(begin[len(greeting):]), binary.BigEndian.Uint32(begin[len(greeting)+4:])
	if head > maxHead || message > MaxMessage {
		return c, ErrTooLarge
	}
	all := make([]byte, head)
	if _, err = io.ReadFull(r, all); err != nil {
		return c, err
	}
	c.Message = make([]byte, message)
	if _, err = io.ReadFull(r, c.Message); err != nil {
		return c, err
	}
	f := fields{left: all}
	c.Program, c.Nonce = f.text(), f.text()
	for range f.count() {
		c.Args = append(c.Args, f.text())
	}
	c.Dir = f.text()
	c.Variables = Variables{Values: map[string]string{}, Names: map[string]bool{}}
	for range f.count() {
		name := f.text()
		c.Variables.Values[name] = f.text()
	}
	for range f.count() {
		c.Variables.Names[f.text()] = true
	}
	if f.bad || len(f.left) > 0 {
		return c, ErrForm
	}
	return c, nil
}

// fields reads what text and texts wrote.
type fields struct {
	left []byte
	bad  bool
}

// count is a number that is not larger than what is left.
func (f *fields) count() uint64 {
	n, size := binary.Uvarint(f.left)
	if size <= 0 || n > uint64(len(f.left)-size) {
		f.bad, f.left = true, nil
		return 0
	}
	f.left = f.left[size:]
	return n
}

func (f *fields) text() string {
	n := f.count()
	s := string(f.left[:n])
	f.left = f.left[n:]
	return s
}

// The kinds of what the daemon sends: a byte, a length of four bytes, and as many bytes.
const (
	kindWorks  = 'w' // it works on the call
	kindNonce  = 'r' // the nonce of the call, in front of the answer
	kindAnswer = 'a' // the answer: the exit code, the length of standard output, both texts
	kindLeaves = 'n' // "cardea check" must answer, and why
)

// Works is the sign that the daemon works on the call.
func Works() []byte { return part(kindWorks, nil) }

// Leaves says why "cardea check" must answer.
func Leaves(why string) []byte { return part(kindLeaves, []byte(why)) }

// Bytes is an answer as it is sent.
func (a Answer) Bytes() []byte {
	body := binary.BigEndian.AppendUint32([]byte{byte(a.Exit)}, uint32(len(a.Stdout)))
	return append(part(kindNonce, []byte(a.Nonce)), part(kindAnswer, append(append(body, a.Stdout...), a.Stderr...))...)
}

func part(kind byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body))), body...)
}

// ReadAnswer reads what the daemon sends, until the answer is there.
func ReadAnswer(r io.Reader) (a Answer, err error) {
	for {
		begin := make([]byte, 5)
		if _, err := io.ReadFull(r, begin); err != nil {
			return a, err
		}
		size := binary.BigEndian.Uint32(begin[1:])
		if size > maxAnswer {
			return a, ErrForm
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(r, body); err != nil {
			return a, err
		}
		switch begin[0] {
		case kindWorks:
			continue
		case kindNonce:
			a.Nonce = string(body)
			continue
		case kindLeaves:
			return a, LeftError(body)
		case kindAnswer:
			if len(body) < 5 {
				return a, ErrForm
			}
			exit, out := body[0], binary.BigEndian.Uint32(body[1:])
			if exit != 0 && exit != 2 || uint64(out) > uint64(len(body)-5) {
				return a, ErrForm
			}
			return Answer{Nonce: a.Nonce, Exit: int(exit), Stdout: body[5 : 5+out], Stderr: body[5+out:]}, nil
		}
		return a, ErrForm
	}
}

// LeftError is why the daemon leaves a call to "cardea check".
type LeftError string

// Error is the reason in words.
func (e LeftError) Error() string { return "the daemon leaves the call: " + string(e) }

// maxSocket is the longest path of a socket that all systems take, in bytes.
const maxSocket = 100

// Folders are the variables that say where the person's files are, as os.Environ has them.
func Folders(env func(string) string) []string {
	var out []string
	for _, name := range FolderVariables {
		if v := env(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	return out
}

// Socket is the path of the daemon's socket: in XDG_RUNTIME_DIR, else in the state
// folder. "" where there can be none. env looks up a variable.
func Socket(env func(string) string) string {
	for _, at := range [...]struct{ name, below string }{
		{"XDG_RUNTIME_DIR", "/cardea/daemon"}, {"XDG_STATE_HOME", "/cardea/run/daemon"}, {"HOME", "/.local/state/cardea/run/daemon"},
	} {
		if dir := env(at.name); dir != "" {
			path := strings.TrimRight(dir, "/") + at.below
			if dir[0] != '/' || len(path) > maxSocket {
				return ""
			}
			return path
		}
	}
	return ""
}
