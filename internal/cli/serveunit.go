package cli

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
)

// printUnit prints the unit that starts the daemon with the person's session.
func printUnit(p Process, f serveFlags) error {
	cardea := stableProgram(p)
	address, err := httpAddress(p, f.http)
	if err != nil {
		return err
	}
	text := ""
	switch f.unit {
	case "systemd":
		if strings.ContainsAny(cardea, "\"\\'\n") {
			return fmt.Errorf("systemd starts no program whose path has quotes or backslashes, such as %s; install cardea elsewhere", cardea)
		}
		text = systemdService(cardea, address)
	case "systemd-socket":
		if address == "" {
			return wrongUsage{errors.New("the socket is that of HTTP; name its address with --http")}
		}
		text = systemdSocket(address)
	case "launchd":
		text = launchdList(cardea, address)
	default:
		return wrongUsage{errors.New("--print-unit is systemd, systemd-socket or launchd")}
	}
	_, err = fmt.Fprint(p.Stdout, text)
	return err
}

// systemdService returns a service unit for the person's systemd (systemd.service(5)).
func systemdService(cardea, address string) string {
	sockets := onlyIf(address != "", "Requires=cardea.socket\nAfter=cardea.socket\n")
	return `# ~/.config/systemd/user/cardea.service
[Unit]
Description=Cardea answers the hooks of coding agents
Documentation=https://cardea.dev/docs/daemon.md
` + sockets + `
[Service]
ExecStart=` + systemdWord(cardea) + ` serve --idle 0
Restart=always
RestartSec=1
UMask=0077
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`
}

// systemdSocket returns the unit of the HTTP socket (systemd.socket(5)). systemd holds the
// port while the daemon does not run, so that no other program gets it.
func systemdSocket(address string) string {
	return `# ~/.config/systemd/user/cardea.socket
[Unit]
Description=Cardea's HTTP on this machine
Documentation=https://cardea.dev/docs/http.md

[Socket]
ListenStream=` + address + `
NoDelay=yes

[Install]
WantedBy=sockets.target
`
}

// systemdWord quotes the path of a program for ExecStart (systemd.service(5), "Command lines").
func systemdWord(s string) string { return `"` + strings.ReplaceAll(s, "%", "%%") + `"` }

// launchdList returns a property list for ~/Library/LaunchAgents (launchd.plist(5)).
func launchdList(cardea, address string) string {
	arguments := []string{cardea, "serve", "--idle", "0", "--http", cmp.Or(address, "off")}
	var words strings.Builder
	for _, a := range arguments {
		words.WriteString("\t\t<string>")
		_ = xml.EscapeText(&words, []byte(a)) // a builder never fails
		words.WriteString("</string>\n")
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ~/Library/LaunchAgents/dev.cardea.daemon.plist -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>dev.cardea.daemon</string>
	<key>ProgramArguments</key>
	<array>
` + words.String() + `	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<true/>
	<key>ProcessType</key>
	<string>Interactive</string>
	<key>Umask</key>
	<integer>63</integer>
</dict>
</plist>
`
}
