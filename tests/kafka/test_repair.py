"""Feature values repaired in front of a ranker, without a model, and scores of repaired lists after a ranker of trees."""
import os
import re
import unittest

from fixtures import Frame
from harness import Daemon, decoded, evenkeel, messages_of

import test_fleet

WORLD = None  # set by run.py
COUNT, FROM, ROUTABLE = 1500, 300, 10
RULES = """version: 1
segments: [arm]
defaults: {{mode: {mode}, confirmation_lists: 32}}
"""


def ranker(first="stars", values=5):
    """Return the path of a LightGBM model with trees of two leaves that split prices and stars, or all the values of
    another feature."""
    def write(path):
        with open(path, "w") as out:
            out.write(f"tree\nversion=v4\nmax_feature_idx=1\nfeature_names={first} price\n")
            for i in range(80):
                threshold, leaves = (20 + 4 * i, ".3 0") if i % 2 else (1.5 + i // 2 % (values - 1), "0 .1")
                out.write(f"Tree={i}\nnum_leaves=2\nnum_cat=0\nsplit_feature={i % 2}\nthreshold={threshold}\n"
                          f"decision_type=10\nleft_child=-1\nright_child=-2\nleaf_value={leaves}\n\n")
            out.write("end of trees\n")
    return test_fleet.made(f"ranker-{first}.txt", write)


def stream(fault=None, model=None):
    """Return hotel lists with values of at most six digits, as prices have, with the scores of the model."""
    def write(path):
        text, _ = evenkeel("generate", "hotel", "-n", COUNT, "--seed", 4)
        with open(path, "w") as out:
            out.write(re.sub(r"(?<=:)[0-9.e-]+(?= )", lambda v: f"{float(v.group()):.6g}", text))

    def convert(path):
        evenkeel("convert", "--manifest", WORLD.path("features.yaml"), "--letor", test_fleet.made("repair.txt", write),
                 "--segment", "arm=A,B", "-o", path, *(["--fault", fault] if fault else []),
                 *(["--upstream-model", model] if model else []))
    ranked = os.path.basename(model).split(".")[0] if model else "unranked"
    name = f"repair-{(fault or 'healthy').split('=')[0]}-{ranked}.msg"
    return [raw for raw, _ in messages_of(test_fleet.made(name, convert))]


def rows(value):
    return [item["features"] for item in decoded(value)["items"]]


def rules(mode):
    def write(path):
        with open(path, "w") as out:
            out.write(RULES.format(mode=mode))
    return test_fleet.made(f"repair-{mode}.yaml", write)


class Repair(unittest.TestCase):
    HEALTHY_HEADER = ("tenant", b"t1")
    WRITES, FAULT, OPERATION = "features", f"price=x100,from={FROM},arm=B", "price=/100"
    VALUES_LEAST = COUNT

    @staticmethod
    def model():
        return None

    @staticmethod
    def assets():
        return WORLD.folder

    def through(self, mode, **more):
        """Return healthy and faulty values, the output frames and the values counted as written and withheld."""
        source, target = WORLD.topics(1)
        model = self.model()
        healthy, faulty = stream(model=model), stream(self.FAULT, model)
        frames = [Frame(value, b"key-%d" % n, 1700000000000 + 1000 * n, [self.HEALTHY_HEADER] if n % 2 else [], 0)
                  for n, value in enumerate(faulty)]
        with Daemon(WORLD.folder, WORLD.broker, source, target, self.assets(), rules=rules(mode), writes=self.WRITES,
                    model=model, **more) as d:
            d.wait_ready()
            WORLD.send(source, frames)
            d.wait_handled(COUNT)
            d.wait_drained()
            counted = [d.metric(f'evenkeel_repaired_values_total{{effect="{effect}"}}')
                       for effect in ("written", "withheld")]
        out = WORLD.read(target)
        self.assertEqual([f.key for f in out], [f.key for f in frames])
        return healthy, faulty, out, counted

    def assert_healthy(self, out, healthy, _):
        self.assertEqual([f.value for f in out], healthy)

    def check(self, delivery):
        healthy, faulty, out, (written, withheld) = self.through("enforce", delivery=delivery)
        known = next(n for n, f in enumerate(out) if f.value != faulty[n])
        self.assertLess(known, FROM + 300)
        self.assert_healthy(out[known:], healthy[known:], faulty[known:])
        self.assertEqual([f.value for f in out[:known]], faulty[:known])
        for n, f in enumerate(out):
            repaired = f.value != faulty[n]
            self.assertEqual(f.header("ek-action"), "repaired" if repaired else "pass")
            self.assertEqual(f.header("ek-repair"), self.OPERATION if repaired else None)
            self.assertEqual(f.header("tenant"), "t1" if n % 2 else None)
        self.assertGreater(written, self.VALUES_LEAST)
        self.assertEqual(withheld, 0)

    def test_after_confirmation_the_bytes_are_those_of_the_healthy_stream(self):
        self.check("at_least_once")

    def test_exactly_once_too(self):
        self.check("exactly_once")

    def test_shadow_changes_nothing_and_counts_the_values(self):
        _, faulty, out, (written, withheld) = self.through("shadow")
        self.assertEqual([f.value for f in out], faulty)
        self.assertEqual({f.header("ek-action") for f in out}, {"pass", "shadow"})
        self.assertEqual(written, 0)
        self.assertGreater(withheld, self.VALUES_LEAST)


class AfterRanker(Repair):
    """The same after the user's own ranker: values stay, and the scores are those of the healthy lists."""
    WRITES = "scores"

    @staticmethod
    def model():
        return ranker()

    @staticmethod
    def parts(value):
        """Return the scores of a message and the message without them."""
        message = decoded(value)
        scores = [item.pop("score") for item in message["items"]]
        return scores, message

    def assert_healthy(self, out, healthy, faulty):
        for f, twin, given in zip(out, healthy, faulty):
            scores, rest = self.parts(f.value)
            self.assertEqual(scores, self.parts(twin)[0])
            self.assertEqual(rest, self.parts(given)[1])


def watched_assets():
    """Return a folder with the manifest and the profile of the run, whose stay_nights are watched."""
    def write(folder):
        os.mkdir(folder)
        with open(WORLD.path("features.yaml")) as plain, open(folder + "/features.yaml", "w") as out:
            out.write(plain.read().replace("name: stay_nights, index: 14, role: query,",
                                           "name: stay_nights, index: 14, role: query, watch: true,"))
        evenkeel("profile", "--manifest", folder + "/features.yaml", "--letor", WORLD.path("train.txt"), "-o", folder + "/profile.ekp")
    return test_fleet.made("watched-queries", write)


class QueryFeature(Repair):
    """Hours in a query feature, one value per list."""
    FAULT, OPERATION, VALUES_LEAST = f"stay_nights=x24,from={FROM},arm=B", "stay_nights=/24", COUNT // 4
    assets = staticmethod(watched_assets)


class QueryFeatureAfterRanker(AfterRanker):
    """The same after a ranker whose trees split the query feature."""
    FAULT, OPERATION, VALUES_LEAST = QueryFeature.FAULT, QueryFeature.OPERATION, QueryFeature.VALUES_LEAST
    assets = staticmethod(watched_assets)

    @staticmethod
    def model():
        return ranker("stay_nights", 15)


class WideColumns(unittest.TestCase):
    """Columns for rankers that see one item at a time follow the features of each item, in every list."""

    def test_columns_are_appended_to_repaired_and_other_lists(self):
        _, faulty, out, (written, _) = Repair("through").through("enforce", wide="append")
        self.assertEqual({f.header("ek-action") for f in out}, {"pass", "repaired"})
        self.assertGreater(written, COUNT)
        for before, f in zip(faulty, out):
            self.assertEqual([len(row) for row in rows(f.value)], [len(row) + ROUTABLE for row in rows(before)])
