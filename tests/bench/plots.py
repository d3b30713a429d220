#!/usr/bin/env python3
"""Draw docs/dev/performance.svg from benchmark lines: plots.py build/bench.jsonl docs/dev/performance.svg

Shows the guard's time by features, items and segments, and the throughput of `run` by partitions and instances. A
panel without lines is omitted.
"""
import json
import math
import re
import sys

INK, SOFT, LINE, COLOR, PAPER = "#1f2933", "#52606d", "#cbd2d9", "#0f766e", "#ffffff"
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 400, 250, 58, 40, 16, 46

# title, axis, bench, unit, case pattern, group of x, label of y
PANELS = [
    ("by features, 20 items", "features", "sweep", "ns/value", r"guard, (\d+) features, 20 items, bin$", "ns per value"),
    ("by items, 136 features", "items", "sweep", "ns/value", r"guard, 136 features, (\d+) items?, bin$", "ns per value"),
    ("by items, 136 features", "items", "sweep", "us/list", r"guard, 136 features, (\d+) items?, bin$", "us per list"),
    ("by cells, 136 features, 20 items", "cells", "sweep", "ns/value", r"guard, 136 features, 20 items, bin, (\d+) cells$",
     "ns per value"),
    ("run, by partitions", "partitions", "scale", "messages/s", r".*, (\d+) partitions?, 1 instance$", "messages per second"),
    ("run, by instances, 16 partitions", "instances", "scale", "messages/s", r".*, 16 partitions, (\d+) instances?$",
     "messages per second"),
]


def text(x, y, words, size=11, color=SOFT, anchor="middle", weight="normal", turned=False):
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}" text-anchor="{anchor}" '
            f'font-weight="{weight}"{turn}>{words}</text>')


def points_of(rows, bench, unit, pattern):
    found = {}
    for row in rows:
        match = re.match(pattern, row["case"])
        if row["bench"] == bench and row["unit"] == unit and row["peer"] is None and match:
            found[int(match.group(1))] = row["value"]
    return sorted(found.items())


def ticks(top):
    """Return three to six round steps from 0."""
    power = 10 ** math.floor(math.log10(top))
    step = next(s * power for s in (0.2, 0.25, 0.5, 1, 2) if top / (s * power) <= 5)
    return [i * step for i in range(int(top / step + 1e-9) + 2)]


def panel(left, top, title, axis, label, points):
    """Draw one curve; x is logarithmic, y starts at 0."""
    x0, x1, y0, y1 = left + LEFT, left + WIDTH - RIGHT, top + HEIGHT - BOTTOM, top + TOP
    marks = ticks(max(y for _, y in points))
    low, high = math.log(points[0][0]), math.log(points[-1][0])

    def place(x, y):
        return x0 + (x1 - x0) * (math.log(x) - low) / ((high - low) or 1), y0 + (y1 - y0) * y / marks[-1]

    out = [text((x0 + x1) / 2, top + 22, title, 12.5, INK, weight="bold"),
           text((x0 + x1) / 2, top + HEIGHT - 8, axis), text(left + 14, (y0 + y1) / 2, label, turned=True)]
    for mark in marks:
        y = place(points[0][0], mark)[1]
        out.append(f'<path d="M{x0} {y:.1f} H{x1}" stroke="{LINE}" stroke-width="1"/>')
        out.append(text(x0 - 6, y + 4, f"{mark:g}", 10, anchor="end"))
    spots = [place(*p) for p in points]
    out.append(f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in spots)}" fill="none" stroke="{COLOR}" stroke-width="2"/>')
    for (x, y), (number, value) in zip(spots, points):
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{COLOR}"><title>{number}: {value:.4g}</title></circle>')
        out.append(text(x, y0 + 16, number, 10))
    return "\n".join(out)


def draw(rows):
    drawn = []
    for title, axis, bench, unit, pattern, label in PANELS:
        points = points_of(rows, bench, unit, pattern)
        if len(points) > 1:
            left, top = len(drawn) % 2 * WIDTH, len(drawn) // 2 * HEIGHT
            drawn.append(panel(left, top, title, axis, label, points))
    height = (len(drawn) + 1) // 2 * HEIGHT
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {height}" width="{2 * WIDTH}" height="{height}" '
            'role="img" aria-label="how the cost of the guard and the throughput of run grow" '
            f'font-family="Helvetica, Arial, sans-serif">\n<rect width="{2 * WIDTH}" height="{height}" fill="{PAPER}"/>\n'
            + "\n".join(drawn) + "\n</svg>\n")


def main():
    with open(sys.argv[1], encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    picture = draw(rows)
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write(picture)


if __name__ == "__main__":
    main()
