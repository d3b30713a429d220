"""Scores of trees equal those of LightGBM and XGBoost in each bit. Tests of a library are skipped without it."""
import os
import struct
import subprocess
import unittest

from folder import BUILD, HAS, Folder

TREES = os.path.join(BUILD, "tests", "rankers", "trees")
ROWS, COLUMNS, LIST, ROUNDS = 2000, 6, 20, 30
NAMES = [f"x{i}" for i in range(COLUMNS)]

# name, parameters of training, part of the error if the model is refused
LIGHTGBM = [
    ("lambdarank", {"objective": "lambdarank"}, None),
    ("rank_xendcg", {"objective": "rank_xendcg"}, None),
    ("without missing values", {"objective": "lambdarank", "use_missing": False}, None),
    ("zeros are missing", {"objective": "lambdarank", "zero_as_missing": True}, None),
    ("categories", {"objective": "lambdarank", "categorical_feature": [2], "max_cat_to_onehot": 1}, None),
    ("categories one by one", {"objective": "lambdarank", "categorical_feature": [2], "max_cat_to_onehot": 100}, None),
    ("categories, zeros are missing", {"objective": "lambdarank", "categorical_feature": [2], "zero_as_missing": True}, None),
    ("categories without missing values", {"objective": "lambdarank", "categorical_feature": [2], "use_missing": False}, None),
    ("dart", {"objective": "lambdarank", "boosting": "dart"}, None),
    ("goss", {"objective": "lambdarank", "data_sample_strategy": "goss"}, None),
    ("deep", {"objective": "lambdarank", "num_leaves": 255, "min_data_in_leaf": 1}, None),
    ("one leaf", {"objective": "lambdarank", "min_data_in_leaf": 10 * ROWS}, None),
    ("regression", {"objective": "regression"}, None),
    ("l1", {"objective": "l1"}, None),
    ("huber", {"objective": "huber"}, None),
    ("quantile", {"objective": "quantile"}, None),
    ("binary", {"objective": "binary"}, None),
    ("binary with a sigmoid", {"objective": "binary", "sigmoid": 2.5}, None),
    ("random forest", {"objective": "regression", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": .5}, "boosting 'rf'"),
    ("linear trees", {"objective": "regression", "linear_tree": True}, "tree 0 is linear ('linear_tree')"),
    ("square root", {"objective": "regression", "reg_sqrt": True}, "objective 'regression sqrt' is not supported"),
    ("poisson", {"objective": "poisson"}, "objective 'poisson' is not supported"),
    ("cross entropy", {"objective": "cross_entropy"}, "objective 'cross_entropy' is not supported"),
    ("classes", {"objective": "multiclass", "num_class": 4}, "a model of several classes is not supported"),
]
XGBOOST = [
    ("rank:ndcg", {"objective": "rank:ndcg"}, None),
    ("rank:pairwise", {"objective": "rank:pairwise"}, None),
    ("rank:map", {"objective": "rank:map"}, None),
    ("by leaves", {"objective": "rank:ndcg", "grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0}, None),
    ("exact splits", {"objective": "rank:ndcg", "tree_method": "exact"}, None),
    ("parallel trees", {"objective": "rank:ndcg", "num_parallel_tree": 3, "subsample": .5}, None),
    ("categories", {"objective": "rank:ndcg", "categories": True, "max_cat_to_onehot": 1}, None),
    ("categories one by one", {"objective": "rank:ndcg", "categories": True, "max_cat_to_onehot": 100}, None),
    ("dart", {"objective": "rank:ndcg", "booster": "dart", "rate_drop": .3}, None),
    ("squared error", {"objective": "reg:squarederror"}, None),
    ("base score", {"objective": "reg:squarederror", "base_score": 3.7}, None),
    ("absolute error", {"objective": "reg:absoluteerror"}, None),
    ("logistic", {"objective": "binary:logistic"}, None),
    ("logistic with a base score", {"objective": "binary:logistic", "base_score": .2}, None),
    ("logitraw", {"objective": "binary:logitraw", "base_score": .2}, None),
    ("hinge", {"objective": "binary:hinge"}, "objective 'binary:hinge' is not supported"),
    ("poisson", {"objective": "count:poisson"}, "objective 'count:poisson' is not supported"),
    ("classes", {"objective": "multi:softprob", "num_class": 4}, "several classes or targets is not supported"),
    ("linear", {"objective": "reg:squarederror", "booster": "gblinear"}, "booster 'gblinear' is not supported"),
]



def is_binary(parameters):
    return "binary" in parameters["objective"] or parameters["objective"] in ("cross_entropy", "rank:map")


@unittest.skipUnless(HAS["numpy"], "numpy is not installed")
class Scores(Folder):
    """Random lists with missing values, zeros, infinities and values that training has not seen."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        np = cls.numpy
        features = "".join(f"  - {{name: {n}, index: {i + 1}, role: item}}\n" for i, n in enumerate(NAMES))
        cls.write("m.yaml", "version: 1\nfeatures:\n" + features)
        draw = np.random.default_rng(1)
        x = draw.normal(size=(ROWS, COLUMNS))
        x[:, 1], x[:, 2], x[:, 3] = x[:, 1].round(1), draw.integers(0, 40, ROWS), np.abs(x[:, 3]) * 1000
        cls.spoil(x, draw, [np.nan, 0], .1)
        other = draw.normal(size=x.shape)
        other[:, 2] = draw.integers(-2, 60, ROWS)
        cls.spoil(other, draw, [np.nan, 0], .1)
        cls.spoil(other, draw, [np.inf, -np.inf, 1e-36, -.5, 1e30], .02)
        y = np.nan_to_num(x[:, 0]) + np.nan_to_num(x[:, 1] * x[:, 3]) / 1000 + np.nan_to_num(x[:, 2]) % 7 > 1
        cls.train, cls.labels = x, y.astype(int) + draw.integers(0, 2, ROWS)
        cls.test = np.vstack([x, other])

    @classmethod
    def spoil(cls, x, draw, values, chance):
        for value in values:
            x[draw.random(x.shape) < chance] = value

    def ours(self, name, x):
        """Return the scores of a model file, or its error."""
        data = b"".join(struct.pack("i", len(x[i:i + LIST])) + self.numpy.ascontiguousarray(x[i:i + LIST]).tobytes()
                        for i in range(0, len(x), LIST))
        done = subprocess.run([TREES, self.path(name), self.path("m.yaml")], input=data, capture_output=True, check=False)
        return done.stderr.decode() if done.returncode else self.numpy.frombuffer(done.stdout)

    def check(self, name, x, predict, refused):
        ours = self.ours(name, x)
        if refused:
            self.assertIsInstance(ours, str)
            self.assertIn(refused, ours)
        else:
            self.assertNotIsInstance(ours, str, ours)
            self.numpy.testing.assert_array_equal(ours, self.numpy.asarray(predict(), "float64"))

    @unittest.skipUnless(HAS["lightgbm"], "lightgbm is not installed")
    def test_scores_are_those_of_lightgbm(self):
        import lightgbm
        common = {"num_leaves": 31, "min_data_in_leaf": 5, "min_data_per_group": 5, "cat_smooth": 1, "verbosity": -1, "num_threads": 1}
        for name, parameters, refused in LIGHTGBM:
            with self.subTest(name=name):
                parameters = dict(parameters)
                y = self.numpy.minimum(self.labels, 1) if is_binary(parameters) else self.labels
                group = [LIST] * (ROWS // LIST) if "rank" in parameters["objective"] else None
                data = lightgbm.Dataset(self.train, y, group=group, feature_name=NAMES,
                                        categorical_feature=parameters.pop("categorical_feature", "auto"))
                model = lightgbm.train({**common, **parameters}, data, ROUNDS)
                model.save_model(self.path("model.txt"))
                self.check("model.txt", self.test, lambda model=model: model.predict(self.test), refused)

    @unittest.skipUnless(HAS["xgboost"], "xgboost is not installed")
    def test_scores_are_those_of_xgboost(self):
        import xgboost
        np = self.numpy
        x = np.where(np.isinf(self.test), 1e30, self.test)  # XGBoost refuses infinities
        for name, parameters, refused in XGBOOST:
            with self.subTest(name=name):
                parameters = dict(parameters)
                types = ["q"] * COLUMNS
                if parameters.pop("categories", False):
                    types[2] = "c"
                    x[:, 2] = np.where(np.abs(x[:, 2]) > 1e7, 1e8, x[:, 2])
                more = {"feature_names": NAMES, "feature_types": types, "enable_categorical": True}
                data = xgboost.DMatrix(self.train, np.minimum(self.labels, 1) if is_binary(parameters) else self.labels, **more)
                if "rank" in parameters["objective"]:
                    data.set_group([LIST] * (ROWS // LIST))
                model = xgboost.train({"nthread": 1, **parameters}, data, ROUNDS)
                model.save_model(self.path("model.json"))
                self.check("model.json", x, lambda model=model: model.predict(xgboost.DMatrix(x, **more)), refused)

    @unittest.skipUnless(HAS["xgboost"], "xgboost is not installed")
    def test_after_early_stopping_the_best_rounds_must_be_saved(self):
        import xgboost
        x = self.train
        data = xgboost.DMatrix(x, self.labels, feature_names=NAMES)
        data.set_group([LIST] * (ROWS // LIST))
        vali = xgboost.DMatrix(x, self.labels[::-1], feature_names=NAMES)
        vali.set_group([LIST] * (ROWS // LIST))
        model = xgboost.train({"objective": "rank:ndcg", "nthread": 1}, data, ROUNDS, evals=[(vali, "vali")],
                              early_stopping_rounds=5, verbose_eval=False)
        self.assertLess(model.best_iteration + 1, model.num_boosted_rounds())
        model.save_model(self.path("model.json"))
        self.check("model.json", x, None, "early stopping at round")
        best = model[:model.best_iteration + 1]
        best.save_model(self.path("model.json"))
        self.check("model.json", x, lambda: best.predict(data), None)
        best.save_model(self.path("model.ubj"))
        self.check("model.ubj", x, None, "save the model as 'model.json'")


if __name__ == "__main__":
    unittest.main()
