// Package control is the protocol between programs of Cardea and the daemon: the form of
// calls and answers, the place of the socket, and the client. It imports little, since
// cardea-hook links it and starts at every call.
package control

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"time"
)

// Client answers calls as "cardea check" does: through the daemon ([Remote]), or in this
// process (package daemon).
type Client interface {
	// Check answers a call. An error says why there is no answer, and decides nothing. "cardea
	// check" must then answer.
	Check(c CheckRequest, until time.Time) (CheckResult, error)
}

// CheckRequest holds all that a process started as "cardea check" knows.
type CheckRequest struct {
	// Program is the stamp of the program that must answer ([StampOf]).
	Program string
	// Nonce is a random text that the answer must repeat. It proves that the answer was not
	// written before the call was sent.
	Nonce string
	// Args are the arguments after "check".
	Args []string
	// Dir is the working folder, "" if it is unknown.
	Dir string
	// Variables holds the environment.
	Variables Variables
	// Message is the text from standard input.
	Message []byte
}

// CheckResult holds the output of "cardea check" and its exit code.
type CheckResult struct {
	// Nonce is the nonce of the call.
	Nonce          string
	Exit           int
	Stdout, Stderr []byte
}

// Variables holds an environment: the values that a hook reads, and only the names of all
// other variables that have a value. Their values, such as keys of providers, are not sent.
type Variables struct {
	Values map[string]string
	Names  map[string]bool
}

// sent lists the variables whose values are sent. If a call needs another variable, a
// process of the caller's own answers it.
const sent = " HOME PATH XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR " +
	"CLAUDE_CONFIG_DIR CLAUDE_PROJECT_DIR CLAUDE_CODE_SESSION_ATTENDED CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SESSION_ID CLAUDE_PLUGIN_ROOT CLAUDECODE " +
	"CARDEA_DEBUG CARDEA_UNATTENDED CARDEA_ROLE CARDEA_PERMISSIONS COPILOT_HOME COPILOT_CLI COPILOT_PROJECT_DIR " +
	"CODEX_HOME CODEX_MANAGED_BY_NPM CRUSH CARDEA_HOOK CURSOR_VERSION GROK_HOOK_EVENT QWEN_PROJECT_DIR DROID_PROJECT_DIR FACTORY_PROJECT_DIR FACTORY_EXEC_TARGET_AUTONOMY "

// FolderVariables are the variables that name the person's folders. A daemon serves one set
// of folders.
var FolderVariables = [...]string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}

// VariablesOf selects what is sent from an environment in the form of os.Environ. If a name
// is there twice, the first value applies, as in os.Getenv.
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

// Value returns the value of a variable that is sent, or "".
func (v Variables) Value(name string) string { return v.Values[name] }

// The limits of what is sent, in bytes. "cardea check" answers a larger call.
const (
	MaxMessage = 4 << 20
	maxHead    = 1 << 20
	maxAnswer  = 2*MaxMessage + 4<<20
)

// greeting begins every call. Each version of the protocol has its own.
const greeting = "cardea control 2\n"

// ErrForm is returned for data that is not in this package's form.
var ErrForm = errors.New("the other end does not speak this protocol")

// ErrTooLarge is returned for a call beyond the limits.
var ErrTooLarge = errors.New("the call is too large for the daemon")

// Bytes returns the encoded call, or [ErrTooLarge].
func (c CheckRequest) Bytes() ([]byte, error) {
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

// ReadCall reads a call. It returns [ErrForm] or [ErrTooLarge] if the data is not a call.
func ReadCall(r io.Reader) (c CheckRequest, err error) {
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

// fields decodes what text and texts encoded.
type fields struct {
	left []byte
	bad  bool
}

// count reads a number. A number larger than the rest is an error.
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

// The kinds of messages from the daemon: a byte, a length of four bytes, and as many bytes.
const (
	kindWorks  = 'w' // the daemon works on the call
	kindNonce  = 'r' // the nonce of the call, before the answer
	kindAnswer = 'a' // the answer: the exit code, the length of standard output, both texts
	kindLeaves = 'n' // "cardea check" must answer; the reason
)

// Works returns the message that the daemon works on the call.
func Works() []byte { return part(kindWorks, nil) }

// Leaves returns the message that "cardea check" must answer, with the reason.
func Leaves(why string) []byte { return part(kindLeaves, []byte(why)) }

// Bytes returns the encoded answer.
func (a CheckResult) Bytes() []byte {
	body := binary.BigEndian.AppendUint32([]byte{byte(a.Exit)}, uint32(len(a.Stdout)))
	return append(part(kindNonce, []byte(a.Nonce)), part(kindAnswer, append(append(body, a.Stdout...), a.Stderr...))...)
}

func part(kind byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body))), body...)
}

// ReadAnswer reads the daemon's messages until the answer. It returns a [LeftError] if the
// daemon leaves the call.
func ReadAnswer(r io.Reader) (a CheckResult, err error) {
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
			return CheckResult{Nonce: a.Nonce, Exit: int(exit), Stdout: body[5 : 5+out], Stderr: body[5+out:]}, nil
		}
		return a, ErrForm
	}
}

// LeftError is the reason why the daemon leaves a call to "cardea check".
type LeftError string

// Error returns the reason.
func (e LeftError) Error() string { return "the daemon leaves the call: " + string(e) }

// maxSocket is the longest socket path that all systems accept, in bytes.
const maxSocket = 100

// Folders returns the variables that name the person's folders, in the form of os.Environ.
func Folders(env func(string) string) []string {
	var out []string
	for _, name := range FolderVariables {
		if v := env(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	return out
}

// Socket returns the path of the daemon's socket: in XDG_RUNTIME_DIR, else in the state
// folder. It is "" if no usable path exists. env looks up a variable.
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
