"""Scores in double with NumPy, written from docs/format/model.md, with a bound on the float32 error.

The bound is that of a network in single precision: an input is off by four roundings of itself, and a logarithm in it by
3 roundings of an octave, or 5 less the mean of its list (lib/num/ln.h). Every sum of n products in any order is off by at
most n + 1 roundings of the sum of their magnitudes. The bound is a few times the observed error, and grows with the
scores, unlike a fixed tolerance.
"""
import numpy as np

ROUNDING = 2.**-24
LOG_ERROR, CENTRED_ERROR = 3 * ROUNDING * np.log(2), 5 * ROUNDING * np.log(2)
ACTIONS = ("none", "route", "blank", "route_per_source")


def signed_log1p(x):
    return np.copysign(np.log1p(np.abs(x)), x)


def absent(x):
    return ~np.isfinite(x)


class Scorer:
    def __init__(self, about, tensors):
        self.about, self.t = about, {name: value.astype(np.float64) for name, value in tensors.items()}
        self.positions = np.array(about["routable_positions"], int)

    def share_below(self, x):
        out = np.zeros(x.shape)
        for f, knots in enumerate(self.t["cdf"]):
            below = np.searchsorted(knots, x[:, f], "left")
            inside = (below > 0) & (below < len(knots))
            low, high = knots[np.clip(below - 1, 0, 255)], knots[np.clip(below, 0, 255)]
            with np.errstate(all="ignore"):
                between = (below - 1 + (x[:, f] - low) / (high - low)) / (len(knots) - 1)
            out[:, f] = np.where(inside, between, below > 0)
        return out

    def transformed(self, x):
        t, kind = self.t, self.about.get("transform", "log1p")
        parts = {"raw": lambda: np.clip(x, -1e18, 1e18),
                 "zscore": lambda: np.clip((x - t["raw_mean"]) / t["raw_sd"], -1e18, 1e18),
                 "cdf": lambda: self.share_below(x),
                 "log1p": lambda: (signed_log1p(x) - t["item_mean"]) / t["item_sd"]}
        if kind != "mixture":
            return parts[kind]()
        return sum(share * parts[name]() for share, name in zip(t["mixture"].T, parts))

    def log_share(self):
        """Return the share of the logarithm in the transformed value of each feature."""
        kind = self.about.get("transform", "log1p")
        names = ("raw", "zscore", "cdf", "log1p")
        return self.t["mixture"].T[names.index("log1p")] if kind == "mixture" else float(kind == "log1p")

    def centred(self, x, sources, treatment):
        """Return z [n, K] of the routable values."""
        usable = ~absent(x) & (x != 0)
        logs = np.log(np.abs(np.where(usable, x, 1)))
        z = np.zeros(x.shape)
        for k in range(x.shape[1]):
            groups = sources if treatment[k] == "route_per_source" else np.zeros(len(x), int)
            for one in np.unique(groups):
                use = usable[:, k] & (groups == one)
                mean = logs[use, k].mean() if use.any() else 0.
                if self.about["list_free"]:
                    mean = self.t["log_mean"][k]
                z[use, k] = np.sign(x[use, k]) * (logs[use, k] - mean) / self.t["log_sd"][k]
        return z

    def score(self, x, query, treatment, sources=None):
        """Score x float32 [n, F], query [M], treatment: an action per routable feature. Return (scores, bounds), [n]
        each."""
        x, query, t = x.astype(np.float64), query.astype(np.float64), self.t
        mask = np.array([float(a != "none") for a in treatment])
        silent = np.array([a == "blank" for a in treatment], bool)
        u = np.where(absent(x), 0, self.transformed(np.where(absent(x), 0, x)))
        values = x[:, self.positions]
        z = np.where(silent, 0, self.centred(values, sources, treatment))
        errors = 4 * ROUNDING * np.abs(u) + self.log_share() * LOG_ERROR / t["item_sd"]
        z_error = 4 * ROUNDING * np.abs(z) + CENTRED_ERROR / t["log_sd"]
        zero = np.where(silent, 0, (values == 0).astype(float))
        u[:, self.positions] *= 1 - mask
        v = np.where(absent(query), 0, (signed_log1p(np.where(absent(query), 0, query)) - t["query_mean"]) / t["query_sd"])
        v_error = 4 * ROUNDING * np.abs(v) + LOG_ERROR / t["query_sd"]
        inputs, off = [u, np.broadcast_to(v, (len(x), len(v)))], [errors, np.broadcast_to(v_error, (len(x), len(v)))]
        if self.about["mask_input"]:
            inputs.append(np.broadcast_to(mask, (len(x), len(mask))))
            off.append(np.zeros((len(x), len(mask))))
        inputs += {"always": [z, zero], "routed": [z * mask], "none": []}[self.about["log_input"]]
        off += {"always": [z_error, np.zeros(zero.shape)], "routed": [z_error * mask], "none": []}[self.about["log_input"]]
        deep, error = self.network(np.concatenate(inputs, 1), np.concatenate(off, 1))
        gate = np.append(t["gate.weight"] @ v + t["gate.bias"], 1)
        size = np.append(np.abs(t["gate.weight"]) @ np.abs(v), 0)
        slope, of_zero = (gate @ t[name] * mask for name in ("slope", "zero"))
        rough = np.abs(z) @ (np.abs(gate) @ np.abs(t["slope"]) * mask)
        rough += (np.abs(z) @ (size @ np.abs(t["slope"]) * mask) + zero @ (size @ np.abs(t["zero"]) * mask))
        gate_error = np.append(np.abs(t["gate.weight"]) @ v_error, 0)
        wide = z_error @ np.abs(slope) + np.abs(z) @ (gate_error @ np.abs(t["slope"]) * mask)
        wide += zero @ (gate_error @ np.abs(t["zero"]) * mask)
        return deep + z @ slope + zero @ of_zero, error + wide + 2 * ROUNDING * rough

    def network(self, h, error):
        """Return (outputs [n], error bound of single precision) of inputs h with an error."""
        layers = len(self.about["hidden"]) + 1
        for i in range(layers):
            weight, bias = self.t[f"deep.{i}.weight"], self.t[f"deep.{i}.bias"]
            size = np.abs(h) @ np.abs(weight.T) + np.abs(bias)
            error = error @ np.abs(weight.T) + (weight.shape[1] + 1) * ROUNDING * size
            h = h @ weight.T + bias
            if i + 1 < layers:
                h = np.maximum(h, 0)
        return h[:, 0], error[:, 0]
