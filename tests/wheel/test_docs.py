"""The blocks of the page on Python run."""
import contextlib
import os
import re
import unittest

import numpy as np
from world import RULES, Arrays, Hotel
import evenkeel

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/python.md")


class Ranker:
    """Stands for any ranker."""

    def fit(self, X, y, group):
        self.width = X.shape[1]
        assert len(X) == len(y) == sum(group)

    def predict(self, X):
        return X[:, 0]


class Page(Hotel):
    def test_its_blocks_find_and_repair_prices_in_cents(self):
        train = Arrays(self.train)
        now = Arrays(self.generate("now.jsonl", 500, 2, "--fault", "price=x100,from=100"))
        frame = train.columns(evenkeel.Manifest(self.manifest))
        frame["time_ms"] = frame.pop("time")
        names = {"train": frame, "X": now.X.copy(), "starts": now.starts, "arms": now.segments["arm"], "times": now.time_ms,
                 "queries": now.query_features, "ids": now.ids, "X_train": train.X, "starts_train": train.starts, "y": train.labels,
                 "owner": np.repeat(np.arange(len(now.ids)), np.diff(now.starts)), "ranker": Ranker(), "body": '{"entries": []}'}
        with open(self.path("rules.yaml"), "w", encoding="utf-8") as out:
            out.write(RULES)
        with open(PAGE, encoding="utf-8") as page:
            blocks = re.findall(r"^```python\n(.*?)^```$", page.read(), re.M | re.S)
        self.assertEqual(len(blocks), 4)
        with contextlib.chdir(self.folder.name):
            for block in blocks:
                exec(compile(block, PAGE, "exec"), names)
        self.assertIn("confirmed", {event.get("state") for event in names["events"]})
        self.assertLess(np.median(names["X"][:, 0]), 1000)
        self.assertEqual(names["ranker"].width, 13 + 2)
        self.assertEqual(names["scores"].shape, (len(now.X),))


if __name__ == "__main__":
    unittest.main()
