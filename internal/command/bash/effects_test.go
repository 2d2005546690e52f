package bash

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cardea.dev"
)

// effectsOf returns the accesses of the last part of a line, as "kind path" with marks
// for recursive (r), pattern (*) and redirected or a wrapper's own (>). A likely path
// has a question mark before it.
func effectsOf(line string, env Env) []string {
	parts := Analyse(line, env).Parts
	var out []string
	for _, a := range parts[len(parts)-1].Access {
		s := string(a.Kind) + " " + a.Path
		switch {
		case a.Kind == cardea.Network:
			s = "network " + a.Host
		case a.Path == "" && a.Spelled != "":
			s = string(a.Kind) + " ?" + a.Spelled
		}
		if a.Recursive {
			s += "r"
		}
		if a.Glob {
			s += "*"
		}
		if a.Redirect {
			s += ">"
		}
		out = append(out, s)
	}
	return out
}

// TestWrittenFiles checks files that programs write in addition to those that their words name:
// copies under their own name, downloads, unpacked archives, values of options.
func TestWrittenFiles(t *testing.T) {
	for line, want := range map[string]string{
		"cp -r x/.claude .":              "write /proj/.clauder",
		"cp x/settings.json .claude":     "write /proj/.claude/settings.json",
		"cp a b dir":                     "write /proj/dir/b",
		"cp -t .claude x/settings.json":  "write /proj/.claude/settings.json",
		"cp --parents .claude/s ../o/":   "write /o/.claude/s",
		"cp -b -S .json x .claude/s":     "write /proj/.claude*",
		"cp x/.* ~/":                     "write /home/u*",
		"git -C src rm -r legacy":        "delete /proj/src/legacyr",
		"git -C src -C ../x rm y":        "delete /proj/x/y",
		"git -C $d rm -r y":              "delete r",
		"git rm -r ':/x'":                "delete ",
		"git rm -r 's*'":                 "delete ",
		"git rm --pathspec-from-file=l":  "delete ",
		"ln .claude/s h":                 "write /proj/.claude/s",
		"cp -l .claude/s h":              "write /proj/.claude/s",
		"chmod -w .claude/s":             "write /proj/.claude/s",
		"chmod -R -x .claude":            "write /proj/.clauder",
		"cp x y.lock $UNSET":             "write /proj/y.lock",
		"csplit -f .claude/x y 1":        "write ",
		"cp -r -t .claude x/.":           "write /proj/.clauder",
		"cp settings.json .cl*":          "write /proj*",
		"mv x/.mcp.json ~":               "write /home/u/.mcp.jsonr",
		"mv x/.mcp.json $HOME":           "write /home/u/.mcp.jsonr",
		"install x/y /proj":              "write /proj/y",
		"ln -s /tmp/.claude":             "write /proj/.claude",
		"ln -sf /tmp/s.json .claude/":    "write /proj/.claude/s.json",
		"rsync x/.claude .":              "write /proj/.claude",
		"rsync -a h:x/.claude .":         "write /proj/.clauder",
		"rsync x .claude/settings.json":  "write /proj/.claude/settings.json",
		"rsync -a --delete /e/ ~/":       "delete /home/ur",
		"rsync -a --del /e/ ~/":          "delete /home/ur",
		"scp h:x/settings.json .claude":  "write /proj/.claude/settings.json",
		"scp h:settings.json .claude/":   "write /proj/.claude/settings.json",
		"git mv x/.mcp.json ./":          "write /proj/.mcp.jsonr",
		"docker cp c:/x/.claude .":       "write /proj/.clauder",
		"tar xf x.tar -C .claude":        "write /proj/.clauder",
		"tar -xzf x.tgz":                 "write /proj",
		"cd .claude && tar xf ../x.tar":  "write /proj/.claude",
		"tar xfC x.tar .claude":          "write /proj/.clauder",
		"tar --extract --direc=.claude":  "write /proj/.clauder",
		"tar cf .claude/s src":           "write /proj/.claude/s",
		"bsdtar -x -C .claude -f y":      "write /proj/.clauder",
		"unzip x -d .claude":             "write /proj/.clauder",
		"7z x y.7z -o.claude":            "write /proj/.clauder",
		"cpio -i -D .claude":             "write /proj/.clauder",
		"git clone https://h/x .claude":  "write /proj/.clauder",
		"dd if=x of=.claude/s":           "write /proj/.claude/s",
		"dd of=~/.bashrc":                "write /home/u/.bashrc",
		"perl -pi -e s/a/b/ f":           "write /proj/f",
		"perl -i.orig -ne print f":       "write /proj/f",
		"ruby -i -pe x f":                "write /proj/f",
		"sed -i.bak -e s/a/b/ f":         "write /proj/f",
		"sed -i.ef s/a/b/ f":             "write /proj/f",
		"awk -i inplace 1 f":             "write /proj/f",
		"gawk --include=inplace 1 f":     "write /proj/f",
		"yq -i .a=1 f":                   "write /proj/f",
		"patch f < d":                    "write /proj/f",
		"sponge f":                       "write /proj/f",
		"ed f":                           "write /proj/f",
		"ex -s f":                        "write /proj/f",
		"vim -c wq f":                    "write /proj/f",
		"gofmt -w f":                     "write /proj/f",
		"gzip f":                         "write /proj/f",
		"xxd -r in f":                    "write /proj/f",
		"curl -o s --output-dir .c h/x":  "write /proj/.c/s",
		"curl --outpu f h/x":             "write /proj/f",
		"curl -O https://h/d/f.sh?x=1":   "write /proj/f.sh",
		"curl --output-dir .c -sSLO h/f": "write /proj/.c/f",
		"curl -c jar h":                  "write /proj/jar",
		"curl --hsts f h":                "write /proj/f",
		"wget https://h/f.sh":            "write /proj/f.sh",
		"wget h":                         "write /proj/index.html",
		"wget -P .claude h/s.json":       "write /proj/.claude/s.json",
		"wget -r -P .claude h":           "write /proj/.clauder",
		"wget h/f.sh?v=1":                "write /proj/f.sh?v=1",
		"aria2c -d .c -o f h/x":          "write /proj/.c/f",
		"git checkout x -- .claude/s":    "write /proj/.claude/sr",
		"git checkout HEAD~1 src/":       "write /proj/srcr",
		"git checkout-index -f f":        "write /proj/fr",
		"git restore -W src":             "write /proj/srcr",
		"git submodule add u sub/x":      "write /proj/sub/xr",
		"git submodule deinit -f sub":    "delete /proj/subr",
		"git clean -fd src":              "delete /proj/srcr",
		"go build -o bin/x .":            "write /proj/bin/x",
		"go test -coverprofile=c .":      "write /proj/c",
		"zip -m a.zip f":                 "delete /proj/fr",
		"env time -o out ls":             "write /proj/out>",
		"flock lock ls":                  "write /proj/lock>",
		"find -f ~ -delete":              "delete /home/ur",
		"find -- keep -delete":           "delete /proj/keepr",
		"find -H -- ~ -delete":           "delete /home/ur",
		"grep --color x .env":            "read /proj/.env",
		"git log --pretty --output=f":    "write /proj/f",
		"/usr/lib/git-core/git-mv a b":   "write /proj/br",
	} {
		if got := effectsOf(line, system); !slices.Contains(got, want) {
			t.Errorf("%s: %q lacks %q", line, got, want)
		}
	}
	// Files that are not written, so that the user is not asked needlessly.
	for _, line := range []string{
		"cp -r x/. .",
		"rsync -a x/ h:y/",
		"tar tf x.tar",
		"tar cf - src",
		"unzip -l x",
		"curl h/x",
		"wget -O - h",
		"wget --spider h",
		"git restore --staged f",
		"git switch f",
		"git clean -n f",
		"sed s/a/b/ f",
		"gzip -c f",
		"yq .a f",
		"perl -ne print f",
		"curl -o - h",
	} {
		for _, a := range effectsOf(line, system) {
			if (strings.HasPrefix(a, "write") || strings.HasPrefix(a, "delete")) && a != "write /proj" && !strings.HasPrefix(a, "write /projr") {
				t.Errorf("%s: %s", line, a)
			}
		}
	}
}

// TestLikelyOperands checks operands from another program's output, or in a spelling
// that is not resolved: their possible values are likely, not certain.
func TestLikelyOperands(t *testing.T) {
	for line, want := range map[string]string{
		"find ~ -exec rm -rf {} +":                     "delete ?/home/ur",
		"find ~ -type f -exec rm {} ';'":               "delete ?/home/ur",
		"find ~ -exec sh -c 'rm \"$1\"' _ {} ';'":      "delete ?/home/ur",
		"fd . ~ -x rm":                                 "delete ?/home/ur",
		"cd x; cat y":                                  "read ?/proj/x/y",
		"cd x; echo y > z":                             "write ?/proj/x/z>",
		"cd x; rm *.o":                                 "delete ?/proj/x*",
		"echo ~ | grep x | xargs rm":                   "delete ?/home/u",
		"find ~ | xargs rm -rf":                        "delete ?/home/ur",
		"find ~ -print0 | sort -z | xargs -0 rm":       "delete ?/home/ur",
		"echo ~ | xargs rm -rf":                        "delete ?/home/ur",
		"printf '%s\\n' / ~ | xargs rm":                "delete ?/home/u",
		"xargs rm -rf <<< ~":                           "delete ?/home/ur",
		"xargs -I{} rm -rf {} <<< /":                   "delete ?/r",
		"cd / && ls | xargs rm -rf":                    "delete ?/r*",
		"ls -A | xargs rm":                             "delete ?/proj",
		"ls -d ~ | xargs rm":                           "delete ?/home/u",
		"rm -rf $(echo ~)":                             "delete ?/home/ur",
		"rm -rf \"`echo ~`\"/":                         "delete ?/home/ur",
		"rm -rf $(dirname ~/x)":                        "delete ?/home/ur",
		"rm -rf \"$(pwd)\"":                            "delete /projr",
		"rm -rf $(git rev-parse --show-toplevel)":      "delete ?/projr",
		"d=$(readlink -f ~); rm -rf \"$d\"":            "delete ?/home/ur",
		"export d=$(echo ~)\nrm -rf ${d}/":             "delete ?/home/ur",
		"for f in $(find ~); do rm \"$f\"; done":       "delete ?/home/ur",
		"find ~ | while read -r f; do rm \"$f\"; done": "delete ?/home/ur",
		"rm -rf ${HOME%/}":                             "delete /home/ur",
		"rm -rf \"${HOME:0}\"":                         "delete /home/ur",
		"rm -rf ${HOME,,}/x":                           "delete /home/u/xr",
		"rm -rf ~+/../../..":                           "delete /r",
		"rm -rf ~other":                                "delete ?/home/otherr",
	} {
		if got := effectsOf(line, system); !slices.Contains(got, want) {
			t.Errorf("%s: %q lacks %q", line, got, want)
		}
	}
	for _, line := range []string{
		"find ~ -name '*.pyc' -exec rm {} +",
		"find ~ -mtime +9 | xargs rm",
		"rm -rf $(mktemp -d)",
		"rm -rf \"$(pwd)/build\"",
		"rm -rf ${PWD##*/}",
		"cat f | xargs rm",
		"rm -rf $x",
		"for i in 1 2; do x=$(pwd); rm \"$i\"; done",
		"rm -rf ~-",
		"cat $(ls)",
		"fd x ~ -x rm",
		"cd $x; rm y",
	} {
		for _, a := range effectsOf(line, system) {
			if strings.Contains(a, "?") {
				t.Errorf("%s: %s", line, a)
			}
		}
	}
}

// TestLikelyIsNotKnown checks that a likely path is never a known one, which could be allowed.
func TestLikelyIsNotKnown(t *testing.T) {
	for _, line := range []string{"rm -rf $(echo ~/x)", "find x -exec rm {} +", "cat src/*/../../x"} {
		parts := Analyse(line, system).Parts
		for _, a := range parts[len(parts)-1].Access {
			if a.Path != "" {
				t.Errorf("%s: %+v", line, a)
			}
		}
	}
}

// TestOriginsAreQuick checks lines that make the search for origins expensive.
func TestOriginsAreQuick(t *testing.T) {
	for name, line := range map[string]string{
		"loop":      "for f in " + strings.Repeat("$(a) ", 3000) + "; do rm " + strings.Repeat("$f ", 100_000) + "; done",
		"parts":     "x=$(curl y); " + strings.Repeat("eval \"$x\"; ", 2400),
		"variables": strings.Repeat("x=$(a); rm $x $x; ", 1500),
		"xargs":     "echo " + strings.Repeat("a ", 100_000) + "| xargs rm",
	} {
		begin := time.Now()
		Analyse(line, system)
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s: took %s", name, took)
		} else {
			t.Logf("%s: %s", name, took)
		}
	}
}
