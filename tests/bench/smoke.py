#!/usr/bin/env python3
"""Smoke test of the benchmarks and of the programs that read their lines: smoke.py BUILD. Small sizes, no timing
checks.

The last line is `N passed, N failed`.
"""
import contextlib
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import xml.dom.minidom

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "peers")]
import performance  # noqa: E402
import plots  # noqa: E402
import sketches  # noqa: E402

BUILD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "build"
DOCS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs")
PAGES = {"performance.md": os.path.join(DOCS, "dev"), "sizing.md": DOCS}
CLIENTS = os.path.join(BUILD, "tests", "bench", "kafka", "clients")
TIME_SKETCH = os.path.join(BUILD, "tests", "bench", "peers", "time_sketch")
KEYS = ["bench", "case", "value", "unit", "peer", "ratio"]


def row(bench, case, value, unit="ns/value", peer=None, ratio=None):
    return dict(zip(KEYS, (bench, case, value, unit, peer, ratio)))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, rows):
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.writelines(json.dumps(r) + "\n" for r in rows)
        return self.path(name)

    def read(self, path):
        with open(path, encoding="utf-8") as stream:
            return [json.loads(line) for line in stream]


class Benches(Case):
    def test_write_lines_that_anyone_can_read(self):
        path = self.path("bench.jsonl")
        subprocess.run([os.path.join(BUILD, "bench"), "--seconds", "0", "--out", path, "list_moments", "codec"], check=True,
                       stdout=subprocess.DEVNULL)
        rows = self.read(path)
        for r in rows:
            self.assertEqual(list(r), KEYS)
            self.assertGreater(r["value"], 0)
            self.assertEqual(r["peer"] is None, r["ratio"] is None)
        cases = {(r["bench"], r["case"]) for r in rows}
        self.assertIn(("codec", "decode, 136 features, 20 items, bin"), cases)
        self.assertIn(("codec", "decode, 136 features, 20 items, float32 array"), cases)
        self.assertIn("limit: memcpy of the message", {r["peer"] for r in rows})

    def test_that_are_not_there_are_an_error(self):
        done = subprocess.run([os.path.join(BUILD, "bench"), "nothing"], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("'nothing'", done.stderr)


class Peers(Case):
    ROWS = 400

    def setUp(self):
        super().setUp()
        self.file = self.path("values")
        subprocess.run([TIME_SKETCH, "make", self.file, str(self.ROWS)], check=True)

    def test_hold_what_went_in_and_agree_on_the_median(self):
        for segments in ("1", "8"):
            cost, median = sketches.once("ours", [TIME_SKETCH, self.file, segments, "0"], self.ROWS * 136)
            self.assertGreater(cost, 0)
            self.assertTrue(12 < median < 33, median)  # e^3 = 20

    def test_that_lose_values_end_the_benchmark(self):
        with self.assertRaisesRegex(SystemExit, "holds 99 values of 100"):
            sketches.once("loser", ["echo", "1.5 1 99 20"], 100)


class Page(http.server.BaseHTTPRequestHandler):
    """One page, longer than one read."""
    protocol_version, BODY = "HTTP/1.1", b"x" * 700000

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.BODY)))
        self.end_headers()
        self.wfile.write(self.BODY)

    def log_message(self, *_):
        pass


class Clients(Case):
    """Clients of the benchmark `abuse`: their counters equal their actions."""

    @contextlib.contextmanager
    def crowd(self, port, *words):
        command = [CLIENTS, str(port), "127.0.0.2", *map(str, words)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            yield process
            process.stdin.close()
            self.assertEqual(process.wait(), 0)

    def done(self, process):
        process.stdin.write("\n")
        process.stdin.flush()
        line = process.stdout.readline()
        return self.done(process) if line == "all there\n" else list(map(int, line.split()))

    def test_ask_again_when_an_answer_is_whole(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with self.crowd(server.server_port, "get:/page", 3, 1, 0) as process:
            done = self.done(process)
            while done[2] < 9:
                done = self.done(process)
            self.assertEqual(done[:2], [3, 0])
            self.assertGreater(done[3], done[2] * len(Page.BODY))
            self.assertLess(done[3], (done[2] + 3) * (len(Page.BODY) + 1000))

    def test_come_again_when_they_are_turned_away(self):
        with socket.create_server(("127.0.0.1", 0)) as listener, self.crowd(listener.getsockname()[1], "min_duration", 2, 0, 0) as process:
            for _ in range(10):
                link, address = listener.accept()
                self.assertEqual(address[0], "127.0.0.2")
                link.close()
            done = self.done(process)
            while done[1] < 10:
                done = self.done(process)
            self.assertEqual(done, [12, 10, 0, 0])

    def test_never_end_what_they_say(self):
        for kind, begin in (("head", b"GET /ping HTTP/1.1\r\nHost: localhost\r\nX: "), ("body", b"POST /api/v1/pause HTTP/1.1\r\n")):
            with socket.create_server(("127.0.0.1", 0)) as listener, self.crowd(listener.getsockname()[1], kind, 1, 1, 0):
                link = listener.accept()[0]
                said = b""
                while not said.endswith(b"xxxxx"):
                    said += link.recv(1000)
                self.assertTrue(said.startswith(begin), said)
                self.assertEqual(said.count(b"\r\n\r\n"), kind == "body")
                link.close()


class Medians(Case):
    def test_replace_the_lines_of_their_benchmark_only(self):
        path = self.write("bench.jsonl", [row("other", "kept", 7), row("a", "old", 1)])
        runs = [self.write(f"run-{i}", [row("a", "x", v), row("a", "x", 10 * v, peer="p", ratio=r)])
                for i, (v, r) in enumerate(((1, 2.5), (5, 1.5), (2, 9)))]
        subprocess.run([sys.executable, os.path.join(HERE, "median.py"), path, *runs], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(self.read(path), [row("other", "kept", 7), row("a", "x", 2), row("a", "x", 20, peer="p", ratio=2.5)])


class Plots(unittest.TestCase):
    def test_draw_the_panels_whose_lines_are_there(self):
        rows = [row("sweep", f"guard, {n} features, 20 items, bin", 3 + n / 100) for n in (16, 136, 2048)]
        document = xml.dom.minidom.parseString(plots.draw(rows))
        texts = [t.firstChild.data for t in document.getElementsByTagName("text")]
        self.assertIn("by features, 20 items", texts)
        self.assertNotIn("by cells, 136 features, 20 items", texts)
        self.assertEqual(len(document.getElementsByTagName("circle")), 3)


class TheDocuments(Case):
    def made(self, rows, page="performance.md"):
        for name, folder in PAGES.items():
            shutil.copy(os.path.join(folder, name), self.path(name))
        subprocess.run([sys.executable, os.path.join(HERE, "performance.py"), self.write("rows", rows), *map(self.path, PAGES)],
                       check=True)
        with open(self.path(page), encoding="utf-8") as stream:
            return stream.read()

    def test_says_what_was_not_measured(self):
        text = self.made([])
        self.assertIn("| guard, `bin`, AVX-512 | 4 ns/value | not measured |", text)

    def test_has_the_figures_of_the_file(self):
        text = self.made([row("sweep", "guard, 136 features, 20 items, bin", 3.25),
                          row("kafka", "136 features, 20 items, bin, nothing routed", 12000, "messages/s"),
                          row("kafka", "136 features, 20 items, bin, nothing routed", 15000, "messages/s",
                              performance.FORWARDER, 0.8),
                          row("avro", "decode, 136 features, 20 items, array of float", 0.6),
                          row("avro", "decode, 136 features, 20 items, array of float", 0.4, peer="MessagePack array", ratio=0.6667),
                          row("abuse", "alone", 100, "messages/s"),
                          row("abuse", "alone, lowest pass", 97, "messages/s", "alone", 0.97),
                          row("abuse", "alone, highest pass", 102, "messages/s", "alone", 1.02),
                          row("abuse", "slow clients", 99, "messages/s"),
                          row("abuse", "slow clients", 100, "messages/s", "alone", 0.99),
                          row("abuse", "slow clients, processor time of the clients", 1.5, "%"),
                          row("machine", "processors", 2, "processors"),
                          row("machine", "busy with other work before a run", 60, "%")])
        self.assertIn("| guard, `bin`, AVX-512 | 4 ns/value | 3.25 ns/value |", text)
        self.assertIn("| `run` against the forwarder, nothing routed, `bin` | 0.90 | 0.80 |", text)
        self.assertIn("| Avro, array of float | 0.6 | 0.4 | 1.5 |", text)
        self.assertIn("| alone | 100 | 0.97 to 1.02 | not measured |  |  |  |", text)
        self.assertIn("| slow clients | 99 | 0.99 | not measured |  |  | 1.5 % |", text)
        self.assertIn("60% busy", text)
        self.assertIn("to be made again", text)

    def test_size_an_instance_by_the_figures(self):
        spent = ", processor time of the client"
        text = self.made([row("kafka", "136 features, 20 items, bin, nothing routed" + spent, 25, "us/message"),
                          row("kafka", "136 features, 20 items, bin, 5 features routed" + spent, 80, "us/message"),
                          row("long", "1000000 lists", 100, "MiB"), row("long", "2000000 lists", 128, "MiB")], "sizing.md")
        self.assertIn("| CPUs, nothing routed | 20,000 x 25 us | 0.50 |", text)
        self.assertIn("| CPUs, with as much again for backlogs | 2 x 1.60, rounded up | 4 |", text)
        self.assertIn("| memory limit, with half again as reserve | 1.5 x 512 MiB | 0.8 GiB |", text)
        self.assertIn("not measured", self.made([], "sizing.md"))


def main():
    result = unittest.main(argv=sys.argv[:1], exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
