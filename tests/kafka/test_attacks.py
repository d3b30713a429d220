"""Attacks on other layouts, on fleets and in the middle of a diagnosis: nothing is lost, and nothing comes twice with
exactly once. Each test prints its counts."""
import collections
import concurrent.futures
import contextlib
import itertools
import json
import os
import random
import signal
import threading
import time
import unittest

from fixtures import confirmed, numbered, numbers
from harness import WAIT, Daemon, Frame, evenkeel, eventually, messages_of, promised

import test_fleet

WORLD = None  # set by run.py
MODES = ("at_least_once", "exactly_once")


class Case(unittest.TestCase):
    def count(self, what, delivery, sent, target):
        """Print the counts of an attack, and check them."""
        out = numbers(WORLD.read(target)) + numbers(WORLD.read(target + ".dead"))
        missing, twice = len(set(range(sent)) - set(out)), len(out) - len(set(out))
        print(f"\n    {what}, {delivery}: {sent} sent, {len(out)} out, {missing} missing, {twice} twice", end="")
        self.assertEqual(missing, 0)
        if delivery == "exactly_once":
            self.assertEqual(twice, 0)

    def together(self, go, cases):
        """Run all cases at once, since they mostly wait."""
        with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
            futures = [(case, pool.submit(go, *case)) for case in cases]
        for case, future in futures:
            with self.subTest(case):
                future.result()


class Layouts(Case):
    """Kills, a stop and a broker that crashes, under load."""
    RATE = 200
    LAYOUTS = (("list", "json", "encoding: json"), ("item", "array", "layout: item"), ("item", "json", "layout: item, encoding: json"))

    def values(self, layout, encoding):
        path = WORLD.path(f"attacked-{layout}-{encoding}.mp")
        if not os.path.exists(path):
            evenkeel("generate", "hotel", "-n", 400, "--seed", 3, "-f", "messages", f"--layout={layout}", f"--encoding={encoding}", "-o", path)
        return [raw for raw, _ in messages_of(path)]

    def attack(self, flow, crash):
        layout, encoding, message, delivery = flow
        source, target = WORLD.topics(1)

        def run():
            return Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, delivery=delivery, instance="one", message=message)

        def flows(d):
            d.assert_running()
            return d.status().get("forwarded", 0) > 100
        with WORLD.endless(source, itertools.cycle(self.lists[layout, encoding]), self.RATE) as stream:
            stream.start()
            for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
                with run() as d:
                    eventually("it flows", lambda d=d: flows(d))
                    d.process.send_signal(number)
                    d.wait_end()
            with run() as d:
                eventually("it flows", lambda: flows(d))
                sent = len(stream.enough())
                crash.wait()  # all are there; one crashes the broker
                crash.wait()
                d.wait_drained()
                self.assertEqual(d.status()["dead_letters"], 0, d.log())
                self.assertEqual(d.stop(), 0, d.log())
        self.count(f"{encoding} {layout}", delivery, sent, target)

    def test_of_json_and_items_lose_nothing(self):
        flows = [(*layout, delivery) for layout in self.LAYOUTS for delivery in MODES]
        self.lists = {layout[:2]: self.values(*layout[:2]) for layout in self.LAYOUTS}
        crash = threading.Barrier(len(flows) + 1, timeout=10 * promised(WAIT))

        def crash_broker():
            try:
                crash.wait()
                WORLD.broker.down(crash=True)
                WORLD.broker.up()
                crash.wait()
            except BaseException:
                crash.abort()
                raise
        killer = threading.Thread(target=crash_broker)
        killer.start()

        def go(*flow):
            try:
                self.attack(flow, crash)
            except BaseException:
                crash.abort()
                raise
        self.together(go, flows)
        killer.join()


class AStopInTheMiddleOfADiagnosis(Case):
    """The evidence has passed the threshold, and the verdict needs more lists."""
    RULES = "version: 1\ndefaults: {mode: enforce, confirmation_lists: 1500}\nsegments: [arm]\n"
    COUNT, FAULT, RATE = 3000, 400, 400
    PAUSE = 800  # after so many faulty lists, fewer than a verdict needs, until the instance has ended

    def test_continues_after_the_restart_and_confirms_the_finding_once(self):
        rules = WORLD.path("diagnosis-rules.yaml")
        with open(rules, "w") as out:
            out.write(self.RULES)
        test_fleet.model()
        test_fleet.lists(self.COUNT, self.FAULT)
        self.together(lambda *case: self.go(*case, rules), list(itertools.product(MODES, (signal.SIGTERM, signal.SIGKILL))))

    def go(self, delivery, number, rules):
        source, target = WORLD.topics(1)
        alerts = WORLD.broker.create(target + ".alerts")
        WORLD.broker.create(target + ".state", 1, "cleanup.policy", "compact")

        def run():
            return Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, delivery=delivery, instance="one", rules=rules,
                          model=test_fleet.model(), alerts=alerts, state=f"topic: {target}.state, checkpoint_interval: 1s")

        def states(d):
            d.assert_running()
            return [f["state"] for f in json.loads(d.get("/api/v1/findings")[1] or "[]")]
        going_on = threading.Event()

        def values():
            for n, value in enumerate(test_fleet.coming(self.COUNT, self.FAULT)):
                if n == self.FAULT + self.PAUSE:
                    going_on.wait()
                yield value
        with WORLD.endless(source, values(), self.RATE) as stream, contextlib.ExitStack() as stack:
            stack.callback(going_on.set)  # before the end of the stream
            with run() as d:
                d.wait_ready()
                stream.start()
                eventually("it is suspected", lambda: "suspected" in states(d))
                self.assertNotIn("confirmed", states(d))
                d.process.send_signal(number)
                self.assertEqual(d.wait_end(), 0 if number == signal.SIGTERM else -number)
            going_on.set()
            with run() as d:
                eventually("it is confirmed", lambda: {"confirmed", "updated"} & set(states(d)))  # its newest event
                sent = len(stream.enough())
                d.wait_drained()
                self.assertEqual(d.status()["observed_lists"], sent, d.log())
                self.assertEqual(d.stop(), 0, d.log())
        found = confirmed(json.loads(f.value) for f in WORLD.read(alerts))
        self.assertEqual([(e["feature"], e["segment"], e["class"]) for e in found], [("price", {"arm": "B"}, "scale")])
        self.count(number.name, delivery, sent, target)


class FleetTopics(Case):
    RATE = 300

    def send(self, topic, count):
        WORLD.send(topic, [Frame(b"\xff" * (n + 1), b"key", headers=[("n", b"0")]) for n in range(count)])

    def test_of_garbage_or_that_are_away_stop_no_message(self):
        for make in (test_fleet.model, test_fleet.rules, lambda: test_fleet.lists(3000, 400)):
            make()
        self.together(self.go, [(delivery,) for delivery in MODES])

    def go(self, delivery):
        fleet = test_fleet.Fleet(2)
        common = {"delivery": delivery, "more": "topic.metadata.refresh.interval.ms: 1000"}
        with fleet.endless(test_fleet.coming(3000, 400), self.RATE, 2) as stream, \
                fleet.instance("one", **common) as one, fleet.instance("two", **common) as two:
            both = (one, two)
            for d in both:
                d.wait_ready()
            stream.start()
            for d in both:
                test_fleet.wait_for("it routes", d, lambda d=d: d.status().get("routed", 0) > 20)
            version = one.status()["plan_version"]
            for topic in (fleet.plan, fleet.evidence):
                self.send(topic, 20)
            for d in both:
                eventually("garbage is reported", lambda d=d: "event=fleet_record_rejected" in d.log())
            for topic in (fleet.plan, fleet.evidence):
                WORLD.broker.delete(topic)
            for d in both:
                test_fleet.wait_for("the plan is stale", d, lambda d=d: test_fleet.fleet_of(d)["plan_stale"])
                before = d.status()["routed"]
                test_fleet.wait_for("it routes without them", d, lambda d=d, b=before: d.status().get("routed", 0) > b + 100)
                self.assertEqual(d.get("/ready")[0], 200)
                self.assertEqual(d.status()["plan_version"], version)
            WORLD.broker.create(fleet.plan, 1, "cleanup.policy", "compact")
            WORLD.broker.create(fleet.evidence, 1, "retention.ms", 3600000)
            for d in both:
                test_fleet.wait_for("plans are received again", d, lambda d=d: not test_fleet.fleet_of(d)["plan_stale"])
            sent = len(stream.enough())
            for d in both:
                d.wait_drained()
            self.assertEqual((one.stop(), two.stop()), (0, 0), one.log() + two.log())
        self.count("fleet topics", delivery, sent, fleet.target)


class AnInputThatGrows(Case):
    """Beyond the partitions of the state topic, while two instances run, of which one is killed."""

    def test_keeps_messages_and_state(self):
        WORLD.hotel(100)
        self.together(self.go, [(delivery,) for delivery in MODES])

    def go(self, delivery):
        source, target = WORLD.topics(2)
        WORLD.broker.create(target + ".state", 2, "cleanup.policy", "compact")
        values, sent = WORLD.hotel(100), collections.Counter()

        def run(name):
            return Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, delivery=delivery, instance=name,
                          more="topic.metadata.refresh.interval.ms: 1000", state=f"topic: {target}.state, checkpoint_interval: 1s")

        def send(count, partitions):
            first = sum(sent.values())
            WORLD.send(source, numbered([values[n % 100] for n in range(first + count)], partitions)[first:])
            sent[partitions] += count

        def shares(*daemons):
            return sorted(d.status().get("partitions", 0) for d in daemons)
        with run("one") as one, run("two") as two:
            eventually("each has a share", lambda: shares(one, two) == [1, 1])
            send(400, 2)
            WORLD.broker.grow(source, 4)
            WORLD.broker.grow(target, 4)
            send(800, 4)
            eventually("both have two", lambda: shares(one, two) == [2, 2])
            for d in (one, two):
                d.wait_drained()
            two.stop(signal.SIGKILL)
            eventually("one has it all", lambda: shares(one) == [4])
            one.wait_drained()
            self.assertEqual(one.stop(), 0, one.log())
        with run("one") as d:
            eventually("it has it all", lambda: shares(d) == [4])
            send(400, 4)
            d.wait_drained()
            self.assertEqual(d.status()["observed_lists"], 1600, one.log() + two.log() + d.log())
            self.assertEqual(d.stop(), 0, d.log())
        self.count("grown", delivery, 1600, target)


class SlowSockets(Case):
    """80 connections from two addresses that send a byte now and then: more than the limit of 64."""

    def test_keep_no_probe_out(self):
        import socket
        source, target = WORLD.topics(1)
        with Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, http="request_timeout: 300s") as d:
            d.wait_ready()
            host, port = d.http.split(":")
            over, links = threading.Event(), {}

            def open_one(address):
                link = socket.socket()
                link.bind((address, 0))
                link.settimeout(1)
                link.connect((host, int(port)))
                link.sendall(b"GET /ping HTTP/1.1\r\nX: ")
                return link

            def drip():
                while not over.is_set():
                    for number in range(80):
                        try:
                            if number in links:
                                links[number].send(b"x")
                            else:
                                links[number] = open_one(f"127.0.0.{2 + number % 2}")
                        except OSError:
                            links.pop(number, None)
                    over.wait(1)
            dripping = threading.Thread(target=drip)
            dripping.start()
            try:
                eventually("they are open", lambda: len(links) > 60)
                failed = 0
                for _ in range(15):
                    failed += d.get("/ping")[0] != 200
                    time.sleep(.4)
                print(f"\n    {failed} of 15 probes failed", end="")
                self.assertEqual(failed, 0)
            finally:
                over.set()
                dripping.join()
            self.assertEqual(d.stop(), 0, d.log())


class StateTopic(Case):
    """Records that others write into the state topic, and records that are gone."""

    def run_(self, source, target, delivery):
        return Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, delivery=delivery, instance="one",
                      state=f"topic: {target}.state, checkpoint_interval: 1s")

    def fed(self, delivery):
        """Return topics whose 400 messages are processed and in the state."""
        source, target = WORLD.topics(1)
        WORLD.broker.create(target + ".state", 1, "cleanup.policy", "compact")
        self.send(source, 0, 400)
        with self.run_(source, target, delivery) as d:
            d.wait_ready().wait_handled(400).wait_drained()
            self.assertEqual(d.stop(), 0, d.log())
        return source, target

    @staticmethod
    def send(source, first, last):
        values = WORLD.hotel(100)
        WORLD.send(source, numbered([values[n % 100] for n in range(last)])[first:])

    def goes_on(self, source, target, delivery, observed, what):
        with self.run_(source, target, delivery) as d:
            d.wait_ready()
            self.send(source, 400, 600)
            d.wait_handled(200).wait_drained()
            self.assertEqual(d.status()["observed_lists"], observed, d.log())
            lost = "event=state_lost" in d.log() or d.metric('evenkeel_state_loss_total{reason="not_found"}') > 0
            self.assertEqual(lost, observed < 600, d.log())
            self.assertEqual(d.stop(), 0, d.log())
        self.count(what, delivery, 600, target)

    def pollute(self, delivery):
        source, target, _ = self.polluted(delivery)
        self.goes_on(source, target, delivery, 600, "a polluted state topic")

    def polluted(self, delivery):
        """Return topics as fed() does, and the values of their state, each followed by three bad records of its key."""
        source, target = self.fed(delivery)
        records = [f for f in WORLD.read(target + ".state") if f.key and f.value]
        self.assertTrue(records)
        bad = [Frame(b"\xff" * 50, b"a foreign key")]
        for f in records:
            flipped = bytearray(f.value)
            flipped[len(flipped) // 2] ^= 1
            bad += [Frame(bytes(flipped), f.key), Frame(f.value[:len(f.value) // 2], f.key), Frame(None, f.key)]
        WORLD.send(target + ".state", bad)
        return source, target, {f.value for f in records}

    def compact(self, delivery):
        """The broker keeps only the bad records."""
        source, target, good = self.polluted(delivery)
        topic = target + ".state"
        WORLD.broker.set(topic, "cleanup.policy", "compact", "min.cleanable.dirty.ratio", "0.001", "segment.ms", "1")

        def compacted():
            WORLD.send(topic, [Frame(b"\xff", b"a later segment")])  # only older segments are compacted
            return not any(f.value in good for f in WORLD.read(topic))
        eventually("the broker removes the records", compacted)
        WORLD.broker.set(topic, "cleanup.policy", "compact")
        self.goes_on(source, target, delivery, 200, "a polluted state topic, compacted")

    def erase(self, delivery):
        source, target = self.fed(delivery)
        last = WORLD.read(target + ".state")[-1].offset
        WORLD.broker.set(target + ".state", "cleanup.policy", "compact,delete")  # which permits deletions

        def empty():  # a moment after the policy has changed
            with contextlib.suppress(AssertionError):
                WORLD.broker.empty(target + ".state", 0, last + 1)
                return True
        eventually("the records are deleted", empty)
        WORLD.broker.set(target + ".state", "cleanup.policy", "compact")
        self.goes_on(source, target, delivery, 200, "an empty state topic")

    def again(self, delivery):
        source, target = self.fed(delivery)
        WORLD.broker.delete(target + ".state")

        def create():
            with contextlib.suppress(AssertionError):
                return WORLD.broker.create(target + ".state", 1, "cleanup.policy", "compact")
        eventually("it can be created again", create)
        self.goes_on(source, target, delivery, 200, "a state topic created again")

    def test_is_restored_or_its_loss_is_reported(self):
        WORLD.hotel(100)
        self.together(lambda go, delivery: go(delivery), list(itertools.product((self.pollute, self.compact, self.erase, self.again), MODES)))


class StopsDuringTheStart(Case):
    """SIGTERM and SIGKILL 10 ms to 1.5 s after the start, while the instance connects, joins or begins to read."""
    RATE, STOPS = 300, 8

    def test_lose_nothing_and_end_in_time(self):
        WORLD.hotel(100)
        self.together(self.go, [(delivery,) for delivery in MODES])

    def go(self, delivery):
        source, target = WORLD.topics(1)
        moments, longest = random.Random(5), 0

        def run():
            return Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, delivery=delivery, instance="one",
                          service="shutdown_timeout: 1s")
        with WORLD.endless(source, itertools.cycle(WORLD.hotel(100)), self.RATE) as stream:
            stream.start()
            for number in [signal.SIGTERM, signal.SIGTERM, signal.SIGTERM, signal.SIGKILL] * (self.STOPS // 4):
                with run() as d:
                    time.sleep(moments.uniform(.01, 1.5))
                    d.process.send_signal(number)
                    began = time.monotonic()
                    status = d.wait_end()
                    if number == signal.SIGKILL or "event=service_started" in d.log():  # before, it is the default action
                        self.assertEqual(status, 0 if number == signal.SIGTERM else -number, d.log())
                    longest = max(longest, time.monotonic() - began)
            with run() as d:
                d.wait_ready()
                sent = len(stream.enough())
                d.wait_drained()
                self.assertEqual(d.stop(), 0, d.log())
        self.count(f"early stops, the longest {longest:.1f} s", delivery, sent, target)
        self.assertLess(longest, promised(5.5))


class SimilarNames(Case):
    def test_of_groups_and_instances_end_nobody(self):
        """Group hotels-eu with instance west-0, and group hotels with instance eu-west-0."""
        flows = [(*WORLD.topics(1), group, instance) for group, instance in (("hotels-eu", "west-0"), ("hotels", "eu-west-0"))]
        with contextlib.ExitStack() as stack:
            daemons = [stack.enter_context(Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, delivery="exactly_once",
                                                  group=group, instance=instance)) for source, target, group, instance in flows]
            for d, (source, _, _, _) in zip(daemons, flows):
                d.wait_ready()
                WORLD.send(source, numbered(WORLD.hotel(100)))
            for d, (_, target, _, _) in zip(daemons, flows):
                d.wait_handled(100).wait_drained()
                self.assertEqual(d.stop(), 0, d.log())
                self.assertNotIn("event=transaction_lost", d.log())
                self.count("similar names", "exactly_once", 100, target)


class Times(Case):
    """Times of messages that no clock has."""
    VALUES = (0, -1, 1e300, -1.5, 2 ** 63 - 1, -2 ** 63, 2 ** 64 - 1, 10 ** 18, 253402300800000, "yesterday", None, True, -3155760000000)

    def test_lose_nothing(self):
        messages = [json.loads(raw) for raw in WORLD.hotel(100, "json")]
        for n, message in enumerate(messages):
            if n % 3 == 2:
                message["time_ms"] = self.VALUES[n // 3 % len(self.VALUES)]
        frames = numbered([json.dumps(m).encode() for m in messages])
        now = int(time.time() * 1000)
        for f, stamp in zip(frames[::7], itertools.cycle((1, now + 86400000, 2 ** 62))):
            f.timestamp = stamp

        def go(delivery):
            source, target = WORLD.topics(1)
            WORLD.send(source, frames)
            with Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, delivery=delivery, message="encoding: json") as d:
                d.wait_handled(100).wait_drained()
                self.assertEqual(d.stop(), 0, d.log())
            out = numbers(WORLD.read(target))
            self.assertEqual(out, sorted(out))
            self.count("times", delivery, 100, target)
        self.together(go, [(delivery,) for delivery in MODES])
