"""The plan for programs that apply it themselves: its page with tags and long polls, and its compacted topic."""
import http.client
import json
import os
import threading
import time
import unittest

from fixtures import Frame
from harness import Daemon, eventually

import test_errors
import test_repair

WORLD = None  # set by run.py
COUNT, FROM = test_repair.COUNT, test_repair.FROM


def frames():
    """Return lists with prices in cents in arm B."""
    values = test_repair.stream(f"price=x100,from={FROM},arm=B")
    return [Frame(value, b"key-%d" % n, 1700000000000 + 1000 * n, [], 0) for n, value in enumerate(values)]


def daemon(source, target, topic=None, **more):
    return Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, rules=test_repair.rules("enforce"),
                  writes="features", plan=f"topic: {topic}" if topic else "", **more)


def ask(d, path, tag=None, seconds=60):
    """Return (status, tag, body)."""
    host, port = d.http.split(":")
    link = http.client.HTTPConnection(host, int(port), timeout=seconds)
    link.request("GET", path, headers={"If-None-Match": tag} if tag else {})
    answer = link.getresponse()
    body = answer.read().decode()
    link.close()
    return answer.status, answer.getheader("ETag"), body


def live(topic):
    """Return the records of a topic by key, without those that a tombstone ended."""
    found = {}
    for frame in WORLD.read(topic):
        if frame.value:
            found[frame.key.decode()] = json.loads(frame.value)
        else:
            found.pop(frame.key.decode(), None)
    return found


class PlanPage(unittest.TestCase):
    def test_a_long_poll_returns_with_the_next_plan_and_not_before(self):
        source, target = WORLD.topics(1)
        with daemon(source, target) as d:
            d.wait_ready()
            status, first, body = ask(d, "/api/v1/plan")
            self.assertEqual((status, json.loads(body)["entries"]), (200, []))
            self.assertEqual(ask(d, "/api/v1/plan", first), (304, first, ""))
            self.assertEqual(ask(d, "/api/v1/plan?wait=1s", first), (304, first, ""))
            self.assertEqual(ask(d, f"/api/v1/plan?wait={300000}ms", '"0-0"')[0], 200)
            self.assertEqual(ask(d, f"/api/v1/plan?wait={300000 + 1}ms", '"0-0"')[0], 400)
            answers, faulty = [], frames()
            waiting = [threading.Thread(target=lambda: answers.append(ask(d, "/api/v1/plan?wait=300s", first, 330)))
                       for _ in range(4)]
            for one in waiting:
                one.start()
            time.sleep(1)
            self.assertEqual(answers, [])
            self.assertEqual(d.get("/ping")[0], 200)
            WORLD.send(source, faulty)
            for one in waiting:
                one.join(330)
            self.assertEqual([status for status, _, _ in answers], [200] * 4)
            entry, = json.loads(answers[0][2])["entries"]
            self.assertEqual((entry["key"], entry["mitigation"], entry["class"], entry["mode"], entry["percent"]),
                             ("price/arm=B", "repair", "scale", "enforce", 100))
            self.assertEqual((entry["repair"]["number"], entry["repair"]["exact"]), (100, True))
            self.assertTrue(entry["level"]["strata"])
            self.assertNotEqual(answers[0][1], first)
            self.assertEqual(ask(d, "/api/v1/plan?wait=60s", first)[0], 200)  # the client has an older one
            d.wait_handled(COUNT)
            def wait_on():
                try:
                    ask(d, "/api/v1/plan?wait=60s", ask(d, "/api/v1/plan")[1])
                except (OSError, http.client.HTTPException):
                    pass  # the server is gone
            one = threading.Thread(target=wait_on)
            one.start()
            time.sleep(.5)
            self.assertEqual(d.stop(), 0, d.log())  # a waiting client does not hold it up
            one.join(30)


class PlanTopic(unittest.TestCase):
    def test_it_has_the_entries_of_the_plan_and_tombstones_of_those_that_ended(self):
        source, target = WORLD.topics(1)
        topic = WORLD.broker.create(f"plan-{os.urandom(4).hex()}", 1, "cleanup.policy", "compact")
        WORLD.send(topic, [Frame(b'{"feature":"price"}', b"price/arm=gone", 1700000000000, [], 0)])
        with daemon(source, target, topic) as d:
            d.wait_ready()
            eventually("the key of an earlier process ends", lambda: live(topic) == {})
            WORLD.send(source, frames())
            d.wait_handled(COUNT)
            found = eventually("the entry is written", lambda: live(topic))
            self.assertEqual(list(found), ["price/arm=B"])
            page, = d.json("/api/v1/plan")["entries"]
            written = eventually("it is the one of the page", lambda: [
                r for r in [dict(live(topic)["price/arm=B"])] if r.pop("version") and r == page])
            self.assertEqual(len(written), 1)
            self.assertEqual(d.stop(), 0, d.log())
        self.assertEqual(list(live(topic)), ["price/arm=B"])  # it stays in force for those that apply it
        with daemon(source, target, topic, group="group-" + source) as d:  # without state, the plan is empty
            d.wait_ready()
            eventually("the entry ends", lambda: live(topic) == {})
            self.assertEqual(d.stop(), 0, d.log())

    def test_it_needs_no_output(self):
        source, _ = WORLD.topics(1)
        topic = WORLD.broker.create(f"plan-{os.urandom(4).hex()}", 1, "cleanup.policy", "compact")
        with daemon(source, None, topic, dead=False, undecodable="forward") as d:
            d.wait_ready()
            WORLD.send(source, frames())
            entry = eventually("the entry is written", lambda: live(topic).get("price/arm=B"))
            self.assertEqual((entry["mitigation"], entry["mode"], entry["repair"]["number"]), ("repair", "enforce", 100))
            self.assertEqual(d.stop(), 0, d.log())

    def test_without_the_topic_lists_flow_and_it_is_reported(self):
        source, target = WORLD.topics(1)
        topic = f"plan-{os.urandom(4).hex()}"
        with daemon(source, target, topic) as d:
            d.wait_ready()
            WORLD.send(source, frames())
            d.wait_handled(COUNT)
            eventually("it is logged", lambda: "event=plan_topic_unavailable" in d.log())
            eventually("the condition holds", lambda: d.metric('evenkeel_input_condition{condition="degraded"}') == 1)
            self.assertIn(topic, d.status()["input"]["conditions"][0]["text"])
            self.assertEqual(d.get("/ready")[0], 200)
            WORLD.broker.create(topic, 1, "cleanup.policy", "compact")
            eventually("the entry is written", lambda: list(live(topic)) == ["price/arm=B"], 30)
            eventually("the condition ends", lambda: d.metric('evenkeel_input_condition{condition="degraded"}') == 0)
            self.assertIn("event=plan_topic_recovered", d.log())
            self.assertEqual(d.stop(), 0, d.log())
        self.assertEqual(len(WORLD.read(target)), COUNT)


class APlanTopicWithoutRights(test_errors.Rights):
    def rights(self, flow):
        topic = flow.source + ".plan"
        return {**super().rights(flow), "read": f"Read topic {topic}", "write": f"Write topic {topic}"}

    def test_stops_no_message_and_is_named_until_the_right_is_given(self):
        secure = test_errors.secure()
        for which in ("read", "write"):
            names = WORLD.names()
            topic = secure.create(names[0] + ".plan", 1, "cleanup.policy", "compact")
            WORLD.send(topic, [Frame(b"{}", b"price/arm=gone", 1700000000000, [], 0)], broker=secure)
            flow = self.flow(which, names=names, plan=f"topic: {topic}")
            secure.revoke("alice", self.right(which, flow))
            flow.send(20)
            with self.subTest(which), flow.daemon as d:
                d.wait_ready().wait_handled(20)
                eventually("it is degraded", lambda: self.sentence(which, flow) in (json.loads(d.get("/ready")[1] or "{}").get("degraded") or ""))
                self.assertEqual(d.get("/ready")[0], 200)
                secure.allow("alice", self.right(which, flow))
                eventually("it takes records", lambda: WORLD.read(topic, secure)[-1].value is None, 30)
                eventually("nothing is degraded", lambda: not json.loads(d.get("/ready")[1] or "{}").get("degraded"))
                self.assertEqual(d.stop(), 0, d.log())
            self.assertEqual(set(flow.out()), set(range(20)))
