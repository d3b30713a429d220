"""Lists of a stream distributed over guards that are merged and saved at random, against one guard with all: equal
counts of lists and items, equal sketches of every segment and feature, and these match the sent values."""
import json
import os

import numpy as np

import case_profiles
import case_streams
import traffic
from api import Guard, Library
from world import expect
import read_capture
import read_state


def totals(guard):
    """Return {cell: [{key: count} of each feature]} over all windows, and the lists."""
    kept = {}
    guard.save(True, kept)
    base = read_state.Base([(key.decode(), value) for key, value in kept.items()])
    size = base.head

    def cells(r):
        return read_state.read_detector.cells(r, size)["cells"]

    found = {}
    for n, cell in enumerate(cells(base.part("cells"))):
        if base.has(f"now/{n:05}"):
            of = read_state.windows(base, n, size)
            found[cell["dimension"], cell["value"]] = [added(a, b) for a, b in zip(of["life"], of["now"]["sketches"])]
    return found, size["queries"]


def added(a, b):
    return {key: a.get(key, 0) + b.get(key, 0) for key in sorted(a.keys() | b.keys())}


def values_of(message, names):
    """Return the values of a message as float32 [n, F]."""
    if message[:1] == b"{":
        items = json.loads(message)["items"]
    else:
        items = [dict(item) for item in dict(read_capture.unpack(message)[0])["items"]]
    rows = [read_capture.row(item["features"], names) for item in items]
    with np.errstate(over="ignore"):
        return np.array([[np.nan if v is None else v for v in row] for row in rows], np.float32).reshape(len(rows), len(names))


def run(w):
    rng = w.rng
    library = Library(os.path.join(os.path.dirname(w.program), "libevenkeel.so"))
    many = rng.random() < .8                # with few cells only all traffic can be compared
    stream, paths = case_streams.prepare(w, True, *(((2, 5, 40), (100,)) if many else (traffic.MARKETS, (1, 3))))
    assets = library.assets(*[p and w.path(p) for p in paths])
    whole, parts = Guard(library, assets), [Guard(library, assets) for _ in range(int(rng.integers(2, 5)))]
    stream.number = 0
    lists = int(rng.choice([100, 500]))
    stream.add_faults(lists)
    sent = []
    for _ in range(lists):
        message = stream.message()
        here = parts[int(rng.integers(len(parts)))]
        one, other = (isinstance(case_streams.given(g.observe, message, case_streams.NOW), tuple) for g in (whole, here))
        expect(one == other, "one guard reads what the other refuses")
        if one:
            sent.append(values_of(message, stream.manifest.items))
        if rng.random() < .02:
            here.load(*saved(here))
        if len(parts) > 1 and rng.random() < .01:
            join(parts, rng)
    while len(parts) > 1:
        join(parts, rng)
    compare(whole, parts[0], sent, many)
    for guard in (whole, *parts):
        guard.free()
    library.assets_free(assets)
    return 0


def saved(guard):
    kept = {}
    guard.save(True, kept)
    return kept, list(kept)


def join(parts, rng):
    into, other = rng.permutation(len(parts))[:2]
    parts[into].merge(parts[other])
    parts[other].free()
    del parts[other]


def compare(whole, joined, sent, many):
    """many: all cells have sketches. With few, the selection depends on arrival order, except for all traffic."""
    (one, queries), (other, joint) = totals(whole), totals(joined)
    expect(queries == joint == len(sent), f"{queries} queries in one guard, {joint} in joined ones, {len(sent)} sent")
    expect(not many or set(one) == set(other), f"cells differ: {set(one) ^ set(other)}")
    expect((None, None) in other, f"all traffic has no sketch among those of {len(other)} cells")
    for cell, sketches in one.items() if many else ():
        for f, sketch in enumerate(sketches):
            expect(sketch == other[cell][f], f"cell {cell}, feature {f}: sketches of one guard and of joined ones differ")
    for f, sketch in enumerate(other[None, None]):
        keys, counts = np.unique(case_profiles.keys(np.concatenate([x[:, f] for x in sent])), return_counts=True)
        expect(sketch == dict(zip(keys.tolist(), counts.tolist())), f"feature {f}: the sketch is not that of the values sent")
