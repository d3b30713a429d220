#!/usr/bin/env python3
"""Draws the pictures of concepts.md: docs/concepts-NAME.svg.

    python3 docs/concepts.py docs
"""
import math
import os
import sys

INK, SOFT, LINE, GOOD, BAD, PAPER = "#1f2933", "#52606d", "#9aa5b1", "#0f766e", "#b45309", "#ffffff"
WIDTH = 640


class Picture:
    def __init__(self, height, label):
        self.height, self.label, self.out = height, label, []

    def text(self, x, y, words, size=12, color=INK, anchor="middle", weight="normal"):
        self.out.append(f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{color}" text-anchor="{anchor}" '
                        f'font-weight="{weight}">{words}</text>')

    def box(self, x, y, w, h, stroke=LINE, fill=PAPER):
        self.out.append(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="4" fill="{fill}" stroke="{stroke}" '
                        'stroke-width="1.3"/>')

    def path(self, points, color=INK, width=1.6, dash="", tip=False):
        line = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        extra = (f' stroke-dasharray="{dash}"' if dash else "") + (' marker-end="url(#tip)"' if tip else "")
        self.out.append(f'<path d="{line}" fill="none" stroke="{color}" stroke-width="{width}"{extra}/>')

    def write(self, path):
        tip = (f'<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
               f'<path d="M0 0 L8 4 L0 8 z" fill="{INK}"/></marker>')
        with open(path, "w", encoding="utf-8") as f:
            f.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" '
                    f'height="{self.height}" role="img" aria-label="{self.label}" font-family="Helvetica, Arial, sans-serif">\n'
                    f'<defs>{tip}</defs>\n<rect width="{WIDTH}" height="{self.height}" fill="{PAPER}"/>\n'
                    + "\n".join(self.out) + "\n</svg>\n")


def sketch():
    """The same shape, moved: what a factor is on a logarithmic axis."""
    p = Picture(210, "two distributions of a price on a logarithmic axis; that of today is the trained one, moved by a factor of 100")
    for left, color, name in ((110, GOOD, "in training"), (310, BAD, "today, in arm B")):
        for i in range(14):
            high = 105 * math.exp(-((i - 6.5) / 3.2) ** 2)
            p.box(left + 10 * i, 150 - high, 9, high, color, PAPER)
        p.text(left + 70, 32, name, 12, color, weight="bold")
    p.path([(40, 150), (610, 150)])
    for i, mark in enumerate(("1", "10", "100", "1,000", "10,000", "100,000")):
        p.path([(70 + 100 * i, 150), (70 + 100 * i, 155)])
        p.text(70 + 100 * i, 170, mark, 11, SOFT)
    p.path([(186, 60), (372, 60)], tip=True)
    p.text(282, 80, "&#215; 100:", 12)
    p.text(282, 96, "all move by as much", 11)
    p.text(320, 196, "price, on a logarithmic axis; 64 boxes for each doubling, so a value is known to 0.8%", 11, SOFT)
    return p


def evidence():
    """How it grows, and where it is an alarm."""
    p = Picture(230, "the evidence of a feature stays low on healthy lists, and climbs past the alarm level after a fault begins")
    p.path([(60, 190), (610, 190)])
    p.path([(60, 190), (60, 24)])
    points, level = [], 0.0
    for i in range(109):
        level = level + 5 if i >= 74 else max(0.0, level + 5 * math.sin(2.3 * i) + 3 * math.sin(0.7 * i) - 1.2)
        points.append((60 + 5 * i, 186 - min(level, 158)))
    p.path(points, GOOD)
    p.path([(60, 70), (610, 70)], BAD, 1.2, "5 4")
    p.text(66, 62, "alarm: so high on healthy lists once in 10,000,000 queries at most", 11, BAD, "start")
    p.path([(430, 190), (430, 100)], LINE, 1.2, "2 3")
    p.text(424, 116, "the fault begins", 11, SOFT, "end")
    p.text(335, 210, "lists, one after the other", 11, SOFT)
    p.text(52, 34, "evidence", 11, SOFT, "end")
    return p


def routing():
    """Two ways into the model for each feature."""
    p = Picture(220, "a feature goes into the model by its value, or by its distance from the mean of its list; in the second a factor cancels")
    p.text(110, 30, "one list, in euros and in cents", 12, weight="bold")
    for row, (values, color) in enumerate(((("80", "100", "125"), INK), (("8000", "10000", "12500"), BAD))):
        for i, v in enumerate(values):
            p.box(30 + 58 * i, 50 + 56 * row, 54, 28, color)
            p.text(57 + 58 * i, 69 + 56 * row, v, 12, color)
    p.path([(214, 64), (300, 64)], tip=True)
    p.path([(214, 120), (300, 120)], BAD, tip=True)
    p.text(257, 56, "deep path", 11, SOFT)
    p.text(257, 112, "deep path", 11, SOFT)
    p.text(310, 68, "the order that it has learned", 12, GOOD, "start")
    p.text(310, 124, "values it never saw: any order", 12, BAD, "start")
    p.path([(110, 142), (110, 176), (214, 176)], tip=True)
    p.text(224, 172, "wide path: ln x less the mean of ln x over the list", 11, SOFT, "start")
    for i, v in enumerate(("&#8722;0.22", "0", "+0.22")):
        p.box(224 + 64 * i, 184, 60, 26, GOOD)
        p.text(254 + 64 * i, 201, v, 12, GOOD)
    p.text(430, 201, "in euros and in cents alike", 12, GOOD, "start")
    return p


def cells():
    """Where a fault may be."""
    p = Picture(190, "evidence is kept for every feature in all traffic and in each segment value; the plan names a feature and a cell")
    columns, rows = ("all traffic", "arm = A", "arm = B", "app = 7.1"), ("price", "distance", "rating")
    for i, name in enumerate(columns):
        p.text(180 + 110 * i, 30, name, 12, weight="bold")
    for j, name in enumerate(rows):
        p.text(110, 61 + 40 * j, name, 12, INK, "end")
        for i in range(len(columns)):
            found = (i, j) in ((2, 0), (3, 1))
            p.box(128 + 110 * i, 42 + 40 * j, 104, 30, BAD if found else LINE, "#fdf6ec" if found else PAPER)
            p.text(180 + 110 * i, 62 + 40 * j, ("&#215; 100: route" if j == 0 else "&#215; 1.609: route") if found else "as in training",
                   11, BAD if found else SOFT)
    p.text(320, 180, "the two in color are the plan; arm B gets the first, app 7.1 the second, all other lists leave as they came", 11, SOFT)
    return p


def modes():
    """How far a finding may act."""
    p = Picture(150, "observe tells, shadow scores beside, a canary acts on a few percent of the lists, enforce on all")
    steps = (("observe", "tells", 0), ("shadow", "scores beside", 0), ("canary", "acts on 5%, then more", 12), ("enforce", "acts on all", 104))
    for i, (name, does, share) in enumerate(steps):
        x = 36 + 150 * i
        p.text(x + 52, 28, name, 13, weight="bold")
        p.box(x, 40, 104, 34)
        if share:
            p.box(x, 40, share, 34, GOOD, "#d6ece8")
        p.text(x + 52, 94, does, 11, SOFT)
        if i < 3:
            p.path([(x + 110, 57), (x + 142, 57)], tip=True)
    p.text(320, 130, "colored: lists that may leave with other scores; a guardrail takes back what moves ranks too far", 11, SOFT)
    return p


def main():
    for draw in (sketch, evidence, routing, cells, modes):
        draw().write(os.path.join(sys.argv[1], f"concepts-{draw.__name__}.svg"))


main()
