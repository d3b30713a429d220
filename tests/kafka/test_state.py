"""The guard's state survives restarts, crashes, and moves of partitions between instances."""
import itertools
import json
import math
import os
import random
import signal
import time
import unittest

from fixtures import confirmed, numbered, numbers
from harness import Daemon, evenkeel, eventually, librdkafka, messages_of

WORLD = None  # set by run.py
MODES = ("at_least_once", "exactly_once")
RULES = "version: 1\ndefaults: {mode: enforce}\nsegments: [arm]\n"


def state_topic(target, partitions):
    return WORLD.broker.create(target + ".state", partitions, "cleanup.policy", "compact")


def daemon(source, target, delivery, instance="one", every="1s", state=None, assets=None, **more):
    state = f"topic: {state or target + '.state'}, checkpoint_interval: {every}"
    return Daemon(WORLD.folder, WORLD.broker, source, target, assets or WORLD.folder,
                  delivery=delivery, instance=instance, state=state, **more)


def observed(*daemons):
    return sum(d.json("/api/v1/status")["observed_lists"] for d in daemons)


def worded(log, event):
    return [line for line in log.splitlines() if f"event={event} " in line]


class Case(unittest.TestCase):
    def assert_stopped(self, d):
        self.assertEqual(d.stop(), 0, d.log())

    def assert_none_lost(self, count, target, once):
        out = numbers(WORLD.read(target))
        self.assertEqual(sorted(out if once else set(out)), list(range(count)))

    def assert_counted(self, d, count):
        """Check that guard and sketches counted each list once."""
        self.assertEqual(observed(d), count, d.log())
        eventually("the sketches are shown", lambda: d.lists_in_sketches("price") >= count)
        self.assertEqual(d.lists_in_sketches("price"), count)


class StateRestart(Case):
    """A fault on all traffic, found before a restart during the fault, which loses no state."""
    COUNT, FAULT, STOP = 2400, 600, 1600

    @classmethod
    def setUpClass(cls):
        cls.folder = WORLD.path("state")
        os.makedirs(cls.folder)
        for name in ("features.yaml", "profile.ekp"):
            os.symlink(WORLD.path(name), cls.at(name))
        evenkeel("train", "--manifest", cls.at("features.yaml"), "--train", WORLD.path("train.txt"), "--vali",
                 WORLD.path("train.txt"), "--epochs", 1, "-o", cls.at("model.safetensors"))
        evenkeel("generate", "hotel", "-n", cls.COUNT, "--seed", 3, "-f", "messages",
                 f"--fault=price=x100,from={cls.FAULT}", "-o", cls.at("faulty.mp"))
        with open(cls.at("rules.yaml"), "w") as out:
            out.write(RULES)
        cls.lists = [raw for raw, _ in messages_of(cls.at("faulty.mp"))]

    @classmethod
    def at(cls, name):
        return os.path.join(cls.folder, name)

    def run_of(self, source, target, delivery, **more):
        return daemon(source, target, delivery, assets=self.folder, rules=self.at("rules.yaml"),
                      model=self.at("model.safetensors"), **more)

    def memory(self, d):
        """Return the state that a restart must preserve."""
        findings = [(f["finding_id"], f["feature"], f["segment"], f["class"]) for f in d.json("/api/v1/findings")]
        plan = d.json("/api/v1/plan")
        return findings, plan["version"], plan["entries"], observed(d)

    def assert_found_once(self, alerts):
        found = confirmed(json.loads(f.value) for f in WORLD.read(alerts))
        self.assertEqual(len(found), 1, found)

    def goes_on(self, delivery, partitions=1):
        source, target = WORLD.topics(partitions)
        alerts = WORLD.broker.create(target + ".alerts")
        state_topic(target, partitions)
        frames = numbered(self.lists, partitions)
        WORLD.send(source, frames[:self.STOP])
        with self.run_of(source, target, delivery, alerts=alerts) as d:
            d.wait_ready().wait_handled(self.STOP)
            before = self.memory(d)
            self.assertEqual([f[1] for f in before[0]], ["price"], d.log())
            self.assertGreater(before[1], 0)
            self.assert_stopped(d)
        with self.run_of(source, target, delivery, alerts=alerts) as d:
            d.wait_ready()
            self.assertEqual(self.memory(d), before, d.log())
            eventually("the sketches are shown", lambda: d.lists_in_sketches("price") == self.STOP)
            WORLD.send(source, frames[self.STOP:])
            d.wait_handled(self.COUNT - self.STOP)
            self.assert_counted(d, self.COUNT)
            after = self.memory(d)
            self.assertEqual(after[:3], before[:3])
            self.assertEqual(d.metric('evenkeel_state_loss_total{reason="not_found"}'), 0)
            self.assertGreater(d.metric("evenkeel_checkpoints_total"), 0)
            self.assertEqual(d.json("/api/v1/status")["state"]["topic"], target + ".state")
            self.assert_stopped(d)
        out = WORLD.read(target)
        self.assertEqual(sorted(numbers(out)), list(range(self.COUNT)))
        later = [f.header("ek-plan-version") for f in out if int(f.header("n")) >= self.STOP]
        self.assertEqual(set(later), {str(before[1])})
        self.assert_found_once(alerts)

    def test_at_least_once_goes_on_with_findings_plan_sketches_and_counts(self):
        self.goes_on("at_least_once")

    def test_exactly_once_goes_on_with_findings_plan_sketches_and_counts(self):
        self.goes_on("exactly_once")

    def test_a_crash_right_after_a_finding_keeps_it(self):
        """Lists are routed by the same plan before and after the crash."""
        for delivery in MODES:
            with self.subTest(delivery=delivery):
                source, target = WORLD.topics()
                alerts = WORLD.broker.create(target + ".alerts")
                state_topic(target, 1)
                frames = numbered(self.lists)
                WORLD.send(source, frames[:self.STOP])
                with self.run_of(source, target, delivery, alerts=alerts, every="1h") as d:
                    d.wait_ready().wait_handled(self.STOP)
                    before = self.memory(d)
                    self.assertGreater(before[1], 0)
                    eventually("a base was written for it",
                               lambda: d.metric("evenkeel_checkpoints_total") > 0)
                    time.sleep(5)  # a checkpoint for the last event, and its commit
                    d.stop(signal.SIGKILL)
                with self.run_of(source, target, delivery, alerts=alerts, every="1h") as d:
                    d.wait_ready()
                    eventually("what came since was read again", lambda: observed(d) == self.STOP)
                    self.assertEqual(self.memory(d), before, d.log())
                    self.assert_stopped(d)
                self.assert_found_once(alerts)


    def test_an_incident_of_the_past_is_listed_by_the_next_instance(self):
        """It began and recovered before the restart: same times, lists, action and effect."""
        evenkeel("generate", "hotel", "-n", self.COUNT, "--seed", 3, "-f", "messages",
                 f"--fault=price=x100,from={self.FAULT},to=1100", "-o", self.at("passing.mp"))
        lists = [raw for raw, _ in messages_of(self.at("passing.mp"))]
        for delivery in MODES:
            with self.subTest(delivery=delivery):
                source, target = WORLD.topics()
                state_topic(target, 1)
                WORLD.send(source, numbered(lists))
                with self.run_of(source, target, delivery) as d:
                    d.wait_ready().wait_handled(self.COUNT)
                    eventually("it has ended", lambda: d.json("/api/v1/incidents")[0]["state"] == "recovered")
                    one, = before = d.json("/api/v1/incidents")
                    self.assert_stopped(d)
                self.assertEqual((one["feature"], one["segment"], one["unit"], one["ratio"]), ("price", None, "cents", 100))
                self.assertEqual((one["mitigation"], one["mode"], one["times"]), ("route", "enforce", 1))
                self.assertLess(one["from_ms"], one["mitigated_ms"])
                self.assertLess(one["mitigated_ms"], one["to_ms"])
                self.assertAlmostEqual(one["from_list"], self.FAULT, delta=20)
                self.assertTrue(1100 <= one["to_list"] < 1500, one)
                self.assertEqual(one["lists"], one["to_list"] - one["from_list"])
                with self.run_of(source, target, delivery, instance="two") as d:
                    d.wait_ready()
                    self.assertEqual(d.json("/api/v1/incidents"), before, d.log())
                    said, _ = evenkeel("incidents", "--url", f"http://{d.http}")
                    self.assertIn("price    all", said)
                    self.assertIn("scale x100 (cents)", said)
                    self.assert_stopped(d)


class StateKilled(Case):
    RATE, PARTITIONS, KILLS = 700, 3, 3

    def kill_and_start(self, delivery):
        source, target = WORLD.topics(self.PARTITIONS)
        state_topic(target, self.PARTITIONS)
        moments = random.Random(11)
        settings = {"pipeline": "workers: 2", "more": "group.instance.id: one"}  # a restarted static member gets its partitions at once
        with WORLD.endless(source, itertools.cycle(WORLD.hotel(500)), self.RATE, self.PARTITIONS) as stream:
            stream.start()
            for _ in range(self.KILLS):
                with daemon(source, target, delivery, **settings) as d:
                    eventually("it has begun", lambda d=d: d.status().get("consumed"))
                    time.sleep(moments.uniform(0, 1.5))
                    d.stop(signal.SIGKILL)
            count = len(stream.enough())
        with daemon(source, target, delivery, **settings) as d:
            d.wait_ready().wait_drained()
            self.assert_counted(d, count)
            self.assert_stopped(d)
        self.assert_none_lost(count, target, delivery == "exactly_once")

    def test_at_random_moments_each_list_counts_once_with_at_least_once(self):
        self.kill_and_start("at_least_once")

    def test_at_random_moments_each_list_counts_once_with_exactly_once(self):
        self.kill_and_start("exactly_once")


class StateHandOver(Case):
    RATE = 700

    def come_and_go(self, delivery, **settings):
        source, target = WORLD.topics(4)
        state_topic(target, 4)
        with WORLD.endless(source, itertools.cycle(WORLD.hotel(500)), self.RATE, 4) as stream, \
                daemon(source, target, delivery, **settings) as one:
            one.wait_ready()
            stream.start()
            one.wait_handled(600)
            with daemon(source, target, delivery, "two", **settings) as two:
                two.wait_ready()
                eventually("both work", lambda: two.json("/api/v1/status")["forwarded"] > 400)
                self.assert_stopped(two)
            count = len(stream.enough())
            eventually("one has it all", lambda: one.json("/api/v1/status")["partitions"] == 4)
            one.wait_drained()
            self.assert_counted(one, count)
            self.assertEqual(one.json("/api/v1/status")["state"]["losses"], 0, one.log())
            self.assert_stopped(one)
        self.assert_none_lost(count, target, delivery == "exactly_once")
        return one, two

    def test_totals_stay_when_a_second_instance_comes_and_goes(self):
        for delivery in MODES:
            with self.subTest(delivery=delivery):
                self.come_and_go(delivery)

    @unittest.skipIf(librdkafka() < (2, 10), "cooperative rebalances lose commits before librdkafka 2.10")
    def test_totals_stay_with_cooperative_members_too(self):
        for delivery in MODES:
            with self.subTest(delivery=delivery):
                one, two = self.come_and_go(delivery, more="partition.assignment.strategy: cooperative-sticky")
                given = worded(one.log().split("event=service_stopping")[0], "partitions_revoked")
                self.assertEqual(len(given), 2, "more than what moved was given up")
                self.assertEqual(len(worded(two.log(), "restore_completed")), 1)


class StateLost(Case):
    COUNT = 4000

    def test_totals_are_exact_when_one_stood_still_for_longer_than_its_session(self):
        """Another instance gets its partitions; lists counted but not handed over are counted once, by that instance."""
        self.stand_still("at_least_once")

    def test_with_exactly_once_it_aborts_what_was_open_and_goes_on_in_the_same_process(self):
        self.stand_still("exactly_once")

    def stand_still(self, delivery):
        source, target = WORLD.topics(2)
        state_topic(target, 2)
        values = WORLD.hotel(500)
        frames = numbered([values[i % 500] for i in range(self.COUNT)], 2)
        sender = WORLD.sender(source, frames, 400)
        settings = {"session": 6000, "limits": "transaction_timeout: 30s"}
        with daemon(source, target, delivery, **settings) as one:
            one.wait_ready()
            sender.start()
            one.wait_handled(300)
            one.process.send_signal(signal.SIGSTOP)
            with daemon(source, target, delivery, "two", **settings) as two:
                eventually("the other has taken over", lambda: two.status().get("partitions") == 2)
                two.wait_handled(300)
                one.process.send_signal(signal.SIGCONT)
                eventually("both have partitions", lambda: [d.status().get("partitions") for d in (one, two)] == [1, 1])
                self.assertIn("partitions_lost", one.log())
                sender.join()
                one.wait_drained()
                two.wait_drained()
                self.assertEqual(observed(one, two), self.COUNT, one.log() + two.log())
                self.assert_stopped(two)
            eventually("one has it all", lambda: one.json("/api/v1/status")["partitions"] == 2)
            self.assert_counted(one, self.COUNT)
            self.assertEqual(one.json("/api/v1/status")["state"]["losses"], 0, one.log())
            self.assert_stopped(one)
        self.assert_none_lost(self.COUNT, target, delivery == "exactly_once")


class StateRefused(Case):
    def fails(self, words, status, **more):
        source, target = WORLD.topics(2)
        with daemon(source, target, "at_least_once", **more) as d:
            self.assertEqual(d.wait_end(), status, d.log())
            said = d.last_words()
            self.assertIn(words, said)
            return said

    def test_a_topic_that_is_not_there_is_named_with_the_command_that_makes_it(self):
        words = self.fails("is not there", 1, state="nowhere.state")
        self.assertIn("--create --topic nowhere.state --partitions 2", words)

    def test_a_topic_that_is_not_compacted_is_told(self):
        WORLD.broker.create("plain.state", 2)
        self.fails("cleanup.policy=compact", 1, state="plain.state")

    def test_a_state_of_another_manifest_is_refused_in_words_and_it_begins_anew(self):
        source, target = WORLD.topics()
        state_topic(target, 1)
        folder = WORLD.path("other-manifest")
        os.makedirs(folder)
        evenkeel("generate", "hotel", "-n", 500, "--seed", 1, "-f", "letor", "-o", os.path.join(folder, "train.txt"),
                 f"--manifest-out={os.path.join(folder, 'features.yaml')}")
        with open(os.path.join(folder, "features.yaml"), "a") as out:
            out.write("  - {name: one_more, index: 99, role: item}\n")
        evenkeel("profile", "--manifest", os.path.join(folder, "features.yaml"), "--letor",
                 os.path.join(folder, "train.txt"), "-o", os.path.join(folder, "profile.ekp"))
        WORLD.send(source, numbered(WORLD.hotel(500)[:200]))
        with daemon(source, target, "at_least_once") as d:
            d.wait_ready().wait_handled(200)
            self.assert_stopped(d)
        with daemon(source, target, "at_least_once", assets=folder) as d:
            d.wait_ready()
            self.assertEqual(observed(d), 0)
            self.assertIn("of another manifest", worded(d.log(), "state_lost")[0])
            self.assertEqual(d.metric('evenkeel_state_loss_total{reason="refused"}'), 1)
            self.assert_stopped(d)

    def test_messages_that_are_gone_before_they_were_seen_again_are_told(self):
        """The topic was emptied between the state and the committed offset."""
        source, target = WORLD.topics()
        state_topic(target, 1)
        frames = numbered(WORLD.hotel(500))
        WORLD.send(source, frames[:100])
        with daemon(source, target, "at_least_once", every="1h") as d:
            d.wait_ready().wait_handled(100)
            self.assert_stopped(d)
        WORLD.send(source, frames[100:])
        with daemon(source, target, "at_least_once", every="1h") as d:
            d.wait_ready().wait_handled(400)
            d.wait_drained()
            time.sleep(5)  # until the offsets are committed
            d.stop(signal.SIGKILL)
        WORLD.broker.empty(source, 0, 300)
        with daemon(source, target, "at_least_once", every="1h") as d:
            d.wait_ready()
            eventually("the rest was read again", lambda: observed(d) == 300)
            self.assertIn("offsets 100 to 299 are gone", worded(d.log(), "state_lost")[0])
            self.assert_stopped(d)

    def test_a_state_of_a_later_version_ends_it_with_78_and_is_left_as_it_is(self):
        source, target = WORLD.topics()
        state_topic(target, 1)
        WORLD.send(source, numbered(WORLD.hotel(500)[:20]))
        WORLD.broker.commit("group-" + source, source, 10, "ek2;something=new")
        with daemon(source, target, "at_least_once") as d:
            self.assertEqual(d.wait_end(), 78, d.log())
            self.assertIn("of a later version of evenkeel", d.last_words())
        self.assertEqual(WORLD.read(target), [])

    def test_metadata_of_others_is_no_state(self):
        source, target = WORLD.topics()
        state_topic(target, 1)
        WORLD.send(source, numbered(WORLD.hotel(500)[:20]))
        WORLD.broker.commit("group-" + source, source, 10, "by hand")
        with daemon(source, target, "at_least_once") as d:
            d.wait_ready().wait_handled(10)
            self.assertEqual(observed(d), 10)
            self.assert_stopped(d)

    def test_without_a_topic_it_says_once_that_nothing_is_kept(self):
        source, target = WORLD.topics()
        with Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder) as d:
            d.wait_ready()
            self.assertEqual(len(worded(d.log(), "state_disabled")), 1)
            self.assert_stopped(d)


class StateLarge(Case):
    """136 features in 8 segments: time that partitions are without an owner with their state."""
    FEATURES, ITEMS, TRAINING, DISTINCT, COUNT = 136, 8, 200, 200, 5000
    ARMS = "A,B,C,D,E,F,G"

    def lists(self, folder, name, seed, count, first):
        draw = random.Random(seed)
        with open(os.path.join(folder, name), "w") as out:
            for q in range(count):
                level = draw.gauss(0, .1)
                for _ in range(self.ITEMS):
                    values = " ".join(f"{f}:{math.exp(level + draw.gauss(0, .5)):.5g}"
                                      for f in range(1, self.FEATURES + 1))
                    out.write(f"{draw.randrange(3)} qid:{first + q} {values}\n")

    def prepare(self):
        folder = WORLD.path("large")
        os.makedirs(folder)

        def at(name):
            return os.path.join(folder, name)
        with open(at("features.yaml"), "w") as out:
            out.write("version: 1\nfeatures:\n")
            for f in range(1, self.FEATURES + 1):
                out.write(f"  - {{name: f{f}, index: {f}, role: item, positive: true}}\n")
        with open(at("rules.yaml"), "w") as out:
            out.write("version: 1\nsegments: [arm]\n")
        self.lists(folder, "train.txt", 1, self.TRAINING, 1)
        self.lists(folder, "test.txt", 2, self.DISTINCT, 100000)
        evenkeel("profile", "--manifest", at("features.yaml"), "--letor", at("train.txt"), "-o", at("profile.ekp"))
        evenkeel("convert", "--manifest", at("features.yaml"), "--letor", at("test.txt"),
                 f"--segment=arm={self.ARMS}", "--encoding=bin", "-o", at("test.mp"))
        raw = [raw for raw, _ in messages_of(at("test.mp"))]
        values = []
        for i in range(self.COUNT):
            old = str(100000 + i % self.DISTINCT).encode()
            assert raw[i % self.DISTINCT].count(old) == 1
            values.append(raw[i % self.DISTINCT].replace(old, str(200000 + i).encode()))
        return folder, values

    def test_a_planned_hand_over_keeps_what_was_learnt_and_says_how_long_it_took(self):
        folder, values = self.prepare()
        for delivery in MODES:
            with self.subTest(delivery=delivery):
                self.hand_over(folder, values, delivery)

    def hand_over(self, folder, values, delivery):
        source, target = WORLD.topics(2)
        WORLD.broker.set(target, "message.timestamp.type", "LogAppendTime")
        state_topic(target, 2)
        frames = numbered(values, 2)
        with daemon(source, target, delivery, assets=folder, rules=os.path.join(folder, "rules.yaml")) as one:
            one.wait_ready()
            WORLD.send(source, frames[:-400])
            one.wait_drained()
            with daemon(source, target, delivery, "two", assets=folder,
                        rules=os.path.join(folder, "rules.yaml")) as two:
                two.wait_ready()
                eventually("each has one", lambda: one.json("/api/v1/status")["partitions"] == 1)
                sender = WORLD.sender(source, frames[-400:], 100)
                sender.start()
                eventually("two works", lambda: two.json("/api/v1/status")["forwarded"] > 20)
                self.assert_stopped(one)
                sender.join()
                eventually("two has both", lambda: two.json("/api/v1/status")["partitions"] == 2)
                two.wait_drained()
                self.assert_counted_wide(two)
                self.assert_stopped(two)
        self.report(target, one, two, delivery)

    def assert_counted_wide(self, d):
        self.assertEqual(observed(d), self.COUNT, d.log())

    def stall(self, target):
        """Return the longest pause of an output partition under continuous input, in ms."""
        out, longest = WORLD.read(target), 0
        for partition in range(2):
            times = [f.timestamp for f in out
                     if f.partition == partition and int(f.header("n")) >= self.COUNT - 400]
            longest = max([longest, *(b - a for a, b in zip(times, times[1:]))])
        return longest

    def report(self, target, one, two, delivery):
        def moment(log, event):
            return worded(log, event)[-1].split("time=")[1].split(" ")[0]
        print(f"\n    {delivery}: revoked {moment(one.log(), 'partitions_revoked')}, the next owner is ready "
              f"{moment(two.log(), 'restore_completed')}; a partition of the output stood still for {self.stall(target)} ms"
              f"\n    {worded(two.log(), 'restore_completed')[-1].split('event=')[1]}")
