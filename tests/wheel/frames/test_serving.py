"""A process that serves a LightGBM ranker applies the plan before it scores: the order is that of the lists without the fault."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import evenkeel  # noqa: E402
import numpy as np  # noqa: E402
from world import HAS, RULES, Arrays, Hotel, train_lightgbm  # noqa: E402


@unittest.skipUnless(HAS["lightgbm"], "no lightgbm")
class Serving(Hotel):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        train = Arrays(cls.train, np.float64)
        cls.ranker = train_lightgbm(train.X, train.labels, train.starts)

    @staticmethod
    def tau(a, b, starts):
        """Return the mean fraction of pairs of a list that two scores order alike."""
        same = []
        for first, last in zip(starts[:-1], starts[1:]):
            i, k = np.triu_indices(last - first, 1)
            x, y = a[first:last], b[first:last]
            differ = x[i] != x[k]
            same += [np.mean(np.sign(x[i] - x[k])[differ] == np.sign(y[i] - y[k])[differ])] if differ.any() else []
        return np.mean(same)

    def test_a_plan_in_the_serving_process_restores_the_order(self):
        fault = Arrays(self.generate("fault.jsonl", 1000, 8, "--fault", "price=x100,from=200"))
        healthy = Arrays(self.generate("healthy.jsonl", 1000, 8))
        guard = evenkeel.Guard(self.manifest, self.profile, RULES)   # next to the ranker, or `evenkeel run` with plan.topic
        guard.observe(**fault.part(0, 500))
        plan = evenkeel.Plan.load(guard.plan.json)                    # what the serving process receives
        now, expected = fault.part(500, 1000), self.ranker.predict(healthy.part(500, 1000)["X"])
        before = self.ranker.predict(now["X"])
        self.assertGreater(plan.apply(**now), 1000)
        after = self.ranker.predict(now["X"])
        self.assertLess(self.tau(expected, before, now["starts"]), .95)
        self.assertGreater(self.tau(expected, after, now["starts"]), .999)

    def test_a_ranker_with_wide_columns_of_training_copies_withstands_a_factor(self):
        train, test = Arrays(self.train, np.float64), Arrays(self.generate("test.jsonl", 500, 9), np.float64)
        wide = evenkeel.WideColumns.of(train.X, [0, 1])
        A, starts = evenkeel.augment(train.X, train.starts, wide, seed=1)
        hardened = train_lightgbm(A, np.tile(train.labels, 2), starts)

        def scores(X):
            return hardened.predict(np.hstack([X, evenkeel.wide_columns(X, test.starts, wide)]))

        cents = test.X.copy()
        cents[:, 0] *= 100
        plain = self.tau(self.ranker.predict(test.X), self.ranker.predict(cents), test.starts)
        self.assertGreater(self.tau(scores(test.X), scores(cents), test.starts), plain + .02)


if __name__ == "__main__":
    unittest.main()
