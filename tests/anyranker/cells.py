"""One ranker on one set: its own healthy order, and how faults and treatments change it.

Repairs are those of a plan of the program (evenkeel.Plan), which writes the same values as `output.writes: features`.
"""
import json
import os
import subprocess
import tempfile

import evenkeel
import numpy as np
import rankers
from lists import Orders, times

TRAIN_LISTS, TEST_LISTS = 3000, 1500
SIXTIETH, HUNDRED = 1 / 60, 100.0
OFF = 1.02  # relative error of an estimate
STRATIFY_BY = {"swissmetro": "annual_ticket"}  # holders see other costs


def plan_of(template, **repairs):
    """Return the plan that repairs features: name={"by": ..., "number": ...}."""
    entries = [{**template[name], "class": "scale", "mitigation": "repair", "source": "finding", "repair": repair}
               for name, repair in repairs.items()]
    return evenkeel.Plan.load({"event": "plan", "version": 1, "list": 0, "time_ms": 0, "paused": False, "entries": entries})


def number(value, exact=True, by="number"):
    return {"by": by, "number": float(value), "exact": exact}


class World:
    """The lists of a set and a seed, and what the profile of its training lists knows of each feature."""

    def __init__(self, one, seed):
        self.set, self.seed = one, seed
        self.train = one.part("train", seed).draw(TRAIN_LISTS, seed)
        self.vali, self.test = one.part("vali", seed), one.part("test", seed).head(TEST_LISTS)
        self.name, self.main = one.items[one.main], one.main
        full = one.part("train", seed)
        self.profile = evenkeel.Profile.fit(full.X, full.starts, features=one.manifest, query_features=full.Q, stratify_by=STRATIFY_BY.get(one.name))
        self.template = self._template()
        self.wide = evenkeel.WideColumns.of(self.train.X, one.routable)
        self.orders, self.rng = Orders(self.test), np.random.default_rng(seed)

    def _template(self):
        """Return the plan entry per feature of pins, which carries levels and known values of the profile."""
        pins = "".join(f"  - {{feature: {self.set.items[j]}, action: fill, reason: template}}\n" for j in self.set.routable)
        guard = evenkeel.Guard(self.set.manifest, self.profile, f"version: 1\ndefaults: {{mode: enforce}}\npins:\n{pins}")
        one = self.test.head(1)
        guard.observe(one.X, one.starts, query_features=one.Q, time_ms=[1])
        return {entry["feature"]: entry for entry in json.loads(guard.plan.json)["entries"]}

    def apply(self, X, lists=None, **repairs):
        """Return (X after the repairs, number of changed values)."""
        lists, Y = lists or self.test, X.copy()
        changed = plan_of(self.template, **repairs).apply(Y, lists.starts, query_features=lists.Q)
        return Y, changed

    def deviation(self):
        """Return the standard deviation of the level of the main feature between lists, as the profile has it."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "profile.ekp")
            self.profile.save(path)
            done = subprocess.run([self.set.source.program, "inspect", "--json", path], capture_output=True, text=True, check=True)
        return next(f["sd_ln"] for f in json.loads(done.stdout)["features"] if f["name"] == self.name)

    def level(self, X, lists):
        """Return the mean ln of the main feature per list, NaN without usable values."""
        with np.errstate(all="ignore"):
            ln = np.log(np.abs(X[:, self.main].astype(float)))
        usable = np.isfinite(ln)
        with np.errstate(all="ignore"):
            return np.bincount(lists.owner[usable], ln[usable], len(lists.sizes)) / np.bincount(lists.owner[usable], minlength=len(lists.sizes))


class Cell:
    """A trained ranker, hardened (wide columns and factor copies) or plain."""

    def __init__(self, world, kind, hardened=False):
        self.world, self.kind, self.hardened = world, kind, hardened
        train, vali = world.train, world.vali
        A, y, starts = self.columns(train, train.X), train.labels, train.starts
        if hardened:
            both, starts = evenkeel.augment(train.X, train.starts, world.wide, world.seed)
            n, items = len(train.X), train.X.shape[1]
            A, y = np.vstack([np.hstack([part[:, :items], train.Q[train.owner], part[:, items:]]) for part in (both[:n], both[n:])]), np.tile(y, 2)
        with np.errstate(over="ignore"):
            self.predict = rankers.fit(kind, A, y, starts, (self.columns(vali, vali.X), vali.labels, vali.sizes), world.seed, world.set.source.lightgbm)
        self.healthy = self.order(world.test.X)

    def columns(self, lists, X):
        return lists.full(X, evenkeel.wide_columns(X, lists.starts, self.world.wide) if self.hardened else None)

    def order(self, X):
        return self.world.orders.of(self.predict(self.columns(self.world.test, X)))

    def ndcg(self):
        return self.world.orders.ndcg(self.healthy)

    def tau(self, X):
        return self.world.orders.tau(self.healthy, self.order(X))

    def same(self, X):
        return self.world.orders.same(self.healthy, self.order(X))

    def unnoticed(self):
        return self.tau(times(self.world.test.X, self.world.main, HUNDRED))

    def estimate(self):
        """Repair of x100 by a number that is 2% off."""
        w = self.world
        return self.tau(w.apply(times(w.test.X, w.main, HUNDRED), **{w.name: number(HUNDRED * OFF, False)})[0])

    def by_level(self):
        """A factor of its own for each list, repaired by the usual level of the query."""
        w = self.world
        factor = np.exp(np.random.default_rng(1).normal(0, 3, len(w.test.sizes)))[w.test.owner]
        return self.tau(w.apply(times(w.test.X, w.main, factor), **{w.name: {"by": "level", "number": 1.0, "exact": False}})[0])

    def exact(self, factor):
        """Fraction of whole orders after the exact repair of the main feature."""
        w = self.world
        return self.same(w.apply(times(w.test.X, w.main, factor), **{w.name: number(factor)})[0])

    def exact_all(self):
        """The same with a random factor per feature, in all routable features."""
        w, X, repairs = self.world, self.world.test.X, {}
        draw = np.random.default_rng(2)
        for j in w.set.routable:
            factor = float(f"{np.exp(draw.normal(0, 3)):.3g}")
            X, repairs[w.set.items[j]] = times(X, j, factor), number(factor)
        return self.same(w.apply(X, **repairs)[0])

    def lost(self, value, by):
        """Half of the main values lost, filled: (tau without, tau with)."""
        w, Y = self.world, self.world.test.X.copy()
        Y[np.random.default_rng(3).random(len(Y)) < .5, w.main] = value
        return self.tau(Y), self.tau(w.apply(Y, **{w.name: {"by": by}})[0])

    def few_values(self, name):
        """A feature of few values x2, repaired by an estimate 2% off: (tau without, tau with)."""
        w = self.world
        Y = times(w.test.X, w.set.items.index(name), 2)
        return self.tau(Y), self.tau(w.apply(Y, **{name: number(2 * OFF, False)})[0])
