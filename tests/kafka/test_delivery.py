"""Every input message is forwarded byte for byte and in order, or dead-lettered with a reason."""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import unittest

from fixtures import numbered, numbers
from harness import EVENKEEL, HERE, WAIT, Daemon, evenkeel, eventually, promised

import test_fleet

WORLD = None  # set by run.py
READ_CAPTURE = os.path.join(os.path.dirname(HERE), "format", "read_capture.py")
OWN_HEADERS = {"ek-plan-version", "ek-action"}


def daemon(source, target, **more):
    return Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, **more)


def in_order(test, frames):
    """Check that numbers increase in each partition."""
    for partition in {f.partition for f in frames}:
        mine = [int(f.header("n")) for f in frames if f.partition == partition]
        test.assertEqual(mine, sorted(mine))


class ABrokerThatIsAwayAtStart(unittest.TestCase):
    def test_is_waited_for(self):
        WORLD.broker.down()
        source, target = WORLD.names()
        with daemon(source, target) as d:
            eventually("/ping answers", lambda: d.get("/ping") == (200, "pong\n"))
            self.assertEqual(d.get("/ready")[0], 503)
            WORLD.broker.up()
            WORLD.topics(names=(source, target))
            WORLD.send(source, numbered(WORLD.hotel(10)))
            d.wait_ready().wait_handled(10)
            self.assertEqual(d.stop(), 0, d.log())
            self.assertEqual(len(WORLD.read(target)), 10)


class PassThrough(unittest.TestCase):
    def test_is_byte_for_byte_the_input(self):
        """Without a plan: value, key, time, headers, partition and order; arrays, bin and maps."""
        source, target = WORLD.topics(3)
        values = sum((WORLD.hotel(500, kind) for kind in ("array", "bin", "map")), [])
        frames = numbered(values, 3)
        for i, f in enumerate(frames):
            f.headers += [("trace", b"\x00\xff" * (i % 5)), ("none", None), ("trace", b"again")]
            if i % 7 == 0:
                f.key = None
            if i % 11 == 0:
                f.key = b""
        WORLD.send(source, frames)
        with daemon(source, target) as d:
            d.wait_ready().wait_handled(len(frames))
            self.assertIn(f'evenkeel_messages_total{{result="passed"}} {len(frames)}\n',
                          d.get("/metrics")[1])
            self.assertEqual(d.stop(), 0, d.log())
        out = WORLD.read(target)
        self.assertEqual(len(out), len(frames))
        in_order(self, out)
        for f in out:
            sent = frames[int(f.header("n"))]
            self.assertEqual((f.value, f.key, f.timestamp, f.partition),
                             (sent.value, sent.key, sent.timestamp, sent.partition))
            self.assertEqual([h for h in f.headers if h[0] not in OWN_HEADERS], sent.headers)
            self.assertEqual((f.header("ek-plan-version"), f.header("ek-action")), ("0", "pass"))
        self.assertEqual(WORLD.read(target + ".dead"), [])

    def test_keys_decide_where_the_partitions_differ(self):
        source, target = WORLD.topics(2)
        wide = WORLD.broker.create(target + "-wide", 5)
        WORLD.broker.create(wide + ".dead")
        frames = numbered(WORLD.hotel(300), 2)
        for i, f in enumerate(frames):
            f.key = f"k{i % 20}".encode()
        WORLD.send(source, frames)
        with daemon(source, wide) as d:
            d.wait_ready().wait_handled(300)
            self.assertEqual(d.stop(), 0, d.log())
        place = {}
        out = WORLD.read(wide)
        self.assertEqual(len(out), 300)
        for f in out:
            self.assertEqual(place.setdefault(f.key, f.partition), f.partition)
        self.assertGreater(len(set(place.values())), 2)


class JsonMessages(unittest.TestCase):
    def test_pass_as_they_came_and_what_is_no_json_becomes_a_dead_letter(self):
        source, target = WORLD.topics()
        good = WORLD.hotel(300, "json")
        bad = [good[0][:-1], good[0] + b"}", b"[]", b"{}", b"\xff", WORLD.hotel(10)[0], b"",
               good[0].replace(b'"score":0', b'"score":NaN', 1)]
        frames = numbered(good[:100] + bad + good[100:])
        WORLD.send(source, frames)
        with daemon(source, target, message="encoding: json") as d:
            d.wait_ready().wait_handled(len(frames))
            self.assertEqual(d.stop(), 0, d.log())
        out, dead = WORLD.read(target), WORLD.read(target + ".dead")
        self.assertEqual([f.value for f in out], good)
        in_order(self, out)
        self.assertEqual(numbers(dead), list(range(100, 100 + len(bad))))
        self.assertEqual({f.header("ek-error-class") for f in dead}, {"format"})
        self.assertIn("no JSON", dead[0].header("ek-error"))
        self.assertEqual(dead[3].header("ek-error"), "items: missing")
        self.assertIn(f'event=dead_letter_sent topic={source} partition=', d.log())
        self.assertIn(' class=format message="items: missing"\n', d.log())


class WhatCannotBeRead(unittest.TestCase):
    LIMIT = 64 << 10

    def bad(self):
        good = WORLD.hotel(400)[0]
        return [(b"", "format"), (None, "format"), (b"not msgpack at all", "format"),
                (good[:-1], "format"), (good + b"\x00", "format"), (b"\xc1" * 40, "format"),
                (b"\x80", "format"), (b"\xdf\xff\xff\xff\xff", "format"),
                (b"\x93" + b"\xff" * 300, "format"),
                (good + bytes(self.LIMIT), "limit")]

    def test_goes_to_the_dead_letters_and_the_rest_flows_on(self):
        source, target = WORLD.topics()
        bad, good = self.bad(), WORLD.hotel(400)
        values, reasons = [], {}
        for i, value in enumerate(good):
            if i % 8 == 0:
                raw, reason = bad[i // 8 % len(bad)]
                reasons[len(values)] = reason
                values.append(raw)
            values.append(value)
        frames = numbered(values)
        WORLD.send(source, frames)
        with daemon(source, target, limits="message_bytes: 64KiB") as d:
            d.wait_ready().wait_handled(len(frames))
            metrics = d.get("/metrics")[1]
            eventually("what the log left out of the burst is told, though nothing follows",
                       lambda: " event=dead_letter_sent suppressed=" in d.log())
            self.assertEqual(d.stop(), 0, d.log())
        out, dead = WORLD.read(target), WORLD.read(target + ".dead")
        self.assertEqual(len(out) + len(dead), len(frames))
        self.assertEqual(numbers(out), [n for n in range(len(frames)) if n not in reasons])
        self.assertEqual(numbers(dead), sorted(reasons))
        for f in dead:
            n = int(f.header("n"))
            sent = frames[n]
            self.assertEqual((f.value, f.key, f.timestamp), (sent.value, sent.key, sent.timestamp))
            self.assertEqual(f.header("ek-source-topic"), source)
            self.assertEqual(f.header("ek-source-partition"), "0")
            self.assertEqual(f.header("ek-source-offset"), str(n))
            self.assertEqual(f.header("ek-error-class"), reasons[n], f.header("ek-error"))
            self.assertTrue(f.header("ek-error"))
        for reason in set(reasons.values()):
            count = sum(r == reason for r in reasons.values())
            self.assertIn(f'evenkeel_dead_letters_total{{reason="{reason}"}} {count}\n', metrics)


class FailOpen(unittest.TestCase):
    """By default what cannot be read is forwarded, and copied to the dead letters if there are any."""

    def check(self, **more):
        source, target = WORLD.topics()
        good = WORLD.hotel(120, "json")
        values = [v[:-1] if i % 4 == 1 else v for i, v in enumerate(good)]
        bad = [i for i in range(120) if i % 4 == 1]
        frames = numbered(values)
        WORLD.send(source, frames)
        with daemon(source, target, message="encoding: json", undecodable="forward", **more) as d:
            d.wait_ready().wait_handled(120).wait_drained()
            metrics = d.get("/metrics")[1]
            self.assertEqual(d.stop(), 0, d.log())
        out, dead = WORLD.read(target), WORLD.read(target + ".dead")
        self.assertEqual([(f.value, f.key, f.timestamp) for f in out], [(f.value, f.key, f.timestamp) for f in frames])
        self.assertEqual([n for n, f in enumerate(out) if f.header("ek-action") == "undecodable"], bad)
        self.assertIn(f"evenkeel_undecodable_forwarded_total {len(bad)}\n", metrics)
        self.assertIn('evenkeel_messages_total{result="passed"} 120\n', metrics)
        self.assertIn('evenkeel_messages_total{result="dead_lettered"} 0\n', metrics)
        return bad, frames, dead, metrics

    def copies(self, delivery):
        bad, frames, dead, metrics = self.check(delivery=delivery)
        self.assertEqual(sorted(numbers(dead)), bad)
        for f in dead:
            self.assertEqual(f.value, frames[int(f.header("n"))].value)
            self.assertEqual(f.header("ek-error-class"), "format")
            self.assertIn("JSON", f.header("ek-error"))
        self.assertIn(f'evenkeel_dead_letters_total{{reason="format"}} {len(bad)}\n', metrics)

    def test_forwards_and_copies_at_least_once(self):
        self.copies("at_least_once")

    def test_forwards_and_copies_exactly_once(self):
        self.copies("exactly_once")

    def test_forwards_without_a_dead_letter_topic(self):
        self.assertEqual(self.check(dead=False)[2], [])

    def test_an_optional_field_that_cannot_be_read_withholds_nothing(self):
        source, target = WORLD.topics()
        values = [re.sub(rb'"time_ms":\d+', b'"time_ms":"2026-11-23T10:00:00+"', v) for v in WORLD.hotel(50, "json")]
        self.assertIn(b"10:00", values[0])
        WORLD.send(source, numbered(values))
        with daemon(source, target, message="encoding: json") as d:
            d.wait_ready().wait_handled(50)
            self.assertEqual(d.status()["observed_lists"], 50)
            self.assertIn('evenkeel_unreadable_fields_total{field="time"} 50\n', d.get("/metrics")[1])
            self.assertIn("time_ms: text, expected a number, or a time such as", json.dumps(d.status()))
            self.assertIn("unreadable", evenkeel("status", "--url", f"http://{d.http}")[0])
            self.assertEqual(d.stop(), 0, d.log())
        self.assertEqual([f.value for f in WORLD.read(target)], values)


class DeadLetters(unittest.TestCase):
    def test_can_be_looked_at_and_sent_again_once_the_cause_is_mended(self):
        """As in docs/dead-letters.md: a capture has the reason, and a second instance reprocesses the fixed messages."""
        source, target = WORLD.topics()
        WORLD.broker.create(source + ".dead")
        values = WORLD.hotel(30, "json")
        values[7] = values[7][:-1]
        frames = numbered(values)
        WORLD.send(source, frames)
        with daemon(source, target, message="encoding: msgpack") as d:  # the wrong one
            d.wait_handled(30)  # it is not ready, for it has read none
            self.assertEqual(d.get("/ready")[0], 503)
            self.assertEqual(d.stop(), 0, d.log())
        said = evenkeel("capture", "-b", WORLD.broker.address, "-t", target + ".dead", "--until-end",
                        "-o", WORLD.path("dead.ekc"))[1]
        self.assertIn(f'dead letters, format: 30, the last from "{source}, partition 0, offset 29": "', said)
        with daemon(source, target, message="encoding: json") as d:
            d.wait_ready()
            with daemon(target + ".dead", source, message="encoding: json") as again:
                again.wait_ready().wait_handled(30)
                self.assertEqual(again.stop(), 0, again.log())
            d.wait_handled(29)
            self.assertEqual(d.stop(), 0, d.log())
        out = WORLD.read(target)
        self.assertEqual([f.value for f in out], values[:7] + values[8:])
        self.assertEqual([f.timestamp for f in out], [f.timestamp for f in frames[:7] + frames[8:]])
        self.assertEqual(len(WORLD.read(target + ".dead")), 30)
        self.assertEqual(numbers(WORLD.read(source + ".dead")), [7])


class AnOutputThatTakesLess(unittest.TestCase):
    def test_gets_what_it_can_and_the_rest_become_dead_letters(self):
        """The broker rejects whole batches; only messages too large by themselves are dead-lettered."""
        source, target = WORLD.topics()
        narrow = WORLD.broker.create(target + "-narrow", 1, "max.message.bytes", 12000)
        WORLD.broker.create(narrow + ".dead")
        frames = numbered(WORLD.hotel(200))
        large = {20, 21, 150}
        for n in large:
            frames[n].headers.append(("padding", bytes(20000)))
        WORLD.send(source, frames)
        with daemon(source, narrow) as d:
            d.wait_ready().wait_handled(200)
            self.assertEqual(d.stop(), 0, d.log())
        dead = WORLD.read(narrow + ".dead")
        self.assertEqual(set(numbers(dead)), large)
        self.assertEqual({f.header("ek-error-class") for f in dead}, {"delivery"})
        for f in dead:
            self.assertEqual(f.value, frames[int(f.header("n"))].value)
        self.assertEqual(set(numbers(WORLD.read(narrow))), set(range(200)) - large)

    def test_gets_lists_as_they_came_that_do_not_fit_with_other_scores(self):
        """One-digit scores become long ones: no list is lost to a route or counted against it."""
        source, target = WORLD.topics()
        narrow = WORLD.broker.create(target + "-narrow", 1, "max.message.bytes", 12000)
        WORLD.broker.create(narrow + ".dead")
        rules = WORLD.path("narrow-rules.yaml")
        with open(rules, "w") as out:
            out.write("version: 1\npins: [{feature: price, action: route, reason: a test}]\n")
        values = []
        for message in map(json.loads, WORLD.hotel(200, "json")):
            for item in message["items"]:
                item["score"] = 7
            if len(message["items"]) >= 25:
                values.append(json.dumps(message).encode())
        frames = numbered(values[:10])
        large = {3, 8}
        for n in large:
            frames[n].headers.append(("padding", bytes(11700 - len(values[n]))))
        WORLD.send(source, frames)
        with daemon(source, narrow, rules=rules, model=test_fleet.model(), message="encoding: json") as d:
            d.wait_ready().wait_handled(10)
            self.assertEqual(d.metric("evenkeel_score_failures_total"), len(large))
            self.assertEqual(d.log().count("event=score_failed"), len(large))
            self.assertEqual(d.stop(), 0, d.log())
        self.assertEqual(WORLD.read(narrow + ".dead"), [])
        for f in WORLD.read(narrow):
            n = int(f.header("n"))
            self.assertEqual(f.header("ek-action"), "pass" if n in large else "routed")
            self.assertEqual(f.value == values[n], n in large)


class Restarts(unittest.TestCase):
    COUNT = 6000
    PATIENT = "shutdown_timeout: 60s"  # however slow the machine, all in flight comes out

    def run_through(self, number, partitions=2, pipeline=""):
        """Send at a rate, stop and restart the daemon halfway. Return the output."""
        source, target = WORLD.topics(partitions)
        values = WORLD.hotel(500)
        frames = numbered([values[i % 500] for i in range(self.COUNT)], partitions)
        sender = WORLD.sender(source, frames, 3000)
        with daemon(source, target, pipeline=pipeline, service=self.PATIENT) as d:
            d.wait_ready()
            sender.start()
            d.wait_handled(self.COUNT // 4)
            status = d.stop(number)
            self.assertEqual(status, 0 if number == signal.SIGTERM else -number, d.log())
        with daemon(source, target, pipeline=pipeline) as d:
            sender.join()
            d.wait_drained()
            self.assertEqual(d.stop(), 0, d.log())
        out = WORLD.read(target)
        self.assertEqual(set(numbers(out)), set(range(self.COUNT)))
        return out

    def test_a_clean_stop_in_the_stream_loses_and_repeats_nothing(self):
        out = self.run_through(signal.SIGTERM)
        self.assertEqual(len(out), self.COUNT)
        in_order(self, out)

    def test_a_kill_in_the_stream_loses_nothing(self):
        out = self.run_through(signal.SIGKILL)
        self.assertGreaterEqual(len(out), self.COUNT)
        first = {}
        for f in out:
            first.setdefault(int(f.header("n")), f)
        in_order(self, list(first.values()))

    SEVERAL = "workers: 3, batch_size: 16"

    def test_a_clean_stop_of_several_workers_loses_and_repeats_nothing(self):
        out = self.run_through(signal.SIGTERM, 5, self.SEVERAL)
        self.assertEqual(len(out), self.COUNT)
        in_order(self, out)

    def test_a_kill_of_several_workers_loses_nothing(self):
        first = {}
        for f in self.run_through(signal.SIGKILL, 5, self.SEVERAL):
            first.setdefault(int(f.header("n")), f)
        in_order(self, list(first.values()))

    def test_a_second_instance_comes_and_goes_without_loss(self):
        source, target = WORLD.topics(4)
        values = WORLD.hotel(500)
        frames = numbered([values[i % 500] for i in range(self.COUNT)], 4)
        sender = WORLD.sender(source, frames, 1200)
        with daemon(source, target) as one, daemon(source, target, service=self.PATIENT) as two:
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
        out = WORLD.read(target)
        self.assertEqual(sorted(numbers(out)), list(range(self.COUNT)))
        in_order(self, out)


class BrokerAwayInTheMiddle(unittest.TestCase):
    def test_nothing_is_lost_and_the_input_is_held_back(self):
        source, target = WORLD.topics()
        values = WORLD.hotel(500)
        frames = numbered([values[i % 500] for i in range(3000)])
        WORLD.send(source, frames[:1500])
        with daemon(source, target, limits="in_flight_messages: 200") as d:
            d.wait_ready().wait_handled(300)
            WORLD.broker.down(crash=True)
            time.sleep(1)
            self.assertIsNone(d.process.poll())
            self.assertLessEqual(d.json("/api/v1/status")["in_flight"], 200)
            WORLD.broker.up()
            WORLD.send(source, frames[1500:])
            d.wait_drained()
            self.assertEqual(d.stop(), 0, d.log())
        self.assertEqual(set(numbers(WORLD.read(target))), set(range(3000)))

    def test_stopping_without_a_broker_takes_less_than_five_seconds(self):
        """With messages in flight, and offsets to commit."""
        for delivery in ("at_least_once", "exactly_once"):
            with self.subTest(delivery):
                source, target = WORLD.topics()
                frames = numbered([WORLD.hotel(500)[i % 500] for i in range(6000)])
                WORLD.send(source, frames[:1000])
                with daemon(source, target, delivery=delivery, instance="one", service="shutdown_timeout: 1s") as d:
                    d.wait_ready().wait_handled(1000)
                    sender = WORLD.sender(source, frames[1000:], 2000)
                    sender.start()
                    d.wait_handled(1500)
                    WORLD.broker.signal(signal.SIGSTOP)
                    try:
                        time.sleep(0.5)
                        began = time.monotonic()
                        self.assertEqual(d.stop(), 0, d.log())
                        self.assertLess(time.monotonic() - began, promised(5))
                    finally:
                        WORLD.broker.signal(signal.SIGCONT)
                    sender.join()
                with daemon(source, target, delivery=delivery, instance="one") as d:
                    d.wait_ready().wait_drained()
                    self.assertEqual(d.stop(), 0, d.log())
                self.assertEqual(set(numbers(WORLD.read(target))), set(range(6000)))


class Http(unittest.TestCase):
    def test_the_endpoints_answer(self):
        source, target = WORLD.topics()
        WORLD.send(source, numbered(WORLD.hotel(100)))
        with daemon(source, target, http="request_timeout: 300s") as d:
            d.wait_ready().wait_handled(100)
            self.assertEqual(d.get("/ready")[0], 200)
            self.assertEqual(d.json("/ready"), {"ready": True, "partitions": 1,
                                                "missing_topics": [], "degraded": None, "reason": None, "input": "ok", "conditions": []})
            self.assertRegex(d.json("/version")["version"], r"^\d+\.\d+\.\d+$")
            status = d.json("/api/v1/status")
            self.assertEqual(status["service"], "kafka-test")
            self.assertEqual((status["observed_lists"], status["forwarded"]), (100, 100))
            self.assertEqual(d.json("/api/v1/findings"), [])
            self.assertEqual(d.json("/api/v1/plan")["version"], 0)
            self.assertEqual(d.json("/api/v1/events?n=5"), [])
            self.assertEqual(d.get("/api/v1/events?n=x")[0], 400)
            self.assertEqual(d.get("/nothing")[0], 404)
            metrics = d.get("/metrics")[1]
            for name in ("evenkeel_build_info{", "evenkeel_observed_lists_total 100",
                         "evenkeel_plan_version 0", "evenkeel_processing_duration_seconds_count 100",
                         "evenkeel_routes_detected_total 0", "evenkeel_routes_enforced_total 0"):
                self.assertIn("\n" + name, metrics)
            eventually("the lag is shown", lambda: f'evenkeel_consumer_lag{{topic="{source}",'
                       'partition="0"} 0\n' in d.get("/metrics")[1])
            self.assert_read_only(d)
            self.assert_unfinished_requests_do_not_block(d)
            self.assertEqual(d.stop(), 0, d.log())

    def raw(self, d, text):
        host, port = d.http.split(":")
        link = socket.create_connection((host, int(port)), timeout=WAIT)
        link.sendall(text)
        return link

    def assert_read_only(self, d):
        with self.raw(d, b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n") as link:
            self.assertIn(b" 405 ", link.recv(1000))

    def assert_unfinished_requests_do_not_block(self, d):
        links = [self.raw(d, b"GET /metrics HTTP/1.1\r\nHos") for _ in range(10)]
        self.assertEqual(d.get("/ping")[0], 200)
        for link in links:
            link.close()


class WhatCannotWork(unittest.TestCase):
    def test_a_missing_output_topic_ends_the_daemon_with_its_name(self):
        source, _ = WORLD.topics()
        with daemon(source, "nowhere") as d:
            self.assertEqual(d.wait_end(), 1)
            self.assertIn("topic 'nowhere' is not there", d.log())

    def test_missing_input_topics_are_named_until_they_come(self):
        source, target = WORLD.topics()
        with daemon(f"{source}, {source}-late", target, group="late") as d:
            eventually("the missing topic is named", lambda: d.get("/ready") == (
                503, '{"ready":false,"partitions":1,"missing_topics":["%s-late"],"degraded":null,'
                '"reason":"topic_missing","input":"no_data","conditions":[]}\n' % source))
            self.assertEqual(d.log().count(f"topic_missing topic={source}-late"), 1, d.log())
            WORLD.broker.create(source + "-late")
            d.wait_ready()
            eventually("it is read", lambda: d.json("/ready")["partitions"] == 2)
            self.assertEqual(d.stop(), 0, d.log())

    def test_a_wrong_configuration_ends_with_78_and_its_place(self):
        path = WORLD.path("wrong.yaml")
        with open(path, "w") as out:
            out.write("input: {brokers: b, topic: x}\n")
        _, said = evenkeel("run", "-c", path, status=78)
        self.assertIn("wrong.yaml:1:21: unknown key 'topic', did you mean 'topics'?", said)

    def test_a_second_signal_ends_at_once(self):
        source, target = WORLD.topics()
        WORLD.send(source, numbered(WORLD.hotel(10)))
        with daemon(source, target, service="shutdown_timeout: 30s") as d:
            d.wait_ready().wait_handled(10)
            WORLD.broker.down()
            d.process.send_signal(signal.SIGTERM)
            time.sleep(0.7)
            began = time.monotonic()
            d.process.send_signal(signal.SIGINT)
            self.assertIn(d.wait_end(), (0, 128 + signal.SIGINT))
            self.assertLess(time.monotonic() - began, promised(10))
            WORLD.broker.up()


class ForgedHeaders(unittest.TestCase):
    """Headers of our names that come with a message describe another stage, or nothing."""
    FORGED = [("ek-plan-version", b"99"), ("ek-action", b"routed"), ("ek-truncated", b"value"), ("ek-repair", b"price=x0.01")]

    def test_leave_with_one_pair_of_ours_and_all_others(self):
        for delivery in ("at_least_once", "exactly_once"):
            for undecodable in ("forward", "dead_letter"):
                with self.subTest(delivery=delivery, undecodable=undecodable):
                    source, target = WORLD.topics()
                    frames = numbered(WORLD.hotel(60))
                    for i, f in enumerate(frames):
                        f.headers += [*self.FORGED, ("trace", b"x"), *self.FORGED][:i % 10]
                        f.value = f.value[:-1] if i % 20 == 19 else f.value
                    WORLD.send(source, frames)
                    with daemon(source, target, delivery=delivery, undecodable=undecodable) as d:
                        d.wait_ready().wait_handled(len(frames)).wait_drained()
                        self.assertEqual(d.stop(), 0, d.log())
                    out = WORLD.read(target)
                    self.assertEqual(len(out), 60 if undecodable == "forward" else 57)
                    ours = {name for name, _ in self.FORGED}
                    for f in out:
                        sent = frames[int(f.header("n"))]
                        self.assertEqual([h for h in f.headers if h[0] not in ours], [h for h in sent.headers if h[0] not in ours])
                        word = b"undecodable" if int(f.header("n")) % 20 == 19 else b"pass"
                        self.assertEqual([h for h in f.headers if h[0] in ours], [("ek-plan-version", b"0"), ("ek-action", word)])


class Topics(unittest.TestCase):
    def topics(self, config, *words, status=0):
        done = subprocess.run([EVENKEEL, "topics", "-c", config, *words], capture_output=True, text=True, timeout=WAIT, check=False)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout.splitlines()

    def test_all_missing_topics_are_named_at_once_and_created(self):
        source, target = WORLD.names()
        state, fleet, alerts = target + ".state", target + ".fleet", target + ".alerts"
        d = Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, instance="one", alerts=alerts,
                   state=f"topic: {state}", fleet=f"topic: {fleet}")
        lines = self.topics(d.config, status=1)
        self.assertEqual([line.split()[0] for line in lines],
                         ["input.topics", "output.topic", "output.dead_letter_topic", "alerts.kafka.topic", "state.topic",
                          "fleet.topic", "fleet.evidence_topic"])
        self.assertTrue(all(": missing" in line for line in lines), lines)
        self.assertIn(f"--create --topic {state} --partitions 1 --config cleanup.policy=compact", lines[4])
        WORLD.broker.create(source, 3)
        self.topics(d.config, "--create")
        created = [f"ok, partitions={n}" for n in (3, 3, 1, 1, 3, 1, 1)]
        # Brokers answer a creation before each of them shows the topic.
        eventually("all topics are shown", lambda: not any(": missing" in line for line in self.topics(d.config, status=None)))
        self.assertEqual([line.split(": ", 1)[1] for line in self.topics(d.config)], created)
        with d:
            d.wait_ready()
            self.assertEqual(d.stop(), 0, d.log())

    def test_an_output_of_fewer_partitions_is_a_warning(self):
        source, target = WORLD.names()
        WORLD.broker.create(source, 3)
        WORLD.broker.create(target, 2)
        WORLD.broker.create(target + ".dead")
        d = Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder)
        self.assertTrue(self.topics(d.config)[1].endswith(
            f"{target}: ok, partitions=2; with fewer than the 3 of the input, the key of a message selects its partition"))

    def test_a_wrong_topic_is_told_with_the_command_that_corrects_it(self):
        source, target = WORLD.topics(2)
        WORLD.broker.create(target + ".state", 2)
        d = Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, state=f"topic: {target}.state")
        wrong = self.topics(d.config, status=1)[-1]
        self.assertIn("cleanup.policy is delete; kafka-configs.sh", wrong)
        WORLD.broker.set(target + ".state", "cleanup.policy", "compact")
        self.topics(d.config)


class Capture(unittest.TestCase):
    def test_a_captured_topic_replays_what_was_sent(self):
        source, _ = WORLD.topics(2)
        frames = numbered(WORLD.hotel(100), 2)
        WORLD.send(source, frames)
        path = WORLD.path("capture.zst")
        told = json.loads(evenkeel("capture", "--brokers", WORLD.broker.address, "--topic", source, "--until-end",
                                   "-o", path, "--json")[0])
        shown = json.loads(evenkeel("inspect", path, "--json")[0])
        self.assertIn(100, shown.values(), shown)
        self.assertEqual((told.pop("output"), told.pop("topic")), (path, source))
        self.assertEqual(told.pop("dead_letters"), [])
        self.assertEqual(told, {name: shown[name] for name in told})

    def test_partitions_come_out_in_the_order_of_time(self):
        """Sent one partition after the other, so that arrival order differs from time order."""
        source, _ = WORLD.topics(3)
        frames = numbered(WORLD.hotel(100) * 9, 3)
        WORLD.send(source, sorted(frames, key=lambda f: -f.partition))
        path = WORLD.path("merged.capture")
        evenkeel("capture", "--brokers", WORLD.broker.address, "--topic", source, "--until-end",
                 "-o", path)
        shown = subprocess.run([sys.executable, READ_CAPTURE, path], capture_output=True,
                               check=True, timeout=WAIT).stdout.splitlines()
        times = [json.loads(line)[2] for line in shown]
        self.assertEqual(times, [f.timestamp for f in frames])

    def test_a_capture_begins_with_the_messages_of_a_time(self):
        source, target = WORLD.topics(2)
        WORLD.send(source, numbered(WORLD.hotel(100) * 60, 2))  # one a millisecond from START_MS
        path, d = WORLD.path("since.ekc"), Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder)
        second = 1700000000 + 3
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))
        told = json.loads(evenkeel("capture", "-c", d.config, "--since", moment, "--until-end", "-o", path, "--json")[0])
        self.assertEqual((told["topic"], told["messages"], told["first_ms"]), (source, 3000, second * 1000))
        day = time.strftime("%Y-%m-%d", time.gmtime(second))
        told = json.loads(evenkeel("capture", "-c", d.config, "--since", day, "--until-end", "-o", path, "--json")[0])
        self.assertEqual(told["messages"], 6000)
        told = json.loads(evenkeel("capture", "-c", d.config, "--since", "1h", "--until-end", "-o", path, "--json")[0])
        self.assertEqual(told["messages"], 0)

    def test_a_topic_that_is_not_there_is_no_broker_that_does_not_answer(self):
        _, said = evenkeel("capture", "--brokers", WORLD.broker.address, "--topic", "nosuch",
                           "-o", WORLD.path("none"), status=1)
        self.assertIn("topic 'nosuch' is not there", said)
