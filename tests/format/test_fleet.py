"""Independent decoder of fleet records against golden files."""
import math
import os
import struct
import unittest
import zlib

import read_fleet

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")


def golden(name):
    with open(os.path.join(GOLDEN, f"fleet-{name}-4.bin"), "rb") as file:
        return file.read()


class Fleet(unittest.TestCase):
    def test_the_golden_tick_has_the_sums_of_five_lists_and_a_finding(self):
        tick = read_fleet.read(golden("tick"))
        self.assertEqual((tick["instance"], tick["start"], tick["number"]), ("node-0", 1790000000000, 61))
        self.assertEqual((tick["profile"], tick["time"], tick["dimensions"]), (0x1234, 604000, ["arm"]))
        cells = {str(c["cell"]): c["features"] for c in tick["cells"]}
        self.assertEqual(set(cells), {"None", "{'arm': 'A'}", "{'arm': 'B'}"})
        arms = [cells[f"{{'arm': '{arm}'}}"] for arm in "AB"]
        self.assertEqual(cells["None"][2]["lists"], 5)
        self.assertEqual(sum(arm[2]["lists"] for arm in arms), 5)
        self.assertNotIn(0, arms[1])  # the price of arm B is no evidence while its finding is open
        finding, = tick["findings"]
        self.assertEqual((finding["cell"], finding["feature"], finding["class"]), ({"arm": "B"}, "price", "scale"))
        self.assertTrue(finding["factor_low"] < 100 < finding["factor_high"])
        self.assertEqual(finding["incident"], 5)
        self.assertEqual((tick["lists"], tick["traffic"]), (5, [({"arm": "A"}, 3), ({"arm": "B"}, 2)]))

    def test_the_golden_order_is_a_pin_and_its_answer_the_decision(self):
        order, answer = read_fleet.read(golden("order")), read_fleet.read(golden("answer"))
        for record in (order, answer):
            self.assertEqual((record["instance"], record["start"], record["number"]), ("node-1", 1790000000000, 3))
        self.assertEqual((order["what"], order["feature"], order["cell"], order["action"], order["until"], order["who"],
                          order["why"]), ("pin", "price", {"arm": "B"}, "route", 1800000000000, "ana", "miles"))
        self.assertEqual((answer["decider"], answer["code"]), ("node-0", 0))
        self.assertEqual((answer["decision"]["what"], answer["decision"]["who"]), ("pin", "ana"))

    def test_the_golden_rows_are_the_last_lists_of_a_feature(self):
        rows = read_fleet.read(golden("rows"))
        self.assertEqual((rows["feature"], rows["ask"], len(rows["rows"])), ("price", 6, 5))
        numbers = [row["row"] for row in rows["rows"]]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + 5)))
        for row in rows["rows"]:
            self.assertIn(row["cells"], ([{"arm": "A"}], [{"arm": "B"}]))
            self.assertTrue(math.isfinite(row["level"]) and 5 <= row["usable"] < 25 and 1 <= row["query"][0] <= 7)

    def test_the_golden_plan_has_all_that_the_next_decider_goes_by(self):
        plan = read_fleet.read(golden("plan"))
        self.assertEqual((plan["decider"], plan["term"], plan["version"], plan["episodes"]), ("node-0", 3, 42, 17))
        self.assertEqual((plan["from"], plan["clock"]), (602000, 1790000000000))
        self.assertEqual(plan["entries"][0], {
            "cell": {"arm": "B"}, "feature": "price", "action": "route", "value": 0.0, "mode": "canary", "percent": 5.0,
            "by": "finding", "factor": 100.5, "query_feature": "", "since": 590000, "until": -1, "min_duration": 600000, "turns": 3})
        self.assertEqual([(e["feature"], e["action"], e["by"]) for e in plan["entries"][1:]],
                         [("size", "blank", "person"), ("size", "none", "rules")])
        self.assertEqual([(m["feature"], m["cell"], m["mode"], m["own"]) for m in plan["modes"]],
                         [("price", {"arm": "C"}, "observe", 1), ("size", {"arm": "B"}, "shadow", 0)])
        self.assertEqual([(w["feature"], w["action"], w["query_feature"]) for w in plan["wanted"]],
                         [("price", "route", ""), ("size", "repair", "nights")])
        self.assertEqual([(r["percent"], r["rolled_back"], r["figure"], r["limit"], r["relapses"], r["ended"])
                          for r in plan["rollouts"]],
                         [(5, "none", 0, 0, 0, -1), (10, "rank_change_p95", .7, .5, 0, -1), (100, "none", 0, 0, 2, 560000)])
        self.assertEqual(plan["limits"], {"exceeded": 1, "free": 580000, "full": 1, "paused": 0, "paused_since": 0})
        self.assertEqual([(p["feature"], p["until"], p["who"], p["why"]) for p in plan["pins"]],
                         [("size", 900000, "ana", "sizes are broken")])
        decision, = plan["decisions"]
        self.assertEqual([decision[k] for k in ("number", "what", "before", "after", "rail", "who", "feature", "value")],
                         [9, "rollback", 41, 42, "rank_change_p95", "system", "size", "B"])
        self.assertEqual((plan["normal"], plan["profile"]), (4, 0x1234))
        self.assertEqual([(a["version"], a["feature"], a["cell"], a["shift_ln"], a["since"], a["who"]) for a in plan["accepts"]],
                         [(1, "price", {"arm": "B"}, .75, 550000, "ana"), (2, "size", None, -2.5, 570000, "")])
        self.assertEqual([f["class"] for f in plan["findings"]], ["scale"])
        self.assertEqual(plan["asks"], [{"feature": "size", "ask": 6, "rows": 512}])

    def test_the_golden_trials_are_of_two_routes(self):
        trials = read_fleet.read(golden("trials"))
        self.assertEqual((trials["instance"], trials["number"], trials["drifted"]), ("node-0", 61, 1))
        self.assertEqual((trials["outputs"], trials["times"][9], sum(trials["times"])), ([100, 1, 50, 2], 7, 7))
        price, size = trials["routes"]
        self.assertEqual([(r["feature"], r["cell"], r["since"], r["turns"]) for r in (price, size)],
                         [("price", {"arm": "B"}, 590000, 3), ("size", None, 590000, 1)])
        self.assertEqual((price["tried"], price["acts"], price["failed"], price["measured"]), (40, 7, 1, 10))
        self.assertEqual((price["moved"]["lists"], price["acted"]["lists"], size["acted"]["lists"]), (40, 20, 0))
        self.assertEqual(price["moved"]["sums"][2], 40 * 2.25 * 2**20)
        self.assertEqual(price["harm"], sorted(price["harm"]))  # a larger stake gains more by harm

    def test_every_flipped_bit_and_every_cut_is_noticed(self):
        for name in ("tick", "trials", "rows", "plan"):
            data = golden(name)
            for cut in range(len(data)):
                with self.assertRaises(read_fleet.Damaged):
                    read_fleet.read(data[:cut])
            for bit in range(8 * len(data)):
                damaged = bytearray(data)
                damaged[bit // 8] ^= 1 << bit % 8
                with self.assertRaises(read_fleet.Damaged):
                    read_fleet.read(bytes(damaged))

    def test_more_bytes_with_the_right_checksum_are_refused(self):
        body = golden("plan")[:-4] + b"\0"
        with self.assertRaises(read_fleet.Damaged):
            read_fleet.read(body + struct.pack("<I", zlib.crc32(body)))
