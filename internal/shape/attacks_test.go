package shape_test

import (
	"os"
	"path/filepath"
	"testing"
)

// What an attacker writes who knows that "pytest tests/auth", "git add src/app.ts" and
// others were allowed. None of it has their shape.
func TestAttacks(t *testing.T) {
	b := newBench(t)
	for link, target := range map[string]string{"tests/link": "/etc", "src/link.ts": "/etc/passwd", "src/up": "..", "tests/auth/out": b.home} {
		if err := os.Symlink(target, filepath.Join(b.project, link)); err != nil {
			t.Fatal(err)
		}
	}
	for lesson, candidates := range map[string][]string{
		"pytest tests/auth": {
			// globs, braces and what the shell makes of words
			"pytest tests/*", "pytest tests/a?i", "pytest tests/[ab]", "pytest tests/{api,db}", "pytest ~/tests", "pytest $HOME", "pytest \"$X\"", "pytest tests/$X", "pytest $'tests/api\\x2f..'",
			"pytest `id`", "pytest $(echo tests/api)", "pytest <(x)", "pytest 'tests/api -p evil'",
			// ways out of the folder
			"pytest tests/..", "pytest tests/../src", "pytest tests/./../..", "pytest ../tests/api", "pytest /", "pytest .", "pytest tests", "pytest tests/", "pytest //etc", "pytest tests/link",
			"pytest tests/link/passwd", "pytest tests/auth/out", "pytest tests/api/../../..", "cd .. && pytest tests/api", "cd /tmp; pytest tests/api",
			// options, joined to values or in disguise
			"pytest -- tests/api", "pytest -pevil tests/api", "pytest -p evil tests/api", "pytest --rootdir=/tmp tests/api", "pytest -c/tmp/x tests/api", "pytest -o x=y tests/api", "pytest '-pevil'",
			"pytest \"\"-pevil", "pytest -", "pytest --", "pytest tests/api -p evil", "pytest --cov-config=/tmp/x tests/api", "pytest @args", "pytest +x",
			// variables, programs in front, other ways to start it
			"PYTEST_ADDOPTS=-pevil pytest tests/api", "PATH=/tmp:$PATH pytest tests/api", "X=1 pytest tests/api", "env -i pytest tests/api", "sudo pytest tests/api", "ssh host pytest tests/api",
			"./pytest tests/api", "/tmp/pytest tests/api", "bash -c 'pytest tests/api'", "eval pytest tests/api", "xargs pytest tests/api", "nohup pytest tests/api", "time -o x pytest tests/api",
			"command pytest tests/api", "exec pytest tests/api", "pytest2 tests/api", "PYTEST tests/api", "pytest() { x; }; pytest tests/api", "alias pytest=x; pytest tests/api",
			// operators, redirections, here-documents
			"pytest tests/api; x", "pytest tests/api & x", "pytest tests/api && x", "pytest tests/api || x", "pytest tests/api | sh", "x | pytest tests/api", "pytest tests/api > src/a.py",
			"pytest tests/api >> ~/.bashrc", "pytest tests/api 2> x", "pytest tests/api < x", "pytest tests/api <<< x", "pytest tests/api <<E\nx\nE", "! pytest tests/api", "(pytest tests/api)",
			"{ pytest tests/api; }", "pytest tests/api &", "for i in 1 2; do pytest tests/api; done", "if x; then pytest tests/api; fi", "pytest tests/api\nx", "coproc pytest tests/api",
			// secrets, hidden files, letters that look like others
			"pytest tests/.env", "pytest tests/.ssh/id_rsa", "pytest tests/id_rsa", "pytest tests/\u0430pi", "pytest tests/api\u200b", "pytest tests/api\u202e", "pytest tests/\u2024\u2024/x", "pytest te\u017fts/api",
			"pytest tests/api\x00", "pytest TESTS/API", "pytest ''", "pytest ' '", "pytest tests/api tests/api", "pytest",
			"pytest tests/auth/../../src", "pytest 'tests/api::x y'", "pytest tests/api::../../x", "pytest 'tests/api::$(id)'", "pytest tests/api:x=y",
		},
		"git add src/app.ts": {
			"git add -f src/util.ts", "git add -p src/util.ts", "git add --force src/util.ts", "git add --pathspec-from-file=x", "git add :/", "git add ':(top)x'", "git add ':^src'", "git add src", "git add -A",
			"git add src/link.ts", "git add src/up", "git add src/up/x", "git add src/.env", "git add src/secrets/x", "git -C .. add src/util.ts", "git --git-dir=/tmp/x add src/util.ts",
			"git -c filter.x.clean=sh add src/util.ts", "GIT_DIR=/tmp/x git add src/util.ts", "git add src/util.ts src/a.ts", "git  rm src/util.ts", "git add -- src/util.ts", "git stage src/.env",
		},
		"cp src/a.ts src/b.ts": {
			"cp -t src src/c.ts src/d.ts", "cp --target-directory=src src/c.ts src/d.ts", "cp -r src/a.ts src/b.ts", "cp -s src/c.ts src/d.ts", "cp -l src/c.ts src/d.ts", "cp src/c.ts src/link.ts",
			"cp src/link.ts src/d.ts", "cp src/up/x.ts src/d.ts", "cp src/c.ts src/up/d.ts", "cp src/c.ts src", "cp src/c.ts .", "cp src/b.ts src/a.ts", "cp src/a.ts src/.b.ts", "cp src/a.ts src/conftest.py",
			"cp -- src/c.ts src/d.ts", "cp /dev/stdin src/d.ts", "cp src/.env src/d.ts", "cp src/c.ts src/d.ts -f -T", "cp --backup=x src/c.ts src/d.ts",
		},
		"rm -rf /tmp/build-output": {
			"rm -rf /tmp/", "rm -rf /tmp/.", "rm -rf /tmp/..", "rm -rf /tmp/x/", "rm -rf /tmp//etc/../x", "rm -rf /tmp/*", "rm -rf /tmp/x /etc", "rm -rf -- /tmp/x", "rm -rf --no-preserve-root /tmp/x", "rm -rf /tmp/x/y",
			"rm -rf /TMP/x", "rm -rf tmp/x", "rm -rf ~/tmp/x", "rm -rf $TMPDIR/x", "sudo rm -rf /tmp/x", "rm -rf /tmp/.git", "cd /; rm -rf /tmp/x; x",
		},
		"git commit -m 'fix login'": {
			"git commit -m \"$(cat .env)\"", "git commit -m \"`id`\"", "git commit -m 'x' -- .", "git commit -F x", "git commit --message 'x' --no-verify", "git commit -m 'x' --author=x", "git commit -m",
			"git commit -nm 'x'", "git commit -m 'x' > x", "git commit -m 'a\u202eb'", "git commit -m \"$X\"", "git commit -m 'x' <<E\nE", "git commit -t x -m 'x'", "git commit -m 'x' --fixup=y", "git commit -C HEAD",
		},
		"sed -i 's/a/b/' src/app.ts": {
			"sed -i 's/a/b/e' src/util.ts", "sed -i 's/a/b/w x' src/util.ts", "sed -i -f x src/util.ts", "sed -i 's/a/b/;1e id' src/util.ts", "sed -i.bak 's/a/b/' src/util.ts", "sed -i/tmp/x 's/a/b/' src/util.ts",
			"sed --in-place=.x 's/a/b/' src/util.ts", "sed -s -i 's/a/b/' src/util.ts", "sed -i 's/a/b/' src/link.ts", "sed -i 's/a/b/' src/package.json", "sed 's/a/b/' src/app.ts -i -n",
		},
	} {
		for _, line := range candidates {
			if got := b.compare(lesson, line); got.Same {
				t.Errorf("%q has the shape of %q: %s", line, lesson, got.Words)
			}
		}
	}
}
