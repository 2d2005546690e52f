#!/usr/bin/env python3
"""Measure what venv, virtualenv and uv write to bin/activate.

    measure.py FOLDER [PYTHON…]    make environments there with each Python, and with the versions
                                   of virtualenv and uv in PyPI, and print the list for
                                   packs/commands/undescribed.yaml

A file is written in the form that internal/command/bash/activate.go compares: without comments and blanks,
with the bytes 0 for the folder and 1 for its name. The list has the beginning of its SHA-256.
"""
import hashlib, json, os, re, subprocess, sys, urllib.request


def form(text, root):
    lines = [l.strip(" \t") for l in text.split("\n")]
    text = "\n".join(l for l in lines if l and not l.startswith("#")).replace(root, "\0")
    name = os.path.basename(root)
    for before, after in (("(", ") "), ('"', '"'), ("'", "'"), ("x", '" != x'), ("=", "\n")):
        text = text.replace(before + name + after, before + "\1" + after)
    text = re.sub(r"(?m)^(TCL|TK)_LIBRARY='/usr/[\w./-]*'$", r"\1_LIBRARY=''", text)
    return hashlib.sha256(text.encode()).hexdigest()[:32], text


def versions(package, first):
    """The last version of each minor one, from a first one on."""
    out = {}
    for v in json.load(urllib.request.urlopen("https://pypi.org/pypi/%s/json" % package))["releases"]:
        if re.fullmatch(r"\d+(\.\d+)+", v):
            n = tuple(map(int, v.split(".")))
            if n < first:
                continue
            out[n[:2]] = max(out.get(n[:2], n), n)
    return [".".join(map(str, n)) for _, n in sorted(out.items())]


def main(folder, pythons):
    seen = {}

    def note(what, root):
        at = root + "/bin/activate"
        if os.path.exists(at):
            seen.setdefault(form(open(at).read(), root), []).append(what)
        else:
            print("no file of", what, file=sys.stderr)

    def run(*command, **env):
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **env}).returncode == 0

    for p in pythons:
        root = folder + "/venv-of-" + os.path.basename(p)
        run(p, "-m", "venv", "--without-pip", root)
        note(os.path.basename(p), root)
    for package, first in (("virtualenv", (20,)), ("uv", (0, 1))):
        for v in versions(package, first):
            at, root = folder + "/" + package + "-" + v, folder + "/made-by-" + package + "-" + v
            if not os.path.exists(at) and not run("pip", "install", "-q", "--target", at, package + "==" + v):
                continue
            if package == "uv":
                run(at + "/bin/uv", "venv", root)
            else:
                run("python3", "-m", "virtualenv", "--without-pip", "--no-download", root, PYTHONPATH=at)
            note(package + " " + v, root)
    for (sha, text), what in seen.items():
        print("%s # %s" % (sha, ", ".join(what)))
        open(folder + "/" + sha, "w").write(text)


main(os.path.abspath(sys.argv[1]), sys.argv[2:] or ["python3"])
