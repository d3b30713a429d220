"""Medians of several runs: median.py RESULTS RUN.jsonl...

Writes one line per case into RESULTS: the medians of its values and ratios. Lines of other benchmarks in RESULTS are
kept. Prints the cases that differed by more than a fifth between runs.
"""
import json
import os
import statistics
import sys


def read(path):
    with open(path, encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def middle(rows):
    ratios = [r["ratio"] for r in rows if r["ratio"] is not None]
    value, ratio = statistics.median(r["value"] for r in rows), ratios and statistics.median(ratios)
    return {**rows[0], "value": value, "ratio": ratio or None}


def spread(rows):
    values = sorted(r["value"] for r in rows)
    return values[-1] / values[0] - 1 if values[0] > 0 else 0


def main():
    path, runs = sys.argv[1], [read(p) for p in sys.argv[2:]]
    groups = {}
    for row in (row for run in runs for row in run):
        groups.setdefault((row["bench"], row["case"], row["unit"], row["peer"]), []).append(row)
    made = {key[0] for key in groups}
    kept = [row for row in (read(path) if os.path.exists(path) else []) if row["bench"] not in made]
    with open(path + ".new", "w", encoding="utf-8") as out:
        for row in kept + [middle(rows) for rows in groups.values()]:
            out.write(json.dumps(row, separators=(",", ":")) + "\n")
    os.replace(path + ".new", path)
    wide = sum(spread(rows) > 0.2 for rows in groups.values())
    if len(runs) > 1:
        print(f"{len(groups)} figures, medians of {len(runs)} runs; {wide} of them differ by more than a fifth between the runs")


if __name__ == "__main__":
    main()
