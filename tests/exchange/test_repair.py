"""LightGBM behind `replay --writes features`: after confirmation each list has the whole order of the healthy list.

Skipped without lightgbm. With EK_REFERENCE, the golden values of repairs are compared with the reference, too.
"""
import importlib.util
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "format"))
import read_capture  # noqa: E402

EVENKEEL = os.path.join(os.environ.get("BUILD", "build"), "evenkeel")
HAS_LIGHTGBM = importlib.util.find_spec("lightgbm") is not None
LISTS, FROM = 1500, 300
RULES = """version: 1
segments: [arm]
defaults: {mode: enforce, actions: {missing: auto, zero: auto}}
"""
# fault; smallest fraction of lists with the whole healthy order
FAULTS = [("price=x100,from=300,arm=B", 1), ("price=x0.01,from=300", 1), ("price,taxes=x100,from=300,arm=B", 1),
          ("price=neg,from=300", 1), ("price=*stay_nights,from=300", 1), ("stars=x2,from=300", 1),
          ("distance_center=x0.621371192237334,from=300", 1)]


def evenkeel(*words):
    done = subprocess.run([EVENKEEL, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{words}: {done.stderr}")
    return done.stdout


def rounded(text):
    """Return LETOR text with values of at most six digits."""
    return re.sub(r"(?<=:)[0-9.e-]+(?= )", lambda v: f"{float(v.group()):.6g}", text)


def rows_of(message):
    """Return the rows of a message: item features and query features as float32."""
    fields = dict(read_capture.unpack(message)[0])
    query = read_capture.row(fields["query_features"])
    rows = [read_capture.row(dict(item)["features"]) + query for item in fields["items"]]
    return [[float("nan") if v is None else struct.unpack("f", struct.pack("f", v))[0] for v in row] for row in rows]


@unittest.skipUnless(HAS_LIGHTGBM, "lightgbm is not installed")
class LightGBM(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import lightgbm
        import numpy
        cls.numpy, cls.folder = numpy, tempfile.TemporaryDirectory(prefix="evenkeel-repair-")
        path = cls.path
        with open(path("train.txt"), "w") as out:
            out.write(rounded(evenkeel("generate", "hotel", "-n", 2000, "--seed", 3, "--manifest-out", path("m.yaml"))))
        with open(path("test.txt"), "w") as out:
            out.write(rounded(evenkeel("generate", "hotel", "-n", LISTS, "--seed", 4)))
        with open(path("rules.yaml"), "w") as out:
            out.write(RULES)
        evenkeel("profile", "-m", path("m.yaml"), "--letor", path("train.txt"), "-o", path("p.ekp"))
        cls.healthy = cls.convert("healthy.msg")
        cls.ranker = cls.train(lightgbm)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    @classmethod
    def train(cls, lightgbm):
        labels, sizes, rows, last = [], [], [], None
        with open(cls.path("train.txt")) as file:
            for line in file:
                label, query, *values = line.split(" #")[0].split()
                if query != last:
                    sizes.append(0)
                last, sizes[-1] = query, sizes[-1] + 1
                labels.append(int(label))
                rows.append([float(v.split(":")[1]) for v in values])
        data = lightgbm.Dataset(cls.numpy.asarray(rows, "float32"), cls.numpy.asarray(labels), group=sizes)
        settings = {"objective": "lambdarank", "verbosity": -1, "num_threads": 2, "seed": 1, "deterministic": True}
        return lightgbm.train(settings, data, num_boost_round=60)

    @classmethod
    def convert(cls, name, fault=None):
        evenkeel("convert", "-m", cls.path("m.yaml"), "--letor", cls.path("test.txt"), "--segment", "arm=A,B",
                 "-o", cls.path(name), *(["--fault", fault] if fault else []))
        return cls.messages(name)

    @classmethod
    def messages(cls, name):
        return [message for *_, message in read_capture.records(read_capture.read(cls.path(name)))]

    def scores(self, messages):
        rows = [rows_of(m) for m in messages]
        flat = self.ranker.predict(self.numpy.asarray([r for list_ in rows for r in list_], "float32"))
        return self.numpy.split(flat, self.numpy.cumsum([len(r) for r in rows])[:-1])

    def same_order(self, a, b):
        """Return the fraction of lists with the same whole order."""
        order = self.numpy.argsort
        return self.numpy.mean([(order(-x, kind="stable") == order(-y, kind="stable")).all() for x, y in zip(a, b)])

    def test_repaired_lists_have_the_whole_order_of_healthy_lists(self):
        for fault, least in FAULTS:
            with self.subTest(fault=fault):
                faulty = self.convert("faulty.msg", fault)
                evenkeel("replay", "-m", self.path("m.yaml"), "-p", self.path("p.ekp"), "-r", self.path("rules.yaml"),
                         "--writes", "features", "-i", self.path("faulty.msg"), "-o", self.path("repaired.ekc"))
                repaired = self.messages("repaired.ekc")
                known = next(n for n, (f, r) in enumerate(zip(faulty, repaired)) if f != r)
                self.assertLess(known, FROM + 500)
                known += 10  # the features of one incident are confirmed one after the other
                was, broken, now = (self.scores(m[known:]) for m in (self.healthy, faulty, repaired))
                same, without = self.same_order(was, now), self.same_order(was, broken)
                print(f"{fault}: whole order equal in {100 * same:.2f}% of {len(was)} lists, unrepaired {100 * without:.2f}%")
                self.assertGreaterEqual(same, least)
                self.assertLess(without, .9)


class Reference(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("EK_REFERENCE") and importlib.util.find_spec("numpy"), "EK_REFERENCE is not set, or no numpy")
    def test_golden_repairs_are_those_of_the_reference(self):
        script = os.path.join(HERE, "..", "golden", "repair.py")
        done = subprocess.run([sys.executable, "-B", script, "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
