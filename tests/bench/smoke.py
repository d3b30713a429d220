#!/usr/bin/env python3
"""The benchmarks run, and what reads their lines understands them: smoke.py BUILD. Small sizes, nothing about time.

The last line is `N passed, N failed`.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "peers")]
import performance  # noqa: E402
import plots  # noqa: E402
import sketches  # noqa: E402

BUILD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "build"
DOCUMENT = os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs", "performance.md")
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
        subprocess.run([os.path.join(BUILD, "bench"), "--seconds", "0", "--out", path, "list_sums", "codec"], check=True,
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


class TheDocument(Case):
    def made(self, rows):
        with open(DOCUMENT, encoding="utf-8") as stream, open(self.path("p.md"), "w", encoding="utf-8") as out:
            out.write(stream.read())
        subprocess.run([sys.executable, os.path.join(HERE, "performance.py"), self.write("rows", rows), self.path("p.md")],
                       check=True)
        with open(self.path("p.md"), encoding="utf-8") as stream:
            return stream.read()

    def test_says_what_was_not_measured(self):
        text = self.made([])
        self.assertIn("| guard, `bin`, AVX-512 | 4 ns/value | not measured |", text)

    def test_has_the_figures_of_the_file(self):
        text = self.made([row("sweep", "guard, 136 features, 20 items, bin", 3.25),
                          row("kafka", "136 features, 20 items, bin, nothing routed", 12000, "messages/s"),
                          row("kafka", "136 features, 20 items, bin, nothing routed", 15000, "messages/s",
                              performance.FORWARDER, 0.8),
                          row("machine", "processors", 2, "processors"),
                          row("machine", "busy with other work before a run", 60, "%")])
        self.assertIn("| guard, `bin`, AVX-512 | 4 ns/value | 3.25 ns/value |", text)
        self.assertIn("| `run` against the forwarder, nothing routed, `bin` | 0.90 | 0.80 |", text)
        self.assertIn("60% busy", text)
        self.assertIn("to be made again", text)


def main():
    result = unittest.main(argv=sys.argv[:1], exit=False, verbosity=0).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
