"""Hotel searches of `evenkeel generate` for the notebooks: JSON messages, and frames with a row per item."""
import json
import subprocess

import pandas as pd


def generate(path, lists, seed, fault=None, manifest=None):
    """Write `lists` searches as JSON messages, and with `manifest` the manifest of their features."""
    words = ["evenkeel", "generate", "hotel", "--lists", str(lists), "--seed", str(seed), "--format", "messages", "--encoding", "json-map", "-o", path]
    words += ["--fault", fault] if fault else []
    words += ["--manifest-out", manifest] if manifest else []
    subprocess.run(words, check=True, capture_output=True)


def read(path):
    """Return a row per item, with the values of its list."""
    with open(path, encoding="utf-8") as lines:
        lists = [json.loads(line) for line in lines]
    of_list = ["query", "time_ms", *[["segments", name] for name in lists[0]["segments"]],
               *[["query_features", name] for name in lists[0]["query_features"]]]
    frame = pd.json_normalize(lists, "items", of_list)
    return frame.rename(columns=lambda name: name.split(".")[-1]).infer_objects()


def write_parquet(path, lists, seed, fault=None, manifest=None):
    """Write `lists` searches as a Parquet file."""
    generate(path + ".jsonl", lists, seed, fault, manifest)
    read(path + ".jsonl").to_parquet(path)
