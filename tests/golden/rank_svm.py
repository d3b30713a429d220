"""Write tests/golden/rank_svm.json: RankSVM by explicit pair differences, with scikit-learn.

    python3 tests/golden/rank_svm.py

LinearSVC without intercept minimizes |w|^2 / 2 + C / P sum of max(0, 1 - w . (x_i - x_j)) over the pairs of a list,
with the differences as examples; every other one is negated, as it needs two classes.
"""
import json
import pathlib

import numpy
from sklearn.svm import LinearSVC

LISTS, FEATURES = 12, 5


def lists():
    draw = numpy.random.default_rng(4)
    weight = draw.normal(size=FEATURES)
    for _ in range(LISTS):
        items = draw.integers(1, 12)
        x = draw.normal(size=(items, FEATURES)).round(2)
        label = numpy.clip(numpy.floor(x @ weight + draw.normal(size=items)), 0, 4)
        yield x, label


def differences(data):
    found = [x[i] - x[j] for x, y in data for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]
    return numpy.float32(found).astype(float)


def solve(pairs, c):
    turn = numpy.where(numpy.arange(len(pairs)) % 2, -1, 1)
    svm = LinearSVC(loss="hinge", dual=True, fit_intercept=False, C=c / len(pairs), tol=1e-10, max_iter=10_000_000, random_state=0)
    w = svm.fit(pairs * turn[:, None], turn).coef_[0]
    return {"c": c, "w": w.tolist(), "objective": w @ w / 2 + c * numpy.maximum(0, 1 - pairs @ w).mean()}


def main():
    data = list(lists())
    pairs = differences(data)
    found = {"columns": FEATURES, "items": [len(y) for _, y in data], "x": [row.tolist() for x, _ in data for row in x],
             "label": [v for _, y in data for v in y.tolist()], "pairs": len(pairs),
             "solutions": [solve(pairs, c) for c in (.1, 1, 10, 30)]}
    path = pathlib.Path(__file__).with_name("rank_svm.json")
    path.write_text(json.dumps(found, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
