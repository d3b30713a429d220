"""Independent decoder of models (tests/golden/score.py) against the golden file and the golden scores."""
import json
import os
import sys
import unittest

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden")
sys.path.insert(0, GOLDEN)
import score  # noqa: E402



class Model(unittest.TestCase):
    MODEL, SCORES = "model.safetensors", "scores.json"

    def setUp(self):
        self.model = os.path.join(GOLDEN, self.MODEL)
        self.scorer = score.Scorer(self.model)
        with open(os.path.join(GOLDEN, self.SCORES), encoding="utf-8") as stream:
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
        about, tensors = score.read_model(self.model)
        f, m, k = (len(about[name]) for name in ("item_features", "query_features", "routable"))
        inputs = f + m + 3 * k
        shapes = {name: shape for name, (shape, _) in tensors.items()}
        expected = {"gate.weight": [4, m], "gate.bias": [4], "slope": [5, k], "zero": [5, k], "item_mean": [f],
                    "item_sd": [f], "item_median": [f], "query_mean": [m], "query_sd": [m], "log_mean": [k], "log_sd": [k]}
        if about.get("transform") == "mixture":
            expected |= {"raw_mean": [f], "raw_sd": [f], "cdf": [f, 256], "mixture": [f, 4]}
        for i, width in enumerate([*about["hidden"], 1]):
            expected[f"deep.{i}.weight"], expected[f"deep.{i}.bias"] = [width, inputs], [width]
            inputs = width
        self.assertEqual(shapes, expected)
        for name, values in about["statistics"].items():
            self.assertEqual(values, list(tensors[name][1]))


class Mixture(Model):
    """The same for a model whose deep part has a mixture of transforms."""
    MODEL, SCORES = "mixture.safetensors", "mixture_scores.json"

    def test_the_shares_of_a_feature_add_up_to_1(self):
        for shares in score.rows(self.scorer.tensors["mixture"]):
            self.assertAlmostEqual(sum(shares), 1, delta=1e-6)
            self.assertGreater(min(shares), 0)
