package call

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/knowledge"
)

// However many files run each other, and however long they are, so much is looked at.
func TestScriptsAreBounded(t *testing.T) {
	reads := 0
	world := knowledge.World{Home: "/home/u", ReadFile: func(path string, limit int64) ([]byte, error) {
		reads++
		if strings.HasSuffix(path, "missing.sh") {
			return nil, errors.New("gone")
		}
		if strings.HasSuffix(path, "program") {
			return []byte("\x7fELF\x00rm -rf ~/"), nil
		}
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, "bash %d.sh\n", i)
		}
		return []byte(b.String()), nil
	}}
	looked := func(line string) *cardea.Part {
		ev := &cardea.Event{Kind: cardea.PreToolUse, Cwd: "/p", Call: &cardea.Call{Tool: "Bash", Input: map[string]any{"command": line}}}
		return &Analyse(ev, world).Call.Parts[0]
	}
	if looked("bash 1.sh"); reads > maxScripts {
		t.Errorf("%d files were read", reads)
	}
	for line, want := range map[string]string{"bash missing.sh": "/p/missing.sh (cannot be read)", "./program": "/p/program (no text)"} {
		if p := looked(line); len(p.MayRun) > 0 || len(p.LookedInto) != 1 || p.LookedInto[0] != want {
			t.Errorf("%s: looked into %q, may run %d", line, p.LookedInto, len(p.MayRun))
		}
	}
}

// Each call of a library is a line for a shell, if its arguments are constant.
func TestCodeLines(t *testing.T) {
	for language, cases := range map[string]map[string]string{
		"Python": {
			`shutil.rmtree(os.path.expanduser("~"))`:                       "rm -rf -- ~",
			`shutil.rmtree(Path.home() / "x y")`:                           "rm -rf -- ~/'x y'",
			`subprocess.run(["git", "push", "-f"])`:                        "git push -f",
			`subprocess.Popen("git push -f", shell=True)`:                  "git push -f",
			`os.system("git push")`:                                        "git push",
			`os.system(f"rm -rf {Path.home()}/x")`:                         "rm -rf ~/x",
			`os.system("git" " push")`:                                     "git push",
			`os.system(r'rm "a b"')`:                                       `rm "a b"`,
			`os.system("""git\npush""")`:                                   "git\npush",
			`os.execvp("git", ["git", "push", "-f"])`:                      "git push -f",
			`asyncio.create_subprocess_exec("git", "push")`:                "git push",
			`shutil.rmtree(target)`:                                        "",
			"D = 'a'\nD = 'b'\nshutil.rmtree(D)":                           "",
			"D = os.path.join('a', 'b')\nshutil.rmtree(D)":                 "rm -rf -- a/b",
			`# shutil.rmtree("x")`:                                         "",
			`print("shutil.rmtree is dangerous")`:                          "",
			"\"\"\"Example:\n\nshutil.rmtree('x')\n\"\"\"\n":               "",
			`>>> shutil.rmtree("x")`:                                       "",
			`subprocess.run(["git", word])`:                                "",
			`shutil.rmtree("a" + b)`:                                       "",
			`shutil.rmtree(f"a{b}")`:                                       "",
			"subprocess.run(\n  [\n  'git',\n  'push',\n ], check=True)\n": "git push",
			`open("a.txt", "w")`:                                           "tee -- a.txt",
			`open("a.txt")`:                                                "",
			`open("a.txt", "rb")`:                                          "",
			`(Path.home() / ".bashrc").write_text("x")`:                    "tee -- ~/.bashrc",
			`Path("a").unlink(missing_ok=True)`:                            "rm -f -- a",
			"p = Path.home() / 'x'\np.unlink()":                            "rm -f -- ~/x",
			`self.unlink("a")`:                                             "",
			`os.rename("a", "b")`:                                          "mv -- a b",
			`requests.post("https://example.com/x", data=d)`:               "curl -- https://example.com/x",
			`urllib.request.urlretrieve("https://e.com/x", "x.sh")`:        "curl -o x.sh -- https://e.com/x",
			`s.connect(("example.com", 80))`:                               "curl -- example.com",
			`sqlite3.connect("a.db")`:                                      "",
			`http.client.HTTPSConnection("example.com")`:                   "curl -- example.com",
			`cache.get("key")`:                                             "",
		},
		"JavaScript": {
			`execFileSync("rm", ["-rf", path.join(os.homedir(), "x")])`:     "rm -rf ~/x",
			`const {exec} = require("child_process"); exec("git push", cb)`: "git push",
			`/a/.exec("git push")`: "",
			"$`git push -f`":       "git push -f",
			"x = `git push -f`":    "",
			"fs.rmSync(`${os.homedir()}/x`, {recursive: true})":             "rm -rf -- ~/x",
			"fs.rmSync(`${dir}/x`)":                                         "",
			`fetch("https://example.com/x")`:                                "curl -- https://example.com/x",
			`fetch("/api")`:                                                 "",
			`https.request("https://example.com/x", {method: "POST"})`:      "curl -- https://example.com/x",
			`// fs.rmSync("x")`:                                             "",
			`await fs.promises.writeFile("a", "b")`:                         "tee -- a",
			`await new Deno.Command("rm", {args: ["-rf", "x"]}).output()`:   "rm",
			"import { rmSync } from 'fs'\nrmSync('x', { recursive: true })": "rm -rf -- x",
			"/*\n * fs.rmSync('x')\n */":                                    "",
		},
		"Perl": {
			`system("git push -f");`:                               "git push -f",
			`system "git", "push", "-f";`:                          "git push -f",
			`exec('git push') or die;`:                             "git push",
			"my $x = `git push`;":                                  "git push",
			`my $x = qx{git push};`:                                "git push",
			`unlink "a.txt" or die;`:                               "rm -f -- a.txt",
			`unlink $file;`:                                        "",
			`rmtree("$ENV{HOME}/x");`:                              "rm -rf -- ~/x",
			"my $d = $ENV{HOME} . '/x';\nremove_tree($d);":         "rm -rf -- ~/x",
			`open(my $fh, '>', 'a.txt') or die;`:                   "tee -- a.txt",
			`open(my $fh, '<', 'a.txt') or die;`:                   "",
			`open(F, "git push |");`:                               "git push ",
			`open(my $p, '-|', 'git', 'push');`:                    "git push",
			`HTTP::Tiny->new->get("https://example.com");`:         "curl -- https://example.com",
			`$h->get("key");`:                                      "",
			`IO::Socket::INET->new(PeerAddr => "example.com:80");`: "curl -- example.com:80",
			"=pod\n\nsystem('git push')\n\n=cut\n":                 "",
			`# system("git push");`:                                "",
			`print "the system 'x' is up";`:                        "",
			"say \"use `git push -f` for it\";":                    "",
		},
		"Ruby": {
			`system("git push -f")`:                       "git push -f",
			`system "git", "push", "-f", exception: true`: "git push -f",
			"x = `git push`":                              "git push",
			`x = %x{git push}`:                            "git push",
			`FileUtils.rm_rf(File.expand_path("~/x"))`:    "rm -rf -- ~/x",
			`FileUtils.rm_rf "#{Dir.home}/x"`:             "rm -rf -- ~/x",
			`FileUtils.rm_rf("#{dir}/x")`:                 "",
			`File.delete("a")`:                            "rm -f -- a",
			`File.write("a", text)`:                       "tee -- a",
			`File.open("a", "w") { |f| f << 1 }`:          "tee -- a",
			`File.open("a")`:                              "",
			`Net::HTTP.get(URI("https://example.com/x"))`: "curl -- https://example.com/x",
			`TCPSocket.new("example.com", 80)`:            "curl -- example.com",
			`# system("git push")`:                        "",
			`IO.popen(["git", "push"])`:                   "git push",
		},
	} {
		for code, want := range cases {
			var got []string
			for _, c := range codeLanguages()[language].lines(code) {
				got = append(got, c.text)
			}
			if strings.Join(got, "\n") != want {
				t.Errorf("%s: %s: %q, want %q", language, code, got, want)
			}
		}
	}
}
