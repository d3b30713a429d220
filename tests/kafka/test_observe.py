"""Without an output topic lists are observed, and nothing is written but state, alerts and dead letters."""
import itertools
import json
import random
import signal
import subprocess
import time
import unittest

import test_security
from fixtures import confirmed, numbered
from harness import EVENKEEL, Daemon, evenkeel, eventually, messages_of

WORLD = None  # set by run.py
MODES = ("at_least_once", "exactly_once")


def daemon(source, delivery="at_least_once", dead=False, **more):
    return Daemon(WORLD.folder, WORLD.broker, source, None, WORLD.folder, delivery=delivery, dead=dead,
                  undecodable="dead_letter" if dead else "forward", instance="one", **more)


def observed(d):
    return d.status().get("observed_lists", 0)


class WithoutAnOutput(unittest.TestCase):
    COUNT, FAULT, STOP = 2400, 600, 1600

    @classmethod
    def setUpClass(cls):
        path = WORLD.path("observed.mp")
        evenkeel("generate", "hotel", "-n", cls.COUNT, "--seed", 3, "-f", "messages", f"--fault=price=x100,from={cls.FAULT}", "-o", path)
        cls.lists = [raw for raw, _ in messages_of(path)]

    def said(self, *words):
        return subprocess.run([EVENKEEL, *words], capture_output=True, text=True, check=False).stdout

    def topics(self, source):
        """Create the input and topics for state, alerts and dead letters."""
        WORLD.broker.create(source)
        for name, *setting in (("state", "cleanup.policy", "compact"), ("alerts",), ("dead",)):
            WORLD.broker.create(f"{source}.{name}", 1, *setting)
        return {"state": f"topic: {source}.state, checkpoint_interval: 1s", "alerts": source + ".alerts", "dead": source + ".dead"}

    def test_a_fault_is_reported_and_a_restart_continues_at_the_committed_offsets(self):
        for delivery in MODES:
            with self.subTest(delivery=delivery):
                source, target = WORLD.names()
                settings = self.topics(source)
                frames = numbered(self.lists)
                frames[10].value = b"no list"
                WORLD.send(source, frames[:self.STOP])
                with daemon(source, delivery, **settings) as d:
                    d.wait_ready().wait_drained()
                    self.assertEqual(observed(d), self.STOP - 1, d.log())
                    self.assertEqual([f["feature"] for f in d.json("/api/v1/findings")], ["price"], d.log())
                    self.assertIsNone(d.status()["output"])
                    self.assertIn("no output", " ".join(self.said("status", "--url", f"http://{d.http}").split()))
                    self.assertEqual(d.stop(), 0, d.log())
                WORLD.send(source, frames[self.STOP:])
                with daemon(source, delivery, **settings) as d:
                    d.wait_ready().wait_drained()
                    self.assertEqual(d.status()["consumed"], self.COUNT - self.STOP)
                    self.assertEqual(observed(d), self.COUNT - 1, d.log())
                    eventually("the sketches are shown", lambda d=d: d.lists_in_sketches("price") >= self.COUNT - 1)
                    self.assertEqual(d.lists_in_sketches("price"), self.COUNT - 1)
                    self.assertEqual(d.json("/api/v1/plan")["entries"], [])
                    self.assertEqual(d.stop(), 0, d.log())
                self.assertEqual([f["feature"] for f in confirmed(json.loads(f.value) for f in WORLD.read(source + ".alerts"))], ["price"])
                self.assertEqual([f.value for f in WORLD.read(source + ".dead")], [b"no list"])
                self.assertIn(f"{target}: missing", self.said("topics", "-c", Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder).config))

    def test_at_random_moments_of_a_kill_each_list_counts_once(self):
        for delivery in MODES:
            with self.subTest(delivery=delivery):
                source, _ = WORLD.names()
                settings = self.topics(source)
                moments = random.Random(7)
                values = itertools.cycle(WORLD.hotel(500))
                with WORLD.endless(source, values, 700) as stream:
                    stream.start()
                    for _ in range(2):
                        with daemon(source, delivery, more="group.instance.id: one", **settings) as d:
                            eventually("it has begun", lambda d=d: d.status().get("consumed"))
                            time.sleep(moments.uniform(0, 1.5))
                            d.stop(signal.SIGKILL)
                    count = len(stream.enough())
                with daemon(source, delivery, more="group.instance.id: one", **settings) as d:
                    d.wait_ready().wait_drained()
                    self.assertEqual(observed(d), count, d.log())
                    self.assertEqual(d.stop(), 0, d.log())


class WithoutAnyTopicToWrite(test_security.Secure):
    def test_a_user_who_may_only_read_can_observe(self):
        secure = test_security.secure
        source, _ = WORLD.names()
        secure().create(source)
        secure().allow("alice", f"Read topic {source}", f"Read group group-{source}")
        WORLD.send(source, numbered(WORLD.hotel(100)), broker=secure())
        with Daemon(WORLD.folder, secure(), source, None, WORLD.folder, brokers=secure().at("sasl_ssl"), more=test_security.yaml(test_security.sasl("PLAIN")),
                    dead=False, undecodable="forward") as d:
            d.wait_ready().wait_drained()
            self.assertEqual(observed(d), 100, d.log())
            self.assertEqual(d.stop(), 0, d.log())
            self.assertNotIn("event=kafka_error", d.log())
