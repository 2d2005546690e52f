package hook

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestBuildOf(t *testing.T) {
	settings := []debug.BuildSetting{{Key: "GOOS", Value: "plan9"}, {Key: "GOARCH", Value: "mips"},
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "then"}, {Key: "vcs.modified", Value: "true"}}
	of := func(version string, more ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1", Main: debug.Module{Version: version}, Settings: more}
	}
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, "cardea (devel)"},
		{&debug.BuildInfo{}, "cardea (devel)"},
		{of("v1.2.3", settings...), "cardea v1.2.3|commit abc then with changes|go1 plan9/mips"},
		{of("v1.2.3", settings[2]), "cardea v1.2.3|commit abc|go1"},
		{of("v1.2.3"), "cardea v1.2.3|go1"},
		{of("v1.2.3-rc.1"), "cardea v1.2.3-rc.1|go1"},
		{of("v0.0.0-20260102150405-0123456789ab"), "cardea v0.0.0-20260102150405-0123456789ab|commit 0123456789ab 2026-01-02T15:04:05Z|go1"},
		{of("v1.2.4-0.20260102150405-0123456789ab+dirty"), "cardea v1.2.4-0.20260102150405-0123456789ab+dirty|commit 0123456789ab 2026-01-02T15:04:05Z|go1"},
		{of("v1.2.3-rc.1.0.20260102150405-0123456789ab"), "cardea v1.2.3-rc.1.0.20260102150405-0123456789ab|commit 0123456789ab 2026-01-02T15:04:05Z|go1"},
		{of("v0.0.0-99999999999999-0123456789ab"), "cardea v0.0.0-99999999999999-0123456789ab|go1"},
	} {
		if got := strings.Join(BuildOf(c.info).Lines(), "|"); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
