"""Avro and Protobuf messages on a real topic: the schema changes in mid-stream, features are repaired in place, and the registry
may be away."""
import json
import os
import sys
import unittest

from fixtures import START_MS, confirmed
from harness import Daemon, Frame, evenkeel

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "schemas"))
import avro_hotel  # noqa: E402
import proto_hotel  # noqa: E402
from registry import Registry  # noqa: E402

WORLD = None  # set by run.py
LISTS, FAULT_FROM = 1500, 500


class Schemas:
    hotel = None  # module of the encoding

    def lists(self, *words):
        path = WORLD.path("schemas.jsonl")
        evenkeel("generate", "hotel", "-n", LISTS, "--seed", 3, "-f", "messages", "--encoding", "json", "-o", path,
                 *words)
        with open(path) as lines:
            return [json.loads(line) for line in lines]

    def frames(self, values):
        return [Frame(value, b"k", START_MS + i, [("n", str(i).encode())], 0) for i, value in enumerate(values)]

    def message(self, registry):
        return (f"encoding: {self.hotel.ENCODING}, registry: {{url: \"{registry.url}\", user: u, password: p, timeout: 1s}}")

    def test_a_fault_is_found_and_repaired_across_a_change_of_schema(self):
        lists = self.lists(f"--fault=price=x100,from={FAULT_FROM}")
        sent = [self.hotel.encode(m, 1 + (i >= LISTS // 2)) for i, m in enumerate(lists)]
        rules = WORLD.path("schemas-rules.yaml")
        with open(rules, "w") as out:
            out.write("version: 1\ndefaults: {mode: enforce}\n")
        source, target = WORLD.topics()
        with Registry(self.hotel.answers()) as registry, \
                Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, rules=rules, writes="features",
                       message=self.message(registry)) as d:
            WORLD.send(source, self.frames(sent), rate=3000)
            d.wait_handled(LISTS)
            events = d.json("/api/v1/events?n=1000")
            self.assertEqual(d.stop(), 0, d.log())
            self.assertEqual(registry.requests, self.hotel.REQUESTS)
        found = confirmed(events)
        self.assertEqual([(e["feature"], e["class"]) for e in found], [("price", "scale")], events)
        out = WORLD.read(target)
        self.assertEqual(sorted(int(f.header("n")) for f in out), list(range(LISTS)))
        repaired = count_repaired(self, out, sent)
        self.assertGreater(repaired[1], 50)
        self.assertGreater(repaired[2], 500)
        self.assertEqual(WORLD.read(target + ".dead"), [])

    def test_without_the_registry_messages_are_forwarded_unchanged(self):
        sent = [self.hotel.encode(m) for m in self.lists()[:20]]
        source, target = WORLD.topics()
        registry = Registry(self.hotel.answers())
        registry.server_close()
        with Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, undecodable="forward",
                    message=self.message(registry)) as d:
            WORLD.send(source, self.frames(sent))
            d.wait_handled(len(sent))
            self.assertEqual(d.stop(), 0, d.log())
        self.assertEqual([f.value for f in WORLD.read(target)], sent)
        dead = WORLD.read(target + ".dead")
        self.assertEqual([f.value for f in dead], sent)
        self.assertIn("schema id 1: the schema registry is not available", dead[0].header("ek-error"))


class Avro(Schemas, unittest.TestCase):
    hotel = avro_hotel


class Protobuf(Schemas, unittest.TestCase):
    hotel = proto_hotel


def count_repaired(test, out, sent):
    """Count the repaired messages by schema. Others are unchanged, and none has another length."""
    repaired = {1: 0, 2: 0}
    for f in out:
        raw = sent[int(f.header("n"))]
        test.assertEqual(len(f.value), len(raw))
        if f.header("ek-action") == "repaired":
            test.assertNotEqual(f.value, raw)
            repaired[raw[4]] += 1
        else:
            test.assertEqual(f.value, raw)
    return repaired
