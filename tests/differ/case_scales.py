"""Choice and results of `normalize`, against the formulas of docs/normalize.md in double."""
import numpy as np

import draw
from world import close, expect

METHODS = ("fdm", "minmax", "log", "arctan", "zscore", "cdf", "log1p", "merge")
MERGED = ("minmax", "log", "arctan")
LARGEST, KNOTS = 1e18, 4096


def both_ways(d):
    return np.copysign(np.log1p(np.abs(d)), d)


class Fit:
    """Statistics of the finite values of one feature."""

    def __init__(self, values):
        self.x = np.sort(values[np.isfinite(values)].astype(float))
        self.low, self.high = (self.x[0], self.x[-1]) if len(self.x) else (0., 0.)
        self.unique = np.unique(self.x)

    def shares(self):
        """Return the fractions of the unique values in ten equal intervals."""
        if self.high == self.low:
            return np.eye(10)[0] * bool(len(self.x))
        at = np.minimum(((self.unique - self.low) * 10 / (self.high - self.low)).astype(int), 9)
        return np.bincount(at, minlength=10) / len(self.unique)

    def category(self):
        of = np.rint(self.shares() * len(self.unique)).astype(int)      # counts, so that 80% is exact
        if len(self.unique) < 3:
            return "C4"
        if 5 * of[:5].sum() > 4 * len(self.unique):
            return "C2"
        if 5 * of[5:].sum() > 4 * len(self.unique):
            return "C3"
        return "C1" if 5 * of.max() <= len(self.unique) else None

    def scaled(self, kind, x):
        spread = self.high - self.low
        with np.errstate(all="ignore"):
            y = {"minmax": lambda: (x - self.low) / spread, "log": lambda: both_ways(x - self.low) / np.log1p(spread),
                 "log_reversed": lambda: both_ways(self.high - x) / np.log1p(spread),
                 "arctan": lambda: 2 / np.pi * np.arctan(x - self.low),
                 "zscore": lambda: (x - self.x.mean()) / self.x.std(), "log1p": lambda: both_ways(x),
                 "cdf": lambda: self.below(x)}[kind]()
        if kind in ("minmax", "log", "log_reversed", "zscore") and not spread > 0 or kind == "arctan" and not len(self.x):
            y = np.zeros(len(x))
        return np.clip(y, -LARGEST, LARGEST)

    def below(self, x):
        """Return the fraction of values strictly below, interpolated between two values."""
        if not len(self.x):
            return np.zeros(len(x))
        first, last = (np.searchsorted(self.x, self.unique, side) / len(self.x) for side in ("left", "right"))
        at = np.searchsorted(self.unique, x, "left")
        inside = (at > 0) & (at < len(self.unique))
        a, b = np.clip(at - 1, 0, len(first) - 1), np.clip(at, 0, len(first) - 1)
        with np.errstate(all="ignore"):
            t = (x - self.unique[a]) / (self.unique[b] - self.unique[a])
        return np.where(inside, last[a] + t * (first[b] - last[a]), at > 0)


def column_of(lists, f):
    return np.concatenate([x[:, f] for x in lists.x])


def run(w):
    rng = w.rng
    manifest = draw.Manifest(rng)
    train = draw.lists(rng, manifest, int(rng.integers(1, 30)), odd=.3, absent=.3, longest=100)
    apply = draw.lists(rng, manifest, int(rng.integers(1, 10)), odd=.3, absent=.3, longest=50)
    w.write("f.yaml", manifest.yaml())
    w.write("train.txt", train.letor())
    w.write("apply.txt", apply.letor())
    method, missing = str(rng.choice(METHODS)), str(rng.choice(["keep", "zero"]))
    said = w.json("normalize", "-m", "f.yaml", "--letor", "train.txt", "--method", method)["features"]
    w.run("normalize", "-m", "f.yaml", "--letor", "train.txt", "--method", method, "--apply", "apply.txt", "--missing", missing,
          "--output-data", "out.txt", "--output-manifest", "out.yaml")
    fits = [Fit(column_of(train, f)) for f in range(len(manifest.items))]
    for f, (fit, one) in enumerate(zip(fits, said)):
        check_choice(fit, one, column_of(train, f))
    columns = read(w, "out.txt", manifest)
    at = 0
    for f, (fit, one) in enumerate(zip(fits, said)):
        x = column_of(apply, f).astype(float)
        for kind in MERGED if one["scale"] == "merge" else (one["scale"],):
            wanted = fit.scaled(kind, np.where(np.isfinite(x), x, fit.low))
            wanted = np.where(np.isfinite(x), wanted, np.nan if missing == "keep" else 0)
            # Float rounding, and the error of a mean in double, in deviations.
            size = np.abs(np.nan_to_num(wanted))
            off = 1e-12 * np.abs(fit.x).max() / fit.x.std() if kind == "zscore" and fit.high > fit.low else 0
            close(columns[:, at], wanted, 6.1e-8 * size + 1e-12 * (kind == "cdf") + 1e-45 + off, f"{one['name']} by {kind}")
            at += 1
    expect(at == columns.shape[1], f"{columns.shape[1]} item columns, expected {at}")
    return 0


def check_choice(fit, one, values):
    expect(one["category"] == fit.category(), f"{one['name']} is {one['category']}, expected {fit.category()}")
    expect(one["unique"] == len(fit.unique), f"{one['name']}: {one['unique']} unique values, expected {len(fit.unique)}")
    expect(one["values"] == len(fit.x), f"{one['name']}: {one['values']} values, expected {len(fit.x)}")
    close(one["shares"], fit.shares(), 1e-8, f"{one['name']}: shares")
    if len(fit.x):
        close([one["min"], one["max"]], [fit.low, fit.high], 1e-8 * np.abs([fit.low, fit.high]), f"{one['name']}: range")


def read(w, name, manifest):
    """Return the item columns of the lists in column order, which merge renumbers."""
    import yaml
    with open(w.path("out.yaml"), encoding="utf-8") as file:
        of_items = [f["index"] for f in yaml.safe_load(file)["features"] if f["role"] == "item"]
    rows = []
    with open(w.path(name), encoding="utf-8") as file:
        for line in file:
            cells = dict(cell.split(":") for cell in line.split("#")[0].split()[2:])
            rows.append([float(cells.get(str(c), 0)) for c in sorted(of_items)])
    return np.array(rows, np.float32)
