"""The kill switch, by command and over HTTP."""
import json
import os
import socket
import subprocess
import time
import unittest

from fixtures import numbered
from harness import EVENKEEL, WAIT, Daemon, eventually

import test_fleet

WORLD = None  # set by run.py
TOKEN = "0123456789-a-token-of-ana"


def tokens():
    def write(path):
        with open(path, "w") as out:
            out.write(f"ana {TOKEN}\n")
        os.chmod(path, 0o600)
    return test_fleet.made("tokens.txt", write)


def tell(*words):
    """Return (status, standard output, standard error) of a command."""
    done = subprocess.run([EVENKEEL, *words], capture_output=True, text=True, timeout=WAIT)
    return done.returncode, done.stdout, done.stderr


def raw(d, request):
    """Read until the server closes; fails on a timeout."""
    host, port = d.http.split(":")
    with socket.create_connection((host, int(port)), timeout=WAIT) as s:
        answer = b""
        try:
            for part in request if isinstance(request, list) else [request]:
                s.sendall(part)
                time.sleep(0.05)
            while part := s.recv(65536):
                answer += part
        except ConnectionError:
            pass
    return answer.decode()


def post(path, body, token=TOKEN, length=None):
    size = len(body) if length is None else length
    return (f"POST {path} HTTP/1.0\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {size}\r\n\r\n").encode()


class KillSwitch(unittest.TestCase):
    COUNT, FAULTY, RATE, CUT = 2400, 700, 400, 50

    def test_everything_goes_out_as_it_came_until_it_ends(self):
        source, target = WORLD.topics(1)
        alerts = WORLD.broker.create(target + ".alerts")
        values = (value[:-1] if n % self.CUT == self.CUT - 1 else value
                  for n, value in enumerate(test_fleet.coming(self.COUNT, self.FAULTY)))
        with WORLD.endless(source, values, self.RATE) as stream, Daemon(
                WORLD.folder, WORLD.broker, source, target, WORLD.folder, rules=test_fleet.rules(),
                model=test_fleet.model(), alerts=alerts, http=f"token_file: {tokens()}") as d:
            d.wait_ready()
            stream.start()
            eventually("it routes", lambda: d.status()["routed"] > 20)
            self.assertEqual(tell("pause", "-c", d.config, "--reason", "it looks odd"), (
                0, "paused; a restart ends it, because 'state.topic' is not set\n", ""))
            self.assertEqual(d.json("/api/v1/status")["paused"]["clock"], "wall")
            passed, dead = d.status()["forwarded"], d.status()["dead_letters"]
            self.assertRegex(tell("status", "-c", d.config)[1],
                             r"\npaused             yes, since \d{4}-\d\d-\d\d \d\d:\d\d UTC, by ana: it looks odd\n")
            eventually("some go through", lambda: d.status()["forwarded"] > passed + 300)
            self.assertEqual(tell("resume", "-c", d.config), (0, "not paused\n", ""))
            routed = d.status()["routed"]
            eventually("it routes again", lambda: d.status()["routed"] > routed + 20)
            frames = stream.enough()
            d.wait_drained()
            self.assertEqual(d.status()["observed_lists"], len(frames) - len(frames) // self.CUT)
            self.assertGreater(d.metric("evenkeel_undecodable_forwarded_total"), 3)
            self.assertEqual(d.stop(), 0, d.log())
            self.assertNotIn(TOKEN, d.log())
        out = WORLD.read(target)
        actions = [f.header("ek-action") for f in out]
        paused = [i for i, action in enumerate(actions) if action == "paused"]
        self.assertEqual(paused, list(range(paused[0], paused[-1] + 1)))  # one contiguous range, in input order
        self.assertGreater(len(paused), 300)
        for f in out[paused[0]:paused[-1] + 1]:
            self.assertEqual(f.value, frames[int(f.header("n"))].value)
        self.assertIn("routed", actions[:paused[0]])
        self.assertIn("routed", actions[paused[-1]:])
        self.assertEqual(len(out) + len(WORLD.read(target + ".dead")), len(frames))
        told = [json.loads(f.value) for f in WORLD.read(alerts)]
        decisions = [(t["type"], t["actor"], t["reason"]) for t in told if t["event"] == "decision"]
        self.assertEqual(decisions[0][:2], ("route", "system"))
        self.assertEqual(decisions[1:], [("pause", "ana", "it looks odd"), ("resume", "ana", None)])


class OverHttp(unittest.TestCase):
    def setUp(self):
        source, target = WORLD.topics(1)
        self.d = Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, http=f"token_file: {tokens()}")
        self.d.start()
        self.addCleanup(self.d.__exit__)
        eventually("/ping answers", lambda: self.d.get("/ping")[0] == 200)

    def assert_paused(self, paused):
        self.assertEqual(self.d.json("/api/v1/status")["paused"] is not None, paused)

    def test_a_body_may_come_in_pieces(self):
        body = json.dumps({"reason": "x" * 400}).encode()
        answer = raw(self.d, [post("/api/v1/pause", body)] + [body[i:i + 100] for i in range(0, len(body), 100)])
        self.assertIn(" 200 ", answer)
        self.assert_paused(True)

    def test_what_it_does_not_take_changes_nothing(self):
        large = b'{"reason":"' + b"x" * 70000 + b'"}'
        for request, status in ((post("/api/v1/pause", b"{}", "nobodys-token-at-all") + b"{}", 401),
                                (post("/api/v1/pause", large) + large, 413),
                                (post("/api/v1/pause", b"{") + b"{", 400),
                                (post("/api/v1/pans", b"{}") + b"{}", 404),
                                (post("/api/v1/pins", b"{}") + b"{}", 405),
                                (b"GET /api/v1/pause HTTP/1.0\r\n\r\n", 405),
                                (b"DELETE /api/v1/status HTTP/1.0\r\n\r\n", 405)):
            self.assertIn(f" {status} ", raw(self.d, request))
        for _ in range(20):
            raw(self.d, post("/api/v1/pause", b"{}", "nobodys-token-at-all") + b"{}")
        eventually("it is logged", lambda: "event=request_unauthorized address=127.0.0.1 count=1\n" in self.d.log())
        self.assertLess(self.d.log().count("event=request_unauthorized"), 5)  # not a line each
        self.assertIn("Allow: POST", raw(self.d, b"GET /api/v1/pause HTTP/1.0\r\n\r\n"))
        self.assert_paused(False)
        self.assertEqual(tell("pause", "--url", "http://" + self.d.http)[0], 1)
        code, _, error = tell("pause", "--url", "http://127.0.0.1:1")
        self.assertEqual(code, 1)
        self.assertIn("connection refused", error)

    def test_a_body_without_an_end_is_cut_off(self):
        self.assertIn(" 413 ", raw(self.d, post("/api/v1/pause", b"", length=10 ** 9)))
        self.assertEqual(raw(self.d, post("/api/v1/pause", b"", length=10)), "")
        self.assert_paused(False)

    def test_slow_clients_keep_nobody_out_for_long(self):
        host, port = self.d.http.split(":")
        slow = [socket.create_connection((host, int(port))) for _ in range(60)]
        for s in slow:
            s.sendall(b"POST /api/v1/pause HTTP/1.0\r\nContent-")
        eventually("/ping answers", lambda: self.d.get("/ping") == (200, "pong\n"))
        for s in slow:
            s.close()
        self.assert_paused(False)


class BegunPaused(unittest.TestCase):
    def test_it_forwards_from_the_first_message_on(self):
        source, target = WORLD.topics(1)
        WORLD.send(source, numbered([b"no list"] * 10, 1))
        d = Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder)
        d.words = ["--paused"]
        with d:
            d.wait_handled(10)  # it is not ready: it has read nothing
            code, _, error = tell("resume", "-c", d.config)
            self.assertEqual(code, 1)
            self.assertIn("set 'http.token_file'", error)
            self.assertEqual(d.stop(), 0, d.log())
        self.assertEqual([(f.value, f.header("ek-action")) for f in WORLD.read(target)], [(b"no list", "paused")] * 10)


class Kept(unittest.TestCase):
    """A stage with state, under rules that pin the price in one arm."""
    RULES = ("version: 1\nsegments: [arm]\n"
             "pins: [{feature: price, segment: {arm: B}, action: route, reason: its prices mean something else}]\n")
    PART = 150

    def daemon(self, source, target):
        def write(path):
            with open(path, "w") as out:
                out.write(self.RULES)
        return Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, instance="one",
                      rules=test_fleet.made("pin-rules.yaml", write), model=test_fleet.model(),
                      state=f"topic: {target}.state, checkpoint_interval: 1s", http=f"token_file: {tokens()}")

    def assert_pinned(self, frames, out):
        expected = ["routed" if b"\xa3arm\xa1B" in f.value else "pass" for f in frames]
        self.assertEqual([f.header("ek-action") for f in out], expected)
        self.assertEqual(set(expected), {"routed", "pass"})

    def test_a_pin_of_the_rules_routes_from_the_first_list_on_and_a_pause_survives_a_restart(self):
        source, target = WORLD.topics(1)
        WORLD.broker.create(target + ".state", 1, "cleanup.policy", "compact")
        frames = numbered(test_fleet.lists(3 * self.PART, 3 * self.PART), 1)
        parts = [frames[i * self.PART:(i + 1) * self.PART] for i in range(3)]
        WORLD.send(source, parts[0])
        with self.daemon(source, target) as d:
            d.wait_ready().wait_handled(self.PART)
            self.assertIn('"kept":true', raw(d, post("/api/v1/pause", b'{"reason":"odd"}') + b'{"reason":"odd"}'))
            self.assertEqual(d.stop(), 0, d.log())
        WORLD.send(source, parts[1])
        with self.daemon(source, target) as d:
            d.wait_ready().wait_handled(self.PART)
            paused = d.json("/api/v1/status")["paused"]
            self.assertEqual((paused["actor"], paused["reason"], paused["clock"]), ("ana", "odd", "stream"), d.log())
            self.assertRegex(tell("status", "-c", d.config)[1], r"\npaused +yes, since \S+ \S+ UTC in event time, by ana: odd\n")
            self.assertEqual(tell("resume", "-c", d.config), (0, "not paused\n", ""))
            WORLD.send(source, parts[2])
            d.wait_handled(2 * self.PART)
            told = [(t["sequence"], t["type"], t["actor"]) for t in d.json("/api/v1/history")]
            self.assertEqual(told, [(1, "pause", "ana"), (2, "resume", "ana")])
            self.assertEqual(d.stop(), 0, d.log())
        out = sorted(WORLD.read(target), key=lambda f: int(f.header("n")))
        self.assertEqual(len(out), 3 * self.PART)
        self.assert_pinned(parts[0], out[:self.PART])
        for f, came in zip(out[self.PART:2 * self.PART], parts[1]):
            self.assertEqual((f.header("ek-action"), f.value), ("paused", came.value))
        self.assert_pinned(parts[2], out[2 * self.PART:])
