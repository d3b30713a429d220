#!/usr/bin/env python3
"""LightGBM LambdaMART on a set with the faults and remedies of `evenkeel eval`. Needs lightgbm and zstandard.

    python3 lightgbm_peer.py < job.json > result.json

The job: {"scratch": folder for boosters, "splits": [{"train": [file], "vali": [...], "test": [...]}], "items": [names],
"query": [names], "list_size": bool, "leaves": n, "min_leaf": n, "seeds": [...], "rows": [{"perturb": [spec], "features": [names],
"remedy": null | "repair" | "arm" | "fill"}]}. The result: per row, per seed [NDCG@5, NDCG@10].
With "columns": [[item names]...] in place of "rows": boosters of these item features (and all query features) each; the result is per
choice, per seed [NDCG@3, NDCG@10]. A choice may be {seed: [names]}.

Raw values, early stopping on the validation lists. The specs are those of `evenkeel eval`; the lists of a partial fault are drawn here.
"""
import hashlib
import json
import os
import re
import sys

import lightgbm
import numpy as np
import zstandard

RATES = np.array([1, .8, 1.3, 7.2, 18, 110, 1400])


class Lists:
    """Items [N, F + M], labels [N], first item of each list and the end [Q + 1]."""

    def __init__(self, paths, columns, list_size):
        rows, labels, offset, last = [], [], [], None
        for path in paths:
            with open(path, "rb") as stream:
                text = zstandard.ZstdDecompressor().stream_reader(stream).read().decode()
            for line in text.splitlines():
                words = line.split("#")[0].split()
                if words[1] != last:
                    offset.append(len(rows))
                    last = words[1]
                row = np.zeros(columns)
                for word in words[2:]:
                    index, value = word.split(":")
                    row[int(index) - 1] = float(value)
                rows.append(row)
                labels.append(int(float(words[0])))
        self.x, self.label, self.offset = np.array(rows), np.array(labels), np.array(offset + [len(rows)])
        self.sizes = np.diff(self.offset)
        self.of_item = np.repeat(np.arange(len(self.sizes)), self.sizes)
        if list_size:
            self.x = np.column_stack([self.x, np.log(self.sizes)[self.of_item]])


def fit(train, vali, seed, leaves, min_leaf):
    parameters = {"objective": "lambdarank", "metric": "ndcg", "ndcg_eval_at": [10], "lambdarank_truncation_level": 20,
                  "learning_rate": .05, "num_leaves": leaves, "min_data_in_leaf": min_leaf, "feature_fraction": .8,
                  "bagging_fraction": .8, "bagging_freq": 1, "lambda_l2": 1, "seed": seed, "num_threads": 1,
                  "deterministic": True, "force_row_wise": True, "verbose": -1}
    return lightgbm.train(parameters, lightgbm.Dataset(train.x, train.label, group=train.sizes), 500,
                          valid_sets=[lightgbm.Dataset(vali.x, vali.label, group=vali.sizes)],
                          callbacks=[lightgbm.early_stopping(50, verbose=False)])


def change(x, how, query):
    """Apply the operation of a spec to one feature; `query` has a query feature per item."""
    if how == "neg":
        return -x
    if how == "zero":
        return np.zeros_like(x)
    if how == "recode":
        codes = np.unique(x)
        return np.roll(codes, -1)[np.searchsorted(codes, x)]
    if how.endswith("median"):
        return x + float(how[:-6]) * np.median(x)
    if how[0] == "*":
        return x * query(how[1:])
    number = float(how[1:])
    return {"x": lambda: x * number, "^": lambda: np.sign(x) * np.abs(x) ** number, "+": lambda: x + number}[how[0]]()


def break_lists(lists, x, spec, names):
    """Inject a fault into x in place. Return the arm of each item."""
    features, how, share, items = re.fullmatch(r"([\w,]+)=([^@,]+)(?:@([\d.]+))?(?:,items=([\d.]+))?", spec).groups()
    random = np.random.default_rng(5)
    of_list = random.random(len(lists.sizes)) < float(share or 1)
    rate = random.integers(0, len(RATES), len(lists.sizes))[lists.of_item]
    hit = of_list[lists.of_item] & (random.random(len(x)) < float(items or 1))
    for name in features.split(","):
        j = names.index(name)
        new = x[:, j] * RATES[rate] if how == "currency" else change(x[:, j], how, lambda q: x[:, names.index(q)])
        x[hit, j] = new[hit]
    return rate if how == "currency" else of_list[lists.of_item].astype(int)


def ln_median(values):
    values = values[values != 0]
    return np.median(np.log(np.abs(values))) if len(values) else None


def mend(x, train, features, remedy, arm):
    for j in features:
        if remedy == "fill":
            x[:, j] = np.median(train.x[:, j])
            continue
        for value in np.unique(arm):
            rows = arm == value
            now, then = ln_median(x[rows, j]), ln_median(train.x[:, j])
            if now is not None and then is not None:
                x[rows, j] /= np.exp(now - then)


def ndcg(lists, scores, cutoff):
    found, discount = [], 1 / np.log2(np.arange(2, 2 + lists.sizes.max()))
    for first, end in zip(lists.offset[:-1], lists.offset[1:]):
        gain = 2.0 ** lists.label[first:end] - 1
        if gain.max() > 0:
            n = min(cutoff, end - first)
            order = np.argsort(-scores[first:end], kind="stable")[:n]
            found.append((gain[order] * discount[:n]).sum() / (np.sort(gain)[::-1][:n] * discount[:n]).sum())
    return float(np.mean(found))


def measure(booster, train, test, row, names, known):
    """`known` caches results by input values; many faults are equal after imputation of a constant."""
    x, arm = test.x.copy(), np.zeros(len(test.x), dtype=int)
    for spec in row["perturb"]:
        arm = break_lists(test, x, spec, names)
    if row["remedy"]:
        mend(x, train, [names.index(f) for f in row["features"]], row["remedy"],
             arm if row["remedy"] == "arm" else np.zeros_like(arm))
    key = hashlib.sha256(x.tobytes()).digest()
    if key not in known:
        scores = booster.predict(x, num_threads=1)
        known[key] = [ndcg(test, scores, k) for k in (5, 10)]
    return known[key]


def only(lists, keep):
    """Return the same lists with fewer columns."""
    fewer = object.__new__(Lists)
    fewer.__dict__.update(lists.__dict__)
    fewer.x = lists.x[:, keep]
    return fewer


def judge(job, names):
    """Evaluate each selection of features."""
    found, width = [[] for _ in job["columns"]], len(names) + job["list_size"]
    for seed in job["seeds"]:
        split = job["splits"][seed if len(job["splits"]) > 1 else 0]
        lists = {key: Lists(paths, len(names), job["list_size"]) for key, paths in split.items()}
        for choice, values in zip(job["columns"], found):
            chosen = choice[str(seed)] if isinstance(choice, dict) else choice
            keep = [j for j in range(width) if j >= len(job["items"]) or names[j] in chosen]
            train, vali, test = (only(lists[key], keep) for key in ("train", "vali", "test"))
            booster = fit(train, vali, seed, job["leaves"], job["min_leaf"])
            scores = booster.predict(test.x, num_threads=1)
            values.append([ndcg(test, scores, k) for k in (3, 10)])
    return found


def main():
    job = json.load(sys.stdin)
    names = job["items"] + job["query"]
    if "columns" in job:
        json.dump(judge(job, names), sys.stdout)
        return
    found, read = [[] for _ in job["rows"]], {}
    for seed in job["seeds"]:
        fold = seed if len(job["splits"]) > 1 else 0
        if fold not in read:
            read = {fold: {key: Lists(paths, len(names), job["list_size"]) for key, paths in job["splits"][fold].items()}}
        lists, path = read[fold], os.path.join(job["scratch"], f"lightgbm-{lightgbm.__version__}-{seed}.txt")
        if os.path.exists(path):
            booster = lightgbm.Booster(model_file=path)
        else:
            booster = fit(lists["train"], lists["vali"], seed, job["leaves"], job["min_leaf"])
            booster.save_model(path, num_iteration=booster.best_iteration)
        known = {}
        for row, values in zip(job["rows"], found):
            values.append(measure(booster, lists["train"], lists["test"], row, names, known))
    json.dump(found, sys.stdout)


main()
