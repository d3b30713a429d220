"""Independent decoder of states against the golden file."""
import json
import math
import os
import random
import unittest

import read_capture
import read_sketch
import read_state
from read_detector import Damaged

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
GOLDEN, ITEMS, ACCEPTS, ORDERS = (os.path.join(FOLDER, f"state{of}-1.ekc") for of in ("", "-items", "-accepts", "-orders"))
FAULTS = (Damaged, read_capture.Damaged, read_sketch.Damaged, UnicodeDecodeError, ValueError)


def join(records):
    """Return a capture of (key, value), every field in its longest form."""
    out = bytearray()
    for offset, (key, value) in enumerate(records):
        out += b"\x95\x00\xcf" + offset.to_bytes(8, "big") + b"\xff"
        out += b"\xc4" + bytes([len(key)]) + key + b"\xce" + len(value).to_bytes(4, "big") + value
    return bytes(out)


class State(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(GOLDEN, "rb") as file:
            data = file.read()
        cls.records = [(key, value) for _, _, _, key, value in read_capture.records(data)]
        cls.read = read_state.read(data)

    def test_hashes_are_xxh64(self):
        self.assertEqual(read_state.xxh64(b""), 0xEF46DB3751D8E999)
        self.assertEqual(read_state.xxh64(b"a"), 0xD24EC4F1A98C6E5B)
        self.assertEqual(read_state.xxh64(b"Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1)

    def test_the_golden_file_is_of_150_lists(self):
        head = self.read["head"]
        self.assertEqual((head["queries"], head["base"], head["note"]), (150, 1, "offset 150"))
        self.assertEqual(head["names"], ["arm", "market"])
        self.assertEqual(self.read["lists"]["queries"], 150)
        self.assertEqual([row["query"] for row in self.read["rows"]], list(range(150)))

    def test_its_windows_have_all_lists(self):
        everything = self.read["windows"][0]
        self.assertEqual(everything["lists"], 150)
        self.assertEqual(everything["now"]["lists"] + sum(w["lists"] for w in everything["closed"]), 150)
        for feature in range(2):
            parts = [everything["now"]["sketches"][feature]] + [w["sketches"][feature] for w in everything["closed"]]
            total = sum(sum(counts.values()) for counts in parts)
            of_life = sum(everything["life"][feature].values())
            self.assertEqual(of_life + sum(parts[0].values()), total)
        arms = [n for n, cell in enumerate(self.read["cells"]["cells"]) if cell["dimension"] == "arm"]
        self.assertEqual(sum(self.read["windows"][n]["lists"] for n in arms), 150)

    def test_its_plan_routes_the_price_of_arm_b(self):
        (entry,) = self.read["plan"]["entries"]
        cell = self.read["cells"]["cells"][entry["cell"]]
        self.assertEqual((entry["feature"], cell), (0, {"dimension": "arm", "value": "B"}))
        self.assertEqual(self.read["plan"]["version"], self.read["head"]["plan_version"])
        self.assertEqual(self.read["guard"]["open"], [(0, entry["cell"])])
        (decided,) = self.read["decided"]
        self.assertEqual(decided, {"feature": 0, "cell": entry["cell"], "mode": 3, "desired": 1,
                                   "action": entry["action"], "value": entry["value"], "repair": 0})

    def test_its_clock_has_the_times_of_the_last_lists(self):
        times, now = self.read["clock"], self.read["head"]["clock"][0]
        self.assertEqual(len(times), 64)
        self.assertEqual(max(times), now)
        self.assertEqual(times, sorted(times))

    def test_its_events_wait(self):
        events = self.read["guard"]["events"]
        self.assertIn("plan", [event["event"] for event in events])
        confirmed = [event for event in events if event.get("state") == "confirmed"]
        self.assertEqual(confirmed[-1]["segment"], {"arm": "B"})

    def test_the_order_of_the_records_does_not_matter_but_for_the_head(self):
        records = self.records[:-1]
        random.Random(1).shuffle(records)
        again = read_state.read(join(records + self.records[-1:]))
        self.assertEqual(json.dumps(again), json.dumps(self.read))  # as text, since NaN differs from NaN

    def test_every_record_that_is_missing_or_damaged_is_noticed(self):
        for i, (key, value) in enumerate(self.records):
            rest = self.records[:i] + self.records[i + 1:]
            with self.assertRaises(FAULTS):
                read_state.read(join(rest))
            damaged = bytearray(value)
            damaged[28 + (len(value) - 28) // 2] ^= 1
            with self.assertRaises(FAULTS):
                read_state.read(join(rest[:i] + [(key, bytes(damaged))] + rest[i:]))


class StateWithAccept(unittest.TestCase):
    """The same 150 lists, then an accepted price shift in cents of arm B."""

    @classmethod
    def setUpClass(cls):
        with open(ACCEPTS, "rb") as file:
            cls.read = read_state.read(file.read())
        with open(GOLDEN, "rb") as file:
            cls.before = read_state.read(file.read())

    def test_it_says_what_is_normal_where_and_since_when(self):
        (one,) = self.read["accepts"]["accepts"]
        self.assertEqual((self.read["accepts"]["version"], one["version"], one["feature"]), (1, 1, 0))
        self.assertEqual(self.read["cells"]["cells"][one["cell"]], {"dimension": "arm", "value": "B"})
        self.assertAlmostEqual(math.exp(one["shift_ln"]), 100, delta=10)
        self.assertIn(one["row"], range(58, 64))
        self.assertIsNone(self.before["accepts"])

    def test_change_and_route_have_ended(self):
        self.assertEqual((self.read["changes"]["EPIS"]["open"], self.read["plan"]["entries"]), ([], []))
        self.assertEqual(self.read["guard"]["events"][-1]["type"], "accept")

    def test_its_history_has_the_accept(self):
        history = self.read["history"]
        self.assertEqual([(n, d["what"], d["who"]) for n, d in sorted(history.items())],
                         [(1, "route", "system"), (2, "end", "system"), (3, "accept", "ana")])
        one = history[3]
        self.assertEqual((one["accept"], one["normal"]), (1, 1))
        self.assertEqual((one["feature"], one["dimension"], one["value"]), ("price", "arm", "B"))
        self.assertEqual(one["after"], one["before"] + 1)
        self.assertAlmostEqual(one["factor"], 100, delta=10)
        self.assertEqual(list(self.before["history"]), [1])

    def test_its_incident_was_open_and_ended_with_the_accept(self):
        (before,), (one,) = self.before["incidents"].values(), self.read["incidents"].values()
        self.assertEqual([f["open"] for i in (before, one) for f in i["findings"]], [1, 0])
        self.assertEqual((before["to_ms"], before["state"], one["state"]), (-1, 1, 3))
        self.assertGreater(one["to_ms"], one["from_ms"])
        self.assertEqual(one["findings"][0], {"feature": "price", "dimension": "arm", "value": "B",
                                              "number": before["findings"][0]["number"], "open": 0})
        self.assertEqual((one["action"], one["mode"], one["times"]), (2, 3, 1))
        self.assertIn("accepted", one["reason"])
        self.assertTrue(one["factor_low"] < 100 < one["factor_high"])

    def test_rows_of_its_lists_are_lower_by_it(self):
        (one,) = self.read["accepts"]["accepts"]
        for n, (before, after) in enumerate(zip(self.before["rows"], self.read["rows"])):
            lowered = n >= one["row"] and one["cell"] in before["cells"]
            was, now = before["records"][0][0], after["records"][0][0]
            self.assertAlmostEqual(was - now, one["shift_ln"] if lowered else 0, delta=1e-5)


class StateOfItems(unittest.TestCase):
    """Twelve lists received item by item, and three items of another."""

    @classmethod
    def setUpClass(cls):
        with open(ITEMS, "rb") as file:
            cls.read = read_state.read(file.read())

    def test_queries_count_with_their_first_item_and_lists_when_they_are_taken(self):
        self.assertEqual((self.read["head"]["queries"], self.read["head"]["note"]), (13, "items"))
        self.assertEqual((self.read["lists"]["queries"], self.read["queries"]["pending"]), (12, 1))

    def test_the_queries_of_the_last_ten_seconds_are_known_by_their_hashes(self):
        known = self.read["queries"]["known"]
        names = [f"q{n}".encode() for n in range(12 - len(known) + 1, 13)]
        self.assertEqual([one["key"] for one in known], [read_state.xxh64(name) for name in names])
        self.assertEqual([one["begun_ms"] for one in known], [1000 * int(name[1:]) for name in names])
        self.assertEqual(len(known), 10)

    def test_one_list_waits_for_the_rest_of_its_items(self):
        *taken, waiting = self.read["queries"]["known"]
        self.assertEqual((waiting["seen"], waiting["open"]), (3, 1))
        self.assertGreater(waiting["expected"], 3)
        self.assertEqual([(one["open"], one["seen"] - one["expected"]) for one in taken], [(0, 0)] * len(taken))

    def test_they_have_the_first_plan(self):
        self.assertEqual({one["plan"] for one in self.read["queries"]["known"]}, {0})
        self.assertEqual(self.read["queries"]["plans"], {0: {"version": 0, "paused": 0, "entries": [], "modes": []}})

    def test_every_item_is_in_the_sketches(self):
        seen = sum(one["seen"] for one in self.read["queries"]["known"])
        everything = self.read["windows"][0]
        items = everything["now"]["items"] + sum(sum(w["sketches"][0].values()) for w in everything["closed"])
        self.assertGreaterEqual(items, seen)
        self.assertEqual(everything["lists"], items)


class Orders(unittest.TestCase):
    """The golden file contains two pins of operators and a later pause."""
    @classmethod
    def setUpClass(cls):
        with open(ORDERS, "rb") as file:
            cls.read = read_state.read(file.read())

    def test_it_has_the_pins_and_who_put_them(self):
        pins = [{**p, "cell": self.read["cells"]["cells"][p["cell"]]["value"]} for p in self.read["control"]["pins"]]
        self.assertEqual(pins, [
            {"feature": 0, "cell": "M1", "action": 0, "until_ms": 0, "author": "ana", "reason": "odd"},
            {"feature": 0, "cell": None, "action": 1, "until_ms": 2**63 - 1, "author": None, "reason": None}])

    def test_it_is_paused_and_knows_what_was_in_force_before(self):
        control = self.read["control"]
        self.assertEqual((control["paused"], control["plan"]["paused"], control["plan"]["entries"]), (1, 1, []))
        self.assertEqual({(e["feature"], e["action"], e["by"]) for e in control["before"]["entries"]},
                         {(0, 0, 1), (0, 1, 1)})

    def test_its_history_has_what_was_said(self):
        self.assertEqual([(d["what"], d["who"], d["why"]) for _, d in sorted(self.read["history"].items())
                          if d["who"] != "system"],
                         [("pin", "ana", "odd"), ("pin", None, None), ("pause", "bo", "looks odd")])
