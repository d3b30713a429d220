"""Feature values repaired in front of a ranker, without a model."""
import re
import unittest

from fixtures import Frame
from harness import Daemon, evenkeel, messages_of

import test_fleet

WORLD = None  # set by run.py
COUNT, FROM = 1500, 300
RULES = """version: 1
segments: [arm]
defaults: {{mode: {mode}, confirmation_lists: 32}}
"""


def stream(fault=None):
    """Return hotel lists with values of at most six digits, as prices have."""
    def write(path):
        text, _ = evenkeel("generate", "hotel", "-n", COUNT, "--seed", 4)
        with open(path, "w") as out:
            out.write(re.sub(r"(?<=:)[0-9.e-]+(?= )", lambda v: f"{float(v.group()):.6g}", text))

    def convert(path):
        evenkeel("convert", "--manifest", WORLD.path("features.yaml"), "--letor", test_fleet.made("repair.txt", write),
                 "--segment", "arm=A,B", "-o", path, *(["--fault", fault] if fault else []))
    return [raw for raw, _ in messages_of(test_fleet.made(f"repair-{bool(fault)}.msg", convert))]


def rules(mode):
    def write(path):
        with open(path, "w") as out:
            out.write(RULES.format(mode=mode))
    return test_fleet.made(f"repair-{mode}.yaml", write)


class Repair(unittest.TestCase):
    HEALTHY_HEADER = ("tenant", b"t1")

    def through(self, mode, **more):
        """Return healthy and faulty values, the output frames and the values counted as written and withheld."""
        source, target = WORLD.topics(1)
        healthy, faulty = stream(), stream(f"price=x100,from={FROM},arm=B")
        frames = [Frame(value, b"key-%d" % n, 1700000000000 + 1000 * n, [self.HEALTHY_HEADER] if n % 2 else [], 0)
                  for n, value in enumerate(faulty)]
        with Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, rules=rules(mode), writes="features",
                    **more) as d:
            d.wait_ready()
            WORLD.send(source, frames)
            d.wait_handled(COUNT)
            d.wait_drained()
            counted = [d.metric(f'evenkeel_repaired_values_total{{effect="{effect}"}}')
                       for effect in ("written", "withheld")]
        out = WORLD.read(target)
        self.assertEqual([f.key for f in out], [f.key for f in frames])
        return healthy, faulty, out, counted

    def check(self, delivery):
        healthy, faulty, out, (written, withheld) = self.through("enforce", delivery=delivery)
        known = next(n for n, f in enumerate(out) if f.value != faulty[n])
        self.assertLess(known, FROM + 300)
        self.assertEqual([f.value for f in out[known:]], healthy[known:])
        self.assertEqual([f.value for f in out[:known]], faulty[:known])
        for n, f in enumerate(out):
            repaired = f.value != faulty[n]
            self.assertEqual(f.header("ek-action"), "repaired" if repaired else "pass")
            self.assertEqual(f.header("ek-repair"), "price=/100" if repaired else None)
            self.assertEqual(f.header("tenant"), "t1" if n % 2 else None)
        self.assertGreater(written, COUNT)
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
        self.assertGreater(withheld, COUNT)
