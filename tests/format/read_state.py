#!/usr/bin/env python3
"""Print a capture of state records (docs/dev/formats/state.md) as one JSON object.

usage: read_state.py FILE     `-` reads standard input

An independent decoder, written only from the documents. Exits with 1 and a message if the records are no complete
checkpoint.
"""
import json
import sys

import read_capture
import read_detector
import read_sketch
from read_detector import Damaged, Reader
from xxh64 import xxh64

MAGIC, VERSION, FRAME, ROWS, PAST_PLANS = b"EKSTAT\r\n", 1, 28, 64, 16


def frame(value):
    """Return (hash of the manifest, checkpoint number, reader of the body)."""
    r = Reader(value)
    if value[:8] != MAGIC:
        raise Damaged("a record without magic")
    r.at = 8
    if r.one("I") != VERSION:
        raise Damaged("another version")
    manifest, base = r.take("QQ")
    return manifest, base, r


def head(value):
    manifest, base, r = frame(value)
    if xxh64(value[:-8]) != int.from_bytes(value[-8:], "little"):
        raise Damaged("the hash of the head does not fit")
    r.data = value[:-8]
    out = {"manifest": f"{manifest:016x}", "base": base, "profile": f"{r.one('Q'):016x}"}
    out.update(zip(read_detector.SIZES, r.take("8i")))
    out["names"] = [r.text() for _ in range(out["dimensions"])]
    out["window_ms"], out["kept"], out["window_cells"] = r.take("qii")
    out["clock"] = r.take("qiiqq")
    out["queries"], out["plan_version"] = r.take("QQ")
    out["note"] = r.take(f"{r.one('i', 0, 65536)}s")[0].decode()
    out["index"] = r.take(f"{r.one('i', 1, 1000)}Q")
    r.end("the head")
    return out


class Base:
    """The parts of a complete checkpoint."""

    def __init__(self, records):
        self.records = {}
        for key, value in records:
            if key != "head":
                self.records.setdefault(key, {})[xxh64(value[FRAME:])] = frame(value) and value[FRAME:]
        heads = [value for key, value in records if key == "head"]
        if not heads:
            raise Damaged("no head")
        self.head = head(heads[-1])
        r = self.reader("index", self.head["index"])
        self.index = [(r.text(), r.take(f"{r.one('i', 0, 1000)}Q")) for _ in range(r.one("i", 0, 1 << 20))]
        r.end("the index")
        names = [name for name, _ in self.index]
        if names != sorted(set(names)):
            raise Damaged("names of parts that do not rise")
        self.read_so_far = set()

    def reader(self, name, hashes):
        pieces = [self.records.get(f"{name}.{i:03}", {}).get(one) for i, one in enumerate(hashes)]
        if None in pieces:
            raise Damaged(f"incomplete: '{name}'")
        return Reader(b"".join(pieces))

    def part(self, name):
        self.read_so_far.add(name)
        found = dict(self.index).get(name)
        if found is None:
            raise Damaged(f"no part '{name}'")
        return self.reader(name, found)

    def has(self, name):
        return name in dict(self.index)


def packed(r):
    """Return {key: count}."""
    data, counts, key, at = r.take(f"{r.one('I')}s")[0], {}, 0, 0
    while at < len(data):
        gap, at = read_sketch.varint(data, at)
        key += gap
        if at >= len(data) or (not gap and key % 256):
            raise Damaged("a run of a sketch")
        end, at = key + data[at] + 1, at + 1
        if (end - 1) // 256 != key // 256:
            raise Damaged("a run of a sketch goes over the end of its block")
        for key in range(key, end):
            count, at = read_sketch.varint(data, at)
            if not count or not read_sketch.occurs(key):
                raise Damaged(f"a count of key {key}")
            counts[key] = count
        key = end
    return counts


def sketches(r, size, items=None):
    out = [packed(r) for _ in range(size["features"])]
    totals = {sum(counts.values()) for counts in out}
    if len(totals) > 1 or (items is not None and totals != {items}):
        raise Damaged("features of a window that have counted different numbers of values")
    return out


def lists(r, size):
    out = read_detector.lists(r, size)
    out["rows"] = r.one("Q")
    out["categories"] = [r.take("ii") for _ in range(r.one("i", 0, size["features"]))]
    return out


def rows(r, size, count, cells, categories):
    out = [read_detector.row(r, size, cells) for _ in range(count)]
    return out, [[read_detector.category_row(r) for _ in range(count)] for _ in categories]


def evidence(r, size, categories):
    out = []
    for _ in range(size["features"]):
        numbers = r.take(f"{size['bets']}ffI")
        out.append({"evidence": numbers[:-2], "level": numbers[-2], "lists": numbers[-1]})
    habits = r.one("i", 0, 1)
    if habits:
        r.take(f"{size['bets']}fI" * size["features"])
    of = [(r.take("30f"), r.take("fI"), r.take(f"{values}f")) for _, values in categories]
    return {"features": out, "habits": habits, "categories": of}


def guard(r, size):
    adopted, said = r.take("QI")
    beyond = r.take(f"{size['limits']}Q")
    open_findings = [r.take("ii") for _ in range(r.one("i", 0, 1024))]
    events = [json.loads(r.text()) for _ in range(r.one("i", 0, 4096))]
    return {"adopted": adopted, "said": said, "beyond": beyond, "open": open_findings, "events": events}


def plan(r):
    version, paused, entries = r.take("Qii")
    keys = ("feature", "cell", "action", "value", "mode", "percent", "by", "factor", "query_feature",
            "since_ms", "until_ms", "min_duration_ms")
    found = []
    for _ in range(entries):
        found.append(dict(zip(keys, r.take("iiidiiidiqqq"))))
        if found[-1]["by"] & 16:
            found[-1]["repair"] = dict(zip(("by", "exact", "number", "scale"), r.take("2i2d")))
    modes = [r.take("4i") for _ in range(r.one("i", 0, 512))]
    return {"version": version, "paused": paused, "entries": found, "modes": modes}


def control(r):
    in_force = plan(r)
    keys = ("feature", "cell", "percent", "step_ms", "rolled_back", "figure", "limit", "relapses", "ended_ms", "tried",
            "episode", "class", "factor", "factor_low", "factor_high", "share")
    rollouts = [dict(zip(keys, r.take("3iqi2diqQIi4d"))) for _ in range(r.one("i", 0, 1280))]
    keys = ("paused", "paused_ms", "limited", "free_ms", "full")
    out = dict(zip(keys, r.take("iqiqi")))
    pins = [{**dict(zip(("feature", "cell", "action", "until_ms"), r.take("3iq"))),
             **{key: r.text() if r.one("i", 0, 1) else None for key in ("author", "reason")}}
            for _ in range(r.one("i", 0, 1000))]
    before = plan(r) if out["paused"] and r.at < len(r.data) else None
    if r.at < len(r.data):
        for one in rollouts:
            one["credit"] = r.one("d")
    if r.at < len(r.data):
        for one in rollouts:
            one["incident"] = r.one("I")
    return {"plan": in_force, "rollouts": rollouts, **out, "pins": pins, "before": before}


def decided(r):
    keys = ("feature", "cell", "mode", "desired", "action", "value", "repair")
    return [dict(zip(keys, r.take("5idi"))) for _ in range(r.one("i", 0, 1024))]


def past(r):
    """Return recovered findings whose incident a return reopens; earlier versions did not write them."""
    if r.at == len(r.data):
        return []
    keys = ("feature", "cell", "query_feature", "class", "incident", "shift_ln", "error_ln", "ended_ms", "ended_row")
    return [dict(zip(keys, r.take("4iI2dqQ"))) for _ in range(min(r.one("Q"), 64))]


def changes(r, size):
    out = {"settled": r.take(f"{size['features']}Q"), "EPIS": read_detector.episodes(r), "FIND": read_detector.findings(r),
           "PAST": past(r)}
    for name in ("unknown_strata", "unknown_items", "repeats", "query_features"):
        out[name] = r.take("fQ") if r.at < len(r.data) else (0, 0)
    out["usual"] = read_detector.usual(r, out["EPIS"]["places"])
    return out


def queries(r):
    """Return incomplete lists with received items, and their plans by number."""
    keys = ("key", "begun_ms", "plan", "expected", "seen", "open")
    pending, count = r.take("Qi")
    known = [dict(zip(keys, r.take("QqQiii"))) for _ in range(count)]
    if len({one["key"] for one in known}) != count:
        raise Damaged("a query that is known twice")
    plans = r.one("Q")
    return {"pending": pending, "known": known,
            "plans": {n: plan(r) for n in range(max(0, plans - PAST_PLANS), plans)}}


def clock(r, head):
    """Return the times of the last lists, oldest first."""
    now, seen = head["clock"][:2]
    return [now - ago for ago in r.take(f"{seen}q")]


def drift(r):
    r.take("Qd3d")
    r.take("4QQQ")
    for _ in range(3):
        r.take("5d5d5Q")
    drifted, compared, _first = r.take("iQQ")
    figures = [r.take("Q3d") for _ in range(min(compared, 128))]
    return {"drifted": drifted, "compared": compared, "figures": figures}


DIDS = ("route", "end", "step", "rollback", "relapse", "limit", "pin", "unpin", "expired", "accept", "revert", "pause",
        "resume", "reload")


def decisions(r, part):
    """Return those of one part, by number."""
    found = {}
    for place in range(64 * part, 64 * part + 64):
        number = r.one("Q")
        if not number:
            continue
        if number % 1024 != place:
            raise Damaged(f"decision {number} in place {place}")
        one = dict(zip(("query", "before", "after", "accept", "normal", "time_ms"), r.take("5Qq")))
        one["what"] = DIDS[r.one("i", 0, len(DIDS) - 1)]
        for key, most in (("class", 11), ("action", 6), ("rail", 6)):
            one[key] = r.one("i", 0, most)
        one["episode"] = r.one("I")
        one.update(zip(("factor", "factor_low", "factor_high", "share", "figure", "limit"), r.take("6d")))
        one["percent"] = r.one("i", -1, 10000)
        for key in ("who", "why", "request", "instance", "feature", "dimension", "value"):
            one[key] = r.text() if r.one("i", 0, 1) else None
        found[number] = one
    return found


def incidents(r, part):
    """Return those of one part, by number."""
    found = {}
    for place in range(16 * part, 16 * part + 16):
        number = r.one("Q")
        if not number:
            continue
        if number % 128 != place:
            raise Damaged(f"incident {number} in place {place}")
        one = dict(zip(("id", "current", "times"), r.take("IIi")))
        one.update(zip(("state", "class", "action", "mode", "rail", "acts"), r.take("6i")))
        one.update(zip(("from_ms", "to_ms", "mitigated_ms"), r.take("3q")))
        one.update(zip(("from_list", "to_list", "treated_lists", "compared_lists"), r.take("4Q")))
        one.update(zip(("factor", "factor_low", "factor_high", "fraction", "ratio", "observed", "limit", "tau", "top10",
                        "places", "change", "change_p95"), r.take("12d")))
        one.update((key, r.optional()) for key in ("unit", "text", "reason"))
        count = r.one("i", 1, 64)
        one["head"], one["treated"] = r.one("i", 0, count - 1), r.one("i", -1, count - 1)
        one["findings"] = [{**{key: r.optional() for key in ("feature", "dimension", "value")},
                            "number": r.one("I"), "open": r.one("i", 0, 1)} for _ in range(count)]
        found[number] = one
    return found


def windows(base, cell, size):
    r = base.part(f"life/{cell:05}")
    closings, life_lists = r.take("QQ")
    life = sketches(r, size)
    r.end("life")
    r = base.part(f"now/{cell:05}")
    number, of_now, items = r.take("qQQ")
    now = {"number": number, "lists": of_now, "items": items, "sketches": sketches(r, size, items)}
    r.end("now")
    closed = []
    for place in range(min(closings, size["kept"])):
        r = base.part(f"window/{cell:05}/{place:04}")
        closed.append({**dict(zip(("number", "lists"), r.take("qQ"))), "sketches": sketches(r, size)})
        r.end("a window")
    return {"lists": life_lists + of_now, "life": life, "now": now, "closed": closed}


def read(data):
    """Return the checkpoint of the last header; data: a capture of records."""
    records = [(key.decode().rsplit(":", 1)[-1], value) for _, _, _, key, value in read_capture.records(data)]
    base = Base(records)
    size = base.head
    out = {"head": size}

    def take(name, walk):
        r = base.part(name)
        found = walk(r)
        r.end(name)
        return found

    out["cells"] = take("cells", lambda r: read_detector.cells(r, size))
    cells = len(out["cells"]["cells"])
    out["lists"] = take("lists", lambda r: lists(r, size))
    categories, count = out["lists"]["categories"], min(out["lists"]["rows"], size["history"])
    out["rows"] = []
    for n in range((count + ROWS - 1) // ROWS):
        stretch = min(ROWS, count - n * ROWS)
        out["rows"] += take(f"rows/{n:05}", lambda r: rows(r, size, stretch, cells, categories))[0]
    out["evidence"] = [take(f"evidence/{n:05}", lambda r: evidence(r, size, categories)) for n in range(cells)]
    out["changes"] = take("changes", lambda r: changes(r, size))
    out["accepts"] = take("accepts", read_detector.accepts) if base.has("accepts") else None
    out["learned"] = {}
    for n in range(64):
        if base.has(f"learned/{n:05}"):
            out["learned"].update(take(f"learned/{n:05}", read_detector.learned))
    out["plan"] = take("plan", plan)
    out["control"] = take("control", control)
    out["guard"] = take("guard", lambda r: guard(r, size))
    out["decided"] = take("decided", decided) if base.has("decided") else []
    out["history"] = {}
    for n in range(16):
        if base.has(f"history/{n:05}"):
            out["history"].update(take(f"history/{n:05}", lambda r: decisions(r, n)))
    out["incidents"] = {}
    for n in range(8):
        if base.has(f"incidents/{n:05}"):
            out["incidents"].update(take(f"incidents/{n:05}", lambda r: incidents(r, n)))
    out["queries"] = take("queries", queries) if base.has("queries") else None
    out["clock"] = take("clock", lambda r: clock(r, size)) if base.has("clock") else None
    out["drift"] = take("drift", drift) if base.has("drift") else None
    out["windows"] = {n: windows(base, n, size) for n in range(cells) if base.has(f"now/{n:05}")}
    left = {name for name, _ in base.index} - base.read_so_far
    if left:
        raise Damaged(f"parts that nobody knows: {sorted(left)}")
    return out


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with sys.stdin.buffer if sys.argv[1] == "-" else open(sys.argv[1], "rb") as file:
        data = file.read()
    try:
        print(json.dumps(read(data)))
    except (Damaged, read_capture.Damaged, read_sketch.Damaged) as error:
        sys.exit(f"read_state: {error}")


if __name__ == "__main__":
    main()
