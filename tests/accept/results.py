#!/usr/bin/env python3
"""Writes the tables of docs/dev/results.md.

    python3 tests/accept/results.py NAME... [--program build/evenkeel] [--keep FOLDER] [--write docs/dev/results.md]

NAME: hotel, swissmetro, car, mq2008 (with and without SIR), subset, faults, codes, cost, inputs, sources,
transforms, select, normalize; or all. Prints Markdown; with --write it replaces the lines between `<!-- table NAME -->` and
`<!-- end -->` in a document instead. EK_DATA names the folder of the sets. Models and results are cached under --keep, in a separate
folder for each build of the program. LightGBM is installed in a virtual environment below that folder; if it cannot be downloaded, its
columns stay empty, with a message.
"""
import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs"))
import document  # noqa: E402
import tables  # noqa: E402
from sets import Set  # noqa: E402

PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lightgbm_peer.py")


class Kept:
    """Results by key, stored in a file."""

    def __init__(self, path):
        self.path, self.of = path, {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as stream:
                self.of = json.load(stream)

    def add(self, figures):
        self.of.update(figures)
        with open(self.path, "w", encoding="utf-8") as stream:
            json.dump(self.of, stream)


class Peer:
    """LightGBM in its own virtual environment."""

    def __init__(self, keep):
        self.keep, self.python = keep, os.path.join(keep, "venv", "bin", "python")
        self.ready = self._install()
        with open(PEER, "rb") as stream:
            self.version = "lightgbm-" + hashlib.sha256(stream.read()).hexdigest()[:12]

    def _install(self):
        if os.path.exists(self.python):
            return True
        steps = [[sys.executable, "-m", "venv", os.path.join(self.keep, "venv")],
                 [self.python, "-m", "pip", "install", "-q", "lightgbm", "scipy", "zstandard"]]
        for step in steps:
            if subprocess.run(step, capture_output=True, check=False).returncode:
                print("LightGBM could not be installed; its columns stay empty", file=sys.stderr)
                return False
        return True

    def measure(self, data, seeds, rows):
        """Evaluate rows of (specs, features, remedy). Return per row and seed [NDCG@5, NDCG@10], or None without
        LightGBM. The results are independent of this program and are cached."""
        if not self.ready:
            return [None] * len(rows)
        folder = os.path.join(self.keep, self.version, data.name)
        os.makedirs(folder, exist_ok=True)
        known = Kept(os.path.join(folder, f"figures-{len(seeds)}.json"))
        new = [r for r in rows if repr(r) not in known.of]
        if new:
            print(f"{data.name} lightgbm, {len(new)} rows", file=sys.stderr)
            known.add(zip(map(repr, new), self._ask(data, seeds, new, folder)))
        return [known.of[repr(r)] for r in rows]

    def judge(self, data, seeds, choices):
        """Evaluate selections of item features, each {seed: [names]}. Return per selection and seed [NDCG@3,
        NDCG@10], or None without LightGBM."""
        if not self.ready:
            return [None] * len(choices)
        folder = os.path.join(self.keep, self.version, data.name)
        os.makedirs(folder, exist_ok=True)
        known = Kept(os.path.join(folder, f"choices-{len(seeds)}.json"))
        new = [c for c in choices if json.dumps(c) not in known.of]
        if new:
            print(f"{data.name} lightgbm, {len(new)} choices", file=sys.stderr)
            known.add(zip(map(json.dumps, new), self._run(data, seeds, folder, {"columns": new})))
        return [known.of[json.dumps(c)] for c in choices]

    def _ask(self, data, seeds, rows, folder):
        return self._run(data, seeds, folder, {
            "rows": [{"perturb": specs, "features": features, "remedy": remedy} for specs, features, remedy in rows]})

    def _run(self, data, seeds, folder, what):
        job = {"scratch": folder, "splits": data.splits, "items": data.items, "query": data.query,
               "list_size": data.folded, "seeds": seeds, **data.lightgbm, **what}
        result = subprocess.run([self.python, PEER], input=json.dumps(job), capture_output=True, text=True, check=False)
        if result.returncode:
            raise SystemExit(result.stderr)
        return json.loads(result.stdout)


class Bench:
    """Inputs of the tables: sets, seeds, the peer; each value is measured once."""

    def __init__(self, args, folder):
        with open(args.program, "rb") as stream:
            build = hashlib.sha256(stream.read()).hexdigest()[:12]
        self.args, self.folder = args, folder
        self.scratch = os.path.join(args.keep, "models-" + build)
        self.seeds, self.peer, self.sets, self.found = list(range(args.seeds)), Peer(args.keep), {}, {}
        self.names = args.sets.split(",") if args.sets else None

    def set(self, name):
        if name not in self.sets:
            data = self.sets[name] = Set(self.args.program, self.folder, name, self.scratch)
            self.found[name] = Kept(os.path.join(data.scratch, f"figures-{len(self.seeds)}.json"))
        return self.sets[name]

    def ours(self, name, variant, loss, words):
        """Return [[NDCG@5, NDCG@10] per seed]."""
        return self.figures(name, variant, loss, words, ("ndcg@5", "ndcg@10"))

    def figures(self, name, variant, loss, words, metrics):
        """Return [[a value for each metric] per seed]."""
        data, key = self.set(name), " ".join([variant, loss, *words])
        if metrics != ("ndcg@5", "ndcg@10"):
            key += " " + ",".join(metrics)
        if key not in self.found[name].of:
            print(name, key, file=sys.stderr)
            values = data.measure(variant, loss, self.seeds, words, metrics)
            self.found[name].add({key: list(zip(*(values[m] for m in metrics)))})
        return self.found[name].of[key]

    def chosen(self, name, method):
        """Return per seed the sets of `evenkeel select --cross-validate` on the test lists."""
        data, key = self.set(name), "select " + method
        if key not in self.found[name].of:
            print(name, key, file=sys.stderr)
            self.found[name].add({key: [data.select(method, seed) for seed in self.seeds]})
        return self.found[name].of[key]

    def theirs(self, name, rows):
        """Return the same for LightGBM, per row of (specs, features, remedy)."""
        return self.peer.measure(self.set(name), self.seeds, rows)


def cell(values, which=1):
    """Format mean and deviation over the seeds of [NDCG@5, NDCG@10], without the leading 0."""
    if not values:
        return "-"
    of = [v[which] for v in values]
    return f"{statistics.fmean(of):.4f}±{statistics.pstdev(of):.4f}".replace("0.", ".")


def render(rows, head, best=True):
    """Format rows: (name, [values per seed or None or text]). The best mean of a row, to four digits, is bold."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, cells in rows:
        texts = [c if isinstance(c, str) else cell(c) for c in cells]
        top = max((t for t in texts if t[:1] == "."), key=lambda t: t[:5], default="")[:5]
        lines.append(f"| {name} | " + " | ".join(f"**{t}**" if best and t[:5] == top else t for t in texts) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", choices=[*tables.TABLES, "all"], metavar="NAME")
    parser.add_argument("--program", default="build/evenkeel")
    parser.add_argument("--keep", default="build/accept")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--write")
    parser.add_argument("--sets", help="of the table `select`: these only, as in mq2008,car")
    args = parser.parse_args()
    folder = os.environ.get("EK_DATA")
    if not folder:
        raise SystemExit("EK_DATA names no folder with the sets")
    os.makedirs(args.keep, exist_ok=True)
    bench = Bench(args, folder)
    found = {name: tables.TABLES[name](bench, render, cell) for name in (tables.TABLES if "all" in args.names else args.names)}
    if args.write:
        document.write(args.write, found)
    else:
        print("\n\n".join(found.values()))


if __name__ == "__main__":
    main()
