"""What the examples share: LETOR lists, the transforms of docs/format/model.md, the model file.

Needs numpy and PyYAML. Shapes: Q lists, padded to the D items of the longest; F item features, M query
features, K routable ones.
"""
import argparse
import gzip
import json
import struct
from dataclasses import dataclass

import numpy as np
import yaml


class Manifest:
    """Which column is what. Columns are kept in the order of `index`."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as stream:
            tree = yaml.safe_load(stream)
        rows = sorted(tree["features"], key=lambda row: row["index"])
        items = [row for row in rows if row["role"] == "item"]
        queries = [row for row in rows if row["role"] == "query"]
        self.derived = tree.get("derived_query_features", [])  # log_list_size is the only one
        self.item_names = [row["name"] for row in items]
        self.query_names = [row["name"] for row in queries] + self.derived
        self.item_columns = [row["index"] for row in items]
        self.query_columns = [row["index"] for row in queries]
        self.routable = [at for at, row in enumerate(items) if row.get("routable")]


@dataclass
class Lists:
    """items [Q, D, F], queries [Q, M], labels [Q, D], present [Q, D]: False where a list has ended."""

    items: np.ndarray
    queries: np.ndarray
    labels: np.ndarray
    present: np.ndarray


def read_lines(path):
    """(label, list, {column: value}) of each line; the file may be packed with gzip."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            words = line.split("#")[0].split()
            if words:
                yield float(words[0]), words[1], {int(i): float(x) for i, x in (w.split(":") for w in words[2:])}


def read_letor(path, manifest):
    groups = {}
    for label, name, values in read_lines(path):
        groups.setdefault(name, []).append((label, values))
    longest = max(len(rows) for rows in groups.values())
    shape = (len(groups), longest)
    lists = Lists(np.zeros((*shape, len(manifest.item_names)), np.float32),
                  np.zeros((len(groups), len(manifest.query_names)), np.float32),
                  np.zeros(shape, np.float32), np.zeros(shape, bool))
    for q, rows in enumerate(groups.values()):
        derived = [np.log(len(rows))] * len(manifest.derived)
        lists.queries[q] = [rows[0][1].get(c, 0) for c in manifest.query_columns] + derived
        lists.present[q, :len(rows)] = True
        for d, (label, values) in enumerate(rows):
            lists.labels[q, d] = label
            lists.items[q, d] = [values.get(c, 0) for c in manifest.item_columns]
    return lists


def signed_ln(x):
    return np.sign(x) * np.log1p(np.abs(x))


def centred_logs(lists, routable):
    """ln|x| less its mean over the list [Q, D, K], 0 where x is 0 or missing, and where it is neither."""
    x = lists.items[..., routable].astype(np.float64)
    usable = np.isfinite(x) & (x != 0) & lists.present[..., None]
    logs = np.log(np.abs(np.where(usable, x, 1)))
    mean = logs.sum(1, keepdims=True) / np.maximum(usable.sum(1, keepdims=True), 1)
    return np.where(usable, logs - mean, 0), usable


def finite(values, shape):
    """The finite values of each column as a list of arrays."""
    columns = values.reshape(-1, shape)
    return [column[np.isfinite(column)] for column in columns.T]


def statistics(lists, manifest):
    """The seven arrays of statistics, float32: what is exported is what is trained with."""
    items = lists.items[lists.present].astype(np.float64)
    queries = lists.queries.astype(np.float64)
    logs, usable = centred_logs(lists, manifest.routable)
    raw = finite(items[:, manifest.routable], len(manifest.routable))
    centred = [logs[..., k][usable[..., k]] for k in range(len(manifest.routable))]
    by_item = finite(signed_ln(items), items.shape[1])
    by_query = finite(signed_ln(queries), queries.shape[1])
    found = {
        "item_mean": [x.mean() for x in by_item],
        "item_sd": [x.std() + 1e-6 for x in by_item],
        "query_mean": [x.mean() for x in by_query],
        "query_sd": [x.std() + 1e-6 for x in by_query],
        "item_median": [np.median(x) for x in finite(items, items.shape[1])],
        "log_mean": [np.log(np.abs(x[x != 0])).mean() if (x != 0).any() else 0 for x in raw],
        "log_sd": [max(x.std(), 1e-3) if len(x) else 1 for x in centred],
    }
    return {name: np.array(values, np.float32) for name, values in found.items()}


def encode(lists, manifest, stats):
    """The network's inputs, float32: t [Q, D, F], v [Q, M], z and b [Q, D, K]. Missing values are 0 in all of them."""
    def standard(x, kind):
        with np.errstate(invalid="ignore"):
            t = (signed_ln(x.astype(np.float64)) - stats[kind + "_mean"]) / stats[kind + "_sd"]
        return np.where(np.isfinite(t), t, 0).astype(np.float32)

    x = lists.items[..., manifest.routable]
    z = np.sign(x) * centred_logs(lists, manifest.routable)[0] / stats["log_sd"]
    return {"t": standard(lists.items, "item"), "v": standard(lists.queries, "query"),
            "z": np.where(np.isfinite(z), z, 0).astype(np.float32), "b": (x == 0).astype(np.float32)}


def draw_masks(rng, lists, routable):
    """[lists, routable]: half of the lists route nothing, the others a random subset of random size."""
    ranks = rng.random((lists, routable)).argsort(1)
    sizes = rng.integers(1, routable + 1, (lists, 1)) * (rng.random((lists, 1)) < 0.5)
    return (ranks < sizes).astype(np.float32)


def write_model(path, manifest, stats, weights, hidden, gate_size, training):
    """A safetensors file. `weights` has float32 arrays by their names in docs/format/model.md."""
    about = {"model": "routable_sir", "version": 1, "item_features": manifest.item_names,
             "query_features": manifest.query_names, "routable": [manifest.item_names[f] for f in manifest.routable],
             "routable_positions": manifest.routable, "hidden": list(hidden), "gate_size": gate_size,
             "mask_input": True, "log_input": "always", "list_free": False, "trained": training}
    header, data = {"__metadata__": {"routable_sir": json.dumps(about)}}, b""
    for name, array in sorted({**weights, **stats}.items()):
        raw = np.ascontiguousarray(array, "<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as stream:
        stream.write(struct.pack("<Q", len(text)) + text + data)


def ndcg10(scores, lists):
    """Mean NDCG@10, gain 2^y - 1, lists without a positive label skipped."""
    def dcg(key):
        order = np.argsort(np.where(lists.present, -key, np.inf), 1, kind="stable")[:, :10]
        gains = np.take_along_axis(2 ** lists.labels - 1, order, 1)
        return (gains / np.log2(np.arange(order.shape[1]) + 2)).sum(1)

    best = dcg(lists.labels)
    return float((dcg(scores)[best > 0] / best[best > 0]).mean())


def arguments(description):
    """The command line of an example."""
    parser = argparse.ArgumentParser(description=description)
    for name in ("--manifest", "--train", "--vali"):
        parser.add_argument(name, required=True)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scores", help="write the scores of the validation lists there (.npz), for comparison")
    return parser.parse_args()


def validate(args, manifest, stats, rng, score):
    """Prints NDCG@10 of the validation lists and keeps their scores. score(inputs, mask): of a network."""
    vali = read_letor(args.vali, manifest)
    inputs = encode(vali, manifest, stats)
    masks = {"none": np.zeros((len(vali.labels), len(manifest.routable)), np.float32)}
    masks["all"] = np.ones_like(masks["none"])
    masks["random"] = draw_masks(rng, *masks["none"].shape)
    scores = {name: score(inputs, mask) for name, mask in masks.items()}
    print(f"validation NDCG@10 {ndcg10(scores['none'], vali):.4f}, all routed {ndcg10(scores['all'], vali):.4f}")
    if args.scores:
        np.savez(args.scores, mask=masks["random"], **scores)
