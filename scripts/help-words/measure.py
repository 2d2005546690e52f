#!/usr/bin/env python3
"""Measure which programs answer a question for help before they read the project.

    measure.py install ROOT    install the packages of packages.yaml into a Debian root (debootstrap)
    measure.py measure ROOT    start each program there under strace, and write packs/commands/help.yaml
    measure.py add ROOT NAME…  add programs with --version and --help, which they must answer

A program is started with each of its help words (information_words and help_options in
packs/commands) in a folder full of files that tools look for in a project. It reads the project
where it opens or starts anything in that folder or in a folder above it, also where there is no
such file, and where it looks for one of the files that were put there. A program that does
neither is listed as "seen".

A program that cannot be installed stays in the list only if its line has a source, and so does one
that reads the project: the source says why nothing there is run.
"""
import glob, os, re, subprocess, sys, threading
from concurrent.futures import ThreadPoolExecutor
import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
PACKS = os.path.join(HERE, "../../packs/commands")
LIST = os.path.join(PACKS, "help.yaml")
PROJECT = "/planted/folder/project"
FILES = """SConstruct wscript waf conftest.py toxfile.py tox.ini pytest.ini setup.cfg setup.py pyproject.toml .flake8 .pylintrc mypy.ini ruff.toml
    scrapy.cfg app.py wsgi.py .flaskenv .env .envrc .python-version .yarnrc .yarnrc.yml .npmrc .nvmrc package.json pnpm-workspace.yaml .pnpmfile.cjs
    tsconfig.json .prettierrc .prettierrc.js .eslintrc.js Makefile GNUmakefile meson.build CMakeLists.txt xmake.lua premake5.lua premake4.lua build.ninja
    a.out justfile Justfile Rakefile Gemfile .ruby-version .rspec Cargo.toml .cargo/config.toml rust-toolchain.toml go.mod go.work .tool-versions mise.toml
    build.gradle pom.xml build.xml composer.json .php-version php.ini Dockerfile docker-compose.yml compose.yaml .dockerignore .terraformrc main.tf
    Vagrantfile Pulumi.yaml cdk.json ansible.cfg samconfig.toml .pre-commit-config.yaml .git/config .git/HEAD .gitconfig .gitattributes .hg/hgrc
    .curlrc .wgetrc .inputrc .vimrc .exrc .nanorc .tmux.conf .screenrc .gdbinit .lldbinit .rgignore .ignore .ackrc .agignore .jq .sqliterc
    .psqlrc .my.cnf my.cnf .condarc environment.yml openssl.cnf gpg.conf site.py sitecustomize.py usercustomize.py argparse.py os.py index.js""".split()
NAMES = {os.path.basename(f) for f in FILES} | {f.split("/")[0] for f in FILES}
CALL = re.compile(r'^\d+ +(\w+)\((?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
# libldap, which curl and dnf link, reads settings of LDAP alone there (ldap.conf(5)).
HARMLESS = {"ldaprc"}


def programs():
    """Programs with their help words."""
    out = {}
    for name in sorted(glob.glob(PACKS + "/*.yaml")):
        for p in yaml.safe_load(open(name)).get("programs") or []:
            options = p.get("help_options") or []
            words = (p.get("information_words") or []) + options
            below = [s["name"] if isinstance(s["name"], str) else s["name"][0] for s in p.get("subcommands") or []]
            words += [s + " " + o for s in below if "*" not in s for o in options][:6]
            for n in p["name"] if isinstance(p["name"], list) else [p["name"]]:
                if words:
                    out[n] = words
    return out


def inside(root, *command, **options):
    if root != "/":
        command = ("chroot", root) + command
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)


def install(root):
    packages = yaml.safe_load(open(HERE + "/packages.yaml"))
    steps = [["apt-get", "update", "-qq"],
             ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", "--no-install-recommends"] + packages["debian"],
             ["npm", "install", "-g", "--prefix", "/opt/npm"] + packages["npm"]]
    for p in packages["pypi"]:
        steps += [["python3", "-m", "venv", "/opt/py/" + p], ["/opt/py/%s/bin/pip" % p, "install", "-q", p]]
    for s in steps:
        print(s[:8], inside(root, *s).stdout[-300:])


def read_in_project(root, program, word, strict=False):
    """What a program reads in the project, or in a folder above it, and what it prints. None: it could not be started. strict: what it asks for, too."""
    log = "/tmp/strace-%d.log" % threading.get_ident()
    r = inside(root, "sh", "-c", 'cd %s && exec timeout -k 1 20 strace -f -y -qq -e trace=%%file -o %s "$0" "$@"' % (PROJECT, log), program, *word.split(),
               env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8", "TERM": "dumb", "PAGER": "cat"})
    found, started = set(), False
    for line in open(root.rstrip("/") + log, errors="replace"):
        m = CALL.match(line)
        if not m:
            continue
        if not started:  # the start of the program itself
            started = m[1] == "execve" and " = 0" in line
            continue
        name = os.path.normpath(os.path.join(m[2] or PROJECT, m[3]))
        rel = os.path.relpath(name, PROJECT)
        opens = m[1] in ("open", "openat", "openat2", "creat", "execve", "execveat", "chdir")
        known = os.path.basename(name) in NAMES or rel.split("/")[0] in NAMES
        if m[3] and name.startswith("/planted") and name not in ("/planted", "/planted/folder", PROJECT) and (strict or opens or known) and rel not in HARMLESS:
            found.add(rel)
    return found if started else None, r.stdout


def where(root, name):
    path = root.rstrip("/")
    for d in ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/opt/npm/bin"] + sorted("/opt/py/" + v + "/bin" for v in
              (os.listdir(path + "/opt/py") if os.path.isdir(path + "/opt/py") else [])):
        if os.path.lexists(path + d + "/" + name):
            return d + "/" + name
    return None


def version(output):
    m = re.search(r"\d+(\.\d+)+[\w.-]*", output)
    return m[0] if m else ""


def planted(root):
    """Put the files there that tools look for."""
    project = root.rstrip("/") + PROJECT
    for f in FILES:
        os.makedirs(os.path.dirname(os.path.join(project, f)), exist_ok=True)
        open(os.path.join(project, f), "w").write("")


def measure(root):
    planted(root)
    seen, read, missing, names = {}, {}, [], yaml.safe_load(open(HERE + "/packages.yaml"))["names"]

    def one(item):
        name, words = item
        at = where(root, names.get(name, name))
        if not at:
            return missing.append(name)
        number, bad, ran = "", {}, False
        for w in words:
            found, out = read_in_project(root, at, w)
            if found is None:
                continue
            ran, number = True, number or (version(out) if "v" in w.lower() else "")
            if found:
                bad[w] = sorted(found)
        if not ran:
            missing.append(name)
        elif bad:
            read[name] = bad
        else:
            seen[name] = number
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(one, sorted(programs().items())))
    return seen, read, missing


def add(root, names):
    """Add programs that answer --version or --help, and say which are not there or read the project."""
    planted(root)
    lines, answers = [], {"--version": r"\d", "--help": r"(?i)usage|options|commands"}
    for name in names:
        at = where(root, yaml.safe_load(open(HERE + "/packages.yaml"))["names"].get(name, name))
        words, number = [], ""
        for word, answer in answers.items() if at else ():
            found, out = read_in_project(root, at, word, strict=True)
            if found == set() and re.search(answer, out) and not re.search(r"(?i)(unknown|unrecognized|invalid|illegal|bad) (option|flag|argument)|not found", out):
                words.append(word)
            elif found:
                print(name, word, "reads", ", ".join(sorted(found))[:100])
            number = number or (version(out) if word == "--version" else "")
        if words:
            lines.append("  - {name: %s, answers_help: [%s]} # seen %s" % (name, ", ".join(words), number))
        print(name, words if at else "is not there")
    head, _, tail = open(LIST).read().partition("\ntests:")
    open(LIST, "w").write(head.rstrip("\n") + "\n" + "\n".join(lines) + "\ntests:" + tail)


def write(seen, read, missing):
    sources = {}  # what people wrote about programs that cannot be installed
    if os.path.exists(LIST):
        for m in re.finditer(r"^  - \{name: (\S+), answers_help: true\} # source: (.*)$", open(LIST).read(), re.M):
            sources[m[1].strip('"')] = m[2]
    lines = []
    for n in sorted(set(seen) | set(sources) & (set(missing) | set(read))):
        quoted = '"%s"' % n if re.search(r"[^\w.-]", n) or n in ("true", "false") else n
        lines.append("  - {name: %s, answers_help: true} # %s" % (quoted, ("seen " + seen[n]).strip() if n in seen else "source: " + sources[n]))
    lines += re.findall(r"(?m)^  - \{name: \S+, answers_help: \[-.*", open(LIST).read())
    for n, bad in sorted(read.items()):
        what = sorted({f for fs in bad.values() for f in fs})
        text = "  # %s %s reads %s" % (n, " ".join(bad), ", ".join(what))
        lines.append(text[:137] + "…" if len(text) > 138 else text)
    head, _, rest = open(LIST).read().partition("programs:\n")
    _, _, tail = rest.partition("\ntests:")
    open(LIST, "w").write(head + "programs:\n" + "\n".join(lines) + "\ntests:" + tail)
    print(len(seen), "seen;", len(read), "read the project;", "not installed:", " ".join(m for m in missing if m not in sources))


if __name__ == "__main__":
    root = sys.argv[2]
    if sys.argv[1] == "install":
        install(root)
    elif sys.argv[1] == "add":
        add(root, sys.argv[3:])
    else:
        write(*measure(root))
