"""Event stream, hostile clients and a collector of metrics: ranking continues, and every connection ends eventually."""
import json
import os
import re
import signal
import socket
import unittest

from fixtures import numbered
from harness import WAIT, Daemon, HttpSink, eventually

WORLD = None  # set by run.py
MANY = 1000


def link_to(d, text=b"", buffer=None):
    host, port = d.http.split(":")
    link = socket.socket()
    if buffer:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    link.settimeout(WAIT)
    link.connect((host, int(port)))
    link.sendall(text)
    return link


def request(path, *headers):
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: localhost", *headers, "", ""]).encode()


def everything(link):
    """Read until the server closes the connection."""
    found = b""
    try:
        while part := link.recv(65536):
            found += part
    except ConnectionError:
        pass
    return found.decode()


class Stream:
    """Event stream client: number, kind and data of each event."""

    def __init__(self, d, *headers, path="/api/v1/events?stream"):
        self.link = link_to(d, request(path, "Accept: text/event-stream", *headers).replace(b"HTTP/1.1", b"HTTP/1.0"))
        self.file = self.link.makefile("rb")
        self.head = self.file.readline().decode()
        while line := self.file.readline().strip():
            self.head += line.decode() + "\n"

    def next(self):
        """Return the next event with data."""
        event = {}
        while line := self.file.readline():
            line = line.decode().rstrip("\n")
            if not line and "data" in event:
                return event.get("id"), event["event"], json.loads(event["data"])
            if ": " in line and not line.startswith(":"):
                key, value = line.split(": ", 1)
                event[key] = value
        raise AssertionError("the stream has ended")

    def until(self, wanted):
        """Return the events up to the first match of `wanted`, without status events."""
        told = []
        while not told or not wanted(*told[-1]):
            number, kind, said = self.next()
            if kind != "status":
                told.append((number, kind, said))
        return told

    def close(self):
        self.file.close()
        self.link.close()


def descriptors(d):
    return len(os.listdir(f"/proc/{d.process.pid}/fd"))


def resident_kib(d):
    with open(f"/proc/{d.process.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


class EventStream(unittest.TestCase):
    def setUp(self):
        self.source, self.target = WORLD.topics(1)
        self.d = Daemon(WORLD.folder, WORLD.broker, self.source, self.target, WORLD.folder, http="max_event_streams: 4")
        self.d.start()
        self.addCleanup(self.d.__exit__)
        self.d.wait_ready()

    def reload(self):
        """Check that each reload is reported and recorded as a decision."""
        for count in range(2, 5, 2):
            self.d.process.send_signal(signal.SIGHUP)
            eventually("a reload is told", lambda: len(self.d.json("/api/v1/events")) >= count)

    def test_it_goes_on_where_it_was_left(self):
        first = Stream(self.d)
        self.assertIn("200 OK", first.head)
        self.assertIn("Content-Type: text/event-stream", first.head)
        number, kind, status = first.next()
        started = status["started_ms"]
        self.assertEqual((number, kind, status["events"]), (f"{started}-0", "status", 0))
        self.reload()
        told = first.until(lambda number, kind, said: number == f"{started}-3")
        kept = self.d.json("/api/v1/events?n=1000")
        self.assertEqual(told, [(f"{started}-{i + 1}", one["event"], one) for i, one in enumerate(kept[:3])])
        first.close()
        for again in (Stream(self.d, f"Last-Event-ID: {started}-1"), Stream(self.d, path="/api/v1/events?stream&after=1")):
            told = again.until(lambda number, kind, said: number == f"{started}-3")
            self.assertEqual([t[2] for t in told], kept[1:3])
            again.close()

    def test_who_comes_from_another_process_is_told(self):
        stream = Stream(self.d, "Last-Event-ID: 77")
        self.assertEqual(stream.next()[1:], ("missed", {"missed": None}))
        stream.close()
        self.assertIn(" 400 ", everything(link_to(self.d, request("/api/v1/events?stream&after=x", "Connection: close"))))

    def test_there_is_room_for_so_many(self):
        streams = [Stream(self.d) for _ in range(4)]
        refused = everything(link_to(self.d, request("/api/v1/events?stream", "Connection: close")))
        self.assertIn(" 503 ", refused)
        self.assertIn("Retry-After: ", refused)
        self.assertEqual(self.d.get("/ping")[0], 200)
        for stream in streams:
            stream.close()
        eventually("there is room again", lambda: " 200 " in Stream(self.d).head)

    def test_it_ends_with_the_process(self):
        stream = Stream(self.d)
        stream.next()
        self.assertEqual(self.d.stop(), 0, self.d.log())
        stream.link.settimeout(WAIT)
        everything(stream.link)


class Hostile(unittest.TestCase):
    TIMEOUT = "60s"

    def setUp(self):
        self.source, self.target = WORLD.topics(1)
        self.d = Daemon(WORLD.folder, WORLD.broker, self.source, self.target, WORLD.folder,
                        http=f"request_timeout: {self.TIMEOUT}, max_connections_per_ip: 32, max_event_streams: 4")
        self.d.start()
        self.addCleanup(self.d.__exit__)
        self.d.wait_ready()


class Abuse(Hostile):
    def answer(self, text):
        return everything(link_to(self.d, text)).split("\r\n")[0]

    def test_requests_that_are_too_much_are_told_so(self):
        body = b"POST /api/v1/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
        for text, status in ((request("/api/v1/status?" + "x" * 9000, "Connection: close"), 414),
                             (request("/api/v1/status", "X-Long: " + "x" * 40000), 431),
                             (body % 10 ** 9, 413),
                             (request("/nothing", "Connection: close"), 404),
                             (request("/ping", "Connection: close").replace(b"GET", b"POST"), 405),
                             (request("/ping", "Connection: close").replace(b"localhost", b"evil.example"), 421)):
            self.assertIn(f" {status} ", self.answer(text), text[:80])
        for host in (b"localhost:9464", b"127.0.0.1", b"[::1]:80"):
            self.assertIn(" 200 ", self.answer(request("/ping", "Connection: close").replace(b"localhost", host)))

    def test_requests_that_can_be_read_in_two_ways_are_refused(self):
        for headers in ("Host: evil.example", "Content-Length: 2\r\nContent-Length: 2", "Content-Length: 2\r\nTransfer-Encoding: chunked"):
            self.assertIn(" 400 ", self.answer(request("/ping", headers, "Connection: close") + b"0\r\n\r\n"), headers)
        for length in ("-1", "+2", "2x", "2, 2"):
            self.assertIn(" 400 ", self.answer(request("/ping", "Content-Length: " + length)), length)

    def test_paths_lead_to_nothing_but_what_there_is(self):
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/page/../../x", "/\\..\\x", "*", "/%zz",
                     "/api/v1/features/..%2f..%2fetc%2fpasswd", "http://localhost/etc/passwd"):
            said = everything(link_to(self.d, request(path, "Connection: close")))
            self.assertIn(" 404 ", said.split("\r\n")[0], path)
            self.assertNotIn("root:", said)

    def test_a_nul_byte_ends_no_path(self):
        """A proxy that permits *.css would permit everything."""
        for path in ("/api/v1/status%00.css", "/%00", "/ping%00", "/api/v1/features/%00"):
            self.assertIn(" 400 ", self.answer(request(path, "Connection: close")), path)
        self.assertIn(" 400 ", self.answer(request("/api/v1/pause%00.css", "Connection: close").replace(b"GET", b"POST")))
        self.assertIn(" 200 ", self.answer(request("/api/v1/events?after=0&x=%00", "Connection: close")))

    def test_a_body_in_parts_without_end_is_cut_off(self):
        link = link_to(self.d, b"POST /api/v1/pause HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        with self.assertRaises(ConnectionError):
            for _ in range(1024):
                link.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")

    def test_every_answer_has_the_headers_of_a_careful_one(self):
        for path in ("/ping", "/api/v1/status", "/nothing"):
            head = everything(link_to(self.d, request(path, "Connection: close")))
            for header in ("X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer", "Cache-Control: no-store",
                           "Content-Security-Policy: ", "frame-ancestors 'none'"):
                self.assertIn(header, head, path)


class SlowClients(Hostile):
    TIMEOUT = "2s"
    COUNT = 3000

    def test_who_does_not_get_on_is_cut_off(self):
        slow = [link_to(self.d, b"GET /ping HTTP/1.1\r\nHos"),
                link_to(self.d, b"POST /api/v1/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"),
                link_to(self.d, request("/ping")), link_to(self.d)]
        slow[2].recv(65536)
        while slow:
            for link in list(slow):
                try:
                    link.send(b"x")  # continuous input
                    link.settimeout(.1)
                    if link.recv(65536) == b"":
                        slow.remove(link)
                except TimeoutError:
                    pass
                except OSError:
                    slow.remove(link)

    def test_lists_come_out_whatever_hangs_on_it(self):
        WORLD.send(self.source, numbered(WORLD.hotel(self.COUNT)))
        self.d.wait_handled(self.COUNT)
        before, memory = descriptors(self.d), resident_kib(self.d)
        deaf = [link_to(self.d, request("/api/v1/events?stream&after=0"), buffer=4096) for _ in range(4)]
        many = [link_to(self.d, request("/api/v1/features") if i % 2 else b"GET /ping HTTP/1.1\r\nX:", buffer=4096)
                for i in range(MANY)]
        WORLD.send(self.source, numbered(WORLD.hotel(self.COUNT)))
        eventually("all lists came out", lambda: len(WORLD.read(self.target)) == 2 * self.COUNT)
        for link in many + deaf:
            link.close()
        self.assertEqual(eventually("/ping answers", lambda: self.d.get("/ping")[0]), 200)
        eventually("its descriptors are back", lambda: descriptors(self.d) <= before + 2)
        self.assertLess(resident_kib(self.d), memory + 64 * 1024)
        self.assertEqual(self.d.stop(), 0, self.d.log())


class Collector(HttpSink):
    """OTLP endpoint."""

    def __init__(self):
        super().__init__("/v1/metrics")

    def metrics(self):
        """Return {name: metric} of the newest request."""
        return {m["name"]: m for m in self.documents()[-1]["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]}


class OtlpExport(unittest.TestCase):
    """otlp.endpoint."""

    def daemon(self, source, target, endpoint):
        d = Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, instance="one")
        with open(d.config, "a", encoding="utf-8") as out:
            out.write(f"otlp: {{endpoint: \"{endpoint}\", export_interval: 200ms}}\n")
        return d

    def test_metrics_have_their_names_labels_and_values(self):
        source, target = WORLD.topics()
        with Collector() as collector, self.daemon(source, target, collector.url) as d:
            d.wait_ready()
            WORLD.send(source, numbered(WORLD.hotel(50)))
            eventually("the lists are exported", lambda: collector.got and collector.metrics()["evenkeel_observed_lists_total"]["sum"]["dataPoints"][0]["asDouble"] == 50)
            path, kind, body = collector.got[-1]
            self.assertEqual((path, kind), ("/v1/metrics", "application/json"))
            resource = {a["key"]: a["value"]["stringValue"] for a in body["resourceMetrics"][0]["resource"]["attributes"]}
            self.assertEqual((resource["service.name"], resource["service.instance.id"]), ("kafka-test", "one"))
            text, count = d.get("/metrics")[1], len(collector.got)
            eventually("a later export", lambda: len(collector.got) >= count + 2)
            found = collector.metrics()
            families = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))
            sampled = {name for name in families if re.search(rf"^{name}(_count)?[ {{]", text, re.M)}
            self.assertLessEqual(sampled, set(found))
            for name, metric in found.items():
                self.assertIn({"counter": "sum", "gauge": "gauge", "summary": "gauge", "histogram": "histogram"}[families[name]], metric)
            conditions = [[(a["key"], a["value"]["stringValue"]) for a in p["attributes"]] for p in found["evenkeel_input_condition"]["gauge"]["dataPoints"]]
            self.assertEqual([[("condition", name)] for name in re.findall(r'^evenkeel_input_condition{condition="(\w+)"}', text, re.M)], conditions)
            histogram, = found["evenkeel_processing_duration_seconds"]["histogram"]["dataPoints"]
            self.assertEqual(sum(map(int, histogram["bucketCounts"])), int(histogram["count"]))
            self.assertEqual(len(histogram["bucketCounts"]), len(histogram["explicitBounds"]) + 1)
            self.assertEqual(d.stop(), 0, d.log())

    def test_an_error_is_logged_once_and_blocks_nothing(self):
        source, target = WORLD.topics()
        with Collector() as collector, self.daemon(source, target, collector.url) as d:
            collector.status = 503
            d.wait_ready()
            WORLD.send(source, numbered(WORLD.hotel(50)))
            d.wait_handled(50)
            eventually("several requests", lambda: len(collector.got) > 3)
            collector.status = 200
            eventually("it is over", lambda: "event=otlp_export_recovered" in d.log())
            self.assertEqual(d.log().count("event=otlp_export_failed"), 1)
            self.assertIn("HTTP status 503", d.log())
            self.assertEqual(d.stop(), 0, d.log())

    def test_without_a_collector_it_works_and_ends(self):
        source, target = WORLD.topics()
        with self.daemon(source, target, "http://127.0.0.1:1/v1/metrics") as d:
            d.wait_ready()
            eventually("the failure is logged", lambda: "event=otlp_export_failed" in d.log())
            WORLD.send(source, numbered(WORLD.hotel(50)))
            d.wait_handled(50)
            self.assertEqual(d.stop(), 0, d.log())
