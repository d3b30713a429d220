"""Profiles against NumPy: sketches key by key, quantiles against sorted values, levels, deviations and fractions
against sums in double; and a merged profile against that of all lists."""
import json

import numpy as np

import draw
from world import close, expect
import read_profile
import read_sketch

EPS, PRIOR, NORMAL = 2.**-24, 20, np.float32(2.**-126)
INF, NAN, NEGATIVE = 16320, 16352, 16384
OFF = 1 / 128                   # of a quantile, relative
LEAST = np.exp(-12)             # smallest variance within a list that counts as nonzero


def keys(x):
    """Return the sketch key of each value, from docs/dev/formats/sketch.md."""
    bits = x.view(np.uint32) >> 17
    return np.where(np.isnan(x), NAN, bits)


class Statistics:
    """Statistics of one feature per list, in double, with rounding bounds of single precision."""

    def __init__(self, lists, f):
        columns = [x[:, f] for x in lists.x]
        # Sums are relative to the level of the first list, or 0 without one.
        self.r, self.r_off, self.var, self.var_off, self.k, self.shares = [], [], [], [], [], []
        pivot = None
        for x in columns:
            usable = np.isfinite(x) & (np.abs(x) >= NORMAL)
            ln = np.log(np.abs(x[usable].astype(float)))
            if pivot is None:
                about, pivot = 0., ln.mean() if len(ln) else 0.
            else:
                about = pivot
            d, k = np.abs(ln - about), len(ln)
            each = 1e-6 + 1e-7 * d
            self.k.append(k)
            self.r.append(ln.mean() if k else np.nan)
            self.r_off.append((EPS * k * d.sum() + each.sum()) / max(k, 1) + EPS * (np.abs(ln).max(initial=0) + abs(about)))
            self.var.append(max(ln.var(ddof=1), LEAST) if k > 1 else np.nan)
            off = 2 * EPS * (k + 3) * (d * d).sum() + 4 * (d * each).sum()
            self.var_off.append(off / max(k - 1, 1) + 6e-8 + 3e-5 * (self.var[-1] if k > 1 else 0))
            self.shares.append(self.share(x, usable))
        for name in ("r", "r_off", "var", "var_off", "k", "shares"):
            setattr(self, name, np.array(getattr(self, name), float))

    @staticmethod
    def share(x, usable):
        """missing (NaN or infinite), zero, negative, tied in whole 64ths; NaN where undefined."""
        present = x[np.isfinite(x)]
        zero = int((np.abs(present) < NORMAL).sum())
        bits, k = present.view(np.int32), len(present)
        pairs = sum(int((bits[i] == bits[:i]).sum()) for i in range(k))
        tied = np.float32(pairs) * np.float32(k - 1) / np.float32(k * (k - 1) // 2) if k > 1 else 0
        parts = ((len(x) - len(present), len(x)), (zero, len(present)), (int((x[usable] < 0).sum()), int(usable.sum())),
                 (tied, len(present) - 1))
        return [64 * part // whole if whole > 0 else np.nan for part, whole in parts]


def check_sketch(offset, data, values, said, name):
    counts, _ = read_sketch.read(data, offset)
    wanted, times = np.unique(keys(values), return_counts=True)
    expect(counts == dict(zip(wanted.tolist(), times.tolist())), f"{name}: the sketch has other counts")
    present = np.sort(values[np.isfinite(values)])
    for key, share in (("p1", .01), ("p50", .5), ("p99", .99)):
        if not len(present):
            expect(said[key] is None, f"{name}: {key} of nothing is {said[key]}")
            continue
        exact = float(present[max(int(np.ceil(share * len(present))) - 1, 0)])
        # A key of denormals, or of the smallest normal values, is one of their steps wide.
        close([said[key]], [exact], (OFF + 1e-6) * abs(exact) + 2.**-131, f"{name}: {key}")


def check_levels(p, f, strata, names, s, name):
    used = s.k > 0
    overall = np.median(s.r[used]) if used.any() else 0
    off = s.r_off[used].max(initial=0) + 1e-6
    close([p("feature_level", f)], [overall], off + EPS * abs(overall), f"{name}: feature_level")
    level = np.zeros(len(names))
    for i in range(len(names)):
        here = used & (strata == i)
        level[i] = (s.r[here].sum() + PRIOR * overall) / (here.sum() + PRIOR)
    if len(names) > 1:
        level[0] = overall
    close(p("level", f), level, 2 * off + EPS * np.abs(level), f"{name}: level")
    residual = np.abs(s.r[used] - level[strata[used]])
    total = np.minimum(residual ** 2, 25).mean() if used.any() else 0
    total_off = 6 * (residual.mean() if used.any() else 0) * off + 9 * off * off
    sd = np.sqrt(max(total, 1e-3))
    close([p("sd", f)], [sd], total_off / sd + 2 * EPS * sd, f"{name}: sd")
    many = s.k >= 3
    within = np.minimum(s.var[many], 25).mean() if many.any() else 0
    within_off = s.var_off[many].mean() + 1e-6 if many.any() else 0
    share = (1 / s.k[used]).mean() if used.any() else 0
    for slack in (-1, 1):       # bounds of both squares
        w = max(within + slack * within_off, 1e-6)
        between = max(total + slack * total_off - (within - slack * within_off) * share, 1e-3)
        bound = 1 / np.sqrt(between + w / np.maximum(np.arange(64), 1))
        found = np.array(p("inv_sd", f))
        expect((slack * (found - bound) >= -4 * EPS * bound).all(), f"{name}: inv_sd {found[:3]} beyond {bound[:3]}")
    known = ~np.isnan(s.shares)
    shares = np.where(known, s.shares, 0).sum(0) / np.maximum(known.sum(0), 1) / 64
    # Ties of long lists are those of random items; tests/unit/lib/num covers them.
    close(p("share", f)[:3], shares[:3], 2 * EPS, f"{name}: share")
    expect(p("queries", f) == used.sum(), f"{name}: {p('queries', f)} lists, expected {used.sum()}")


def check_logs(p, f, values, name):
    usable = np.isfinite(values) & (np.abs(values) >= NORMAL)
    denormal = (np.abs(values) < NORMAL) & (values != 0)
    if denormal.any():          # the lowest octaves use the sketch's own midpoints
        return
    ln = np.log(np.abs(values[usable].astype(float)))
    if not len(ln):
        return
    close([p("log_mean", f)], [ln.mean()], OFF + EPS * abs(ln.mean()), f"{name}: log_mean")
    close([p("log_sd", f)], [ln.std()], OFF + EPS * ln.std(), f"{name}: log_sd")


def check_category(found, f, count, lists, name):
    """Fractions over all lists; each list counts in units of 2^-20."""
    offset, values, shares = (found["category_" + what][2] for what in ("offset", "value", "share"))
    totals, times, used = {}, {}, 0
    for x in lists.x:
        present = x[~np.isnan(x[:, f]), f]
        used += bool(len(present))
        for value, n in zip(*np.unique(present, return_counts=True)):
            totals[float(value)] = totals.get(float(value), 0) + n / len(present)
            times[float(value)] = times.get(float(value), 0) + 1
    wanted = sorted(totals)
    here = slice(offset[f], offset[f + 1])
    close(values[here], wanted, 0, f"{name}: codes")
    close([shares[count * v] for v in range(here.start, here.stop)], [totals[v] / used for v in wanted], 2.**-19, f"{name}: shares")
    known = sum(share for value, share in totals.items() if times[value] > 1)
    unknown = 1 - known / used if used else found["category_unknown"][2][f * count]
    close([found["category_unknown"][2][f * count]], [unknown], len(wanted) * 2.**-19 + 1e-6, f"{name}: unknown")


def run(w):
    rng = w.rng
    manifest = draw.Manifest(rng, categories=rng.random() < .3)
    lists = draw.lists(rng, manifest, int(rng.choice([1, 3, 40, 250])), odd=.2, absent=.3, longest=60)
    baseline = manifest.queries[0] if manifest.queries and rng.random() < .5 else None
    if baseline:
        for query in lists.query:
            query[0] = rng.integers(0, 4)
    w.write("f.yaml", manifest.yaml())
    w.write("l.txt", lists.letor())
    field = ["--stratify-by", baseline] if baseline else []
    w.run("profile", "-m", "f.yaml", "--letor", "l.txt", "-o", "p.ekp", *field)
    check(w, "p.ekp", lists, baseline)
    merge(w, lists, field)
    return 0


def check(w, file, lists, baseline):
    with open(w.path(file), "rb") as raw:
        data = raw.read()
    found, about = read_profile.arrays(data)
    said = json.loads(w.run("inspect", file, "--json"))["features"]
    names = about["strata"]
    of = [f"{int(query[0])}" if baseline else "" for query in lists.query]
    strata = np.array([names.index(name) for name in of])
    expect(about["queries"] == len(lists.x), f"{about['queries']} lists")

    def at(name, f):
        values, shape = found[name][2], found[name][1]
        width = int(np.prod(shape[1:]))
        return values[f] if len(shape) == 1 else values[f * width:(f + 1) * width]

    offset, sketches = found["sketch_offset"][2], bytes(found["sketch"][2])
    for f, name in enumerate(lists.manifest.items):
        values = np.concatenate([x[:, f] for x in lists.x])
        check_sketch(offset[f], sketches, values, said[f], name)
        if lists.manifest.category[f]:
            check_category(found, f, len(names), lists, name)
            continue
        check_levels(at, f, strata, names, Statistics(lists, f), name)
        check_logs(at, f, values, name)


# Arrays equal for one pass and for merged parts, and those that may differ by rounding.
EXACT = ("log_mean", "log_sd", "sketch", "sketch_offset", "queries", "share", "category_value", "category_offset", "category_share", "category_unknown")
NEARLY = ("level", "feature_level")


def apart(x):
    """Bound on the difference of levels summed relative to another list: the rounding of sums of the longest list."""
    ln = np.log(np.abs(x[np.isfinite(x) & (np.abs(x) >= NORMAL)].astype(float)))
    return 2e-6 + 2 * EPS * 60 * np.ptp(ln) if len(ln) else 0


def merge(w, lists, field):
    cut = int(w.rng.integers(1, len(lists.x))) if len(lists.x) > 1 else 1
    parts = []
    for i, here in enumerate((slice(0, cut), slice(cut, None))):
        if not lists.x[here]:
            continue
        part = draw.Lists(lists.manifest)
        for one in zip(lists.x[here], lists.query[here], lists.labels[here]):
            part.add(*one)
        w.write(f"{i}.txt", part.letor())
        w.run("profile", "-m", "f.yaml", "--letor", f"{i}.txt", "--keep-lists", "-o", f"{i}.ekp", *field)
        parts.append(f"{i}.ekp")
    w.run("profile", "-m", "f.yaml", "--merge", *parts, "-o", "merged.ekp")
    arrays = []
    for file in ("p.ekp", "merged.ekp"):
        with open(w.path(file), "rb") as raw:
            arrays.append(read_profile.arrays(raw.read())[0])
    whole, merged = arrays
    expect(set(whole) == set(merged), f"merged: other arrays, {set(whole) ^ set(merged)}")
    for name in [name for name in EXACT if name in whole or not name.startswith("category")]:
        expect(whole[name] == merged[name], f"merged: '{name}' differs")
    for name in NEARLY:
        wanted = np.array(whole[name][2]).reshape(len(lists.manifest.items), -1)
        for f, item in enumerate(lists.manifest.items):
            off = apart(np.concatenate([x[:, f] for x in lists.x])) + 2 * EPS * np.abs(wanted[f])
            close(np.array(merged[name][2]).reshape(wanted.shape)[f], wanted[f], off, f"merged: {name} of {item}")
