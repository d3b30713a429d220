"""Independent decoder of profiles against the program's file."""
import os
import struct
import subprocess
import tempfile
import unittest

import read_profile

PROGRAM = os.environ.get("EK", os.path.join(os.path.dirname(__file__), "..", "..", "build", "evenkeel"))


def run(*words):
    subprocess.run([PROGRAM, *words], check=True, stderr=subprocess.DEVNULL)


class Profile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        base = cls.folder.name
        run("generate", "hotel", "--lists", "400", "--seed", "1", "--format", "messages",
            "--manifest-out", f"{base}/features.yaml", "-o", f"{base}/train.ekc")
        run("profile", "--manifest", f"{base}/features.yaml", "--messages", f"{base}/train.ekc",
            "--stratify-by", "market", "-o", f"{base}/p.ekp")
        with open(f"{base}/p.ekp", "rb") as file:
            cls.data = file.read()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_it_says_what_went_in(self):
        profile = read_profile.read(self.data)
        self.assertEqual((profile["queries"], profile["baseline"]), (400, "market"))
        self.assertEqual(profile["strata"][0], "")
        self.assertEqual(profile["strata"][1:], sorted(profile["strata"][1:]))
        price = profile["features"]["price"]
        self.assertEqual(price["values"], profile["items"])
        self.assertEqual(price["queries"], 400)
        self.assertAlmostEqual(price["density"], 1, delta=.01)
        self.assertTrue(all(3 < level < 7 for level in price["levels"].values()))
        self.assertEqual(price["share"][:3], (0, 0, 0))
        self.assertEqual(price["design_effect"][:4], (1, 1, 1, 1))
        self.assertAlmostEqual(price["band"], .0198026, delta=1e-6)
        self.assertAlmostEqual(price["range"], .1823216, delta=1e-6)

    def test_markets_that_differ_have_levels_if_they_are_no_strata(self):
        base = self.folder.name
        run("generate", "hotel", "--lists", "6000", "--seed", "2", "--format", "messages", "-o", f"{base}/many.ekc")
        read = []
        for strata in ([], ["--stratify-by", "market"]):
            run("profile", "--manifest", f"{base}/features.yaml", "--messages", f"{base}/many.ekc", *strata,
                "-o", f"{base}/s.ekp")
            with open(f"{base}/s.ekp", "rb") as file:
                read.append(read_profile.read(file.read())["features"]["distance_airport"])
        levels, strata = read[0]["segments"]["market"], read[1]["levels"]
        self.assertEqual(list(levels), sorted(levels))
        self.assertEqual(set(levels), set(strata) - {""})
        offsets = [strata[market] - level for market, level in levels.items()]
        self.assertLess(max(offsets) - min(offsets), .2)
        self.assertEqual(read[1]["segments"], {})

    def test_numbers_have_no_table_of_values(self):
        found, _ = read_profile.arrays(self.data)
        self.assertFalse([name for name in found if name.startswith("category")])

    def test_a_category_has_a_table_of_its_values(self):
        base = self.folder.name
        with open(f"{base}/rooms.yaml", "w", encoding="utf-8") as file:
            file.write("features:\n  - {name: price, index: 1, role: item}\n"
                       "  - {name: room, index: 2, role: item, type: category}\n")
        with open(f"{base}/rooms.txt", "w", encoding="utf-8") as file:
            for q in range(100):
                for room in (-3, -3, 7, 500 if q == 5 else 2.5):
                    file.write(f"0 qid:{q} 1:{q + 1} 2:{room}\n")
        run("profile", "--manifest", f"{base}/rooms.yaml", "--letor", f"{base}/rooms.txt", "-o", f"{base}/r.ekp")
        with open(f"{base}/r.ekp", "rb") as file:
            features = read_profile.read(file.read())["features"]
        self.assertIsNone(features["price"]["category"])
        room = features["room"]["category"]
        self.assertEqual(list(room["values"]), [-3, 2.5, 7, 500])
        for value, share in {-3: .5, 7: .25, 2.5: .2475, 500: .0025}.items():
            self.assertAlmostEqual(room["values"][value], share, delta=1e-5)
        self.assertAlmostEqual(room["unknown"], .0025, delta=1e-5)

    def test_a_cut_file_is_noticed(self):
        for cut in (0, 7, 100, len(self.data) // 2, len(self.data) - 1):
            with self.assertRaises((read_profile.Damaged, ValueError, KeyError, struct.error)):
                read_profile.read(self.data[:cut])
