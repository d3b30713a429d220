"""Training statistics that `train` stores in a model, against the reference's."""
import json
import struct

import numpy as np

import case_remedies
import draw
import reference
from world import close

UNREAD = 1e30               # the deviation of a constant feature
EPS = 2.**-24
NAMES = ("item_mean", "item_sd", "query_mean", "query_sd", "item_median", "log_mean", "log_sd")


def tensors_of(path):
    with open(path, "rb") as file:
        data = file.read()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__")
    return {name: np.frombuffer(data[8 + size + one["data_offsets"][0]:8 + size + one["data_offsets"][1]], "<f4")
            for name, one in header.items()}


def drawn(rng, manifest):
    """Return lists, two items of which have different labels."""
    lists = draw.lists(rng, manifest, int(rng.integers(5, 30)), odd=.1, absent=0, longest=40)
    lists.add(draw.column(rng, 2 * len(manifest.items), "plain").astype(np.float32).reshape(2, -1), lists.query[0], np.array([1, 0]))
    return lists


def run(w):
    rng = w.rng
    manifest = draw.Manifest(rng, int(rng.integers(2, 7)))
    lists = drawn(rng, manifest)
    while all((x == x[0]).all() for x in lists.x):
        lists = drawn(rng, manifest)
    w.write("f.yaml", manifest.yaml())
    w.write("l.txt", lists.letor())
    w.run("train", "-m", "f.yaml", "--train", "l.txt", "--vali", "l.txt", "--epochs", "1", "--hidden", "2", "--threads", "1",
          *(["--routing", "none"] if not manifest.routable else []), "-o", "m.safetensors")
    found = tensors_of(w.path("m.safetensors"))
    with np.errstate(all="ignore"):
        wanted = reference.sir.Statistics.fit(case_remedies.padded(lists), manifest.routable)
    for name in NAMES:
        value = np.asarray(getattr(wanted, name), float)
        if name.endswith("sd"):
            # A constant feature is marked by the minimum added to a deviation, or by its replacement.
            least = 1.001e-3 if name == "log_sd" else 1.001e-6
            value = np.where((found[name] == np.float32(UNREAD)) & (value <= least), found[name], value)
        size = np.abs(value) + (np.abs(found["item_mean"]).max() * 1e-7 if name == "item_sd" else 0)
        close(found[name], value, 3 * EPS * size + 1e-12, name)
    return 0
