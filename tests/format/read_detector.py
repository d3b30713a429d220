"""Detector parts of a state (docs/dev/formats/state.md), for read_state.py."""

import math
import struct

SIZES = ("features", "query_features", "strata", "bets", "limits", "history", "cell_limit", "dimensions")
PHASES = ("free", "suspected", "confirmed")
STATES = ("suspected", "confirmed", "updated", "dismissed", "recovered")


class Damaged(Exception):
    pass


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        """Return the numbers of a struct format, little-endian."""
        form = "<" + form
        size = struct.calcsize(form)
        if self.at + size > len(self.data):
            raise Damaged(f"it ends within a number at byte {self.at}")
        self.at += size
        return struct.unpack_from(form, self.data, self.at - size)

    def one(self, form, low=None, high=None):
        (value,) = self.take(form)
        if low is not None and not low <= value <= high:
            raise Damaged(f"{value} is not between {low} and {high} before byte {self.at}")
        return value

    def text(self):
        return self.take(f"{self.one('I')}s")[0].decode()

    def optional(self):
        return self.text() if self.one("i", 0, 1) else None

    def end(self, what):
        if self.at != len(self.data):
            raise Damaged(f"{what} has {len(self.data) - self.at} bytes too many")


def counter(r):
    key, count, error = r.take("Qdd")
    if not (math.isfinite(count) and 0 <= error <= count):
        raise Damaged(f"a counter before byte {r.at}")
    return key, count, error


def cells(r, size):
    most, dimensions = size["cell_limit"] + size["dimensions"], size["dimensions"]
    out = [{"dimension": None, "value": None}]
    for _ in range(r.one("i", 1, most) - 1):
        number = r.one("i", 0, dimensions - 1)
        out.append({"dimension": size["names"][number], "value": r.optional()})
    r.take("Q")
    r.one("i", 0, 64)
    r.one("i", -1, len(out) - 1)
    lists = {name: r.take("QQ2048x") for name in size["names"]}
    r.one("d")
    owners = [counter(r) if r.one("i", 0, 1) else None for _ in range(most)]
    for cell, owner in zip(out[1:], owners[1:]):
        if (owner is None) != (cell["value"] is None):
            raise Damaged("a cell and its counter do not agree")
    candidates = [counter(r) for _ in range(r.one("i", 0, 2 * size["cell_limit"]))]
    heap = [r.one("i", most, most + len(candidates) - 1) for _ in candidates]
    if len(set(heap)) != len(heap):
        raise Damaged("a candidate stands twice in the heap")
    planned = [r.one("B", 0, 1) for _ in out]
    return {"cells": out, "lists": lists, "candidates": len(candidates), "planned": sum(planned)}


def lists(r, size):
    queries = r.one("Q")
    of_last = r.take(f"{1 + size['dimensions']}h")
    beyond = r.take(f"{size['limits']}Q")
    slots = [r.take("iIII")[0] for _ in range(r.one("i", 0, 4096))]
    if slots != sorted(set(slots)) or (slots and not 0 <= slots[0] <= slots[-1] < 4096):
        raise Damaged("slots that do not rise")
    return {"queries": queries, "cells": of_last, "beyond": beyond, "repeats": len(slots)}


def row(r, size, cell_count):
    query, time_ms = r.take("Qq")
    stratum = r.one("i", 0, size["strata"] - 1)
    of = [r.one("h", 0 if i == 0 else -1, cell_count - 1) for i in range(1 + size["dimensions"])]
    records = [r.take("ff4BHh") for _ in range(size["features"])]
    return {"query": query, "time_ms": time_ms, "stratum": stratum, "cells": of, "records": records,
            "features": r.take(f"{size['query_features']}f")}


def category_row(r):
    unknown, _stratum = r.take("fH")
    return unknown, [r.take("ff") for _ in range(r.one("B", 0, 8))]


def changes(r):
    return [r.take("fdd") for _ in range(r.one("i", 0, 4))]


def episode(r):
    phase = PHASES[r.one("i", 0, 2)]
    if phase == "free":
        return None
    number, cause, feature, cell = r.take("IIii")
    bet, claimed, _quiet, _tried, _looks, _waits = r.take("6i")
    r.take("IIi")
    _alarm, _row, since_query, since_ms, _first, _last, lists_since, _due = r.take("QQQqQQII")
    r.take("3d")
    r.one("i", 0, 31)
    r.take("ddQiI")
    class_number = r.one("i", 0, 11)
    shift_ln, share = r.take("11d")[:2]
    r.take("9d")
    r.take("ii")
    news = changes(r)
    r.take("d")
    return {"number": number, "cause": cause, "phase": phase, "feature": feature, "cell": cell, "bet": bet,
            "claimed": claimed, "since_query": since_query, "since_ms": since_ms, "lists": lists_since,
            "class": class_number, "factor": math.exp(shift_ln), "share": share, "values": news}


def episodes(r):
    ever, causes, places = r.take("IIi")
    return {"ever": ever, "causes": causes, "places": places, "open": [e for e in (episode(r) for _ in range(places)) if e]}


def usual(r, places):
    """Return spread and fractions of the usual lists of a segment by place; earlier versions did not write them."""
    if r.at == len(r.data):
        return {}
    return {place: r.take("5d") for place in range(places) if r.one("i", 0, 1)}


def finding(r):
    state, class_number = STATES[r.one("i", 0, 4)], r.one("i", 0, 11)
    signal, reason = r.optional(), r.optional()
    number, cause, query, since, time_ms, since_ms = r.take("IIQQqq")
    factor = r.take("7d")[0]
    _fewer, feature, cell, query_feature = r.take("4i")
    news = changes(r)
    units = [(r.text(), *r.take("ii")) for _ in range(r.one("i", 0, 6))]
    return {"state": state, "class": class_number, "signal": signal, "reason": reason, "episode": number,
            "cause": cause, "query": query, "since_query": since, "time_ms": time_ms, "since_ms": since_ms,
            "factor": factor, "feature": feature, "cell": cell, "query_feature": query_feature,
            "values": news, "units": units}


def findings(r):
    ever, fetched = r.take("QQ")
    return {"ever": ever, "fetched": fetched, "waiting": [finding(r) for _ in range(ever - fetched)]}


def accepts(r):
    version, keys = r.one("Q"), ("feature", "cell", "shift_ln", "version", "row")
    out = [dict(zip(keys, r.take("iidQQ"))) for _ in range(r.one("i", 0, 256))]
    numbers = [0] + [one["version"] for one in out] + [version + 1]
    if numbers != sorted(set(numbers)):
        raise Damaged("numbers of accepts that do not rise")
    return {"version": version, "accepts": out}


def learned(r):
    """Return the levels of new items by the hash of their id."""
    features, keys, out = r.one("i"), r.take("512Q"), {}
    for key in filter(None, keys):
        last, lists, means = r.one("I"), r.take(f"{features}B"), r.take(f"{features}f")
        if max(lists) > 8:
            raise Damaged("a level of more lists than there may be")
        out[key] = {"last": last, "levels": [mean if n == 8 else None for n, mean in zip(lists, means)]}
    return out
