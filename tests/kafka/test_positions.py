"""The stage owns its positions: no message of the input is skipped without a report."""
import json
import signal
import unittest

from fixtures import numbered, numbers
from harness import Daemon, eventually

WORLD = None  # set by run.py
MODES = ("at_least_once", "exactly_once")
SOON = "topic.metadata.refresh.interval.ms: 1000"


def daemon(source, target, delivery="at_least_once", start="latest", **more):
    return Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, delivery=delivery, more=SOON,
                  input=f"offset_reset: {start}", **more)


def frames(first, count, partition=0):
    """Messages with the numbers from `first` on, all for one partition."""
    values = WORLD.hotel(100)
    all_ = numbered([values[n % 100] for n in range(first + count)])[first:]
    for f in all_:
        f.partition = partition
    return all_


class Case(unittest.TestCase):
    def ends(self, d):
        self.assertEqual(d.stop(), 0, d.log())

    def out(self, target):
        return sorted(set(numbers(WORLD.read(target))))

    def wait_out(self, d, target, expected):
        def look():
            d.assert_running()
            return self.out(target) == sorted(expected)
        try:
            eventually("all came out", look, 60)
        except AssertionError:
            missing = sorted(set(expected) - set(self.out(target)))
            raise AssertionError(f"{len(missing)} of {len(expected)} are lost: {missing[:5]}\n{d.log()}") from None

    def count(self, target, expected, delivery, reported=""):
        """Print the counts of an attack, and check that exactly once delivers nothing twice."""
        out = numbers(WORLD.read(target))
        missing, twice = len(set(expected) - set(out)), len(out) - len(set(out))
        print(f"\n    {delivery}: {len(expected)} sent, {len(out)} out, {missing} missing, {twice} twice{reported}", end="")
        self.assertEqual(twice * (delivery == "exactly_once"), 0)


class AQuietPartition(Case):
    """`latest` applies to the first start only, not to a partition that had no message by then."""

    def go(self, delivery, number):
        source, target = WORLD.topics(2)
        WORLD.send(source, frames(0, 10))
        with daemon(source, target, delivery) as d:
            d.wait_ready()
            WORLD.send(source, frames(10, 10))
            self.wait_out(d, target, range(10, 20))
            d.process.send_signal(number)
            d.wait_end()
        WORLD.send(source, frames(20, 100, partition=1))
        with daemon(source, target, delivery) as d:
            self.wait_out(d, target, range(10, 120))
            self.ends(d)

    def test_loses_nothing_over_a_restart(self):
        for delivery in MODES:
            with self.subTest(delivery):
                self.go(delivery, signal.SIGTERM)

    def test_loses_nothing_when_a_second_instance_joins_as_it_wakes_up(self):
        for delivery in MODES:
            with self.subTest(delivery):
                source, target = WORLD.topics(2)
                with daemon(source, target, delivery, instance="one") as one:
                    one.wait_ready()
                    WORLD.send(source, frames(0, 50))
                    self.wait_out(one, target, range(50))
                    with daemon(source, target, delivery, instance="two") as two:
                        WORLD.send(source, frames(50, 100, partition=1))
                        eventually("each has a share", lambda: [d.status().get("partitions") for d in (one, two)] == [1, 1])
                        WORLD.send(source, frames(150, 50, partition=1))
                        self.wait_out(one, target, range(200))
                        self.ends(two)
                    self.ends(one)
                self.count(target, range(200), delivery)

    def test_loses_nothing_over_a_crash(self):
        self.go("at_least_once", signal.SIGKILL)


class AGrownTopic(Case):
    def test_is_read_from_the_start_of_its_new_partitions(self):
        for delivery in MODES:
            with self.subTest(delivery):
                source, target = WORLD.topics(1)
                with daemon(source, target, delivery) as d:
                    d.wait_ready()
                    WORLD.send(source, frames(0, 50))
                    self.wait_out(d, target, range(50))
                    WORLD.broker.grow(source, 2)
                    WORLD.send(source, frames(50, 200, partition=1))
                    self.wait_out(d, target, range(250))
                    self.ends(d)


class Retention(Case):
    """Messages that the log dropped are reported with their count, and the rest is read."""

    def go(self, delivery, start):
        source, target = WORLD.topics(1)
        alerts = WORLD.broker.create(target + ".alerts")
        with daemon(source, target, delivery, start) as d:
            d.wait_ready()
            WORLD.send(source, frames(0, 50))
            self.wait_out(d, target, range(50))
            self.ends(d)
        WORLD.send(source, frames(50, 100))
        WORLD.broker.empty(source, 0, 90)
        with daemon(source, target, delivery, start, alerts=alerts) as d:
            self.wait_out(d, target, [*range(50), *range(90, 150)])
            self.assertEqual(d.metric("evenkeel_input_lost_messages_total"), 40)
            self.assertIn("event=messages_lost", d.log())
            self.assertIn("from=50 to=89 count=40", d.log())
            self.assertIn("messages_lost", d.get("/api/v1/status")[1])
            self.ends(d)
        events = [json.loads(f.value) for f in WORLD.read(alerts)]
        lost = [e for e in events if e["event"] == "input" and e["condition"] == "messages_lost"]
        self.assertEqual([(e["topic"], e["partition"], e["from"], e["to"], e["count"]) for e in lost],
                         [(source, 0, 50, 89, 40)])

    def test_is_reported(self):
        for delivery, start in zip(MODES, ("latest", "earliest")):
            with self.subTest(delivery):
                self.go(delivery, start)


class ATopicMadeAgain(Case):
    def again(self, source):
        WORLD.broker.delete(source)
        eventually("the topic can be made again", lambda: self.make(source), 60)

    def make(self, source):
        try:
            return WORLD.broker.create(source)
        except AssertionError:
            return False

    def go(self, delivery, start, count, running, at_once=False):
        """`count`: messages of the new topic; the old one had 100."""
        source, target = WORLD.topics(1)
        with daemon(source, target, delivery, start) as d:
            d.wait_ready()
            WORLD.send(source, frames(0, 100))
            self.wait_out(d, target, range(100))
            if running:
                self.again(source)
                if not at_once:
                    eventually("the stage sees it", lambda: "event=topic_recreated" in d.log(), 60)
                WORLD.send(source, frames(100, count))
                self.wait_out(d, target, range(100 + count))
            self.ends(d)
        if running:
            self.count(target, range(100 + count), delivery)
            return
        self.again(source)
        WORLD.send(source, frames(100, count))
        with daemon(source, target, delivery, start) as d:
            self.wait_out(d, target, range(100 + count))
            self.ends(d)
        self.count(target, range(100 + count), delivery)

    def test_is_read_from_its_start_when_it_grows_past_the_position_at_once(self):
        for delivery in MODES:
            with self.subTest(delivery):
                self.go(delivery, "latest", 300, True, at_once=True)

    def test_is_read_from_its_start_while_the_stage_runs(self):
        for delivery in MODES:
            for count in (60, 300):
                with self.subTest(delivery=delivery, count=count):
                    self.go(delivery, "latest", count, True)

    def test_is_read_from_its_start_after_the_stage_was_down(self):
        for delivery in MODES:
            for count in (60, 300):
                with self.subTest(delivery=delivery, count=count):
                    self.go(delivery, "earliest", count, False)

    def test_is_read_from_its_start_by_the_next_owner_too(self):
        """Brokers delete the committed offset with the topic, and the first owner reads no message of the new one."""
        for delivery in MODES:
            with self.subTest(delivery):
                source, target = WORLD.topics(1)
                with daemon(source, target, delivery) as d:
                    d.wait_ready()
                    WORLD.send(source, frames(0, 100))
                    self.wait_out(d, target, range(100))
                    self.again(source)
                    eventually("the stage sees it", lambda: "event=topic_recreated" in d.log(), 60)
                    self.ends(d)
                WORLD.send(source, frames(100, 300))
                with daemon(source, target, delivery) as d:
                    self.wait_out(d, target, range(400))
                    self.ends(d)
                self.count(target, range(400), delivery)
