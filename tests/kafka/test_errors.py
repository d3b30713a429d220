"""Errors of brokers, topics and ACLs are reported by name, and no message is lost."""
import json
import threading
import time
import unittest

from fixtures import numbered, numbers
from harness import Daemon, eventually, promised

WORLD = None  # set by run.py


def secure():
    return WORLD.other("secure", nodes=1, secure=True)


class Flow:
    """Messages through one daemon with its own topics."""

    def __init__(self, broker=None, partitions=1, keeps_state=False, names=None, **more):
        self.broker = broker or WORLD.broker
        self.source, self.target = WORLD.topics(partitions, self.broker, names)
        if keeps_state:
            self.state = self.broker.create(self.target + ".state", partitions, "cleanup.policy", "compact")
            more["state"] = f"topic: {self.state}, checkpoint_interval: 1s"
        self.partitions, self.sent, self.delivery = partitions, 0, more.get("delivery")
        self.daemon = Daemon(WORLD.folder, self.broker, self.source, self.target, WORLD.folder, **more)

    def send(self, count, rate=0):
        values = WORLD.hotel(100)
        frames = numbered([values[i % 100] for i in range(self.sent + count)], self.partitions)
        WORLD.send(self.source, frames[self.sent:], rate, self.broker)
        self.sent += count

    def out(self):
        return numbers(WORLD.read(self.target, self.broker))


class Rights(unittest.TestCase):
    """A user with all rights except one."""
    NEEDS = "secure"

    def rights(self, flow):
        return {"input": f"Read topic {flow.source}", "group": f"Read group {flow.daemon.group}",
                "output": f"Write topic {flow.target}", "dead": f"Write topic {flow.target}.dead"}

    def flow(self, which, **more):
        """Return a flow with all rights."""
        flow = Flow(secure(), brokers=secure().at("sasl_plaintext"), group=f"right-{which}-{time.monotonic_ns()}",
                    more="security.protocol: sasl_plaintext, sasl.mechanism: PLAIN, sasl.username: alice, "
                    f"sasl.password: {secure().PASSWORDS['alice']}", **more)
        secure().allow("alice", *self.rights(flow).values())
        if flow.delivery == "exactly_once":
            secure().allow_transactions("alice")
        return flow

    def right(self, which, flow):
        return self.rights(flow)[which.split()[0]]

    def sentence(self, which, flow):
        operation, kind, name = self.right(which, flow).split()
        return f"no right: user 'alice' needs {operation} on {kind} '{name}'"

    def assert_ends(self, which, flow):
        with self.subTest(which):
            self.assertEqual(flow.daemon.wait_end(), 1, flow.daemon.log())
            self.assertIn(self.sentence(which, flow), flow.daemon.last_words())


class ARightThatIsMissing(Rights):
    def begin(self):
        """Create a flow for each missing right. With exactly once the transaction reports it."""
        once = {"delivery": "exactly_once", "instance": "one"}
        return {**{which: self.flow(which) for which in ("input", "group", "output", "dead")},
                **{which + " once": self.flow(which, **once) for which in ("input", "group", "output", "dead")}}

    def test_ends_the_program_at_its_start_with_its_name(self):
        flows = {which: flow for which, flow in self.begin().items() if flow.delivery != "exactly_once"}  # checked by the same request
        for which, flow in flows.items():
            secure().revoke("alice", self.right(which, flow))
            flow.daemon.start()
        try:
            for which, flow in flows.items():
                self.assert_ends(which, flow)
        finally:
            for flow in flows.values():
                flow.daemon.__exit__()

    def test_that_is_taken_away_ends_it_and_a_restart_with_it_goes_on_where_it_was(self):
        flows = self.begin()
        try:
            for flow in flows.values():
                flow.send(20)
                flow.daemon.start()
            for which, flow in flows.items():
                flow.daemon.wait_ready().wait_handled(20)
                secure().revoke("alice", self.right(which, flow))
            for which, flow in flows.items():
                frames = numbered(WORLD.hotel(20) + [b"no message"])
                WORLD.send(flow.source, frames, broker=secure())
            for which, flow in flows.items():
                self.assert_ends(which, flow)
                secure().allow("alice", self.right(which, flow))
            for flow in flows.values():
                # if only the last message is left, the input is not ready: none of its messages can be read
                WORLD.send(flow.source, numbered(WORLD.hotel(20)), broker=secure())
                flow.daemon.start()
            for which, flow in flows.items():
                with self.subTest(which):
                    try:
                        flow.daemon.wait_drained()
                    except AssertionError as failure:
                        raise AssertionError(f"{failure}\n{flow.daemon.status()}\n{flow.daemon.log()}") from None
                    self.assertEqual(flow.daemon.stop(), 0, flow.daemon.log())
                    self.assertGreaterEqual(len(flow.out()), 40)
                    self.assertEqual(set(flow.out()), set(range(20)))
        finally:
            for flow in flows.values():
                flow.daemon.__exit__()


class ARightOnTheStateThatIsMissing(Rights):
    def rights(self, flow):
        return {**super().rights(flow), "read": f"Read topic {flow.state}", "write": f"Write topic {flow.state}"}

    def test_stops_no_message_without_write_and_ends_the_program_without_read(self):
        """Without Write messages flow without checkpoints; without Read a restart cannot continue from them."""
        flows = {which: self.flow(which, keeps_state=True) for which in ("read", "write")}
        read, write = flows.values()
        secure().revoke("alice", self.right("write", write))
        for flow in flows.values():
            flow.send(20)
        with read.daemon as d, write.daemon as w:
            d.wait_ready().wait_handled(20)
            self.assertEqual(d.stop(), 0, d.log())
            w.wait_ready().wait_handled(20)
            eventually("it is degraded", lambda: write.state in (json.loads(w.get("/ready")[1] or "{}").get("degraded") or ""))
            self.assertEqual(w.get("/ready")[0], 200)
            self.assertEqual(w.stop(), 0, w.log())
        secure().revoke("alice", self.right("read", read))
        with read.daemon:
            self.assert_ends("read", read)
        for which, flow in flows.items():
            secure().allow("alice", self.right(which, flow))
            with flow.daemon as d:
                d.wait_drained()
                if which == "read":
                    self.assertEqual(d.json("/api/v1/status")["observed_lists"], 20)
                self.assertEqual(d.stop(), 0, d.log())
            self.assertEqual(set(flow.out()), set(range(20)))


class ATopicThatGoes(unittest.TestCase):
    def ends_for_its_output(self, d, flow):
        self.assertEqual(d.wait_end(), 1, d.log())
        self.assertIn(f"topic '{flow.target}'", d.last_words())

    def goes_on_with_another(self, flow):
        """Recreate the output; the rest of the input is forwarded."""
        WORLD.broker.create(flow.target)
        with flow.daemon as d:
            d.wait_drained()
            self.assertEqual(d.stop(), 0, d.log())

    def test_output_is_named_and_nothing_is_lost_when_it_is_made_again(self):
        flow = Flow(output="topic.metadata.propagation.max.ms: 1000, topic.metadata.refresh.interval.ms: 1000")
        flow.send(20)
        with flow.daemon as d:
            d.wait_ready().wait_handled(20)
            WORLD.broker.delete(flow.target)

            def ended():
                """A busy broker may accept some lists before the deletion."""
                flow.send(20)
                time.sleep(1)
                return d.process.poll() is not None
            eventually("it ends", ended)
            self.ends_for_its_output(d, flow)
        self.goes_on_with_another(flow)
        self.assertLessEqual(set(range(flow.sent - 20, flow.sent)), set(flow.out()))

    def test_output_of_which_the_client_knows_first_makes_no_dead_letters(self):
        flow = Flow(output="topic.metadata.propagation.max.ms: 500, topic.metadata.refresh.interval.ms: 500")
        flow.send(20)
        with flow.daemon as d:
            d.wait_ready().wait_handled(20)
            WORLD.broker.delete(flow.target)
            time.sleep(5)  # several retries, without any write
            flow.send(20)
            self.ends_for_its_output(d, flow)
        self.goes_on_with_another(flow)
        self.assertEqual(sorted(set(flow.out())), list(range(20, 40)))
        self.assertEqual(WORLD.read(flow.target + ".dead"), [])

    def test_input_is_read_from_its_start_when_it_is_made_again(self):
        flow = Flow(more="topic.metadata.refresh.interval.ms: 1000, metadata.max.age.ms: 2000")
        flow.send(20)
        with flow.daemon as d:
            d.wait_ready().wait_handled(20)
            WORLD.broker.delete(flow.source)
            eventually("it is missed", lambda: f'"missing_topics":["{flow.source}"]' in d.get("/ready")[1])
            WORLD.broker.create(flow.source)
            flow.sent = 0
            flow.send(10)
            eventually("it is read", lambda: len(flow.out()) >= 30)
            self.assertEqual(d.stop(), 0, d.log())
        self.assertEqual(sorted(flow.out()), sorted([*range(20), *range(10)]))


class ADeadLetterTopicThatTakesLess(unittest.TestCase):
    """Smaller than the message's limit: no message ends the program."""
    MODES = ("at_least_once", "exactly_once")
    ROOM, MORE = 300000, bytes(400000)
    CUT = {10: "headers", 20: "value", 30: "value,key", 40: "headers,value", 41: "headers,value,key"}

    def frames(self, cut):
        frames = numbered(WORLD.hotel(60))
        for n, left in cut.items():
            f = frames[n]
            f.headers += [("padding", self.MORE)] * ("headers" in left)
            f.value = self.MORE if "value" in left else f.value
            f.key = self.MORE if "key" in left else b"key"
            f.headers *= "headers" in left  # without headers none are dropped
        return frames

    def assert_cut(self, flow, frames, cut):
        self.assertEqual(sorted(flow.out()), [n for n in range(60) if n not in cut])
        if flow.delivery == "exactly_once":
            self.assertEqual(flow.out(), sorted(flow.out()))
        letters = {int(f.header("ek-source-offset")): f for f in WORLD.read(flow.target + ".dead")}
        self.assertEqual({n: f.header("ek-truncated") for n, f in letters.items()}, cut)
        for n, f in letters.items():
            self.assertEqual(f.header("ek-source-topic"), flow.source)
            self.assertTrue(f.header("ek-error"))
            self.assertEqual((f.value, f.key, f.timestamp), (
                None if "value" in cut[n] else frames[n].value, None if "key" in cut[n] else frames[n].key, frames[n].timestamp))

    def narrow(self, flow, name="max.message.bytes", value=ROOM):
        for topic in (flow.target, flow.target + ".dead"):
            WORLD.broker.set(topic, name, value)

    def assert_goes_on(self, d, flow, frames, cut):
        d.wait_handled(len(frames))
        self.assertEqual(d.metric("evenkeel_truncated_messages_total"), len(cut))
        self.assertEqual(d.stop(), 0, d.log())
        self.assert_cut(flow, frames, cut)
        self.assertIn('event=dead_letter_truncated', d.log())

    def test_gets_as_much_of_it_as_it_takes(self):
        for delivery in self.MODES:
            with self.subTest(delivery):
                flow, frames = Flow(delivery=delivery), self.frames(self.CUT)
                self.narrow(flow)
                WORLD.send(flow.source, frames)
                with flow.daemon as d:
                    self.assert_goes_on(d, flow, frames, self.CUT)
                self.assertNotIn("transaction_aborted", d.log())

    def test_gets_it_so_when_only_the_broker_knows(self):
        """The limits were read before they were lowered."""
        for delivery in self.MODES:
            with self.subTest(delivery):
                cut = self.CUT if delivery == "at_least_once" else {41: self.CUT[41]}
                flow, frames = Flow(delivery=delivery), self.frames(cut)
                with flow.daemon as d:
                    d.wait_ready()
                    self.narrow(flow)
                    WORLD.send(flow.source, frames)
                    self.assert_goes_on(d, flow, frames, cut)

    def test_and_no_time_so_old_gets_it_with_the_time_of_now(self):
        for delivery in self.MODES:
            with self.subTest(delivery):
                flow, frames = Flow(delivery=delivery), numbered(WORLD.hotel(6))
                now = int(time.time() * 1000)
                for n, f in enumerate(frames):
                    f.timestamp = 1000 if n == 2 else now
                self.narrow(flow, "message.timestamp.before.max.ms", 3600000)
                WORLD.send(flow.source, frames)
                with flow.daemon as d:
                    d.wait_handled(6)
                    self.assertEqual(d.stop(), 0, d.log())
                self.assertEqual(sorted(flow.out()), [n for n in range(6) if n != 2])
                letter, = WORLD.read(flow.target + ".dead")
                self.assertEqual([letter.header(name) for name in ("n", "ek-truncated", "ek-source-time")], ["2", "time", "1000"])
                self.assertEqual(letter.value, frames[2].value)
                self.assertGreaterEqual(letter.timestamp, now)


class AnOutputThatStandsStill(unittest.TestCase):
    def test_for_longer_than_the_group_waits_for_a_poll_costs_no_partition(self):
        """A producer that blocks for 8 seconds before a send, with at most 50 messages in flight."""
        flow = Flow(more="max.poll.interval.ms: 6000", limits="in_flight_messages: 50", output="linger.ms: 8000")
        flow.send(75)
        with flow.daemon as d:
            d.wait_ready()
            eventually("reading stops", lambda: "event=input_paused" in d.log())
            d.wait_handled(75)
            self.assertIn("evenkeel_rebalances_total 1\n", d.get("/metrics")[1])
            self.assertEqual(d.stop(), 0, d.log())
        self.assertEqual(flow.out(), list(range(75)))


class AStopUnderLoad(unittest.TestCase):
    COUNT = 20000

    def test_takes_less_than_five_seconds_and_loses_and_repeats_nothing(self):
        flow = Flow(partitions=2, service=f"shutdown_timeout: {promised(2)}s")
        flow.send(self.COUNT)
        with flow.daemon as d:
            d.wait_ready().wait_handled(500)
            self.assertEqual(d.stop(seconds=promised(5)), 0, d.log())
        before = len(flow.out())
        self.assertGreaterEqual(before, 500)
        self.assertLess(before, self.COUNT, "it was through before it was stopped")
        with flow.daemon as d:
            d.wait_drained()
            self.assertEqual(d.stop(), 0, d.log())
        out = sorted(flow.out())
        self.assertEqual(set(out), set(range(self.COUNT)))
        if "drain_timeout" not in flow.daemon.log():  # occurs on a very busy machine
            self.assertEqual(out, list(range(self.COUNT)))


class BrokersInTurn(unittest.TestCase):
    NEEDS = "cluster"

    def test_a_rolling_restart_of_three_loses_nothing(self):
        cluster = WORLD.other("cluster", nodes=3)
        flow = Flow(cluster, partitions=3)
        stop = threading.Event()

        def feed():
            while not stop.is_set():
                flow.send(50)
                stop.wait(0.3)
        sender = threading.Thread(target=feed)
        with flow.daemon as d:
            d.wait_ready()
            sender.start()
            try:
                cluster.roll()
            finally:
                stop.set()
                sender.join()
            d.wait_drained()
            self.assertEqual(d.stop(), 0, d.log())
        out = flow.out()
        self.assertEqual(set(out), set(range(flow.sent)))
        print(f"\n    {flow.sent} in, {len(out)} out, {len(out) - flow.sent} of them twice")
