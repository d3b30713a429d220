"""Models trained by the examples score here as they did there."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

import ours


class Examples(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def train(self, example):
        """Trains on hotel lists, some values of them missing or 0; returns the NDCG@10 that it printed."""
        ours.evenkeel("generate", "hotel", "--lists", "900", "--fault", "review_score=nan,share=0.2", "--fault",
                      "distance_center=zero,share=0.2", "--manifest-out", "hotel.yaml", "-o", "train.txt", folder=self.folder)
        ours.evenkeel("generate", "hotel", "--lists", "200", "--from", "900", "-o", "vali.txt", folder=self.folder)
        words = [os.path.join(ours.EXAMPLES, example), "--manifest", "hotel.yaml", "--train", "train.txt", "--vali",
                 "vali.txt", "-o", "model.safetensors", "--scores", "scores.npz", "--epochs", "4"]
        result = subprocess.run([sys.executable, "-B", *words], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [float(x) for x in re.search(r"NDCG@10 ([\d.]+), all routed ([\d.]+)", result.stdout).groups()]

    def ndcg10(self, route, *more):
        told = ours.evenkeel("eval", "--manifest", "hotel.yaml", "--model", "model.safetensors", "--data", "vali.txt",
                             "--route", route, "--metric", "ndcg@10", *more, folder=self.folder)
        return float(re.search(r"^ndcg@10 +([\d.]+)", told, re.M).group(1))

    def assert_same_scores(self):
        import numpy as np
        sys.path.insert(0, ours.EXAMPLES)
        import routable
        manifest = routable.Manifest(self.path("hotel.yaml"))
        lists = routable.read_letor(self.path("vali.txt"), manifest)
        theirs = np.load(self.path("scores.npz"))
        for name in ("none", "all", "random"):
            mask = {"none": np.zeros_like, "all": np.ones_like, "random": np.array}[name](theirs["mask"])
            sent = [(x[p], v, m) for x, p, v, m in zip(lists.items, lists.present, lists.queries, mask)]
            for found, there, p in zip(ours.scores(self.path("model.safetensors"), sent), theirs[name], lists.present):
                np.testing.assert_allclose(found, there[p], rtol=0, atol=ours.TOLERANCE)

    def check(self, example):
        there = self.train(example)
        self.assertIn("model, ok", ours.evenkeel("check", "--manifest", "hotel.yaml", "model.safetensors", folder=self.folder))
        self.assert_same_scores()
        self.assertAlmostEqual(self.ndcg10("none"), there[0], delta=2e-4)
        self.assertAlmostEqual(self.ndcg10("all"), there[1], delta=2e-4)
        self.assertGreater(min(there), 0.5)  # a random order has .28
        self.assertEqual(self.ndcg10("price"), self.ndcg10("price", "--fault", "price=x64"))

    @ours.needs("torch", "numpy", "yaml")
    def test_what_pytorch_trained_scores_the_same_here(self):
        self.check("pytorch_train.py")

    @ours.needs("keras", "numpy", "yaml")
    def test_what_keras_trained_scores_the_same_here(self):
        self.check("keras_train.py")
