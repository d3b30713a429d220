"""Messages of one item on a real topic: a fault is found per list and routed per item, and every query has one plan
despite interleaved lists."""
import collections
import os
import random
import unittest

from fixtures import START_MS, confirmed
from harness import Daemon, Frame, decoded, evenkeel, eventually, messages_of

WORLD = None  # set by run.py
RULES = "version: 1\ndefaults: {mode: enforce, stratify_by: market}\nsegments: [arm]\n"
LISTS, FAULT_FROM, TOGETHER, PARTITIONS, RATE = 1500, 600, 12, 3, 6000


def without_score(message):
    return {**message, "item": {k: v for k, v in message["item"].items() if k != "score"}}


def interleaved(messages, seed):
    """Return the items of a few lists at a time, interleaved; lists start in order."""
    lists = collections.OrderedDict()
    for raw, message in messages:
        lists.setdefault(message["query"], []).append((raw, message))
    chance, waiting, open_lists, out = random.Random(seed), list(lists.values()), [], []
    while waiting or open_lists:
        while waiting and len(open_lists) < TOGETHER:
            items = waiting.pop(0)
            chance.shuffle(items)
            open_lists.append(items)
        some = chance.choice(open_lists)
        out.append(some.pop())
        if not some:
            open_lists.remove(some)
    return out


class ItemByItem(unittest.TestCase):
    def make(self, folder):
        def at(name):
            return os.path.join(folder, name)
        evenkeel("generate", "hotel", "-n", 3000, "--seed", 11, "-f", "letor", "-o", at("train.txt"),
                 f"--manifest-out={at('features.yaml')}")
        evenkeel("generate", "hotel", "-n", 3000, "--seed", 11, "-f", "messages", "-o", at("train.mp"))
        evenkeel("profile", "--manifest", at("features.yaml"), "--messages", at("train.mp"),
                 "--stratify-by", "market", "-o", at("profile.ekp"))
        evenkeel("train", "--manifest", at("features.yaml"), "--train", at("train.txt"), "--vali", at("train.txt"),
                 "--epochs", 2, "-o", at("model.safetensors"))
        evenkeel("generate", "hotel", "-n", LISTS, "--seed", 13, "-f", "messages", "--layout=item",
                 f"--fault=price=x100,from={FAULT_FROM},arm=B", "-o", at("faulty.mp"))
        with open(at("rules.yaml"), "w") as out:
            out.write(RULES)
        return messages_of(at("faulty.mp"))

    def frames(self, mixed):
        """Return frames keyed by the query, which selects the partition."""
        return [Frame(raw, message["query"].encode(), START_MS + i, [("n", str(i).encode())],
                      int(message["query"].rsplit("-", 1)[1]) % PARTITIONS)
                for i, (raw, message) in enumerate(mixed)]

    def check_outputs(self, mixed, out):
        """Check that each message is present once, each query has one plan, and only scores of arm B change."""
        self.assertEqual(sorted(int(f.header("n")) for f in out), list(range(len(mixed))))
        plans, routed = collections.defaultdict(set), 0
        for f in out:
            raw, message = mixed[int(f.header("n"))]
            plans[message["query"]].add((f.header("ek-plan-version"), f.header("ek-action")))
            if f.header("ek-action") == "pass":
                self.assertEqual(f.value, raw)
                continue
            routed += 1
            self.assertEqual(message["segments"]["arm"], "B")
            mine = decoded(f.value)
            self.assertNotEqual(mine["item"]["score"], message["item"]["score"])
            self.assertEqual(without_score(mine), without_score(message))
        self.assertEqual({len(p) for p in plans.values()}, {1})
        return plans, routed

    def test_a_fault_is_found_and_routed_and_a_query_has_one_plan(self):
        folder = WORLD.path("items")
        os.makedirs(folder)
        mixed = interleaved(self.make(folder), 1)
        source, target = WORLD.topics(PARTITIONS)
        alerts = WORLD.broker.create(target + ".alerts")
        with Daemon(WORLD.folder, WORLD.broker, source, target, folder, rules=os.path.join(folder, "rules.yaml"),
                    model=os.path.join(folder, "model.safetensors"), alerts=alerts,
                    message="layout: item", assembly="timeout: 24h") as d:
            d.wait_ready()
            WORLD.send(source, self.frames(mixed), rate=RATE)  # paced, so that partitions stay in step
            d.wait_handled(len(mixed))
            metrics = eventually("all lists were taken", lambda: self.taken(d))
            events = d.json("/api/v1/events?n=1000")
            self.assertEqual(d.stop(), 0, d.log())
        found = confirmed(events)
        self.assertEqual([(e["feature"], e["segment"], e["class"], e["mitigation"]) for e in found],
                         [("price", {"arm": "B"}, "scale", "route")], events)
        self.assertGreaterEqual(found[0]["list"], FAULT_FROM - 100)
        for name in ('assembled_lists_total{complete="false"}', 'assembled_lists_total{complete="unknown"}',
                     'dropped_items_total{reason="late"}', "assembly_evicted_lists_total"):
            self.assertIn(f"evenkeel_{name} 0\n", metrics)
        plans, routed = self.check_outputs(mixed, WORLD.read(target))
        self.assertGreater(routed, 1000)
        self.assertGreater(len({p for of in plans.values() for p in of}), 1)
        self.assertEqual(WORLD.read(target + ".dead"), [])

    def taken(self, d):
        metrics = d.get("/metrics")[1]
        done = (f'evenkeel_assembled_lists_total{{complete="true"}} {LISTS}\n' in metrics and
                f"evenkeel_observed_lists_total {LISTS}\n" in metrics)
        return metrics if done else None

    def test_what_is_no_item_becomes_a_dead_letter(self):
        source, target = WORLD.topics()
        WORLD.send(source, [Frame(raw, b"k", START_MS) for raw in WORLD.hotel(3)])
        with Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, message="layout: item") as d:
            d.wait_handled(3)  # it is not ready: it has read nothing
            self.assertEqual(d.stop(), 0, d.log())
        dead = WORLD.read(target + ".dead")
        self.assertEqual([f.value for f in dead], WORLD.hotel(3))
        self.assertEqual({(f.header("ek-error-class"), f.header("ek-error")) for f in dead},
                         {("format", "item: missing")})
