"""The second reader of models (tests/golden/score.py) against the golden file and the golden scores."""
import json
import os
import sys
import unittest

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden")
sys.path.insert(0, GOLDEN)
import score  # noqa: E402

MODEL, SCORES = os.path.join(GOLDEN, "model.safetensors"), os.path.join(GOLDEN, "scores.json")


class Model(unittest.TestCase):
    def setUp(self):
        self.scorer = score.Scorer(MODEL)
        with open(SCORES, encoding="utf-8") as stream:
            self.golden = json.load(stream)

    def score(self, entry, mask):
        return self.scorer.score(entry["item_features"], entry["query_features"], self.golden["routing_masks"][mask])

    def test_the_scores_are_those_of_the_file(self):
        for entry in self.golden["lists"]:
            for mask, expected in entry["scores"].items():
                for ours, theirs in zip(self.score(entry, mask), expected, strict=True):
                    self.assertAlmostEqual(ours, theirs, delta=1e-6)

    def test_a_factor_on_a_routed_feature_changes_nothing(self):
        named = {entry["name"]: entry for entry in self.golden["lists"]}
        clean, faulty = named["list 0"], named["list 0, price x100"]
        for a, b in zip(self.score(clean, "price"), self.score(faulty, "price")):
            self.assertAlmostEqual(a, b, delta=1e-12)
        self.assertGreater(abs(self.score(clean, "none")[0] - self.score(faulty, "none")[0]), 1e-3)

    def test_the_tensors_are_those_of_the_document(self):
        about, tensors = score.read_model(MODEL)
        f, m, k = (len(about[name]) for name in ("item_features", "query_features", "routable"))
        inputs = f + m + 3 * k
        shapes = {name: shape for name, (shape, _) in tensors.items()}
        expected = {"gate.weight": [4, m], "gate.bias": [4], "slope": [5, k], "zero": [5, k], "item_mean": [f],
                    "item_sd": [f], "item_median": [f], "query_mean": [m], "query_sd": [m], "log_mean": [k], "log_sd": [k]}
        for i, width in enumerate([*about["hidden"], 1]):
            expected[f"deep.{i}.weight"], expected[f"deep.{i}.bias"] = [width, inputs], [width]
            inputs = width
        self.assertEqual(shapes, expected)
        for name, values in about["statistics"].items():
            self.assertEqual(values, list(tensors[name][1]))
