"""Random arguments: arrays, sequences and texts that are valid, almost valid, or of another type."""
import array
import json
import os
import pathlib
import re

import numpy as np

DTYPES = ("f4", "f8", "f2", "g", "i1", "i4", "i8", "u1", "u8", "?", "O", ">f4", ">f8", "c8", "S3", "U2", "M8[s]", "m8[ms]", "M8", "V4")
NUMBERS = (0.0, -0.0, -1.0, float("nan"), float("inf"), float("-inf"), 1e38, -3e38, 1e-45, 1e300, 5e-324)
INTEGERS = (0, -1, 1, 2, 7, 10_000, 2 ** 31, 2 ** 32, -2 ** 63, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1, 2 ** 70, 10 ** 5000, np.int8(3), np.uint64(2 ** 64 - 1))
TEXTS = ("", "x", "A", "a\0b", "\ud800", "é", "x" * 70_000, "\n", "{", "price", "nights", "random", "'", "%s%n", np.str_("B"))


class PathTo(os.PathLike):
    """A path with any result."""

    def __init__(self, result):
        self.result = result

    def __fspath__(self):
        return self.result

    def __repr__(self):
        return "PathTo"


class NAType:
    """Stands for the missing value of pandas."""


class NoArray:
    """Its conversion fails."""

    def __array__(self, *_, **__):
        raise ValueError("no array")


class WrongInterface:
    """Its array interface has no valid type."""
    __array_interface__ = {"shape": (3,), "typestr": "?", "data": (0, True), "version": 3}


class Frame:
    """An object with named columns that are arrays."""

    def __init__(self, columns):
        self._columns, self.columns = columns, list(columns)

    def __getitem__(self, name):
        return self._columns[name]


def anything(rng):
    """Return a value of any type."""
    kind = rng.randrange(8)
    if kind == 0:
        return rng.choice(TEXTS)
    if kind == 1:
        return rng.choice(INTEGERS)
    if kind == 2:
        return rng.choice(NUMBERS)
    if kind == 3:
        return matrix(rng, np.ones((rng.randrange(4), rng.randrange(4))))
    if kind == 4:
        return [anything(rng) for _ in range(rng.randrange(4))]
    if kind == 5:
        return {rng.choice(TEXTS + INTEGERS): anything(rng) for _ in range(rng.randrange(3))}
    return rng.choice((None, True, b"x", b"\xff\xfe", bytearray(b"{}"), object(), (), set(), range(3), NAType(), NoArray(), WrongInterface(), lambda: 0, 1j,
                       np.datetime64("NaT"), np.timedelta64(3, "s"), np.float16(2), np.bool_(True), PathTo(b"x"), PathTo("a\0b"), PathTo(7),
                       pathlib.Path("/"), memoryview(b"abcd"), array.array("d", [1, 2]), float, Ellipsis, iter([1, 2])))


def shape_of(rng, base):
    """Return the numbers in another shape."""
    base = np.atleast_1d(base)
    kind, wide = rng.randrange(9), base if base.ndim == 2 else np.atleast_2d(base)
    if kind == 0:
        return base.ravel()[:1].reshape(()) if base.size else np.zeros(())
    if kind == 1:
        return base.ravel()
    if kind == 2:
        return base[None]
    if kind == 3:
        return base[:0]
    if kind == 4:
        return wide[:, :0]
    if kind == 5:
        return wide.T
    if kind == 6:
        return base[:-1]
    return np.concatenate([base, base[:1]]) if kind == 7 else np.hstack([wide, wide])


def layout_of(rng, base):
    """Return the same numbers at other places in memory."""
    base, kind = np.atleast_1d(base), rng.randrange(8)
    if kind == 0:
        return np.asfortranarray(base)
    if kind == 1:
        return base[tuple(slice(None, None, -1) for _ in base.shape)]
    if kind == 2:
        return base[::2].repeat(2, axis=0)[:len(base)] if base.ndim else base
    if kind == 3:
        return np.broadcast_to(base.ravel()[:1].reshape((1,) * base.ndim), base.shape) if base.size else base
    if kind == 4:
        wide = np.full(tuple(3 * n + 2 for n in base.shape), 5, base.dtype)
        view = wide[tuple(slice(1, 1 + 3 * n, 3) for n in base.shape)]
        view[...] = base
        return view
    if kind == 5:
        out = np.ndarray(base.shape, base.dtype, np.zeros(base.nbytes + 1, np.uint8)[1:])
        out[...] = base
        return out
    if kind == 6:
        out = base.copy()
        out.flags.writeable = False
        return out
    return np.lib.stride_tricks.as_strided(base.copy(), base.shape, (base.itemsize,) + (0,) * (base.ndim - 1)) if base.ndim and base.size else base


def matrix(rng, base):
    """Return numbers with another dtype, layout, shape, container, or with unusual values."""
    base = np.array(base)
    for _ in range(rng.choice((1, 1, 2, 3))):
        kind = rng.randrange(5)
        if kind == 0 and base.dtype.kind in "fiub":
            with np.errstate(all="ignore"):
                dtype = np.dtype(rng.choice(DTYPES))
                base = base.astype(dtype) if dtype.kind in "fiubOSUc" else base.astype("i8").astype(dtype) if dtype.kind in "mM" else np.zeros(base.shape, dtype)
        elif kind == 1 and base.dtype != object:
            base = layout_of(rng, base)
        elif kind == 2:
            base = shape_of(rng, base)
        elif kind == 3 and base.dtype.kind == "f" and base.size:
            base = np.zeros_like(base) if rng.random() < .2 else np.array(base)
            with np.errstate(all="ignore"):
                base[tuple(rng.randrange(n) for n in base.shape)] = rng.choice(NUMBERS)
        elif kind == 4 and base.dtype.kind in "fi" and base.size:
            with np.errstate(all="ignore"):
                base = np.asarray(base * rng.choice((0, -1, 1e30, 1e-40, 100)))
    return base if rng.random() < .85 else rng.choice((base.tolist, lambda: tuple(base.tolist()) if base.ndim else (base,),
                                                       lambda: np.ma.masked_array(base), lambda: base.astype(object),
                                                       lambda: np.matrix(base) if base.ndim == 2 and base.dtype.kind == "f" else base))()


def offsets(rng, starts):
    """Return starts with an error, or of another type."""
    starts, kind = np.array(starts), rng.randrange(8)
    if kind == 0:
        starts[rng.randrange(len(starts))] = rng.choice((-1, -2 ** 63, 2 ** 62, 2 ** 63 - 1, 3, 0))
        return starts
    if kind == 1:
        return starts[::-1]
    if kind == 2:
        return starts.astype(rng.choice(("u8", "i4", "u1", "f8", "O", "?", "m8[s]", "M8[s]", "U5", ">i8", "c16")))
    if kind == 3:
        return rng.choice(([], [0], [0, 2 ** 70], [[0], [1, 2]], [0, None], 0, range(3), "012", [0, 10 ** 5000], [True, False]))
    if kind == 4:
        return np.insert(starts, rng.randrange(len(starts)), rng.choice(starts))
    if kind == 5:
        return starts.repeat(2)[::2]
    return starts.astype(np.uint64) + np.uint64(2 ** 63) if kind == 6 else starts.reshape(1, -1)


def texts(rng, count):
    """Return ids or segment values, with an unusual one."""
    values = [rng.choice(("A", "B", None, 3, "x")) for _ in range(count + rng.choice((0, 0, 0, 0, -1, 1)))]
    if values and rng.random() < .7:
        values[rng.randrange(len(values))] = rng.choice((anything(rng), rng.choice(TEXTS), rng.choice(INTEGERS), rng.choice(NUMBERS)))
    try:
        return rng.choice((list, tuple, iter, lambda v: np.array(v, dtype=object), np.array))(values)
    except (ValueError, TypeError, OverflowError):
        return values


def segments(rng, count):
    if rng.random() < .1:
        return {f"d{i}": "x" for i in range(rng.choice((16, 17, 40)))}
    return {rng.choice(("arm", "arm", "market", rng.choice(TEXTS), rng.choice(INTEGERS))): texts(rng, count) for _ in range(rng.randrange(3))}


def bytes_changed(rng, data):
    """Return the bytes truncated, or with some of them replaced, removed or repeated."""
    data = bytearray(data)
    if rng.random() < .3:
        del data[rng.randrange(len(data) + 1):]
    for _ in range(rng.choice((0, 1, 1, 2, 8))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(4)
        if kind == 0 and at < len(data):
            data[at] = rng.randrange(256)
        elif kind == 1 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del data[at:at + rng.randrange(9)]
        else:
            data[at:at] = rng.choice((b"\0", b"\xff", b"\n", b"-1", b"1e999", b"null", b"[]", b"{}", b'"', b": ", b"&a *a", bytes(data[at:at + 20])))
    return bytes(data)


def text_changed(rng, text):
    """Return YAML with a changed word, line or byte."""
    kind, lines = rng.randrange(4), text.split("\n")
    if kind == 0:
        return bytes_changed(rng, text.encode()).decode("utf-8", rng.choice(("replace", "surrogateescape", "ignore")))
    if kind == 1:
        words = re.findall(r"[\w.-]+", text)
        return text.replace(rng.choice(words), rng.choice(words + [str(rng.choice(INTEGERS[:9])), "9" * 400, rng.choice(TEXTS)]), 1)
    at = rng.randrange(len(lines))
    lines[at:at + 1] = [] if kind == 2 else [lines[at], rng.choice(lines)]
    return "\n".join(lines)


def json_changed(rng, value):
    """Return a JSON value with one part replaced, removed or repeated."""
    if isinstance(value, dict) and value and rng.random() < .9:
        name, out = rng.choice(sorted(value)), dict(value)
        if rng.random() < .15:
            del out[name]
        else:
            out[name] = json_changed(rng, value[name])
        return out
    if isinstance(value, list) and value and rng.random() < .9:
        at, out = rng.randrange(len(value)), list(value)
        out[at:at + 1] = rng.choice(([], [value[at]] * 2, [json_changed(rng, value[at])]))
        return out
    return rng.choice((None, True, "", "x", "price", -1, 0, 1, 2 ** 31, 2 ** 63, 10 ** 30, 1e308, -1e-308, 0.5, [], {}, [1, 2], {"arm": "B"}, "\ud800", [[]] * 3))


def plan_text(rng, plans):
    """Return the text of a plan, mostly changed."""
    plan = json.loads(rng.choice(plans))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        plan = json_changed(rng, plan)
    text = json.dumps(plan)
    if rng.random() < .3:
        return bytes_changed(rng, text.encode())
    return text if rng.random() < .5 else text.encode()
