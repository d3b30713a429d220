"""Rebalances: graceful, after crashes, with static members, and with slow workers."""
import collections
import re
import signal
import threading
import time
import unittest

from fixtures import numbers
from harness import PROTOCOL, Daemon, eventually, kafka, librdkafka, promised
from test_exactly import Once, messages

WORLD = None  # set by run.py
MODES = ("at_least_once", "exactly_once")
COOPERATIVE = "partition.assignment.strategy: cooperative-sticky"
SOON = "heartbeat.interval.ms: 300"  # delay until a member detects joins and leaves


class Group:
    """Instances of one group with their own pair of topics, and their messages."""

    def __init__(self, delivery, partitions, **common):
        self.source, self.target = WORLD.topics(partitions)
        self.delivery, self.partitions, self.common = delivery, partitions, common
        self.frames, self.failure = [], None
        self.full, self.feeder = threading.Event(), None

    def instance(self, name, **own):
        return Daemon(WORLD.folder, WORLD.broker, self.source, self.target, WORLD.folder,
                      delivery=self.delivery, instance=name, **{"more": SOON, **self.common, **own})

    def send(self, count, rate=0):
        have = len(self.frames)
        self.frames = messages(have + count, self.partitions)
        WORLD.send(self.source, self.frames[have:], rate)

    def _feed(self, rate):
        try:
            while not self.full.is_set():
                self.send(rate // 2, rate)
        except AssertionError as failure:
            self.failure = failure

    def feed(self, rate):
        """Send in the background until stopped."""
        self.feeder = threading.Thread(target=self._feed, args=(rate,))
        self.feeder.start()
        return self

    def enough(self):
        self.full.set()
        self.feeder.join()
        if self.failure:
            raise self.failure

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.full.set()
        if self.feeder:
            self.feeder.join()

    def times(self):
        """Return how often each message was forwarded, after all were. The transaction of a killed instance hides
        later messages for limits.transaction_timeout."""
        def look():
            times = collections.Counter(numbers(WORLD.read(self.target) + WORLD.read(self.target + ".dead")))
            self.missing = sorted(set(range(len(self.frames))) - set(times))
            return not self.missing and times
        try:
            return eventually("all came out", look)
        except AssertionError:
            raise AssertionError(f"{len(self.missing)} of {len(self.frames)} are lost: {self.missing[:20]}") from None


def partitions(d):
    return d.json("/api/v1/status")["partitions"]


def passed(d):
    return d.json("/api/v1/status")["forwarded"]


def told(d, event):
    """Return the partitions in these log lines, in order."""
    return [int(p) for p in re.findall(rf"event={event} topic=\S+ partition=(\d+)", d.log())]


def held(d):
    """Return the partitions that it has by its log."""
    have = set()
    for event, partition in re.findall(r"event=partitions_(assigned|revoked|lost) topic=\S+ partition=(\d+)", d.log()):
        (have.add if event == "assigned" else have.discard)(int(partition))
    return have


class Hands(Once):
    def assert_all(self, group, twice=0):
        """Check that all were forwarded unchanged, with no more duplicates than the mode allows."""
        times = group.times()
        repeated = sum(times.values()) - len(times)
        print(f"\n    {group.delivery}: {len(times)} in, {repeated} twice", end="")
        if group.delivery == "exactly_once":
            self.assert_once(group.frames, group.target)
        else:
            self.assertLessEqual(repeated, twice)
        return repeated

    def end(self, *daemons):
        for d in daemons:
            self.assertEqual(d.stop(), 0, d.log())


class FromOneToThreeAndBack(Hands):
    RATE, PARTITIONS = 600, 6

    def go(self, group):
        """Run one instance, then three, of which one stops and one is killed. Return the assignments of each."""
        with group, group.instance("one") as one:
            one.wait_ready()
            group.feed(self.RATE)
            one.wait_handled(200)
            with group.instance("two") as two, group.instance("three") as three:
                everybody = (one, two, three)
                eventually("all three have a share", lambda: [partitions(d) for d in everybody] == [2, 2, 2])
                before = [passed(d) for d in everybody]
                eventually("all three work",
                           lambda: all(passed(d) > b + 100 for d, b in zip(everybody, before)))
                self.end(two)
                three.stop(signal.SIGKILL)
                eventually("one has it all", lambda: partitions(one) == self.PARTITIONS)
                group.enough()
            one.wait_drained()
            self.end(one)
        return one, two, three

    def test_nothing_is_lost_under_load(self):
        for delivery in MODES:
            with self.subTest(delivery):
                group = Group(delivery, self.PARTITIONS, session=3000)
                self.go(group)
                self.assert_all(group, twice=2 * self.RATE)

    @unittest.skipIf(librdkafka() < (2, 12) or kafka() < "4", "the consumer protocol needs librdkafka 2.12 and Kafka 4")
    def test_nothing_is_lost_with_the_consumer_protocol(self):
        """The broker decides about assignments and sessions (KIP-848)."""
        for delivery in MODES:
            with self.subTest(delivery):
                group = Group(delivery, self.PARTITIONS, session=None, more="group.protocol: consumer")
                self.go(group)
                self.assert_all(group, twice=2 * self.RATE)

    @unittest.skipIf(librdkafka() < (2, 12) or kafka() < "4", "the consumer protocol needs librdkafka 2.12 and Kafka 4")
    def test_a_killed_instance_starts_again_with_the_consumer_protocol(self):
        """Its old member, whose session lasts, does not keep it out."""
        for delivery in MODES:
            with self.subTest(delivery):
                group = Group(delivery, 2, session=None, more="group.protocol: consumer")
                with group, group.instance("one") as one:
                    group.send(100)
                    one.wait_ready().wait_handled(100)
                    one.stop(signal.SIGKILL)
                    one.start().wait_ready()
                    group.send(100)
                    one.wait_handled(100).wait_drained()
                    self.end(one)
                self.assert_all(group, twice=100)

    @unittest.skipIf(librdkafka() < (2, 10), "cooperative rebalances lose commits before librdkafka 2.10")
    def test_cooperative_members_keep_what_they_have(self):
        for delivery in MODES:
            with self.subTest(delivery):
                group = Group(delivery, self.PARTITIONS, session=3000)
                common = f"{SOON}, {COOPERATIVE}"
                group.instance = lambda name, make=group.instance: make(name, more=common)
                one, two, three = self.go(group)
                self.assert_all(group, twice=2 * self.RATE)
                self.assertNotIn("librdkafka_outdated", one.log())
                moved = told(two, "partitions_assigned") + told(three, "partitions_assigned")
                self.assertLess(len(set(moved)), self.PARTITIONS)
                at_work = one.log().split("event=service_stopping")[0]
                given = [int(p) for p in re.findall(r"event=partitions_revoked topic=\S+ partition=(\d+)", at_work)]
                self.assertLessEqual(set(given), set(moved))


@unittest.skipIf(librdkafka() < (2, 12) or kafka() >= "4", "it needs a librdkafka with the consumer protocol, and an older Kafka")
class ABrokerWithoutTheConsumerProtocol(Hands):
    def test_ends_the_instance_with_1_and_the_property(self):
        for delivery in MODES:
            with self.subTest(delivery):
                group = Group(delivery, 1, session=None, more="group.protocol: consumer")
                with group.instance("one") as one:
                    self.assertEqual(one.wait_end(), 1, one.log())
                    self.assertIn("reject 'group.protocol: consumer', which needs Kafka 4", one.last_words())


class WithANameOfItsOwn(Hands):
    """Static members: group.instance.id."""

    def test_a_restart_within_the_session_moves_no_partition(self):
        for delivery in MODES:
            with self.subTest(delivery):
                group = Group(delivery, 4, session=120000)
                with group, group.instance("a", more=f"{SOON}, group.instance.id: a") as a, \
                        group.instance("b", more=f"{SOON}, group.instance.id: b") as b:
                    eventually("both have a share", lambda: [partitions(d) for d in (a, b)] == [2, 2])
                    settled = len(told(b, "partitions_revoked"))
                    mine = held(a)
                    group.feed(400)
                    a.wait_handled(200)
                    self.end(a)
                    a.start()
                    a.wait_ready().wait_handled(200)
                    self.assertEqual(held(a), mine)
                    self.assertEqual(len(told(b, "partitions_revoked")), settled, b.log())
                    group.enough()
                    a.wait_drained()
                    b.wait_drained()
                    self.end(a, b)
                self.assert_all(group)

    @unittest.skipIf(PROTOCOL != "classic", "with the consumer protocol the broker rejects the second")
    def test_a_twin_of_the_same_name_ends_the_first_with_a_sentence(self):
        for delivery in MODES:
            with self.subTest(delivery):
                group = Group(delivery, 2)
                with group, group.instance("first", more=f"{SOON}, group.instance.id: same") as first:
                    first.wait_ready()
                    group.feed(400)
                    first.wait_handled(200)
                    with group.instance("twin", more=f"{SOON}, group.instance.id: same") as twin:
                        self.assertEqual(first.wait_end(), 78, first.log())
                        self.assertIn("group.instance.id 'same'", first.last_words())
                        twin.wait_ready().wait_handled(200)
                        group.enough()
                        twin.wait_drained()
                        self.end(twin)
                self.assert_all(group, twice=1000)


@unittest.skipIf(librdkafka() < (2, 10), "other protocols give up all partitions")
class AnOpenTransaction(Hands):
    def kill_holding(self, group, one, two):
        """Kill an instance with offsets in open transactions. Return its partitions, whose offsets the other waits for."""
        eventually("both have a share", lambda: [partitions(d) for d in (one, two)] == [2, 2])
        group.feed(200)
        two.wait_handled(100)
        two.stop(signal.SIGKILL)
        theirs = held(two)
        for p in theirs:
            WORLD.broker.hold(one.group, group.source, p, f"held-{group.source}-{p}")
        eventually("it waits for their offsets", lambda: "position_pending" in one.log())
        return theirs

    def end_transactions(self, group, held_back):
        for p in held_back:
            WORLD.broker.fence(f"held-{group.source}-{p}")

    def test_of_a_killed_instance_holds_back_only_the_partitions_that_it_had(self):
        """Their committed offsets are not known until it ends."""
        group = Group("exactly_once", 4, session=3000)
        with group, group.instance("one") as one, group.instance("two") as two:
            held_back = self.kill_holding(group, one, two)
            before = passed(one)
            eventually("its own partitions continue", lambda: passed(one) > before + 200)
            self.assertEqual(partitions(one), 2, one.log())
            self.end_transactions(group, held_back)
            eventually("one has it all", lambda: partitions(one) == 4)
            group.enough()
            one.wait_drained()
            self.end(one)
        self.assert_all(group)

    def test_of_a_killed_instance_lets_go_of_partitions_that_are_not_open_yet(self):
        group = Group("exactly_once", 4, session=3000)
        with group, group.instance("one") as one, group.instance("two") as two:
            held_back = self.kill_holding(group, one, two)
            with group.instance("three") as three:
                eventually("it is a member", lambda: "partitions_assigned" in three.log() or "position_pending" in three.log())
                self.end_transactions(group, held_back)
                eventually("both have a share", lambda: [partitions(d) for d in (one, three)] == [2, 2])
                group.enough()
                one.wait_drained()
                three.wait_drained()
                self.end(one, three)
        self.assert_all(group)


class TheOwnerOfAnOpenTransaction(Hands):
    """The metadata of committed offsets names the owner. A broker aborts a held transaction only after this test."""

    def begin(self, group, one, two):
        eventually("both have a share", lambda: [partitions(d) for d in (one, two)] == [1, 1])
        group.feed(200)
        one.wait_handled(100)
        two.wait_handled(100)

    def take_over(self, group, one, two):
        """Leave the offsets of the second in a transaction of its own id, and wait until the first has its partition."""
        (partition,) = held(two)
        WORLD.broker.hold(one.group, group.source, partition, self.transactional_id(two))
        self.wait_fenced(one, two)

    def wait_fenced(self, one, two):
        eventually("one has it all", lambda: partitions(one) == 2)
        owner = self.transactional_id(two).split(one.group + "-")[1]
        eventually("it fenced the owner", lambda: re.search(f'event=owner_fenced message="{owner}"', one.log()))

    def finish(self, group, *daemons):
        group.enough()
        for d in daemons:
            d.wait_drained()
        self.end(*daemons)
        self.assert_all(group)

    def test_is_fenced_when_it_was_killed(self):
        for name in ("two", None):
            with self.subTest(name):
                group = Group("exactly_once", 2, session=30000)
                with group, group.instance("one") as one, group.instance(name) as two:
                    self.begin(group, one, two)
                    two.stop(signal.SIGKILL)
                    self.take_over(group, one, two)
                    self.finish(group, one)

    def test_is_fenced_when_it_was_killed_before_it_sent_offsets(self):
        """Its outputs hide those of the next owner."""
        group = Group("exactly_once", 2, session=30000)
        with group, group.instance("one") as one, group.instance("two") as two:
            self.begin(group, one, two)
            two.stop(signal.SIGKILL)
            WORLD.broker.hold_output(group.target, self.transactional_id(two))
            self.wait_fenced(one, two)
            self.finish(group, one)

    def test_is_fenced_when_it_stood_still_and_goes_on_with_a_new_producer(self):
        group = Group("exactly_once", 2, session=30000)
        with group, group.instance("one") as one, group.instance("two") as two:
            self.begin(group, one, two)
            two.process.send_signal(signal.SIGSTOP)
            self.take_over(group, one, two)
            two.process.send_signal(signal.SIGCONT)
            eventually("both have a share", lambda: [partitions(d) for d in (one, two)] == [1, 1])
            eventually("it has a new producer", lambda: "event=transaction_lost" in two.log())
            self.finish(group, one, two)

    def test_is_not_fenced_while_it_is_a_member(self):
        """However long its transaction takes."""
        group = Group("exactly_once", 4, session=30000)
        with group, group.instance("one") as one, group.instance("two") as two:
            eventually("both have a share", lambda: [partitions(d) for d in (one, two)] == [2, 2])
            group.feed(200)
            one.wait_handled(200)
            two.wait_handled(200)
            ids = [f"held-{group.source}-{p}" for p in range(4)]
            for p in range(4):
                WORLD.broker.hold(one.group, group.source, p, ids[p])
            with group.instance("three") as three:
                eventually("it found the owner", lambda: "event=owner_awaited" in three.log())
                for name in ids:
                    WORLD.broker.fence(name)
                eventually("all have a share", lambda: all(partitions(d) for d in (one, two, three)))
                self.finish(group, one, two, three)
        for d in (one, two, three):
            self.assertNotIn("event=owner_fenced", d.log())
            self.assertNotIn("event=transaction_lost", d.log())


class OneThatStoodStill(Hands):
    """Stopped beyond its session timeout while another has its partitions. (With exactly once: test_exactly.)"""
    RATE = 400

    def test_sends_again_at_most_what_it_had(self):
        group = Group("at_least_once", 2, session=3000)
        with group, group.instance("one") as one:
            one.wait_ready()
            group.feed(self.RATE)
            one.wait_handled(300)
            one.process.send_signal(signal.SIGSTOP)
            with group.instance("two") as two:
                eventually("the other has taken over", lambda: partitions(two) == 2)
                two.wait_handled(300)
                one.process.send_signal(signal.SIGCONT)
                eventually("both have partitions", lambda: [partitions(d) for d in (one, two)] == [1, 1])
                self.assertIn("partitions_lost", one.log())
                group.enough()
                one.wait_drained()
                two.wait_drained()
                self.end(one, two)
        # With the consumer protocol the session is longer, and the client learns its end from the broker.
        self.assert_all(group, twice=(2 if PROTOCOL == "classic" else 10) * self.RATE)


class SlowWorkers(Hands):
    COUNT, SLOW_MS = 150, 100

    def test_that_take_longer_than_the_group_waits_for_a_poll_lose_no_partition(self):
        groups = [Group(delivery, 1, session=10000) for delivery in MODES]
        daemons, began = [], time.monotonic()
        try:
            for group in groups:
                group.send(self.COUNT)
                daemons.append(group.instance("slow", more=f"{SOON}, max.poll.interval.ms: 10000",
                                              slow_ms=self.SLOW_MS).start())
            for d in daemons:
                d.wait_ready().wait_handled(self.COUNT)
                self.assertGreater(time.monotonic() - began, 10)
                self.assertIn("evenkeel_rebalances_total 1\n", d.get("/metrics")[1])
            self.end(*daemons)
        finally:
            for d in daemons:
                d.__exit__()
        for group in groups:
            self.assert_all(group)

    def test_leave_to_the_next_owner_what_they_have_not_begun(self):
        for delivery in MODES:
            with self.subTest(delivery):
                group = Group(delivery, 2, pipeline="workers: 1")
                group.send(4 * self.COUNT)
                with group.instance("slow", slow_ms=self.SLOW_MS, service="shutdown_timeout: 2s") as slow:
                    slow.wait_ready().wait_handled(2)
                    with group.instance("fast") as fast:
                        eventually("both have a share", lambda: [partitions(d) for d in (slow, fast)] == [1, 1])
                        fast.wait_drained()
                        # A transaction that the rebalance aborts leaves nothing to wait for.
                        self.assertRegex(slow.log(), "drain_timeout" if delivery == "at_least_once" else "drain_timeout|transaction_aborted")
                        self.assertNotIn("event=owner_fenced", fast.log())
                        began = time.monotonic()
                        self.assertEqual(slow.stop(), 0, slow.log())
                        self.assertLess(time.monotonic() - began, promised(5))
                        eventually("the other has it all", lambda: partitions(fast) == 2)
                        fast.wait_drained()
                        self.end(fast)
                self.assert_all(group, twice=4)


@unittest.skipIf(PROTOCOL != "classic" or librdkafka() >= (2, 10), "without a protocol a member is taken for one of range")
class GroupIsGone(Hands):
    COUNT = 60

    def test_a_member_whose_group_knows_no_protocol_any_more_ends_in_order(self):
        group = Group("at_least_once", 1)
        group.send(self.COUNT)
        d = group.instance("late", slow_ms=1)
        d.environment["NO_PROTOCOL"] = "1"
        with d:
            d.wait_ready().wait_handled(self.COUNT)
            self.end(d)
        self.assert_all(group)
