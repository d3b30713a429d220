"""Write tests/golden/trees.json: small models of LightGBM 4.7 and XGBoost 3.2 as text, and their scores.

    python3 tests/golden/trees.py
"""
import json
import pathlib
import tempfile

import lightgbm
import numpy
import xgboost

ITEMS, COLUMNS, LIST = 400, 4, 20
NAMES = ["price", "stars", "chain", "distance"]
LIGHTGBM = {"lambdarank": {}, "without missing values": {"use_missing": False}, "zeros are missing": {"zero_as_missing": True},
            "categories": {"categorical_feature": [2], "max_cat_to_onehot": 1, "min_data_per_group": 5, "cat_smooth": 1},
            "dart": {"boosting": "dart", "drop_rate": .5, "skip_drop": 0}, "binary": {"objective": "binary", "sigmoid": 2}, "without names": {"names": False}}
XGBOOST = {"ndcg": {}, "categories": {"categories": True, "max_cat_to_onehot": 1}, "dart": {"booster": "dart", "rate_drop": .5},
           "logistic": {"objective": "binary:logistic", "base_score": .2}, "without names": {"names": False}}


def lists():
    draw = numpy.random.default_rng(7)
    x = draw.normal(size=(ITEMS, COLUMNS))
    x[:, 0], x[:, 1], x[:, 2], x[:, 3] = (numpy.exp(x[:, 0] + 4).round(2), draw.integers(0, 6, ITEMS), draw.integers(0, 12, ITEMS),
                                          x[:, 3].round(1))
    y = (x[:, 1] * 30 - x[:, 0] + 20 * (x[:, 2] % 3) > 40) + draw.integers(0, 2, ITEMS)
    x[draw.random(x.shape) < .08] = numpy.nan
    x[draw.random(x.shape) < .08] = 0
    return x, y


def of_lightgbm(x, y, path, more):
    more = dict(more)
    names = NAMES if more.pop("names", True) else "auto"
    categories = more.pop("categorical_feature", "auto")
    is_binary = more.get("objective") == "binary"
    data = lightgbm.Dataset(x, numpy.minimum(y, 1) if is_binary else y, group=None if is_binary else [LIST] * (ITEMS // LIST),
                            feature_name=names, categorical_feature=categories)
    model = lightgbm.train({"objective": "lambdarank", "num_leaves": 6, "min_data_in_leaf": 5, "verbosity": -1, "num_threads": 1, **more}, data, 4)
    model.save_model(path)
    text = path.read_text()
    start, end = text.index("\nfeature_importances"), text.index("\npandas_categorical")
    return text[:start] + text[end:], model.predict(x)


def of_xgboost(x, y, path, more):
    more = dict(more)
    types = ["q", "q", "c" if more.pop("categories", False) else "q", "q"]
    names = NAMES if more.pop("names", True) else None
    is_logistic = "logistic" in more.get("objective", "")
    data = xgboost.DMatrix(x, numpy.minimum(y, 1) if is_logistic else y, feature_names=names, feature_types=types, enable_categorical=True)
    if not is_logistic:
        data.set_group([LIST] * (ITEMS // LIST))
    model = xgboost.train({"objective": "rank:ndcg", "max_depth": 3, "eta": .5, "nthread": 1, **more}, data, 4)
    model.save_model(path)
    return path.read_text(), model.predict(data)


def main():
    x, y = lists()
    models = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, more in LIGHTGBM.items():
            models.append(("LightGBM, " + name, *of_lightgbm(x, y, folder / "model.txt", more)))
        for name, more in XGBOOST.items():
            models.append(("XGBoost, " + name, *of_xgboost(x, y, folder / "model.json", more)))
    shown = range(60)
    found = {"names": NAMES, "rows": [[None if numpy.isnan(v) else v for v in x[i]] for i in shown],
             "models": [{"name": n, "text": t, "scores": [float(s[i]) for i in shown]} for n, t, s in models]}
    path = pathlib.Path(__file__).with_name("trees.json")
    path.write_text(json.dumps(found, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
