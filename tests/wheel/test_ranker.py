"""The ranker has the weights and scores of the program, and is an estimator."""
import copy
import json
import os
import pickle
import signal
import threading
import unittest
import warnings

import evenkeel
import numpy as np
from evenkeel import RoutableRanker
from world import Arrays, Hotel, run


class Rows:
    """Rows of lists, with item and query features."""

    def __init__(self, path):
        arrays = Arrays(path)
        own = np.repeat(np.arange(len(arrays.ids)), np.diff(arrays.starts))
        self.arrays, self.X, self.y = arrays, np.hstack([arrays.X, arrays.query_features[own].astype(np.float32)]), arrays.labels
        self.groups = np.array(arrays.ids)[own]

    def __iter__(self):
        return iter((self.X, self.y, self.groups))


class Ranker(Hotel):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.messages = cls.generate("lists.jsonl", 400, 21)
        cls.vali = cls.generate("vali.jsonl", 100, 22)
        cls.lists, cls.others = Rows(cls.messages), Rows(cls.vali)

    def trained(self, *words):
        run("train", "-m", self.manifest, "--train", self.messages, "-o", self.path("m.safetensors"), *words)
        with open(self.path("m.safetensors"), "rb") as file:
            return file.read()

    def ranker(self, **params):
        return RoutableRanker(self.manifest, **{"epochs": 2, **params})

    def test_the_model_file_is_that_of_the_program(self):
        for params, words in (({"seed": 7}, ("--seed", "7", "--epochs", "2")),
                              ({"loss": "listnet", "hidden": (16,), "lr": .01, "decay": .001, "batch": 32},
                               ("--epochs", "2", "--loss", "listnet", "--hidden", "16", "--lr", ".01", "--decay", ".001", "--batch", "32")),
                              ({"routing": ["price", "taxes"]}, ("--epochs", "2", "--routing", "static:price,taxes")),
                              ({"routing": "none", "log_input": "none"}, ("--epochs", "2", "--routing", "none", "--log-input", "none")),
                              ({"list_free": True}, ("--epochs", "2", "--list-free"))):
            with self.subTest(**params):
                self.assertEqual(self.ranker(**params).fit(*self.lists).model_, self.trained(*words))

    def test_other_lists_or_hints_of_the_manifest_select_the_same_model(self):
        with open(self.manifest, encoding="utf-8") as file:
            text = file.read() + "training: {hidden: [8, 4], epochs: 3, learning_rate: 0.01, weight_decay: 0.01, batch_size: 16}\n"
        with open(self.path("hints.yaml"), "w", encoding="utf-8") as out:
            out.write(text)
        for manifest, words in ((self.manifest, ()), (self.path("hints.yaml"), ())):
            run("train", "-m", manifest, "--train", self.messages, "--vali", self.vali, "-o", self.path("m.safetensors"), *words)
            ranker = RoutableRanker(manifest).fit(*self.lists, eval_set=tuple(self.others))
            with open(self.path("m.safetensors"), "rb") as file:
                self.assertEqual(ranker.model_, file.read())

    def test_scores_are_those_of_the_program_with_any_route(self):
        ranker = self.ranker().fit(*self.lists)
        ranker.save(self.path("m.safetensors"))
        for route in ((), ("price",), ("taxes", "price")):
            said = json.loads(run("eval", "-m", self.manifest, "-M", self.path("m.safetensors"), "-d", self.vali, "--metric", "ndcg@10", "--json",
                                  *(["--route", ",".join(route)] if route else [])))
            scores = ranker.predict(self.others.X, self.others.groups, route=route)
            self.assertAlmostEqual(self.ndcg10(scores, self.others), said["metrics"]["ndcg@10"], places=6)

    @staticmethod
    def ndcg10(scores, lists):
        """Return the mean NDCG@10 with gain 2^y - 1 over lists with a positive label."""
        out = []
        for first, last in zip(lists.arrays.starts[:-1], lists.arrays.starts[1:]):
            gain, order = 2. ** lists.y[first:last] - 1, np.argsort(-scores[first:last], kind="stable")[:10]
            if gain.any():
                discount = 1 / np.log2(np.arange(2, 12))
                out.append((gain[order] * discount[:len(order)]).sum() / (np.sort(gain)[::-1][:10] * discount[:min(10, len(gain))]).sum())
        return np.mean(out)

    def test_a_factor_of_a_routed_feature_changes_no_score(self):
        ranker, cents = self.ranker().fit(*self.lists), self.others.X.copy()
        cents[:, 0] *= 128
        before, after = (ranker.predict(X, self.others.groups, route=["price"]) for X in (self.others.X, cents))
        self.assertTrue(np.array_equal(before, after))
        self.assertFalse(np.array_equal(ranker.predict(self.others.X, self.others.groups), ranker.predict(cents, self.others.groups)))

    def test_always_routed_features_are_the_default_route(self):
        ranker = self.ranker(routing=["price"]).fit(*self.lists)
        X, groups = self.others.X, self.others.groups
        self.assertTrue(np.array_equal(ranker.predict(X, groups), ranker.predict(X, groups, route=["price"])))
        self.assertFalse(np.array_equal(ranker.predict(X, groups), ranker.predict(X, groups, route=())))

    def test_one_list_needs_no_groups_and_columns_may_be_named(self):
        ranker = self.ranker().fit(*self.lists)
        X, groups = self.others.X, self.others.groups
        scores, last = ranker.predict(X, groups), self.others.arrays.starts[1]
        self.assertTrue(np.array_equal(ranker.predict(X[:last]), scores[:last]))
        manifest = evenkeel.Manifest(self.manifest)
        names = (*manifest.item_features, *manifest.query_features)
        frame = {"list": groups, **{name: X[:, j] for j, name in enumerate(names)}}
        self.assertTrue(np.array_equal(ranker.predict(frame, "list"), scores))
        self.assertEqual(self.ranker().fit({**frame, "list": groups}, self.others.y, "list").model_, self.ranker().fit(*self.others).model_)

    def test_a_copy_a_pickle_and_a_file_have_the_same_scores(self):
        ranker = self.ranker().fit(*self.lists)
        ranker.save(self.path("saved.safetensors"))
        scores = ranker.predict(self.others.X, self.others.groups)
        for other in (pickle.loads(pickle.dumps(ranker)), copy.deepcopy(ranker), RoutableRanker.load(self.path("saved.safetensors"), self.manifest)):
            self.assertTrue(np.array_equal(other.predict(self.others.X, self.others.groups), scores))
        results = []
        threads = [threading.Thread(target=lambda: results.append(ranker.predict(self.others.X, self.others.groups))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(all(np.array_equal(result, scores) for result in results) and len(results) == 4)

    def test_parameters_are_read_and_set(self):
        ranker = self.ranker(seed=3)
        self.assertEqual(RoutableRanker(**ranker.get_params()).get_params(), ranker.get_params())
        self.assertIs(ranker.set_params(seed=4, epochs=1), ranker)
        self.assertEqual((ranker.seed, ranker.epochs), (4, 1))
        with self.assertRaisesRegex(ValueError, "unknown parameter 'sed'"):
            ranker.set_params(sed=4)

    def test_names_make_a_manifest_with_routable_features(self):
        with open(self.manifest, encoding="utf-8") as file:
            features = evenkeel.Manifest(file.read())
        made = evenkeel.Manifest.of(features.item_features, features.query_features, routable=["price"])
        self.assertEqual(made.routable, ("price",))
        scores = RoutableRanker(made, epochs=1).fit(*self.lists).predict(self.others.X, self.others.groups, route=["price"])
        self.assertTrue(np.isfinite(scores).all())
        with self.assertRaisesRegex(ValueError, "'routable': no item feature 'adults'"):
            evenkeel.Manifest.of(["price"], ["adults"], routable=["adults"])

    def test_warnings_about_the_data_are_raised(self):
        X = self.lists.X.copy()
        X[:, 10] = 0
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.ranker(epochs=1).fit(X, self.lists.y, self.lists.groups)
        self.assertTrue(any("free_cancellation" in str(warning.message) for warning in caught))

    def test_an_interrupt_ends_training(self):
        # A shell starts background processes without this handler.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        timer = threading.Timer(.3, os.kill, (os.getpid(), signal.SIGINT))
        with self.assertRaises(KeyboardInterrupt):
            timer.start()
            self.ranker(epochs=100000).fit(*self.lists)
        timer.join()

    def test_invalid_arguments_are_named(self):
        X, y, groups = self.lists
        fitted = self.ranker(epochs=1).fit(*self.lists)
        shuffled = groups[np.random.default_rng(1).permutation(len(groups))]
        with open(self.path("not.safetensors"), "w", encoding="utf-8") as out:
            out.write("none")
        for call, word in (
                (lambda: self.ranker().predict(X, groups), "not fitted"), (lambda: self.ranker().fit(X, y, None), "'groups' is needed"),
                (lambda: self.ranker().fit(X[:, 1:], y, groups), "'X' has shape"), (lambda: self.ranker().fit(X, y[1:], groups), "'y' has shape"),
                (lambda: self.ranker().fit(X, ["a"] * len(X), groups), "'y' must be numbers"),
                (lambda: self.ranker().fit(X, y, groups[1:]), "'groups' has shape"), (lambda: self.ranker().fit(X, y, shuffled), "'groups'.*not adjacent"),
                (lambda: self.ranker().fit(X, np.zeros(len(X)), groups), "training"), (lambda: self.ranker(loss="mse").fit(*self.lists), "'loss'.*'mse'"),
                (lambda: self.ranker(routing="all").fit(*self.lists), "'routing'.*'all'"), (lambda: self.ranker(routing=["chain"]).fit(*self.lists), "'routing'.*'chain'"),
                (lambda: self.ranker(routing=[]).fit(*self.lists), "'routing'"), (lambda: self.ranker(hidden=()).fit(*self.lists), "'hidden'"),
                (lambda: self.ranker(hidden=[1] * 9).fit(*self.lists), "'hidden'"), (lambda: self.ranker(hidden=8).fit(*self.lists), "'hidden'"),
                (lambda: self.ranker(epochs=0).fit(*self.lists), "'epochs'"), (lambda: self.ranker(lr=-1).fit(*self.lists), "'lr'"),
                (lambda: self.ranker(seed=-1).fit(*self.lists), "'seed'"), (lambda: self.ranker(log_input="some").fit(*self.lists), "'log_input'"),
                (lambda: self.ranker().fit(*self.lists, eval_set=(X, y)), "'eval_set'"), (lambda: fitted.predict(X), "'X': query feature"),
                (lambda: fitted.predict(X, groups, route=["stars", "stars"]), "'route': duplicate"), (lambda: fitted.predict(X, groups, route="pric"), "'route': 'pric'"),
                (lambda: RoutableRanker.load(self.path("not.safetensors"), self.manifest), "not.safetensors"),
                (lambda: RoutableRanker.load(7, self.manifest), "'path'"), (lambda: fitted.save(7), "'path'"), (lambda: RoutableRanker(7).fit(*self.lists), "'manifest'")):
            with self.subTest(word), self.assertRaisesRegex(ValueError, word):
                call()


if __name__ == "__main__":
    unittest.main()
