#!/usr/bin/env python3
"""Write the tables of docs/dev/performance.md, docs/cost.md and docs/sizing.md at their markers: performance.py build/bench.jsonl PAGE...

All values are from the file; missing ones are marked.
"""
import json
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs"))
import document  # noqa: E402
from document import table  # noqa: E402

NONE = "not measured"
BUSY_PERCENT = 10  # of all processors; above that, results are rough
KAFKA = "136 features, 20 items, "
EXAMPLE_RATE = 20000  # lists per second of the example in docs/sizing.md
FORWARDER, QUICK = "librdkafka forwarder, same settings", "librdkafka forwarder, free to reorder"


class Rows:
    """Lines of a file; `portable` are those of `make ISA=portable bench`."""

    def __init__(self, path):
        self.all = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as stream:
                self.all = [json.loads(line) for line in stream]
        folder, name = os.path.split(path)
        self.portable = None if folder.endswith("portable") else Rows(os.path.join(folder, "portable", name))

    def find(self, bench, case, unit=None, peer=None):
        return next((r for r in self.all if r["bench"] == bench and r["case"] == case and r["peer"] == peer
                     and unit in (None, r["unit"])), None)

    def value(self, *what):
        row = self.find(*what)
        return row and row["value"]

    def of(self, bench):
        return [r for r in self.all if r["bench"] == bench]

    def peers(self, bench, case, unit=None):
        """Return the peers of a case, without limits."""
        return [r for r in self.of(bench) if r["case"] == case and r["peer"] and not r["peer"].startswith("limit")
                and unit in (None, r["unit"])]


def number(value, unit=""):
    if value is None:
        return NONE
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{text} {unit}".strip()


def times(row):
    return NONE if not row or row["ratio"] is None else f"{row['ratio']:.2f}"


def machine(rows):
    busy, cores = rows.value("machine", "busy with other work before a run"), rows.value("machine", "processors")
    if busy is None:
        return "Not measured yet."
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        models = re.findall(r"model name\s*: (.*)", stream.read())
    told = f"{models[0] if models else 'an unknown processor'}, {cores:.0f} of it; {busy:.0f}% busy with other work before a run."
    if busy > BUSY_PERCENT:
        told += " **The machine was busy with other work: these figures are rough and to be made again.**"
    return told


def budgets(rows):
    state = [rows.value("state", f"136 features, 8 cells, 12 windows, {w}") for w in ("save all", "load")]
    fastest = min((r["ratio"] for r in rows.peers("peers", "136 features, 8 segments, row-major, each a program of its own")),
                  default=None)
    cell = rows.value("sketch", "136 features, resident memory of a cell")

    def guarded(found, encoding):
        return number(found.value("sweep", f"guard, {KAFKA}{encoding}", "ns/value"), "ns/value")

    def forwarder(case):
        return times(rows.find("kafka", KAFKA + case, "messages/s", FORWARDER))

    return table(["subject", "budget", "measured"], [
        ["`run` against the forwarder, nothing routed, `bin`", "0.90", forwarder("bin, nothing routed")],
        ["the same, float32 array", "0.90", forwarder("float32 array, nothing routed")],
        ["`run` against the forwarder, 5 features routed, `bin`", "0.80", forwarder("bin, 5 features routed")],
        ["the same, float32 array", "0.80", forwarder("float32 array, 5 features routed")],
        ["the same, `bin`, 30,000 lists/s, `observe: auto`, nothing routed", "1.00", forwarder("bin, nothing routed, observe: auto")],
        ["the same, 5 features routed", "0.80", forwarder("bin, 5 features routed, observe: auto")],
        ["guard, `bin`, AVX-512", "4 ns/value", guarded(rows, "bin")],
        ["guard, float32 array, AVX-512", "5 ns/value", guarded(rows, "float32 array")],
        ["guard, `bin`, portable", "8 ns/value", guarded(rows.portable, "bin")],
        ["guard, float32 array, portable", "9 ns/value", guarded(rows.portable, "float32 array")],
        ["sketch, 8 segments, against the fastest published", "5 times", number(fastest, "times")],
        ["scoring 20 items against ONNX Runtime, 64-32, 5 routed", "1.0",
         times(rows.find("onnx", KAFKA + "64-32, all routable, 5 routed", None, "ONNX Runtime"))],
        ["memory of a busy cell", "3 MiB", number(cell and cell / 1024, "MiB")],
        ["memory of a guard with 100 busy cells", "300 MiB",
         number(rows.value("sweep", "guard, 136 features, 100 cells, resident memory"), "MiB")],
        ["state of a partition, 8 cells, saved and restored", "1 s", number(sum(state), "ms") if all(state) else NONE],
        ["`check` of rules with 136 features", "50 ms",
         number(rows.value("check", "check of rules, 136 features with settings of their own"), "ms")],
        ["the same, 1,000 features and 200 pins, processor time", "50 ms",
         number(rows.value("check", "check of rules, 1000 features and 200 pins, processor time"), "ms")],
    ])


def kafka(rows):
    out = []
    for case in dict.fromkeys(r["case"] for r in rows.of("kafka") if r["unit"] == "messages/s" and r["peer"] == FORWARDER):
        client = case + ", processor time of the client"
        out.append([case.removeprefix(KAFKA), number(rows.value("kafka", case)),
                    *(times(rows.find("kafka", case, None, p)) for p in (FORWARDER, QUICK)),
                    *(number(rows.value("kafka", client, None, p)) for p in (None, FORWARDER, QUICK))])
    return table(["case", "`run`, messages/s", "against the forwarder", "against the one that may reorder",
                  "us/message of `run`", "of the forwarder", "of the one that may reorder"], out) if out else NONE


def latency(rows):
    out = []
    for case in dict.fromkeys(r["case"] for r in rows.of("kafka") if ", from producer to consumer, " in r["case"]):
        quantile = case.rsplit(", ", 1)[1]
        out.append([re.sub(", half of.*", "", case).removeprefix(KAFKA), quantile,
                    *(number(rows.value("kafka", case, None, p)) for p in (None, FORWARDER, "limit: no stage"))])
    return table(["case", "", "through `run`, ms", "through the forwarder, ms", "no stage, ms"], out) if out else NONE


def abuse(rows):
    """Cases under load against passes alone; the row `alone` has the range of those passes."""
    stage = ", processor time of the stage"

    def ratios(case):
        found = [rows.find("abuse", case + what, None, "alone") for what in ("", ", lowest pass", ", highest pass")]
        return " to ".join(times(r) for r in sorted(filter(None, found), key=lambda r: r["ratio"] or 0))

    def share(case, whose):
        value = rows.value("abuse", f"{case}, processor time of the {whose}")
        return "" if value is None else number(value, "%")

    cases = dict.fromkeys(r["case"] for r in rows.of("abuse") if r["unit"] == "messages/s" and not r["case"].startswith("alone,"))
    return table(["load", "messages/s", "against alone", "us/message", "against alone", "HTTP thread", "clients"],
                 [[case, number(rows.value("abuse", case)), ratios(case), number(rows.value("abuse", case + stage)),
                   ratios(case + stage), share(case, "thread that answers"), share(case, "clients")]
                  for case in cases]) if cases else NONE


def by_peer(bench, unit):
    """Return a line per contender, a column per case; each peer's value is followed by the ratio to this project."""
    def made(rows):
        cases = list(dict.fromkeys(r["case"] for r in rows.of(bench) if r["unit"] == unit))
        names = list(dict.fromkeys(r["peer"] for r in rows.of(bench) if r["unit"] == unit))
        out = []
        for name in names:
            found = [rows.find(bench, case, unit, name) for case in cases]
            out.append([name or "evenkeel", *(number(r and r["value"]) + (f" ({r['ratio']:.1f})" if r and name else "")
                                              for r in found)])
        heads = [c.removeprefix(KAFKA).removesuffix(", row-major, each a program of its own") for c in cases]
        return table([unit, *heads], out) if out else NONE
    return made


def guard(rows):
    cases = dict.fromkeys(r["case"] for r in rows.of("sweep") if r["unit"] == "ns/value")
    return table(["case", "ns/value", "us/list"],
                 [[c.removeprefix("guard, "), *(number(rows.value("sweep", c, u)) for u in ("ns/value", "us/list"))]
                  for c in cases]) if cases else NONE


def long(rows):
    cases = dict.fromkeys(r["case"] for r in rows.of("long") if r["unit"] == "MiB")
    return table(["lists so far", "memory, MiB", "us/list, of the last tenth"],
                 [[f"{int(re.search('[0-9]+', c)[0]):,}", *(number(rows.value("long", c, u)) for u in ("MiB", "us/list"))]
                  for c in cases]) if cases else NONE


def sizing(rows):
    """Return what the lists of `kafka` need at EXAMPLE_RATE; `long` has the memory of a guard with 40 arms."""
    spent = [rows.value("kafka", f"{KAFKA}bin, {routed} routed, processor time of the client") for routed in ("nothing", "5 features")]
    guard = max((r["value"] for r in rows.of("long") if r["unit"] == "MiB"), default=None)
    if guard is None or None in spent:
        return NONE
    rate, most, memory = f"{EXAMPLE_RATE:,}", EXAMPLE_RATE * spent[1] / 1e6, 2 * guard + 4 * 64
    return table(["need", "calculation", "result"], [
        ["CPUs, nothing routed", f"{rate} x {number(spent[0], 'us')}", f"{EXAMPLE_RATE * spent[0] / 1e6:.2f}"],
        ["CPUs, 5 features routed", f"{rate} x {number(spent[1], 'us')}", f"{most:.2f}"],
        ["CPUs, with as much again for backlogs", f"2 x {most:.2f}, rounded up", f"{math.ceil(2 * most)}"],
        ["network, in each direction", f"{rate} x 20 x 136 x 4 bytes", f"{EXAMPLE_RATE * 20 * 136 * 4 / 1e6:.0f} MB/s"],
        ["memory of the guard, twice during a reload", f"2 x {number(guard, 'MiB')}", f"{2 * guard:.0f} MiB"],
        ["memory of messages, in flight three times and fetched", "4 x 64 MiB", "256 MiB"],
        ["memory limit, with half again as reserve", f"1.5 x {memory:.0f} MiB", f"{1.5 * memory / 1024:.1f} GiB"],
    ])


def limits(rows):
    out = []
    for bench, case in (("sketch", "136 features, 1 segment, row-major"), ("sketch", "136 features, 8 segments, row-major"),
                        ("codec", "decode, 136 features, 20 items, bin"),
                        ("codec", "decode, 136 features, 20 items, float32 array")):
        ours = rows.value(bench, case)
        for r in rows.of(bench):
            if r["case"] == case and (r["peer"] or "").startswith("limit"):
                out.append([f"{bench}: {case}", number(ours), r["peer"].removeprefix("limit: "), number(r["value"])])
    return table(["case", "ours, ns/value", "limit", "ns/value"], out) if out else NONE


def encodings(rows):
    """Lists of other encodings against the same lists as MessagePack arrays, in turns."""
    out = []
    for bench, name in (("avro", "Avro"), ("proto", "Protobuf")):
        for r in rows.of(bench):
            if r["peer"]:
                out.append([f"{name}, {r['case'].removeprefix('decode, ' + KAFKA)}", number(rows.value(bench, r["case"])),
                            number(r["value"]), number(1 / r["ratio"])])
    return table(["encoding", "ns/value", "MessagePack array, ns/value", "times"], out) if out else NONE


def perf(rows):
    sides = ("nothing routed", "5 features routed")
    shares = {side: [(r["case"].removeprefix(side + ", "), r["value"]) for r in rows.of("perf")
                     if r["case"].startswith(side + ", ")] for side in sides}
    if not any(shares.values()):
        return NONE
    longest = max(map(len, shares.values()))
    padded = [shares[s] + [("", None)] * (longest - len(shares[s])) for s in sides]
    return table([sides[0], "%", sides[1], "%"],
                 [[a, "" if x is None else f"{x:.1f}", b, "" if y is None else f"{y:.1f}"]
                  for (a, x), (b, y) in zip(*padded)])


TABLES = {"machine": machine, "budgets": budgets, "kafka": kafka, "abuse": abuse, "latency": latency, "peers": by_peer("peers", "ns/value"),
          "stages": by_peer("stages", "messages/s"), "guard": guard, "long": long, "sizing": sizing, "limits": limits,
          "encodings": encodings, "perf": perf,
          "texts": by_peer("extract", "documents/s"), "candidates": by_peer("extract", "us/query"),
          "features": by_peer("extract", "us/document")}


def main():
    path, *names = sys.argv[1:]
    if not os.path.exists(path):
        raise SystemExit(f"{path} is not there: run make bench first")
    rows, left = Rows(path), set(TABLES)
    for name in names:
        there = document.names(name)
        document.write(name, {n: made(rows) for n, made in TABLES.items() if n in there})
        left -= there
    if left:
        raise SystemExit(f"no page has a place for table {', '.join(sorted(left))}")


if __name__ == "__main__":
    main()
