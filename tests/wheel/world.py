"""Hotel searches of `evenkeel generate` as messages and as arrays, and the programs of the build folder."""
import importlib.util
import json
import os
import re
import subprocess
import tempfile
import unittest

import numpy as np

BUILD = os.environ.get("BUILD", "build")
EVENKEEL = os.path.join(BUILD, "evenkeel")
HAS = {name: importlib.util.find_spec(name) is not None for name in ("pandas", "polars", "pyarrow", "lightgbm")}
RULES = "version: 1\nsegments: [arm]\ndefaults: {mode: enforce, min_duration: 30s}\nfeatures: {price: {units: [cents]}}\n"


def run(*words):
    """Run the program, and return its output."""
    result = subprocess.run([EVENKEEL, *words], capture_output=True, text=True, check=False)
    if result.returncode:
        raise AssertionError(f"evenkeel {' '.join(words)}: {result.stderr}")
    return result.stdout


class Arrays:
    """Lists of a file of JSON messages."""

    def __init__(self, path, dtype=np.float32):
        with open(path, encoding="utf-8") as lines:
            self.messages = [json.loads(line) for line in lines]
        items = [item for message in self.messages for item in message["items"]]
        self.X = np.array([item["features"] for item in items], dtype=float).astype(dtype)
        self.starts = np.cumsum([0] + [len(message["items"]) for message in self.messages])
        self.item_ids = [item["id"] for item in items]
        self.scores = [item["score"] for item in items]
        self.labels = np.array([item["label"] for item in items])
        self.ids = [message["query"] for message in self.messages]
        self.time_ms = [message["time_ms"] for message in self.messages]
        self.query_features = np.array([message["query_features"] for message in self.messages], dtype=float)
        self.segments = {name: [message["segments"].get(name) for message in self.messages] for name in ("arm", "market")}

    def part(self, first, last):
        """Return the arguments of Guard.observe for lists first .. last - 1."""
        rows = slice(self.starts[first], self.starts[last])
        return {"X": self.X[rows], "starts": self.starts[first:last + 1] - self.starts[first],
                "segments": {name: values[first:last] for name, values in self.segments.items()},
                "time_ms": self.time_ms[first:last], "query_features": self.query_features[first:last],
                "ids": self.ids[first:last], "item_ids": self.item_ids[rows]}

    def of_plan(self, first=0, last=None):
        return self.part(first, len(self.ids) if last is None else last)

    def columns(self, manifest):
        """Return the lists as a mapping of columns, one row per item."""
        own = np.repeat(np.arange(len(self.ids)), np.diff(self.starts))
        of_list = {"query": np.array(self.ids)[own], "time": np.array(self.time_ms)[own], "id": np.array(self.item_ids)}
        of_list |= {name: np.array(values)[own] for name, values in self.segments.items()}
        of_list |= {name: self.query_features[own, i] for i, name in enumerate(manifest.query_features)}
        return of_list | {name: self.X[:, i] for i, name in enumerate(manifest.item_features)}


def train_lightgbm(X, labels, starts):
    """Return a small LambdaMART of LightGBM."""
    import lightgbm
    options = {"objective": "lambdarank", "num_leaves": 15, "min_data_in_leaf": 20, "verbosity": -1, "num_threads": 1, "seed": 1}
    return lightgbm.train(options, lightgbm.Dataset(X, labels, group=np.diff(starts)), 40)


class Hotel(unittest.TestCase):
    """Folder with a manifest, a profile of 3,000 lists, and rules."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="evenkeel-wheel-")
        cls.manifest, cls.profile, cls.rules = cls.path("features.yaml"), cls.path("profile.ekp"), cls.path("rules.yaml")
        cls.train = cls.generate("train.jsonl", 3000, 1, "--manifest-out", cls.manifest)
        run("profile", "--manifest", cls.manifest, "--messages", cls.train, "-o", cls.profile)
        with open(cls.rules, "w", encoding="utf-8") as out:
            out.write(RULES)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    @classmethod
    def watch_query(cls, name):
        """Return the paths of a manifest that watches a query feature, and of its profile."""
        manifest, profile = cls.path("watched.yaml"), cls.path("watched.ekp")
        with open(cls.manifest, encoding="utf-8") as source, open(manifest, "w", encoding="utf-8") as out:
            out.write(re.sub(rf"name: {name}, index: \d+, role: query,", r"\g<0> watch: true,", source.read()))
        run("profile", "--manifest", manifest, "--messages", cls.train, "-o", profile)
        return manifest, profile

    @classmethod
    def generate(cls, name, lists, seed, *words):
        run("generate", "hotel", "--lists", str(lists), "--seed", str(seed), "--format", "messages", "--encoding", "json", *words,
            "-o", cls.path(name))
        return cls.path(name)
