"""Random manifests, models and adversarial lists for the cases of this folder.

All numbers are float32 values, so that every decoder gets the same ones.
"""
import json
import struct

import numpy as np

# Values of past failures: both zeros, denormals, the ends of the range, edges of the sketches' buckets (64 to an
# octave), powers of two and their neighbors.
ODD = np.array([0, -0.0, 1, -1, 2, 1 - 2**-24, 1 + 2**-23, 2 - 2**-22, 1 + 1 / 64, 1 + 1 / 64 - 2**-23, 1e-45, -1e-45,
                1.1754942e-38, 1.17549435e-38, 2.0**-132, 2.0**-133, 3.4028235e38, -3.4028235e38, 1e18, -1e18, 1e19, 16777216,
                16777217, 1e-30, -1e-6], np.float32)
ABSENT = np.array([np.nan, np.inf, -np.inf], np.float32)


class Lists:
    """Lists of one manifest: x and query per list, labels, sources (or None), strata."""

    def __init__(self, manifest):
        self.manifest, self.x, self.query, self.labels, self.names = manifest, [], [], [], []

    def add(self, x, query, labels):
        self.x.append(x)
        self.query.append(query)
        self.labels.append(labels)
        self.names.append(f"q{len(self.x)}")

    def queries(self, i):
        """Return the query features with the derived ones, float64."""
        own = self.query[i].astype(np.float64)
        return np.append(own, np.float32(np.log(len(self.x[i])))) if self.manifest.derived else own

    def letor(self):
        """Return the lists as LETOR text; zeros are sometimes omitted, as the format allows."""
        m, lines = self.manifest, []
        for x, query, labels, name in zip(self.x, self.query, self.labels, self.names):
            of_query = [(c, text(v)) for c, v in zip(m.query_columns, query)]
            for d, row in enumerate(x):
                cells = sorted([(c, text(v)) for c, v in zip(m.item_columns, row)] + of_query)
                words = " ".join(f"{c}:{v}" for c, v in cells if v != "0.0")
                lines.append(f"{text(labels[d]).removesuffix('.0')} qid:{name} {words} # {name}-{d}\n")
        return "".join(lines)


def text(x):
    """Return the shortest decimal that parses to the same double."""
    return repr(float(x))


class Manifest:
    """F item and M query features, in columns with gaps, in any file order."""

    def __init__(self, rng, items=None, categories=False):
        f = int(items or rng.choice([1, 2, 3, 5, 9, 17, 33], p=[.15, .2, .2, .2, .15, .07, .03]))
        m = int(rng.choice([0, 1, 2, 4]))
        columns = 1 + np.sort(rng.choice(3 * (f + m), f + m, replace=False))
        kinds = rng.permutation(np.arange(f + m) < f)
        self.item_columns = [int(c) for c, item in zip(columns, kinds) if item]
        self.query_columns = [int(c) for c, item in zip(columns, kinds) if not item]
        self.items = [f"i{k}" for k in range(f)]
        self.queries = [f"q{k}" for k in range(m)]
        self.category = rng.random(f) < (.3 if categories else 0)
        self.routable = [k for k in range(f) if not self.category[k] and rng.random() < .6]
        self.derived = bool(rng.random() < .3)
        self.rng_order = rng.permutation(f + m)

    def yaml(self):
        of_items = [f"  - {{name: {n}, index: {c}, role: item{', routable: true' if k in self.routable else ''}"
                    f"{', type: category' if self.category[k] else ''}}}\n"
                    for k, (n, c) in enumerate(zip(self.items, self.item_columns))]
        of_queries = [f"  - {{name: {n}, index: {c}, role: query}}\n" for n, c in zip(self.queries, self.query_columns)]
        rows = of_items + of_queries
        derived = "derived_query_features: [log_list_size]\n" if self.derived else ""
        return derived + "features:\n" + "".join(rows[i] for i in self.rng_order)

    def query_names(self):
        return self.queries + (["log_list_size"] if self.derived else [])


def column(rng, n, kind):
    """Return n values of one feature of one kind; constant: within a list, fixed: in all of them."""
    if kind == "constant":
        return np.full(n, rng.choice(np.append(ODD, [3, 1e6])))
    if kind == "fixed":
        return np.full(n, 7.25)
    if kind == "codes":
        return rng.integers(-2, 4, n)
    if kind == "signed":
        return rng.normal(0, 10. ** rng.uniform(-3, 3), n)
    if kind == "wide":
        return np.exp(rng.uniform(-80, 80, n)) * rng.choice([1, -1], n)
    if kind == "binary":
        return 2. ** rng.integers(-10, 11, n)
    return np.exp(rng.normal(rng.uniform(-6, 8), rng.uniform(.01, 3), n))


KINDS = ("plain", "plain", "plain", "plain", "signed", "codes", "binary", "wide", "constant", "fixed")


def lists(rng, manifest, count, *, odd=.1, absent=.1, longest=200, grades=4):
    """`odd` and `absent`: the fraction of features with such values, 5% of them."""
    out = Lists(manifest)
    f = len(manifest.items)
    kinds = ["codes" if c else KINDS[rng.integers(len(KINDS))] for c in manifest.category]
    has_odd, has_absent = rng.random(f) < odd, rng.random(f) < absent
    for _ in range(count):
        n = int(rng.choice([1, 2, 3, rng.integers(4, 30), rng.integers(30, longest + 1)], p=[.1, .1, .1, .5, .2]))
        x = np.empty((n, f), np.float32)
        for k in range(f):
            with np.errstate(over="ignore"):
                x[:, k] = column(rng, n, kinds[k])
            for has, values in ((has_odd, ODD), (has_absent, ABSENT)):
                hit = rng.random(n) < (.05 if rng.random() < .9 else 1)
                if has[k]:
                    x[hit, k] = rng.choice(values, hit.sum())
        if n > 1 and rng.random() < .2:
            x[rng.integers(n)] = x[0]           # a duplicate: equal scores
        query = np.exp(rng.normal(0, 1, len(manifest.queries))).astype(np.float32)
        query[rng.random(len(query)) < .1] = 0
        labels = rng.integers(0, grades + 1, n) * (rng.random(n) < rng.choice([0, .2, 1]))
        out.add(x, query, labels)
    return out


TENSORS_OF_TRANSFORM = {"log1p": (), "raw": (), "zscore": ("raw",), "cdf": ("cdf",), "mixture": ("raw", "cdf", "mixture")}


def model(rng, manifest, transforms=("log1p",)):
    """Return (description, {name: float32 array})."""
    f, m, k = len(manifest.items), len(manifest.query_names()), len(manifest.routable)
    free = rng.random() < .2
    about = {"model": "routable_sir", "version": 1, "item_features": manifest.items,
             "query_features": manifest.query_names(), "routable": [manifest.items[i] for i in manifest.routable],
             "routable_positions": manifest.routable,
             "hidden": [int(h) for h in rng.choice([1, 2, 7, 16, 33, 64, 100], rng.integers(0, 4))],
             "gate_size": int(rng.integers(1, 6)), "mask_input": bool(rng.random() < .6),
             "log_input": "none" if free else str(rng.choice(["always", "routed", "none"], p=[.5, .3, .2])),
             "list_free": bool(free), "transform": str(rng.choice(transforms))}
    if about["transform"] == "log1p" and rng.random() < .5:
        del about["transform"]
    logs = {"always": 2, "routed": 1, "none": 0}[about["log_input"]]
    widths = [f + m + k * (about["mask_input"] + logs), *about["hidden"], 1]
    tensors = {}
    for i, (before, after) in enumerate(zip(widths, widths[1:])):
        weight = rng.normal(0, 1 / np.sqrt(before), (after, before))
        weight[rng.random(weight.shape) < .1] = 0
        tensors[f"deep.{i}.weight"], tensors[f"deep.{i}.bias"] = weight, rng.normal(0, .5, after)
    gate = about["gate_size"]
    tensors |= {"gate.weight": rng.normal(0, 1, (gate, m)), "gate.bias": rng.normal(0, 1, gate),
                "slope": rng.normal(0, 1, (gate + 1, k)), "zero": rng.normal(0, 1, (gate + 1, k)),
                "item_mean": rng.normal(0, 3, f), "item_sd": np.exp(rng.normal(0, 1, f)),
                "query_mean": rng.normal(0, 1, m), "query_sd": np.exp(rng.normal(0, 1, m)),
                "item_median": rng.normal(0, 3, f), "log_mean": rng.normal(0, 3, k),
                "log_sd": np.maximum(np.exp(rng.normal(0, 1.5, k)), 1e-3)}
    wanted = TENSORS_OF_TRANSFORM[about.get("transform", "log1p")]
    if "raw" in wanted:
        tensors |= {"raw_mean": rng.normal(0, 30, f), "raw_sd": np.exp(rng.normal(2, 2, f))}
    if "cdf" in wanted:
        knots = np.sort(np.exp(rng.normal(0, 3, (f, 256))) * rng.choice([1, 1, -1], (f, 256)))
        knots[:, 100:100 + rng.integers(0, 60)] = knots[:, 100:101]       # a frequent value
        tensors["cdf"] = np.sort(knots)
    if "mixture" in wanted:
        tensors["mixture"] = rng.dirichlet([1] * 4, f)
    return about, {name: np.asarray(value, np.float32) for name, value in tensors.items()}


def safetensors(about, tensors):
    header, raw = {"__metadata__": {"routable_sir": json.dumps(about)}}, b""
    for name, value in tensors.items():
        data = value.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [len(raw), len(raw) + len(data)]}
        raw += data
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    return struct.pack("<Q", len(head)) + head + raw
