"""Independent implementation of the model format: scores lists in plain Python, item by item, in double.

    python3 tests/golden/score.py tests/golden/model.safetensors tests/golden/scores.json [--write]

Compares the scores in the file with those of the model (exit status 1 on a difference above 1e-6), or writes them with
--write. Uses only the standard library, and is written from docs/format/model.md like the C code.

scores.json: `routing_masks` names masks of one entry per routable feature, `lists` has per list `item_features` (rows;
null is a missing value), `query_features` and `scores` by mask.
"""
import json
import math
import struct
import sys


def read_model(path):
    """Return (description, {name: (shape, values)})."""
    with open(path, "rb") as stream:
        data = stream.read()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    description = json.loads(header.pop("__metadata__")["routable_sir"])
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        count = (end - begin) // 4
        tensors[name] = (entry["shape"], struct.unpack_from(f"<{count}f", data, 8 + length + begin))
    return description, tensors


def rows(tensor):
    shape, values = tensor
    return [values[i * shape[1]:(i + 1) * shape[1]] for i in range(shape[0])]


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


class Scorer:
    def __init__(self, path):
        self.about, self.tensors = read_model(path)
        self.positions = self.about["routable_positions"]

    def standard(self, values, kind):
        """Return standardized sgn(x) ln(1+|x|); 0 for a missing value."""
        means, deviations = self.tensors[kind + "_mean"][1], self.tensors[kind + "_sd"][1]
        return [0.0 if x is None else (math.copysign(math.log1p(abs(x)), x) - mean) / sd
                for x, mean, sd in zip(values, means, deviations)]

    def share_below(self, x, f):
        """Return the fraction of training values strictly below x, linear between the knots."""
        knots = rows(self.tensors["cdf"])[f]
        below = sum(knot < x for knot in knots)
        if below in (0, len(knots)):
            return float(below > 0)
        low, high = knots[below - 1], knots[below]
        return (below - 1 + (x - low) / (high - low)) / (len(knots) - 1)

    def deep_values(self, item):
        """Return t(x) of the item's features."""
        kind = self.about.get("transform", "log1p")
        parts = {"log1p": lambda: self.standard(item, "item"),
                 "raw": lambda: [0.0 if x is None else max(-1e18, min(x, 1e18)) for x in item],
                 "zscore": lambda: [0.0 if x is None else max(-1e18, min((x - mean) / sd, 1e18)) for x, mean, sd
                                    in zip(item, self.tensors["raw_mean"][1], self.tensors["raw_sd"][1])],
                 "cdf": lambda: [0.0 if x is None else self.share_below(x, f) for f, x in enumerate(item)]}
        if kind != "mixture":
            return parts[kind]()
        columns = zip(parts["raw"](), parts["zscore"](), parts["cdf"](), parts["log1p"]())
        return [dot(shares, column) for shares, column in zip(rows(self.tensors["mixture"]), columns)]

    def centred(self, column, k):
        """Return z of one routable feature for all items."""
        logs = [math.log(abs(x)) for x in column if x]
        mean = math.fsum(logs) / len(logs) if logs else 0.0
        if self.about["list_free"]:
            mean = self.tensors["log_mean"][1][k]
        sd = self.tensors["log_sd"][1][k]
        return [math.copysign(1, x) * (math.log(abs(x)) - mean) / sd if x else 0.0 for x in column]

    def slopes(self, query, name):
        weight, bias = self.tensors["gate.weight"], self.tensors["gate.bias"][1]
        gate = [dot(row, query) + b for row, b in zip(rows(weight), bias)] + [1.0]
        return [dot(gate, column) for column in zip(*rows(self.tensors[name]))]

    def deep(self, values):
        layers = len(self.about["hidden"]) + 1
        for i in range(layers):
            weight, bias = self.tensors[f"deep.{i}.weight"], self.tensors[f"deep.{i}.bias"][1]
            values = [dot(row, values) + b for row, b in zip(rows(weight), bias)]
            if i + 1 < layers:
                values = [max(v, 0.0) for v in values]
        return values[0]

    def score(self, items, query, mask):
        query = self.standard(query, "query")
        z = [self.centred([item[f] for item in items], k) for k, f in enumerate(self.positions)]
        slope, zero = self.slopes(query, "slope"), self.slopes(query, "zero")
        scores = []
        for d, item in enumerate(items):
            u = self.deep_values(item)
            z_item = [column[d] for column in z]
            is_zero = [float(item[f] == 0) for f in self.positions]
            for k, f in enumerate(self.positions):
                u[f] *= 1 - mask[k]
            values = u + query
            if self.about["mask_input"]:
                values += mask
            if self.about["log_input"] == "always":
                values += z_item + is_zero
            elif self.about["log_input"] == "routed":
                values += [m * v for m, v in zip(mask, z_item)]
            wide = math.fsum(m * (v * a + b * c)
                             for m, v, a, b, c in zip(mask, z_item, slope, is_zero, zero))
            scores.append(self.deep(values) + wide)
        return scores


def main():
    model, path = sys.argv[1:3]
    scorer = Scorer(model)
    with open(path) as stream:
        golden = json.load(stream)
    worst, count = 0.0, 0
    for entry in golden["lists"]:
        for name, mask in golden["routing_masks"].items():
            scores = scorer.score(entry["item_features"], entry["query_features"], mask)
            if "--write" in sys.argv:
                entry.setdefault("scores", {})[name] = [round(s, 9) for s in scores]
            expected = entry["scores"][name]
            worst = max([worst] + [abs(a - b) for a, b in zip(scores, expected)])
            count += len(scores)
    if "--write" in sys.argv:
        with open(path, "w") as stream:
            json.dump(golden, stream, separators=(",", ":"))
            stream.write("\n")
    print(f"{count} scores, largest difference {worst:.1e}")
    sys.exit(worst > 1e-6)


if __name__ == "__main__":
    main()
