#!/usr/bin/env python3
"""Draws docs/picture.svg: a scored topic, evenkeel, a ranked topic, and one feature on its other path.

    python3 docs/picture.py > docs/picture.svg
"""

INK, SOFT, LINE, GOOD, BAD, PAPER = "#1f2933", "#52606d", "#9aa5b1", "#0f766e", "#b45309", "#ffffff"
out = []


def text(x, y, words, size=13, color=INK, anchor="middle", weight="normal"):
    out.append(f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}" text-anchor="{anchor}" '
               f'font-weight="{weight}">{words}</text>')


def box(x, y, w, h, stroke=LINE, fill=PAPER, dash=""):
    out.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="6" fill="{fill}" stroke="{stroke}" '
               f'stroke-width="1.5"{dash and f" stroke-dasharray={chr(34)}{dash}{chr(34)}"}/>')


def arrow(points, color=INK, dash="", width=1.8):
    path = "M" + " L".join(f"{x} {y}" for x, y in points)
    extra = f' stroke-dasharray="{dash}"' if dash else ""
    out.append(f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{width}"{extra} '
               f'marker-end="url(#tip{color[1:]})"/>')


def topic(x, name):
    for i in range(4):
        box(x + i * 16, 128, 12, 44, LINE, "#f5f7fa")
    text(x + 30, 192, name, 13, SOFT)


def scene():
    box(14, 122, 92, 56)
    text(60, 146, "search,", 13)
    text(60, 163, "upstream scores", 10.5, SOFT)
    arrow([(108, 150), (136, 150)])
    topic(142, "scored")
    arrow([(212, 150), (242, 150)])
    box(248, 34, 372, 236, GOOD, "#f7fbfa")
    text(434, 56, "evenkeel", 15, GOOD, weight="bold")
    arrow([(622, 150), (650, 150)])
    topic(656, "ranked")
    arrow([(726, 150), (752, 150)])
    box(758, 122, 92, 56)
    text(804, 146, "pages,", 13)
    text(804, 163, "consumers", 11, SOFT)


def inside():
    box(262, 72, 120, 76)
    text(322, 92, "watch", 13, weight="bold")
    text(322, 110, "each feature against", 10.5, SOFT)
    text(322, 124, "its training profile", 11, SOFT)
    text(322, 140, "price &#215; 100 in arm B", 10.5, BAD)
    box(262, 184, 120, 66)
    text(322, 204, "plan", 13, weight="bold")
    text(322, 222, "price, arm B: route", 11, BAD)
    text(322, 238, "other lists: unchanged", 10.5, SOFT)
    arrow([(322, 150), (322, 180)], GOOD)
    box(412, 72, 194, 178)
    text(509, 92, "routable model", 13, weight="bold")
    for i, name in enumerate(("stars", "review", "distance")):
        text(424, 122 + 20 * i, name, 11, SOFT, "start")
        arrow([(474, 118 + 20 * i), (526, 118 + 20 * i)], SOFT, width=1.2)
    text(424, 224, "price", 11, BAD, "start", "bold")
    arrow([(458, 216), (470, 184), (526, 170)], LINE, "4 4", 1.2)
    out.append(f'<path d="M488 170 l10 10 m0 -10 l-10 10" stroke="{BAD}" stroke-width="2"/>')
    arrow([(458, 220), (526, 220)], BAD)
    box(530, 106, 64, 76)
    text(562, 140, "deep", 12)
    text(562, 156, "path", 12)
    box(530, 200, 64, 40, BAD)
    text(562, 216, "log-space", 10.5)
    text(562, 230, "wide path", 10.5)
    arrow([(384, 217), (408, 217)], GOOD)


def captions():
    text(434, 294, "without an action, a message is forwarded byte for byte", 12, SOFT)
    text(434, 312, "a routed feature enters as centered logarithms: ln(100 x) - mean ln(100 x) = ln x - mean ln x,"
         .replace("-", "&#8722;"), 12, SOFT)
    text(434, 328, "so a factor cancels and the order is preserved", 12, SOFT)


def main():
    tips = "".join(f'<marker id="tip{c[1:]}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
                   f'orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{c}"/></marker>' for c in (INK, SOFT, LINE, GOOD, BAD))
    scene()
    inside()
    captions()
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 864 342" width="864" height="342" role="img" '
          'aria-label="scored lists go through evenkeel to the ranked topic; a shifted feature takes the wide path" '
          f'font-family="Helvetica, Arial, sans-serif">\n<defs>{tips}</defs>\n'
          f'<rect width="864" height="342" fill="{PAPER}"/>\n' + "\n".join(out) + "\n</svg>")


main()
