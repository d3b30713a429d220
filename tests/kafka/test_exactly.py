"""Exactly once: a read_committed consumer receives every message once, despite failures."""
import contextlib
import itertools
import os
import random
import signal
import time
import unittest

from fixtures import cloud_event, numbered, numbers
from harness import PROTOCOL, Daemon, eventually, evenkeel, messages_of, promised

WORLD = None  # set by run.py
OWN_HEADERS = {"ek-plan-version", "ek-action"}


def daemon(source, target, instance="one", **more):
    return Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder,
                  delivery="exactly_once", instance=instance, **more)


def messages(count, partitions=1, cut_every=0):
    """Return frames of hotel lists; every `cut`-th lacks its last byte."""
    values = WORLD.hotel(500)
    frames = numbered([values[i % 500] for i in range(count)], partitions)
    for f in frames[cut_every - 1::cut_every] if cut_every else []:
        f.value = f.value[:-1]
    return frames


class Once(unittest.TestCase):
    def transactional_id(self, d):
        return next(line.split("id=")[1].split()[0] for line in d.log().splitlines() if "event=transactional_id_set" in line)

    def assert_once(self, source_frames, target, dead=()):
        """Check that every message is present once, unchanged, in the order of its partition. The transaction of a
        killed instance hides later messages for limits.transaction_timeout."""
        def look():
            found[:] = WORLD.read(target), WORLD.read(target + ".dead")
            return sum(map(len, found)) >= len(source_frames)
        found = []
        with contextlib.suppress(AssertionError):  # missing messages are reported below
            eventually("all came out", look)
        out, letters = found
        self.assertEqual(sorted(numbers(out) + numbers(letters)), list(range(len(source_frames))))
        self.assertEqual(set(numbers(letters)), set(dead))
        for f in out + letters:
            sent = source_frames[int(f.header("n"))]
            self.assertEqual((f.value, f.key, f.timestamp), (sent.value, sent.key, sent.timestamp))
        for f in out:
            self.assertEqual([h for h in f.headers if h[0] not in OWN_HEADERS],
                             source_frames[int(f.header("n"))].headers)
        for partition in {f.partition for f in out}:
            mine = [int(f.header("n")) for f in out if f.partition == partition]
            self.assertEqual(mine, sorted(mine))


class Fenced(Once):
    """The transactional id is lost, as after a suspension or an outage beyond the time-out of transactions."""
    RATE, TIMES = 700, 4

    def test_an_instance_whose_id_was_taken_goes_on_with_a_new_producer(self):
        source, target = WORLD.topics(2)
        values = itertools.cycle(f.value for f in messages(500))
        WORLD.broker.create(target + ".state", 2, "cleanup.policy", "compact")
        alerts = WORLD.broker.create(target + ".alerts")
        with WORLD.endless(source, values, self.RATE, 2) as stream, \
                daemon(source, target, alerts=alerts, pipeline="workers: 2", state=f"topic: {target}.state, checkpoint_interval: 1s") as d:
            d.wait_ready()
            stream.start()
            for i in range(self.TIMES):
                d.wait_handled(300 * (i + 1))
                WORLD.broker.fence(self.transactional_id(d))
                eventually("it has a new producer", lambda i=i: d.log().count("event=transaction_lost ") > i)
                before = d.status()["forwarded"]
                eventually("lists come out again", lambda before=before: d.status().get("forwarded", 0) > before + 100)
            frames = stream.enough()
            d.wait_drained()
            self.assertEqual(d.status()["observed_lists"], len(frames), d.log())
            self.assertEqual(d.stop(), 0, d.log())
        self.assert_once(frames, target)

    def test_an_id_that_is_taken_without_end_ends_the_instance_with_1_and_the_reason(self):
        source, target = WORLD.topics()
        values = itertools.cycle(f.value for f in messages(500))
        with WORLD.endless(source, values, self.RATE) as stream, daemon(source, target) as d:
            d.wait_ready()
            stream.start()
            while d.process.poll() is None:
                WORLD.broker.fence(self.transactional_id(d))
                time.sleep(.2)
            frames = stream.enough()
            self.assertEqual(d.wait_end(), 1, d.log())
            self.assertIn("another instance has the same 'service.instance'", d.last_words())
        with daemon(source, target) as d:
            d.wait_ready().wait_drained()
            self.assertEqual(d.stop(), 0, d.log())
        self.assert_once(frames, target)


class Killed(Once):
    PARTITIONS, CUT, RATE = 3, 50, 2000

    def kill_and_start(self, instance, kills):
        source, target = WORLD.topics(self.PARTITIONS)
        values = itertools.cycle(f.value for f in messages(500, 1, self.CUT))
        moments = random.Random(7)
        with WORLD.endless(source, values, self.RATE, self.PARTITIONS) as stream:
            stream.start()
            for _ in range(kills):
                with daemon(source, target, instance, pipeline="workers: 2") as d:
                    eventually("it has begun", lambda d=d: d.status().get("consumed"))
                    time.sleep(moments.uniform(0, 0.5))
                    d.stop(signal.SIGKILL)
            frames = stream.enough()
        with daemon(source, target, instance, pipeline="workers: 2") as d:
            d.wait_ready().wait_drained()
            self.assertEqual(d.stop(), 0, d.log())
        self.assert_once(frames, target, range(self.CUT - 1, len(frames), self.CUT))

    def test_at_random_moments_it_loses_and_repeats_nothing(self):
        self.kill_and_start("one", 3)

    def test_without_a_name_the_next_instance_loses_and_repeats_nothing(self):
        self.kill_and_start(None, 1)

    def test_what_was_not_committed_was_never_there(self):
        """Outputs, dead letters and offsets are in one transaction, which a kill aborts."""
        source, target = WORLD.topics()
        frames = messages(21, cut_every=5)
        WORLD.send(source, frames[:1])
        with daemon(source, target, input="commit_interval: 4m", limits="transaction_timeout: 10m") as d:
            d.wait_ready().wait_handled(1)
            WORLD.send(source, frames[1:])
            eventually("the rest is scored", lambda: d.json("/api/v1/status")["observed_lists"] == 17)
            d.stop(signal.SIGKILL)
        self.assertEqual(numbers(WORLD.read(target)), [0])
        self.assertEqual(WORLD.read(target + ".dead"), [])
        with daemon(source, target) as d:
            d.wait_ready().wait_handled(20)
            self.assertEqual(d.stop(), 0, d.log())
        self.assert_once(frames, target, range(4, 21, 5))


class Together(Once):
    COUNT = 6000

    def test_a_second_instance_comes_and_goes(self):
        source, target = WORLD.topics(4)
        frames = messages(self.COUNT, 4)
        sender = WORLD.sender(source, frames, 1200)
        with daemon(source, target) as one, daemon(source, target, "two") as two:
            one.wait_ready()
            two.wait_ready()
            sender.start()
            eventually("both work", lambda: one.json("/api/v1/status")["forwarded"] > 100 and
                       two.json("/api/v1/status")["forwarded"] > 100)
            self.assertEqual(two.stop(), 0, two.log())
            sender.join()
            eventually("one has it all", lambda: one.json("/api/v1/status")["partitions"] == 4)
            one.wait_drained()
            self.assertEqual(one.stop(), 0, one.log())
        self.assert_once(frames, target)

    def test_one_that_stood_still_gives_up_what_it_had_and_goes_on(self):
        """It loses its partitions while stopped, and does not commit the messages in flight."""
        source, target = WORLD.topics(2)
        frames = messages(self.COUNT, 2)
        sender = WORLD.sender(source, frames, 400)
        limits = "transaction_timeout: 60s"
        with daemon(source, target, limits=limits) as one:
            one.wait_ready()
            sender.start()
            one.wait_handled(300)
            one.process.send_signal(signal.SIGSTOP)
            with daemon(source, target, "two", limits=limits) as two:
                two.wait_ready()
                eventually("the other has taken over",
                           lambda: two.json("/api/v1/status")["partitions"] == 2)
                one.process.send_signal(signal.SIGCONT)
                sender.join()
                eventually("both have partitions", lambda: one.ready() and two.ready())
                one.wait_drained()
                two.wait_drained()
                self.assertEqual((one.stop(), two.stop()), (0, 0), one.log() + two.log())
        self.assert_once(frames, target)

    @unittest.skipIf(PROTOCOL != "classic", "with the consumer protocol the broker rejects the second")
    def test_a_twin_of_the_same_name_ends_the_first_with_a_sentence(self):
        source, target = WORLD.topics(2)  # one for each, so that both have offsets to commit
        frames = messages(2000, 2)
        WORLD.send(source, frames[:1000])
        with daemon(source, target) as first:
            first.wait_ready().wait_handled(1000)
            with daemon(source, target) as twin:
                eventually("the twin runs", lambda: "started" in twin.log())
                sender = WORLD.sender(source, frames[1000:], 50)  # the first has offsets to commit for 20 s
                sender.start()
                self.assertEqual(first.wait_end(), 78)
                sender.join()
                self.assertIn("service.instance", first.log())
                eventually("the twin has it all", lambda: twin.json("/api/v1/status")["partitions"] == 2)
                twin.wait_drained()
                self.assertEqual(twin.stop(), 0, twin.log())
        self.assert_once(frames, target)


class Lowered(Once):
    COUNT = 1300

    def test_a_lowered_limit_of_the_output_costs_a_few_aborts(self):
        """Each message fits, but batches of several do not."""
        source, target = WORLD.topics()
        frames = messages(self.COUNT)
        largest = max(len(f.value) for f in frames) + 600
        with daemon(source, target) as d:
            d.wait_ready()
            WORLD.send(source, frames[:100])
            d.wait_handled(100)
            WORLD.broker.set(target, "max.message.bytes", str(largest))
            WORLD.send(source, frames[100:])
            d.wait_handled(self.COUNT)
            d.wait_drained()
            self.assertLessEqual(d.metric('evenkeel_transactions_total{result="aborted"}'), 6, d.log())
            self.assertIn("event=batches_reduced ", d.log())
            self.assertEqual(d.status()["dead_letters"], 0)
            self.assertEqual(d.stop(), 0, d.log())
        self.assert_once(frames, target)


class Refused(Once):
    def test_a_message_of_any_size_comes_out_or_becomes_a_dead_letter(self):
        """Byte by byte around the output's limit, as the broker measures it."""
        for delivery in ("exactly_once", "at_least_once"):
            with self.subTest(delivery=delivery):
                source, target = WORLD.topics()
                narrow = WORLD.broker.create(target + "-narrow", 1, "max.message.bytes", 30000)
                WORLD.broker.create(narrow + ".dead")
                frames = messages(200)
                for i, f in enumerate(frames):
                    size = len(f.value) + len(f.key) + 100
                    f.headers.append(("padding", bytes(30000 + i - 150 - size)))
                WORLD.send(source, frames)
                with Daemon(WORLD.folder, WORLD.broker, source, narrow, WORLD.folder, delivery=delivery) as d:
                    d.wait_ready().wait_handled(200)
                    self.assertGreater(d.metric("evenkeel_headers_omitted_total"), 0)  # ours withhold no message
                    self.assertEqual(d.stop(), 0, d.log())
                dead = numbers(WORLD.read(narrow + ".dead"))
                self.assertTrue(0 < len(dead) < 200, dead)
                self.assert_once(frames, narrow, dead)
                self.assertNotIn("transaction_aborted", d.log())


class Steady(Once):
    def test_idle_for_longer_than_a_transaction_may_take(self):
        source, target = WORLD.topics()
        frames = messages(200)
        WORLD.send(source, frames[:100])
        with daemon(source, target, limits="transaction_timeout: 1s") as d:
            d.wait_ready().wait_handled(100)
            time.sleep(3)
            WORLD.send(source, frames[100:])
            d.wait_handled(200)
            self.assertEqual(d.stop(), 0, d.log())
        self.assert_once(frames, target)

    def test_a_broker_that_crashes_in_the_middle_voids_nothing_and_lists_count_once(self):
        source, target = WORLD.topics(2)
        frames = messages(4000, 2)
        WORLD.send(source, frames[:2000])
        with daemon(source, target,
                    limits="in_flight_messages: 200, transaction_timeout: 60s") as d:
            d.wait_ready().wait_handled(300)
            WORLD.broker.down(crash=True)
            time.sleep(1)
            self.assertIsNone(d.process.poll())
            WORLD.broker.up()
            WORLD.send(source, frames[2000:])
            d.wait_drained()
            self.assertEqual(d.json("/api/v1/status")["observed_lists"], 4000)
            self.assertEqual(d.stop(), 0, d.log())
        self.assert_once(frames, target)

    def test_a_stop_under_load_takes_less_than_five_seconds(self):
        source, target = WORLD.topics(3)
        frames = messages(6000, 3)
        sender = WORLD.sender(source, frames, 3000)
        with daemon(source, target, service="shutdown_timeout: 1s") as d:
            d.wait_ready()
            sender.start()
            d.wait_handled(1500)
            self.assertEqual(d.stop(seconds=promised(5)), 0, d.log())
        with daemon(source, target) as d:
            sender.join()
            d.wait_drained()
            self.assertEqual(d.stop(), 0, d.log())
        self.assert_once(frames, target)


class ATransactionThatOutlivesItsTime(Once):
    def test_while_the_broker_stands_still_is_voided_and_comes_again(self):
        """The program continues or exits, depending on which side detects the timeout first, and on whether the
        broker takes a join whose response timed out for that of another member; a supervisor restarts it."""
        source, target = WORLD.topics(2)
        frames = messages(3000, 2)
        sender = WORLD.sender(source, frames, 400)
        with daemon(source, target, limits="transaction_timeout: 3s") as d:
            d.wait_ready()
            sender.start()
            d.wait_handled(400)
            WORLD.broker.signal(signal.SIGSTOP)
            time.sleep(8)
            WORLD.broker.signal(signal.SIGCONT)
            sender.join()
            time.sleep(d.LAG_SECONDS)  # until the reported lag is current
            eventually("it ends, or goes on", lambda: d.process.poll() is not None or
                       d.get("/ready")[0] == 200 and d.status().get("lag") == 0)
            if d.process.poll() is not None:
                self.assertEqual(d.process.poll(), 1, d.log())
                self.assertRegex(d.last_words(), "limits.transaction_timeout|a later join has taken the group.instance.id")
                d.start()
            d.wait_ready().wait_drained()
            self.assertEqual(d.stop(), 0, d.log())
        self.assert_once(frames, target)


def findings_of(d):
    """Return the events but those of the input, which stands still with the instance."""
    return [e for e in d.json("/api/v1/events?n=1000") if e["event"] != "input"]


class Alerts(Once):
    """Findings of prices in cents from list 1,000 on."""
    COUNT = 2500

    def faulty(self):
        path = WORLD.path("cents.mp")
        if not os.path.exists(path):
            evenkeel("generate", "hotel", "-n", self.COUNT, "--seed", 3, "-f", "messages",
                     "--fault=price=x100,from=1000", "-o", path)
        return numbered([raw for raw, _ in messages_of(path)])

    def test_are_told_once_although_their_transaction_is_aborted(self):
        """A member stopped beyond its session timeout has its transaction aborted."""
        source, target = WORLD.topics()
        alerts = WORLD.broker.create(target + ".alerts")
        frames = self.faulty()
        WORLD.send(source, frames[:1])
        with daemon(source, target, alerts=alerts, session=2000, more="heartbeat.interval.ms: 300",
                    input="commit_interval: 60s", limits="transaction_timeout: 120s") as d:
            d.wait_ready().wait_handled(1)
            WORLD.send(source, frames[1:])
            eventually("all is scored", lambda: d.json("/api/v1/status")["observed_lists"] == self.COUNT)
            events = findings_of(d)
            self.assertIn("confirmed", [e.get("state") for e in events])
            self.assertEqual(d.json("/api/v1/status")["forwarded"], 1, "it was committed too early")
            d.process.send_signal(signal.SIGSTOP)
            time.sleep(4 if PROTOCOL == "classic" else 8)  # longer than the session, which broker.sh sets to 6 s
            d.process.send_signal(signal.SIGCONT)
            d.wait_handled(self.COUNT).wait_drained()
            self.assertGreaterEqual(d.metric('evenkeel_transactions_total{result="aborted"}'), 1)
            self.assertEqual(d.json("/api/v1/status")["observed_lists"], self.COUNT)
            self.assertEqual(findings_of(d), events)
            self.assertEqual(d.stop(), 0, d.log())
        self.assert_once(frames, target)
        self.assertEqual([e for e in (cloud_event(self, f) for f in WORLD.read(alerts)) if e["event"] != "input"], events)
