package exact

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev"
)

// runsCode lists commands that run code of the project, and the file that each runs, by the
// way in which they name it. If the line does not name the file itself, a planted file
// follows after a plus.
const runsCode = `
# a file as an operand
python3 x.py                                  x.py
python3 -u ./src/x.py --fast                  src/x.py
python3.12 -X dev x.py                        x.py
node x.js                                     x.js
node --test src/x.test.js                     src/x.test.js
deno run x.ts                                 x.ts
deno run --allow-read src/x.ts                src/x.ts
bun x.ts                                      x.ts
bun run x.ts                                  x.ts
tsx x.ts                                      x.ts
ts-node x.ts                                  x.ts
npx ts-node x.ts                              x.ts
npx tsx x.ts                                  x.ts
bunx tsx x.ts                                 x.ts
go run main.go                                main.go
uv run x.py                                   x.py
uv run python x.py                            x.py
poetry run python x.py                        x.py
poetry run x.py                               x.py
pipenv run python x.py                        x.py
pdm run python x.py                           x.py
hatch run python x.py                         x.py
conda run -n e python x.py                    x.py
pixi run python x.py                          x.py
rye run python x.py                           x.py
bundle exec ruby x.rb                         x.rb
bundle exec rspec spec/x_spec.rb              spec/x_spec.rb
ruby x.rb                                     x.rb
perl x.pl                                     x.pl
php x.php                                     x.php
lua x.lua                                     x.lua
Rscript x.R                                   x.R
julia x.jl                                    x.jl
elixir x.exs                                  x.exs
java X.java                                   X.java
java -jar x.jar                               x.jar
groovy x.groovy                               x.groovy
swift x.swift                                 x.swift
osascript x.scpt                              x.scpt
tclsh x.tcl                                   x.tcl
bash x.sh                                     x.sh
sh -x ./x.sh                                  x.sh
dash x.sh                                     x.sh
zsh x.zsh                                     x.zsh
./x.sh                                        x.sh
./bin/x --flag                                bin/x
timeout 5 ./x.sh                              x.sh
nice -n 5 python3 x.py                        x.py
env -i ./x.sh                                 x.sh
time node x.js                                x.js
strace ./x.sh                                 x.sh
pytest test_a.py                              test_a.py
pytest -q tests/test_a.py::test_x             tests/test_a.py
python3 -m pytest test_a.py                   test_a.py
jest src/x.test.js                            src/x.test.js
npx jest src/x.test.js                        src/x.test.js
npx vitest run src/x.test.ts                  src/x.test.ts
npx mocha spec/x.js                           spec/x.js
phpunit tests/XTest.php                       tests/XTest.php
rspec spec/x_spec.rb:12                       spec/x_spec.rb
newman run x.json                             x.json
k6 run x.js                                   x.js
ansible-playbook site.yml                     site.yml
ansible-playbook -i hosts site.yml            hosts
snakemake -s Snakefile                        Snakefile
locust -f locustfile.py                       locustfile.py
robot x.robot                                 x.robot
streamlit run app.py                          app.py
gunicorn -c conf.py app:app                   conf.py
# an option
psql -f x.sql                                 x.sql
psql --file=x.sql db                          x.sql
psql -fx.sql                                  x.sql
mysql -e "source x.sql"                       x.sql
awk -f x.awk data                             x.awk
gawk --file=x.awk data                        x.awk
make -f build.mk                              build.mk
just -f tasks.just                            tasks.just
just --justfile tasks.just                    tasks.just
docker compose -f dev.yml up                  dev.yml
docker build -f dev.Dockerfile .              dev.Dockerfile
kubectl apply -f x.yaml                       x.yaml
kubectl apply -f deploy                       deploy/a.yaml
helm upgrade a ./chart -f values.yaml         values.yaml
terraform apply -var-file=x.tfvars            x.tfvars
node --require ./hook.js x.js                 hook.js
node -r ./hook.js x.js                        hook.js
python3 -i x.py                               x.py
vim -S x.vim                                  x.vim
emacs --script x.el                           x.el
gdb -x x.gdb prog                             x.gdb
sqlite3 -init x.sql db                        x.sql
tox -c ci.ini                                 ci.ini
pytest -c ci.ini tests/test_a.py              ci.ini
nox -f ci.py                                  ci.py
ctest --test-dir build                        build/CTestTestfile.cmake
vite --config dev.config.js                   dev.config.js
webpack -c dev.config.js                      dev.config.js
eslint -c dev.config.js src                   dev.config.js
# standard input
python3 < x.py                                x.py
node - < x.js                                 x.js
bash < x.sh                                   x.sh
sqlite3 db < x.sql                            x.sql
psql db < x.sql                               x.sql
mysql db < x.sql                              x.sql
ssh h < x.sh                                  x.sh
ssh h bash -s < x.sh                          x.sh
docker exec -i c sh < x.sh                    x.sh
kubectl exec -i p -- sh < x.sh                x.sh
# a module
python3 -m tool                               tool/__main__.py +tool.py
python3 -m tool                               tool.py
python3 -mtool                                tool.py
python3 -um tool                              tool.py
python3 -m pkg.tool                           pkg/tool.py +pkg/__init__.py
poetry run python -m tool                     tool/__main__.py
uv run python -m tool                         tool.py
# a folder
go run .                                      main.go +other.go
go run ./cmd/x                                cmd/x/main.go +cmd/x/other.go
go run ./...                                  main.go
go test ./pkg                                 pkg/x_test.go +pkg/y_test.go
go test ./...                                 pkg/x_test.go
go generate ./...                             gen.go
go build -o out ./cmd/x                       cmd/x/main.go
pytest tests                                  tests/test_a.py +tests/conftest.py
pytest tests/                                 tests/sub/test_a.py
python3 tool                                  tool/__main__.py
node server                                   server/index.js
docker build .                                Dockerfile +x.sh
kubectl apply -k dir                          dir/kustomization.yaml +dir/patch.yaml
kustomize build dir                           dir/kustomization.yaml
helm install a ./chart                        chart/templates/a.yaml
terraform -chdir=infra apply                  infra/main.tf
cdk deploy --app ./infra                      infra/app.js
npm --prefix web run build                    web/package.json
make -C sub                                   sub/Makefile
docker run -v ./data:/data img                data/x.sh
rails runner lib                              lib/x.rb
run-parts ./jobs                              jobs/a
# a pattern
pytest tests/test_*.py                        tests/test_a.py +tests/test_b.py
node --test src/*.test.js                     src/x.test.js +src/y.test.js
bash scripts/*.sh                             scripts/a.sh +scripts/b.sh
# a file that the program looks for
make                                          Makefile
make test                                     GNUmakefile
just                                          justfile
just test                                     .justfile
task build                                    Taskfile.yml
rake                                          Rakefile
tox                                           tox.ini
tox -e py312                                  tox.ini
nox                                           noxfile.py
npm test                                      package.json
npm run build                                 package.json
pnpm build                                    package.json
yarn test                                     package.json
bun run build                                 package.json
docker compose up                             compose.yaml +compose.override.yaml
docker compose up -d                          docker-compose.yml
docker-compose up                             docker-compose.yml
podman-compose up                             compose.yaml
composer install                              composer.json
bundle install                                Gemfile
pre-commit run                                .pre-commit-config.yaml
lefthook run pre-commit                       lefthook.yml
invoke build                                  tasks.py
fab deploy                                    fabfile.py
doit                                          dodo.py
scons                                         SConstruct
ninja                                         build.ninja
bazel build //...                             BUILD
mvn test                                      pom.xml
gradle test                                   build.gradle
./gradlew test                                gradlew
./gradlew test                                build.gradle
sbt test                                      build.sbt
mix test                                      mix.exs
skaffold dev                                  skaffold.yaml
vagrant up                                    Vagrantfile
serverless deploy                             serverless.yml
foreman start                                 Procfile
gulp                                          gulpfile.js
grunt                                         Gruntfile.js
nix build                                     flake.nix
nix-shell                                     shell.nix
# code of the current folder
pytest                                        test_a.py +tests/test_b.py
cargo run                                     src/main.rs +build.rs
cargo test                                    src/lib.rs
go test                                       x_test.go
jest                                          src/x.test.js
vitest run                                    src/x.test.ts
rspec                                         spec/x_spec.rb
dotnet run                                    Program.cs
terraform apply                               main.tf +other.tf
pulumi up                                     index.ts
swift test                                    Tests/x.swift
# by another command
find . -name "*.c" -exec ./x.sh {} ;          x.sh
find . -exec ./x.sh {} ;                      x.sh
find src -type f -exec python3 x.py {} +      x.py
ls | xargs ./x.sh                             x.sh
ls | xargs -n1 python3 x.py                   x.py
watch ./x.sh                                  x.sh
entr ./x.sh                                   x.sh
parallel ./x.sh ::: a b                       x.sh
flock lock ./x.sh                             x.sh
# and more
uv run pytest                                 test_a.py
poetry run pytest                             tests/test_a.py
coverage run -m pytest                        test_a.py
git bisect run pytest                         test_a.py
timeout 5 uv run pytest                       test_a.py
npx mocha                                     test/x.js
bundle exec rspec                             spec/x_spec.rb
cargo test util                               src/main.rs
cargo test --manifest-path Cargo.toml         src/main.rs
pytest --junitxml=out.xml                     test_a.py
pytest --cov=src                              test_a.py
pytest --ignore=old                           test_a.py
pytest -k login -c pytest.ini                 test_a.py
jest --config jest.config.js                  src/x.test.js
rspec --options o                             spec/x_spec.rb
mvn -s settings.xml test                      src/A.java
gradle -b b.gradle test                       src/A.java
cat x.py | python3                            x.py
cat < x.py | python3                          x.py
head -5 x.py | python3                        x.py
grep . x.py | python3                         x.py
cat x.py | tee /dev/null | python3            x.py
cat x.js | node                               x.js
cat x.sql | psql db                           x.sql
cat x.yaml | kubectl apply -f -               x.yaml
cat x.py | uv run -                           x.py
python3 -m pytest                             test_a.py
python3 -mpytest                              test_a.py
python3 -m unittest                           test_a.py
python3 -m unittest test_a                    test_a.py
python3 -m runpy m                            m.py
python3 -m timeit -s "import m"               m.py
python3 -m trace --module m                   m.py
python3 -c "import m"                         m.py
python3 -c "from pkg import m"                pkg/__init__.py
pytest -p plug tests                          plug.py
trap "sh x.sh" EXIT                           x.sh
trap ./x.sh 0                                 x.sh
cd sub; cd ..; pytest                         test_a.py
uv run --with a --with b --with c --with d --with e --with f --with g pytest   test_a.py
perl -MH -e 1                                 H.pm
for f in a b; do ./$f.sh; done                a.sh
while read f; do python3 "$f"; done < l       x.py
python3 -m tool.sub                           tool/sub.py +tool/__init__.pyc
pytest tests                                  tests/target/test_q.py
go test ./...                                 target/a_test.go
go test ./...                                 node_modules/a_test.go
node --test                                   x.test.js
rake test                                     test/x_test.rb
python3 manage.py test                        app/tests.py
xvfb-run pytest                               test_a.py
hatch run pytest                              test_a.py
mise exec -- pytest                           test_a.py
npm exec jest                                 src/x.test.js
node server                                   server.js
uvicorn app:app                               app.py
gunicorn app:app                              app.py
celery -A tasks worker                        tasks.py
celery -A pkg.tasks worker                    pkg/tasks.py
flask --app hello run                         hello.py
node -e "require('./x')"                      x.js
node -r ./hook x.js                           hook.js
npx jest                                      node_modules/.bin/jest
npx jest src/x.test.js                        node_modules/.bin/jest
bundle exec rake                              Rakefile
cargo run --manifest-path x/Cargo.toml        x/src/main.rs
cargo run -- data.txt                         src/main.rs
mvn -f x/pom.xml test                         x/src/A.java
pytest -c ci.ini                              tests/test_a.py
jest --config dev.config.js                   src/x.test.js
go test -coverprofile=x.out                   x_test.go
pip install .                                 setup.py
pip install -e ./lib                          lib/setup.py
pip install -r requirements.txt               requirements.txt
python3 setup.py install                      setup.py
uv pip install -e .                           setup.py
cargo install --path .                        src/main.rs
npm install ./lib                             lib/package.json
poetry install                                pyproject.toml
gradle -p sub test                            sub/build.gradle
go -C sub run .                               sub/main.go
docker compose --project-directory sub up     sub/compose.yaml
docker compose -f sub/dev.yml up              sub/dev.yml
uv run --project sub python x.py              x.py
deno task build                               deno.json
bun test                                      x.test.ts
turbo build                                   turbo.json
nx test app                                   nx.json
python3 manage.py test                        manage.py
sqlite3 db ".read x.sql"                      x.sql
psql -c "\\i x.sql"                            x.sql
sed -f x.sed a                                x.sed
perl -I. -e 1 x.pl                            x.pl
python3 -c "exec(open('x.py').read())"        x.py
bash -c ./x.sh                                x.sh
bash -c "python3 x.py"                        x.py
sh -c 'node x.js'                             x.js
nohup ./x.sh                                  x.sh
env -C sub ./x.sh                             sub/x.sh
helm template ./chart                         chart/values.yaml
helmfile apply                                helmfile.yaml
cmake -P x.cmake                              x.cmake
cmake -S . -B build                           CMakeLists.txt
bats test                                     test/x.bats
prove -l t                                    t/x.t
busybox sh x.sh                               x.sh
`

// An allow is bound to the code that runs: any change of the file makes it another call.
// This is so for lessons and for the approvals of tickets.
func TestCodeIsBound(t *testing.T) {
	for line := range strings.Lines(runsCode) {
		command, names, found := strings.Cut(strings.TrimSpace(line), "   ")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		command = strings.ReplaceAll(command, "{} ;", `{} \;`)
		file, planted, plants := strings.Cut(strings.TrimSpace(names), " +")
		changes := map[string]func(project string) error{
			"changed": func(project string) error {
				return os.WriteFile(filepath.Join(project, file), []byte("other\n"), 0o755)
			},
			"a link": func(project string) error {
				other := filepath.Join(t.TempDir(), "other")
				if err := os.WriteFile(other, []byte("other\n"), 0o755); err != nil {
					return err
				}
				path := filepath.Join(project, file)
				if err := os.Remove(path); err != nil {
					return err
				}
				return os.Symlink(other, path)
			},
		}
		if plants {
			changes["planted"] = func(project string) error { return put(project, planted) }
		}
		for how, change := range changes {
			b := newBench(t)
			if err := put(b.project, file); err != nil {
				t.Fatal(err)
			}
			taught := b.teach(cardea.Allow, command)
			if got := b.decide(command); taught == nil && got != cardea.Allow {
				t.Errorf("%s: it is not allowed again: %s", command, got)
			}
			before := b.keyer.Used(b.event(command))
			if same := b.keyer.Used(b.event(command)); !maps.Equal(before, same) {
				t.Errorf("%s: a ticket is not for the same call: %v, %v", command, before, same)
			}
			if err := change(b.project); err != nil {
				t.Fatal(err)
			}
			if got := b.decide(command); got == cardea.Allow {
				t.Errorf("%s: %s is %s, and a lesson allows it", command, file+planted, how)
			}
			if after := b.keyer.Used(b.event(command)); maps.Equal(before, after) {
				t.Errorf("%s: %s is %s, and a ticket counts: %v", command, file+planted, how, after)
			}
		}
	}
}

// put writes an executable file.
func put(project, file string) error {
	path := filepath.Join(project, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755)
}

// Files that a command only reads, lints, formats or commits are not code: a lesson stays
// valid when they change.
func TestDataIsNotBound(t *testing.T) {
	for _, tt := range []struct{ command, file string }{
		{"git add src/a.go", "src/a.go"}, {"git commit -m x src/a.go", "src/a.go"}, {"black src", "src/a.py"}, {"gofmt -w src/a.go", "src/a.go"},
		{"tsc -p web", "web/a.ts"}, {"npm test", "src/a.js"}, {"make", "src/a.c"}, {"gh pr create --title src", "src/a.go"},
		{"cargo build", "run.log"}, {"pytest tests", "tests/__pycache__/x.pyc"},
	} {
		b := newBench(t)
		for _, file := range []string{tt.file, "package.json", "Makefile", "tests/test_a.py"} {
			if err := put(b.project, file); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.teach(cardea.Allow, tt.command); err != nil {
			t.Errorf("%s: %v", tt.command, err)
			continue
		}
		if err := os.WriteFile(filepath.Join(b.project, tt.file), []byte("other"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := b.decide(tt.command); got != cardea.Allow {
			t.Errorf("%s: %s after a change of %s", tt.command, got, tt.file)
		}
	}
}
