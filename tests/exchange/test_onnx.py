"""Exported models give the same scores in ONNX Runtime, for every model form and any list."""
import json
import os
import sys
import tempfile
import unittest

import ours

MANIFEST = """features:
  - {name: a, index: 1, role: item, routable: true}
  - {name: b, index: 2, role: item}
  - {name: c, index: 3, role: item, routable: true}
"""
FORMS = {
    "the default": [],
    "logs where routed": ["--log-input", "routed"],
    "no logs": ["--log-input", "none"],
    "list-free": ["--list-free"],
    "the plain model": ["--routing", "none", "--log-input", "none"],
    "static routing": ["--routing", "static:price,taxes"],
    "one hidden layer": ["--hidden", "5"],
    "four hidden layers": ["--hidden", "9,8,7,6"],
    "shares of values below": ["--transform", "cdf"],
}
# Deep inputs that grow with the value: float32 sums of large terms differ by their order.
UNBOUNDED = {
    "raw values": ["--transform", "raw", "--batch-norm"],
    "standardized values": ["--transform", "zscore"],
    "a mixture of transforms": ["--transform", "mixture", "--batch-norm"],
}


def load(path):
    import onnxruntime
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def run(session, items, query, mask):
    given = {"items": items, "query": query, "mask": mask}
    return session.run(["scores"], {one.name: given[one.name] for one in session.get_inputs()})[0]


@ours.needs("onnxruntime", "numpy")
class Onnx(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def export(self, model):
        ours.evenkeel("export", "--onnx", model, "-o", self.path("model.onnx"))
        return load(self.path("model.onnx"))

    def assert_same(self, model, lists):
        import numpy as np
        session = self.export(model)
        for (items, query, mask), expected in zip(lists, ours.scores(model, lists)):
            found = run(session, items, query, mask)
            self.assertEqual(found.dtype, np.float32)
            self.assertEqual(found.shape, expected.shape)
            # float32 sums round large terms, which a score near 0 may hide.
            allowed = ours.TOLERANCE * np.maximum(1, np.abs(expected).max(initial=0))
            self.assertTrue((np.abs(found - expected) <= allowed).all(), f"{found} instead of {expected}, items {items}")

    def train(self, words, manifest="hotel.yaml"):
        ours.evenkeel("train", "--manifest", manifest, "--train", "train.txt", "--vali", "train.txt", "--epochs", "3",
                      "--lr", "0.01", "-o", "model.safetensors", *words, folder=self.folder)
        return self.path("model.safetensors")

    def test_golden_lists_get_the_golden_scores(self):
        import numpy as np
        session = self.export(os.path.join(ours.GOLDEN, "model.safetensors"))
        with open(os.path.join(ours.GOLDEN, "scores.json"), encoding="utf-8") as stream:
            golden = json.load(stream)
        for entry in golden["lists"]:
            items = np.array(entry["item_features"], np.float32)  # None becomes NaN
            query = np.array(entry["query_features"], np.float32)
            for name, mask in golden["routing_masks"].items():
                found = run(session, items, query, np.array(mask, np.float32))
                np.testing.assert_allclose(found, entry["scores"][name], rtol=0, atol=ours.TOLERANCE)

    def test_every_form_scores_odd_lists_as_we_do(self):
        import numpy as np
        ours.evenkeel("generate", "hotel", "--lists", "200", "--manifest-out", "hotel.yaml", "-o", "train.txt",
                      folder=self.folder)
        for name, words in FORMS.items():
            with self.subTest(name):
                lists = ours.odd_lists(np.random.default_rng(5), 13, 8, 10)
                self.assert_same(self.train(words), lists)
        for name, words in UNBOUNDED.items():
            with self.subTest(name):
                lists = [(np.where(abs(items) > 100, 100, items), query, mask)
                         for items, query, mask in ours.odd_lists(np.random.default_rng(5), 13, 8, 10)]
                self.assert_same(self.train(words), lists)

    def test_a_model_without_query_features_or_routable_ones_has_fewer_inputs(self):
        import numpy as np
        rng = np.random.default_rng(6)
        with open(self.path("train.txt"), "w", encoding="utf-8") as stream:
            for q in range(100):
                for row in rng.lognormal(size=(5, 3)):
                    stream.write(f"{int(row[0] > 1)} qid:{q} 1:{row[0]:.6g} 2:{row[1]:.6g} 3:{row[2]:.6g}\n")
        for text, inputs in ((MANIFEST, ["items", "mask"]), (MANIFEST.replace("true", "false"), ["items"])):
            with open(self.path("few.yaml"), "w", encoding="utf-8") as stream:
                stream.write(text)
            model = self.train([], "few.yaml")
            self.assert_same(model, ours.odd_lists(rng, 3, 0, 2 if "mask" in inputs else 0))
            self.assertEqual([one.name for one in load(self.path("model.onnx")).get_inputs()], inputs)

    def test_a_routed_factor_moves_no_score(self):
        import numpy as np
        rng = np.random.default_rng(7)
        session = self.export(os.path.join(ours.GOLDEN, "model.safetensors"))
        for items, query, _ in ours.odd_lists(rng, 13, 8, 10)[::3]:
            mask = np.zeros(10, np.float32)
            mask[0] = 1
            moved = items.copy()
            moved[:, 0] *= 64
            usual = np.isfinite(items[:, 0]) & (np.abs(items[:, 0]) < 1e30)
            if usual.all():
                np.testing.assert_allclose(run(session, moved, query, mask), run(session, items, query, mask),
                                           rtol=1e-6, atol=1e-6)

    def test_the_file_says_what_the_features_are(self):
        sys.path.insert(0, ours.GOLDEN)
        import score
        model = os.path.join(ours.GOLDEN, "model.safetensors")
        session = self.export(model)
        told = json.loads(session.get_modelmeta().custom_metadata_map["routable_sir"])
        wanted = score.read_model(model)[0]
        for key in ("item_features", "query_features", "routable"):
            self.assertEqual(told[key], wanted[key])
        shapes = {one.name: (one.type, one.shape) for one in session.get_inputs() + session.get_outputs()}
        self.assertEqual(shapes, {"items": ("tensor(float)", ["items", 13]), "query": ("tensor(float)", [8]),
                                  "mask": ("tensor(float)", [10]), "scores": ("tensor(float)", ["items"])})
