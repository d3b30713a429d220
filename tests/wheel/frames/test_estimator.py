"""The ranker is an estimator that scikit-learn clones."""
import importlib.util
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import evenkeel  # noqa: E402
import numpy as np  # noqa: E402
from world import Arrays, Hotel  # noqa: E402


@unittest.skipUnless(importlib.util.find_spec("sklearn"), "no scikit-learn")
class Estimator(Hotel):
    def test_a_clone_is_not_fitted_and_learns_the_same_weights(self):
        from sklearn.base import clone
        lists = Arrays(self.generate("lists.jsonl", 300, 31))
        own = np.repeat(np.arange(len(lists.ids)), np.diff(lists.starts))
        X = np.hstack([lists.X, lists.query_features[own]])
        ranker = evenkeel.RoutableRanker(evenkeel.Manifest(self.manifest), epochs=1, hidden=[8], seed=5).fit(X, lists.labels, own)
        other = clone(ranker)
        self.assertFalse(hasattr(other, "model_"))
        self.assertEqual(other.fit(X, lists.labels, own).model_, ranker.model_)


if __name__ == "__main__":
    unittest.main()
