"""Alerts: a real Alertmanager, and sinks that respond, reject, hang or have a wrong identity."""
import contextlib
import http.server
import json
import os
import shutil
import signal
import ssl
import subprocess
import tempfile
import threading
import unittest
import urllib.request

from fixtures import cloud_event, numbered, numbers
from harness import EVENKEEL, WAIT, Daemon, eventually, evenkeel, free_port, messages_of

import test_fleet
import test_state

WORLD = None  # set by run.py
SECRET = "T0/B0/very-secret"


class Sink:
    """Local web server. `answers` are (status, headers), one per request; the last repeats. None: never respond."""

    def __init__(self, *answers, certificate=None):
        self.answers, self.got, self.lock, self.over = list(answers or [(200, {})]), [], threading.Lock(), threading.Event()
        sink = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with sink.lock:
                    sink.got.append((self.path, dict(self.headers), json.loads(body)))
                    answer = sink.answers.pop(0) if len(sink.answers) > 1 else sink.answers[0]
                if answer is None:
                    sink.over.wait()
                    return
                self.send_response(answer[0])
                for name, value in answer[1].items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                """Ignore a client that disconnects early."""

        self.server = Server(("127.0.0.1", 0), Handler)
        scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()

    def bodies(self):
        with self.lock:
            return [body for _, _, body in self.got]


@contextlib.contextmanager
def alertmanager(folder):
    """Return the address of a real Alertmanager."""
    url = f"http://127.0.0.1:{free_port()}"
    config = os.path.join(folder, "alertmanager.yml")
    with open(config, "w") as out:
        out.write("route: {receiver: nobody}\nreceivers: [{name: nobody}]\n")
    with open(config + ".log", "w") as log:
        process = subprocess.Popen(["prometheus-alertmanager", "--config.file=" + config, "--cluster.listen-address=",
                                    "--storage.path=" + folder, "--web.listen-address=" + url[7:]], stderr=log)
    try:
        eventually("Alertmanager is ready", lambda: shown(url) is not None)
        yield url
    finally:
        process.kill()
        process.wait()


def shown(url):
    """Return the firing alerts of Alertmanager; None if it does not respond."""
    try:
        with urllib.request.urlopen(url + "/api/v2/alerts", timeout=5) as answer:
            return json.load(answer)
    except OSError:
        return None


@unittest.skipUnless(shutil.which("prometheus-alertmanager"), "no Alertmanager (deploy/deps.sh watch)")
class OneAlertPerCause(unittest.TestCase):
    COUNT, FAULT, RESTART, RECOVERY = 2400, 700, 1200, 1600

    def lists(self):
        path = test_fleet.made("alerts.mp", lambda path: evenkeel(
            "generate", "hotel", "-n", self.COUNT, "--seed", 5, "-f", "messages",
            f"--fault=price=x100,from={self.FAULT},to={self.RECOVERY},arm=B", "-o", path))
        return numbered([raw for raw, _ in messages_of(path)])

    def daemon(self, source, target, manager, slack, pager, hanging):
        return Daemon(
            WORLD.folder, WORLD.broker, source, target, WORLD.folder, rules=test_fleet.rules(),
            model=test_fleet.model(), alerts=target + ".alerts", state=f"topic: {target}.state, checkpoint_interval: 1s",
            alerting="group_wait: 200ms, send_timeout: 5m", http="public_url: \"https://evenkeel.example/\"", sinks=[
                f"webhook: {{url: \"{hanging.url}/{SECRET}\"}}",
                f"alertmanager: {{url: \"{manager}\", repeat_interval: 1s}}",
                f"webhook: {{url: \"{slack.url}/{SECRET}\", format: slack}}",
                f"pagerduty: {{routing_key: 0123456789abcdef, url: \"{pager.url}\"}}"])

    def one(self, manager):
        """Return the only alert of Alertmanager."""
        alerts = eventually("Alertmanager has it", lambda: shown(manager))
        self.assertEqual(len(alerts), 1, alerts)
        return alerts[0]

    def test_is_told_to_all_goes_on_over_a_restart_and_ends_while_one_hangs(self):
        source, target = WORLD.topics()
        for name in ("alerts", "state"):
            WORLD.broker.create(f"{target}.{name}", 1, *(["cleanup.policy", "compact"] if name == "state" else []))
        frames = self.lists()
        with alertmanager(tempfile.mkdtemp(dir=WORLD.folder)) as manager, Sink() as slack, \
                Sink((500, {}), (429, {"Retry-After": "1"}), (202, {})) as pager, Sink(None) as hanging:
            WORLD.send(source, frames[:self.RESTART])
            with self.daemon(source, target, manager, slack, pager, hanging) as d:
                d.wait_ready().wait_handled(self.RESTART)
                before = self.one(manager)
                self.assertEqual(before["labels"], {
                    "alertname": "EvenkeelDrift", "service": "kafka-test", "severity": "warning", "feature": "price",
                    "segment": "arm=B", "class": "scale"})
                self.assertRegex(before["annotations"]["summary"],
                                 r"^price x100 \(cents\) on arm=B since .* UTC, looks like .*cents.*; routed to the wide path$")
                self.assertEqual(before["generatorURL"], "https://evenkeel.example/#feature/price")
                eventually("it is told again", lambda: self.one(manager)["updatedAt"] > before["updatedAt"])
                eventually("the pager takes it at last", lambda: d.metric(
                    'evenkeel_alerts_sent_total{sink="pagerduty",result="sent"}') == 1)
                eventually("Slack has it", slack.bodies)
                eventually("one hangs", hanging.bodies)
                self.assertEqual(d.metric("evenkeel_alerts_pending"), 1)
                self.assertEqual(d.stop(), 0, d.log())
                self.assertNotIn(SECRET, d.log())
            with self.daemon(source, target, manager, slack, pager, hanging) as d:
                d.wait_ready()
                old = self.one(manager)
                eventually("it goes on", lambda: self.one(manager)["updatedAt"] > old["updatedAt"])
                self.assertEqual(self.one(manager)["fingerprint"], before["fingerprint"])
                WORLD.send(source, frames[self.RESTART:])
                d.wait_handled(self.COUNT - self.RESTART)
                eventually("it is over", lambda: shown(manager) == [])
                eventually("Slack hears of that", lambda: len(slack.bodies()) == 2)
                eventually("so does the pager", lambda: pager.bodies()[-1]["event_action"] == "resolve")
                self.assertEqual(d.stop(), 0, d.log())
            self.assert_told_once(slack.bodies(), pager.bodies())
        self.assertEqual(numbers(WORLD.read(target)), list(range(self.COUNT)))
        for frame in WORLD.read(target + ".alerts"):
            cloud_event(self, frame)

    def assert_told_once(self, slack, pager):
        self.assertEqual(["over" if b["text"].startswith("resolved, ") else "fires" for b in slack], ["fires", "over"])
        self.assertEqual({b["dedup_key"] for b in pager}, {"evenkeel/kafka-test/drift/price/arm=B/scale"})
        self.assertEqual({b["event_action"] for b in pager[:3]}, {"trigger"})
        self.assertEqual({b["routing_key"] for b in pager}, {"0123456789abcdef"})


class AFleet(unittest.TestCase):
    COUNT, FAULTY, RATE = 3000, 600, 300

    def instance(self, fleet, name, manager, slack):
        # The end of the lists is no silence, and each list has its time.
        return fleet.instance(name, alerting="group_wait: 200ms", input="silence_timeout: 1h", message="encoding: msgpack", sinks=[
            f"alertmanager: {{url: \"{manager.url}\", repeat_interval: 1s}}", f"webhook: {{url: \"{slack.url}\", format: slack}}"])

    def drift(self, manager):
        return [a for body in manager.bodies() for a in body if a["labels"]["alertname"] == "EvenkeelDrift"]

    def test_goes_on_telling_what_fires_when_who_told_it_is_killed(self):
        fleet = test_fleet.Fleet(2)
        frames = test_fleet.paced(test_fleet.lists(self.COUNT, self.FAULTY), 2, self.RATE)
        with Sink() as manager, Sink() as slack, self.instance(fleet, "one", manager, slack) as one, \
                self.instance(fleet, "two", manager, slack) as two:
            one.wait_ready()
            two.wait_ready()
            WORLD.send(fleet.source, frames, self.RATE)
            eventually("Slack has it", slack.bodies)
            eventually("all is out", lambda: len(fleet.out()) == self.COUNT)
            first, second = test_fleet.wait_decider(one, two)
            self.assertEqual(second.metric('evenkeel_alerts_sent_total{sink="alertmanager",result="sent"}'), 0)
            first.stop(signal.SIGKILL)
            test_fleet.wait_decides(second)
            before = len(self.drift(manager))
            eventually("no list comes and it is told again", lambda: len(self.drift(manager)) > before + 3)
            self.assertEqual(second.stop(), 0, second.log())
            self.assertEqual({(a["labels"]["feature"], a["endsAt"] > a["startsAt"]) for a in self.drift(manager)},
                             {("price", True)})
            self.assertEqual([b["text"].startswith("resolved, ") for b in slack.bodies() if ": price" in b["text"]], [False])


class Sinks(unittest.TestCase):
    """`run --test-alerts`, which needs no broker."""

    def tried(self, sink, status=0, timeout="5s"):
        """Return the printed result of the sink."""
        path = tempfile.mktemp(suffix=".yaml", dir=WORLD.folder)
        with open(path, "w") as out:
            out.write("input: {brokers: \"127.0.0.1:1\", topics: [a], group: g}\noutput: {topic: b, dead_letter_topic: c}\n"
                      f"assets: {{manifest: features.yaml, profile: profile.ekp}}\nalerts: [{{{sink}}}]\n"
                      f"alerting: {{send_timeout: {timeout}}}\n")
        done = subprocess.run([EVENKEEL, "run", "-c", path, "--test-alerts"], capture_output=True, text=True, timeout=WAIT)
        self.assertEqual(done.returncode, status, done)
        self.assertNotIn(SECRET, done.stdout + done.stderr)
        return done.stdout

    def webhook(self, url, more="", **how):
        return self.tried(f"webhook: {{url: \"{url}/{SECRET}\"{more}}}", **how)

    def test_one_that_takes_them_gets_the_beginning_and_the_end_with_the_token(self):
        with Sink() as sink:
            said = self.webhook(sink.url, ", token: tok-tok-tok")
            self.assertEqual(said, "".join(f"webhook at {sink.url}/***, {what}: accepted (200)\n"
                                           for what in ("firing", "resolved")))
            self.assertEqual([b["state"] for b in sink.bodies()], ["firing", "resolved"])
            self.assertEqual({h["Authorization"] for _, h, _ in sink.got}, {"Bearer tok-tok-tok"})
            self.assertEqual({p for p, _, _ in sink.got}, {"/" + SECRET})

    def test_one_that_hangs_or_fails_or_is_not_there_is_told_of(self):
        with Sink(None) as sink:
            self.assertIn("not accepted", self.webhook(sink.url, status=1, timeout="100ms"))
        with Sink((500, {})) as sink:
            self.assertIn("not accepted (500)", self.webhook(sink.url, status=1))
        self.assertIn("not accepted", self.webhook(f"http://127.0.0.1:{free_port()}", status=1))
        self.assertIn("not accepted", self.webhook("http://nowhere.invalid", status=1))

    def test_a_redirect_is_not_followed(self):
        with Sink() as other, Sink((307, {"Location": other.url + "/x"})) as sink:
            self.assertIn("not accepted (307)", self.webhook(sink.url, status=1))
            self.assertEqual(other.bodies(), [])

    def certificate(self, *words):
        """Create a key with a self-signed certificate in one file, and the certificate alone."""
        pem = tempfile.mktemp(suffix=".pem", dir=WORLD.folder)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", pem, "-out", pem + ".crt",
                        "-days", "2", "-subj", "/CN=sink", *words], check=True, capture_output=True)
        with open(pem, "a") as both, open(pem + ".crt") as crt:
            both.write(crt.read())
        return pem

    def test_a_certificate_must_be_known(self):
        pem = self.certificate("-addext", "subjectAltName=IP:127.0.0.1")
        with Sink(certificate=pem) as sink:
            self.assertIn("not accepted: ", self.webhook(sink.url, status=1))
            self.assertEqual(sink.bodies(), [])
            self.assertIn("accepted (200)", self.webhook(sink.url, f", ca_file: \"{pem}.crt\""))

    def test_a_certificate_of_another_name_is_none(self):
        pem = self.certificate("-addext", "subjectAltName=IP:127.0.0.2")
        with Sink(certificate=pem) as sink:
            self.assertIn("not accepted: ", self.webhook(sink.url, f", ca_file: \"{pem}.crt\"", status=1))
            self.assertEqual(sink.bodies(), [])
