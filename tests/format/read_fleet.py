#!/usr/bin/env python3
"""Reads a record of a fleet (docs/dev/formats/fleet.md) and prints it as JSON.

usage: read_fleet.py FILE

An independent reader: it shares nothing with the library but the document. Ends with 1 and a
message when the bytes are no record.
"""

import json
import math
import struct
import sys
import zlib

from read_sketch import Damaged, varint

BETS, SHARES = 24, 4
CLASSES = {"scale", "power", "offset", "items", "missing", "zero", "sign", "stuck", "clip", "shape", "new_category"}
ACTIONS = {"none", "alert", "route", "route_normalized", "repair", "blank", "route_per_source", "fill"}
MODES = {"observe", "shadow", "canary", "enforce"}
BY = {"finding", "person", "rules"}
RAILS = {"none", "rank_change_p95", "error_rate", "dead_letter_rate", "latency_p99", "model_drift", "worse_than_unmitigated"}
DONE = {"route", "end", "step", "rollback", "relapse", "limit", "pin", "unpin", "expired", "accept", "revert", "pause",
        "resume", "reload"}
TIME_MAX, COUNT_MAX, U32, VERSION_MAX = 2**53, 2**40, 2**32 - 1, 2**63 - 1
SHIFT_MAX = 200
HARM_BETS, LATENCY_BINS, RANK_BINS = 5, 64, 64


class Body:
    """The numbers and texts of a record, one behind the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if count > len(self.data) - self.at:
            raise Damaged(f"it ends at byte {self.at}")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, most=2**64 - 1, least=0):
        value, self.at = varint(self.data, self.at)
        if not least <= value <= most:
            raise Damaged(f"a number beyond its limit before byte {self.at}")
        return value

    def signed(self, most=TIME_MAX):
        value = self.number()
        value = -(value // 2) - 1 if value % 2 else value // 2
        if abs(value) > most:
            raise Damaged(f"a number beyond its limit before byte {self.at}")
        return value

    def fixed(self, kind):
        return struct.unpack("<" + kind, self.take(struct.calcsize("<" + kind)))

    def text(self, most=200):
        value = self.take(self.number(most))
        if b"\0" in value:
            raise Damaged(f"a text with a zero before byte {self.at}")
        return value.decode("utf-8", "replace")

    def word(self, words):
        value = self.text(63)
        if value not in words:
            raise Damaged(f"'{value}' is no word before byte {self.at}")
        return value

    def many(self, one, most):
        return [one(self) for _ in range(self.number(most))]


def cell(body, dimensions):
    number = body.number(2 * len(dimensions))
    if number == 0:
        return None
    name = dimensions[(number - 1) // 2]
    return {name: body.text(1024) if number % 2 == 0 else None}


def finding(body, dimensions):
    where = cell(body, dimensions)
    feature, episode, since = body.text(), body.number(2**32 - 1), body.signed()
    kind, fewer, query = body.word(CLASSES), body.number(3), body.text()
    factor, low, high, error, share, spread, exponent, now, trained = body.fixed("9d")
    incident = body.number(U32)
    if any(f <= 0 for f in (factor, low, high)) or not 0 <= share <= 1:
        raise Damaged(f"a finding that cannot be before byte {body.at}")
    return {"cell": where, "feature": feature, "episode": episode, "since": since, "class": kind, "fewer": fewer,
            "query_feature": query, "factor": factor, "factor_low": low, "factor_high": high, "error_ln": error,
            "share": share, "spread_ratio": spread, "exponent": exponent,
            "value_share": now, "trained_share": trained,
            "incident": incident}


def instance(body):
    head = {"instance": body.text(), "start": body.number(), "number": body.number(least=1)}
    head["manifest"], head["profile"] = body.fixed("2Q")
    head["time"] = body.signed()
    head["dimensions"] = body.many(Body.text, 8)
    if not head["instance"]:
        raise Damaged("an instance without a name")
    return head


def sums(body):
    features, following = {}, 0
    for _ in range(body.number()):
        following += body.number(2**32)
        lists = body.number(2**24, 1)
        features[following] = {"lists": lists, "ln": [body.signed(lists << 17) for _ in range(BETS)]}
        following += 1
    return features


def tick(body):
    head = instance(body)
    dimensions = head["dimensions"]
    head["normal"] = body.number(VERSION_MAX)
    head["cells"] = body.many(lambda b: {"cell": cell(b, dimensions), "features": sums(b)}, 4096)
    head["findings"] = body.many(lambda b: finding(b, dimensions), 1024)
    head["lists"] = body.number(2**24)
    head["traffic"] = body.many(lambda b: (cell(b, dimensions), b.number(head["lists"])), 4096)
    return head


def row(body, dimensions, query_features):
    one = {"row": body.number(), "time": body.signed(), "stratum": body.number()}
    one["level"], one["spread"] = body.fixed("2f")
    one["shares"] = [body.number(255) for _ in range(SHARES)]
    one["usable"] = body.number(65535)
    one["cells"] = body.many(lambda b: cell(b, dimensions), len(dimensions))
    one["query"] = list(body.fixed(f"{query_features}f"))
    return one


def rows(body, query_features):
    head = instance(body)
    head["feature"], head["ask"] = body.text(), body.number(2**32 - 1)
    head["rows"] = body.many(lambda b: row(b, head["dimensions"], query_features), 4096)
    return head


WITH_REPAIR = 1 << 14  # added to the percentage of an entry that a repair follows


def place(body, dimensions):
    return {"cell": cell(body, dimensions), "feature": body.text()}


def entry(body, dimensions):
    one = place(body, dimensions)
    one["action"] = body.word(ACTIONS)
    (one["value"],) = body.fixed("d")
    one["mode"], percent, one["by"] = body.word(MODES), body.number(WITH_REPAIR + 10000), body.word(BY)
    one["percent"] = percent % WITH_REPAIR / 100
    (one["factor"],) = body.fixed("d")
    one["query_feature"] = body.text()
    one["since"], one["until"], one["min_duration"] = body.signed(), body.signed(), body.number(TIME_MAX)
    one["turns"] = body.number(U32)
    if percent & WITH_REPAIR:
        one["repair"] = dict(zip(("by", "exact", "number", "scale"), body.fixed("2i2d")))
    if one["since"] < 0 or one["until"] < -1 or not math.isfinite(one["value"]) or one["percent"] > 100:
        raise Damaged(f"an entry that cannot be before byte {body.at}")
    return one


def mode(body, dimensions):
    return place(body, dimensions) | {"mode": body.word(MODES), "own": body.number(1)}


def rollout(body, dimensions):
    one = place(body, dimensions)
    one["percent"], one["step"], one["rolled_back"] = body.number(10000) / 100, body.signed(), body.word(RAILS)
    one["figure"], one["limit"] = body.fixed("2d")
    one["relapses"], one["ended"] = body.number(2**31 - 1), body.signed()
    one["tried"], one["turns"], one["episode"] = body.number(), body.number(U32), body.number(U32)
    one["class"] = body.word(CLASSES | {"none"})
    one["factor"], one["low"], one["high"], one["share"] = body.fixed("4d")
    if one["step"] < 0 or one["ended"] < -1:
        raise Damaged(f"a rollout that cannot be before byte {body.at}")
    return one


def pin(body, dimensions):
    return place(body, dimensions) | {"action": body.word(ACTIONS - {"repair"}), "until": body.signed(),
                                      "who": body.text(64), "why": body.text(500)}


def accept(body, dimensions):
    one = place(body, dimensions)
    (one["shift_ln"],) = body.fixed("d")
    one |= {"version": body.number(VERSION_MAX, 1), "since": body.signed(), "time": body.signed(), "who": body.text(64),
            "why": body.text(500)}
    if not abs(one["shift_ln"]) <= SHIFT_MAX:
        raise Damaged(f"a level that cannot be before byte {body.at}")
    return one


def normal(body, dimensions):
    head = {"normal": body.number(VERSION_MAX), "profile": body.fixed("Q")[0], "accepts": body.many(lambda b: accept(b, dimensions), 256)}
    versions = [one["version"] for one in head["accepts"]]
    if versions != sorted(set(versions)) or versions and versions[-1] > head["normal"]:
        raise Damaged(f"accepts that cannot be before byte {body.at}")
    return head


def limits(body):
    return {"exceeded": body.number(2), "free": body.signed(), "full": body.number(1), "paused": body.number(1),
            "paused_since": body.signed()}


def decision(body):
    one = {"number": body.number(least=1), "what": body.word(DONE), "before": body.number(), "after": body.number(),
           "accept": body.number(), "normal": body.number(), "time": body.signed(), "episode": body.number(U32),
           "class": body.word(CLASSES | {"none"}), "action": body.word(ACTIONS), "rail": body.word(RAILS),
           "percent": (body.number(10001) - 1) / 100}
    one["numbers"] = body.fixed("6d")
    for key in ("who", "why", "request", "instance", "feature", "dimension", "value"):
        one[key] = body.text(1024)
    return one


def plan(body):
    head = {"decider": body.text(), "term": body.number(), "version": body.number(),
            "episodes": body.number(U32), "from": body.signed(), "clock": body.signed()}
    dimensions = head["dimensions"] = body.many(Body.text, 8)

    def many(one, most):
        return body.many(lambda b: one(b, dimensions), most)
    head["entries"], head["modes"] = many(entry, 1024), many(mode, 512)
    head["wanted"], head["rollouts"], head["pins"] = many(entry, 1024), many(rollout, 1280), many(pin, 1000)
    head["limits"] = limits(body)
    head |= normal(body, dimensions)
    head["decisions"] = body.many(decision, 64)
    head["findings"] = many(finding, 1024)
    head["asks"] = body.many(lambda b: {"feature": b.text(), "ask": b.number(U32), "rows": b.number(65535)}, 16)
    if not head["decider"]:
        raise Damaged("a decider without a name")
    return head


def ranks(body):
    one = {"lists": body.number(COUNT_MAX), "sums": [body.signed(2**63) for _ in range(4)], "bins": {}}
    following = 0
    for _ in range(body.number(RANK_BINS)):
        following += body.number(RANK_BINS)
        one["bins"][following] = body.number(COUNT_MAX, 1)
        following += 1
    if following > RANK_BINS or sum(one["bins"].values()) != one["lists"]:
        raise Damaged(f"ranks that cannot be before byte {body.at}")
    return one


def trial(body, dimensions):
    one = place(body, dimensions)
    one["action"], one["since"], one["turns"] = body.word(ACTIONS), body.signed(), body.number(U32)
    for key in ("tried", "unscored", "acts", "failed", "measured"):
        one[key] = body.number(COUNT_MAX)
    one["moved"], one["acted"] = ranks(body), ranks(body)
    one["harm"] = [body.signed(one["measured"] << 22) for _ in range(HARM_BETS)]
    if max(one["unscored"], one["measured"], one["moved"]["lists"], one["acted"]["lists"]) > one["tried"] or \
            one["failed"] > one["acts"]:
        raise Damaged(f"trials that cannot be before byte {body.at}")
    return one


def trials(body):
    head = instance(body)
    head["drifted"] = body.number(1)
    head["outputs"] = [body.number(COUNT_MAX) for _ in range(4)]
    head["times"] = [body.number(COUNT_MAX) for _ in range(LATENCY_BINS)]
    head["routes"] = body.many(lambda b: trial(b, head["dimensions"]), 1024)
    return head


def order_id(body):
    head = {"instance": body.text(), "start": body.number(), "number": body.number(least=1)}
    if not head["instance"]:
        raise Damaged("an instance without a name")
    return head


def order(body):
    one = order_id(body)
    (one["manifest"],) = body.fixed("Q")
    one["what"] = body.word({"pin", "unpin", "pause", "resume", "accept", "revert"})
    one |= place(body, body.many(Body.text, 8))
    one |= {"action": body.word(ACTIONS - {"repair"}), "until": body.signed(), "who": body.text(64), "why": body.text(500)}
    one["accept"] = body.number(VERSION_MAX)
    if one["until"] < 0 or one["what"] in ("pause", "revert") and one["feature"] or \
            one["what"] in ("pin", "unpin", "accept") and not one["feature"] or \
            (one["what"] == "revert") != (one["accept"] > 0):
        raise Damaged("an order that cannot be")
    return one


def answer(body):
    one = order_id(body) | {"decider": body.text(), "code": body.number(255)}
    one |= {"refusal": body.text(1024)} if one["code"] else {"decision": decision(body)}
    if not one["code"] and not one["decision"]["request"]:
        raise Damaged("an answer to no order")
    return one


def read(data, query_features=1):
    """-> the record; rows need to know how many query features the manifest has"""
    kinds = {b"T": tick, b"U": trials, b"P": plan, b"O": order, b"A": answer, b"R": lambda body: rows(body, query_features)}
    if data[:3] != b"EK4" or data[3:4] not in kinds or len(data) < 8:
        raise Damaged("it does not begin as a record does")
    if data[-4:] != struct.pack("<I", zlib.crc32(data[:-4])):
        raise Damaged("wrong checksum")
    body = Body(data[4:-4])
    record = kinds[data[3:4]](body)
    if body.at != len(body.data):
        raise Damaged(f"more bytes at byte {body.at}")
    return record


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    try:
        print(json.dumps(read(data)))
    except Damaged as error:
        sys.exit(f"read_fleet: {error}")


if __name__ == "__main__":
    main()
