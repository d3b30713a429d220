"""Lists of the published sets as arrays, faults, and the agreement of two orders."""
import os
import re
import sys

import numpy as np
import zstandard

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "accept"))
import sets  # noqa: E402


class Lists:
    """Item features X [n, F] and query features Q [lists, M] in float32, as messages have them, labels, and first rows."""

    def __init__(self, X, Q, labels, starts):
        self.X, self.Q, self.labels, self.starts = X, Q, labels, starts
        self.sizes = np.diff(starts)
        self.owner = np.repeat(np.arange(len(self.sizes)), self.sizes)

    @classmethod
    def read(cls, paths, items, queries):
        rows, labels, starts, last = [], [], [], None
        for path in paths:
            with open(path, "rb") as stream:
                text = zstandard.ZstdDecompressor().stream_reader(stream).read().decode()
            for line in text.splitlines():
                label, query, *values = line.split("#")[0].split()
                if query != last:
                    starts.append(len(rows))
                    last = query
                row = np.zeros(items + queries)
                for word in values:
                    index, value = word.split(":")
                    row[int(index) - 1] = float(value)
                rows.append(row)
                labels.append(float(label))
        x = np.array(rows, np.float32)
        return cls(x[:, :items].copy(), x[starts, items:], np.array(labels), np.array([*starts, len(rows)]))

    def head(self, lists):
        """Return the first lists."""
        lists = min(lists, len(self.sizes))
        end = self.starts[lists]
        return Lists(self.X[:end], self.Q[:lists], self.labels[:end], self.starts[:lists + 1])

    def draw(self, lists, seed):
        """Return a random choice of lists."""
        if lists >= len(self.sizes):
            return self
        pick = np.sort(np.random.default_rng(seed).permutation(len(self.sizes))[:lists])
        rows = np.concatenate([np.arange(self.starts[i], self.starts[i + 1]) for i in pick])
        return Lists(self.X[rows], self.Q[pick], self.labels[rows], np.r_[0, np.cumsum(self.sizes[pick])])

    def full(self, X, wide=None):
        """Return the columns of a ranker: item features, query features of the list, wide columns."""
        return np.hstack([X, self.Q[self.owner], *([wide] if wide is not None else [])])


class Set:
    """A published set. Seeds are folds where the set has folds."""

    def __init__(self, program, data, name, scratch):
        self.source = sets.Set(program, data, name, scratch)
        with open(self.source.manifest, encoding="utf-8") as file:
            text = file.read()
        self.name, self.folded, self.positive = name, self.source.folded, re.findall(r"name: *(\w+),[^}]*positive: *true", text)
        self.items, self.queries, self.manifest = self.source.items, self.source.query, self.source.manifest
        self.routable = [self.items.index(f) for f in self.source.routable]
        self.main, self._read = self.items.index(self.source.main), {}

    def part(self, part, seed):
        files = tuple(self.source.files(part, seed))
        if files not in self._read:
            self._read[files] = Lists.read(files, len(self.items), len(self.queries))
        return self._read[files]


def times(X, column, factor):
    """Return X with a column times a factor, one or one per row, rounded to float32 once."""
    Y = X.copy()
    with np.errstate(over="ignore"):
        Y[:, column] = X[:, column].astype(float) * factor
    return Y


class Orders:
    """Orders of the items of lists by scores. Equal scores keep the order of the rows."""

    def __init__(self, lists):
        self.sizes, self.width = lists.sizes, int(lists.sizes.max())
        self.mask = np.arange(self.width) < self.sizes[:, None]
        self.gain = np.zeros(self.mask.shape)
        self.gain[self.mask] = 2.0 ** lists.labels - 1

    def of(self, scores):
        padded = np.full(self.mask.shape, np.inf)
        padded[self.mask] = -np.asarray(scores, float)
        return np.argsort(padded, 1, kind="stable")

    def ndcg(self, order, cutoff=10):
        discount = 1 / np.log2(np.arange(2, 2 + min(cutoff, self.width)))
        best = (-np.sort(-self.gain, 1)[:, :cutoff] * discount).sum(1)
        found = (np.take_along_axis(self.gain, order, 1)[:, :cutoff] * discount).sum(1)
        return float((found[best > 0] / best[best > 0]).mean())

    def tau(self, a, b):
        """Return the mean Kendall tau of the lists with two items or more."""
        first, second, same = np.argsort(a, 1), np.argsort(b, 1), np.zeros(len(self.sizes))
        for i in range(self.width):
            both = self.mask & self.mask[:, i:i + 1]
            same += (((first[:, i:i + 1] > first) == (second[:, i:i + 1] > second)) & both).sum(1) - self.mask[:, i]
        several = self.sizes > 1
        n = self.sizes[several]
        return float((2 * same[several] / (n * (n - 1)) - 1).mean())

    def same(self, a, b):
        """Return the fraction of lists with the same whole order."""
        return float(((a == b) | ~self.mask).all(1).mean())
