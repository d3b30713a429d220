"""Memory of the process stays below the limits under hostile input."""
import random
import socket
import struct
import unittest

import batches
from fixtures import START_MS
from harness import Daemon, Frame, eventually

WORLD = None  # set by run.py
ITEM_FEATURES, QUERY_FEATURES = 13, 8


def text(word):
    raw = word.encode()
    return (bytes([0xA0 | len(raw)]) if len(raw) < 32 else b"\xdb" + struct.pack(">I", len(raw))) + raw


def array(parts):
    return b"\xdd" + struct.pack(">I", len(parts)) + b"".join(parts)


def table(**entries):
    return b"\xde" + struct.pack(">H", len(entries)) + b"".join(text(k) + v for k, v in entries.items())


class Hostile:
    """Lists designed to exhaust the memory of the stage."""

    def __init__(self):
        self.random = random.Random(7)
        self.number = 0

    def any_floats(self, count):
        """Return floats with random bits, of any magnitude."""
        return b"\xc6" + struct.pack(">I", 4 * count) + self.random.randbytes(4 * count)

    def list(self, arm, features):
        self.number += 1
        items = [table(id=text(f"h{i}"), score=b"\xca" + struct.pack(">f", i), features=of) for i, of in
                 enumerate(features)]
        return table(query=text(f"q{self.number}"), time_ms=b"\xcf" + struct.pack(">Q", START_MS + 250 * self.number),
                     segments=table(arm=text(arm)), query_features=self.any_floats(QUERY_FEATURES), items=array(items))

    def large(self, arm):
        return self.list(arm, [self.any_floats(ITEM_FEATURES) for _ in range(1000)])

    def messages(self):
        for i in range(240):  # many segment values, each with values of all magnitudes
            yield self.large(f"arm {i % 60}")
        for i in range(400):  # lists of a thousand items of a few bytes each
            yield self.list(f"few {i}", [b"\x80"] * 1000)
        for i in range(40):  # values of half a megabyte
            yield self.list(f"{i}" + "x" * (1 << 19), [self.any_floats(ITEM_FEATURES)])
        for i in range(20):  # a hundred thousand features; twenty thousand items
            yield self.list("wide", [array([b"\xc0"] * 100000)])
            yield self.list("long", [b"\x80"] * 20000)
        for i in range(15000):  # empty messages
            yield b""


def peak(daemon):
    with open(f"/proc/{daemon.process.pid}/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))


class Memory(unittest.TestCase):
    LIMITS = ("message_bytes: 1MiB, items: 1000, segments: 40, in_flight_bytes: 2MiB, in_flight_messages: 1000")
    FETCH = ("queued.max.messages.kbytes: 2048, queued.min.messages: 1000, fetch.max.bytes: 1114112, "
             "max.partition.fetch.bytes: 1048576")
    CONNECTIONS = 1000
    MOST = 300 << 20  # measured: 130 MiB

    def hang_on(self, daemon, sockets):
        """Connect clients that request long pages and never read, or never complete a request."""
        host, port = daemon.http.split(":")
        for i in range(self.CONNECTIONS):
            one = socket.create_connection((host, int(port)))
            sockets.append(one)
            asks = ("GET /api/v1/events?n=4096 HTTP/1.1\r\nHost: localhost\r\n\r\n" if i % 2 else
                    "POST /api/v1/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 65000\r\n\r\n" + "x" * 60000)
            one.sendall(asks.encode())

    def test_limits_hold_the_memory_whatever_comes(self):
        rules = WORLD.path("memory-rules.yaml")
        with open(rules, "w") as out:
            out.write("segments: [arm]\nwindows: {length: 1m, retention: 2, max_segments: 41}\ndefaults: {mode: observe}\n")
        source, target = WORLD.topics(2)
        hostile = list(Hostile().messages())
        daemon = Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, rules=rules, limits=self.LIMITS,
                        more=self.FETCH, pipeline="workers: 2",
                        http=f"max_connections: {self.CONNECTIONS + 10}, max_connections_per_ip: {self.CONNECTIONS + 10}, "
                             "request_timeout: 120s")
        sockets = []
        with daemon as d:
            d.wait_ready()
            WORLD.send(source, [Frame(m, f"k{i}".encode(), START_MS + i, [], i % 2) for i, m in enumerate(hostile)])
            self.hang_on(d, sockets)
            eventually("all is handled", lambda: d.process.poll() is not None or self.handled(d) == len(hostile))
            d.assert_running()
            most = peak(d)
            print(f"    peak {most >> 20} MiB of {self.MOST >> 20} MiB")
            self.assertLess(most, self.MOST)
            for one in sockets:
                one.close()
            self.assertEqual(d.stop(), 0)
        self.assertEqual(len(WORLD.read(target)) + len(WORLD.read(target + ".dead")), len(hostile))

    def handled(self, daemon):
        status = daemon.status()
        return status["forwarded"] + status["routed"] + status["dead_letters"] if status else 0


class Beside(unittest.TestCase):
    """Memory of messages of one byte with large keys and headers."""
    LIMITS = ("message_bytes: 64KiB, items: 100, segments: 8, in_flight_bytes: 2MiB, in_flight_messages: 10000, "
              "transaction_bytes: 1MiB, transaction_timeout: 10m")
    FETCH = "queued.max.messages.kbytes: 1024, fetch.max.bytes: 1000000, queued.min.messages: 1000"
    LARGE, HEADERS = bytes(900000), 80000
    MOST = 150 << 20  # measured: 56 MiB

    def send(self, source):
        WORLD.send(source, [Frame(b"x", self.LARGE, START_MS, [], 0)] * 4 +
                   [Frame(b"x", b"k", START_MS, [("h", self.LARGE)], 0)] * 4)
        batch = batches.headers(2, self.HEADERS)
        for _ in range(12):
            self.assertEqual(batches.produce(WORLD.broker.address, source, batch), 0)
        return 4 + 4 + 12 * 2

    def test_keys_and_headers_alone_end_a_transaction_and_their_memory_is_limited(self):
        source, target = WORLD.topics()
        daemon = Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, limits=self.LIMITS, input="commit_interval: 4m", more=self.FETCH,
                        pipeline="workers: 1", http="max_connections: 16", delivery="exactly_once", instance="one")
        sent = self.send(source)
        with daemon as d:
            d.wait_handled(sent)  # after the commit of their transaction
            most = peak(d)
            print(f"    peak {most >> 20} MiB of {self.MOST >> 20} MiB")
            self.assertLess(most, self.MOST)
            self.assertEqual(d.stop(), 0)
        self.assertEqual(len(WORLD.read(target + ".dead")), sent)


class Unpacked(unittest.TestCase):
    FETCH = "fetch.max.bytes: 1000000, receive.message.max.bytes: "
    VALUES, BEHIND = 60, 3

    def daemon(self, source, target, most):
        return Daemon(WORLD.folder, WORLD.broker, source, target, WORLD.folder, limits="message_bytes: 64KiB",
                      more=self.FETCH + str(most))

    def test_a_batch_that_is_too_large_unpacked_waits_for_a_restart_that_allows_it_and_nothing_is_lost(self):
        source, target = WORLD.topics()
        self.assertEqual(batches.produce(WORLD.broker.address, source, batches.zeros(self.VALUES, 50000)), 0)
        WORLD.send(source, [Frame(b"no list", b"k", START_MS, [], 0)] * self.BEHIND)
        with self.daemon(source, target, 1100000) as d:
            d.wait_ready()
            eventually("it is told", lambda: "is more than receive.message.max.bytes when unpacked" in d.log())
            self.assertEqual(d.json("/api/v1/status")["dead_letters"], 0)
            self.assertEqual(d.stop(), 0)
        with self.daemon(source, target, 100000000) as d:
            d.wait_handled(self.VALUES + self.BEHIND)
            self.assertEqual(d.stop(), 0)
        self.assertEqual(len(WORLD.read(target + ".dead")), self.VALUES + self.BEHIND)
