"""Report of a soak test: each round is checked, growth is measured, all is plotted."""
import collections
import json
import os
import statistics

GROWTH = 0.01  # of memory, over the second half of a process's life
LEAST_RESTS = 6  # required for a verdict on memory
EARLY, LATE = (0.5, 0.65), (0.85, 1.0)  # compared fractions of a process's life
WARM_SECONDS = 900  # of a life until windows are full and each thread has worked: the second half starts later
LEAST_LOOKS = 8  # required in either for a verdict on growth
CRITERION = (f"Growth is that of the first instance's longest life, which has to be more than {2 * WARM_SECONDS // 60} minutes, so that its windows were full "
             "before the half that is looked at. Memory, which is what only this process has, is compared where it is at rest, has all partitions and has "
             f"given back what is free: the median slope between two such looks (Theil and Sen), over that half, may be {GROWTH:.0%}, of what it has and of what of that "
             "the C library says to be in use. What it has while it works "
             "is shown beside it: joins of states take much for seconds, and the C library keeps some of it for a minute. Of descriptors and threads the median "
             f"of all looks from {EARLY[0]:.0%} to {EARLY[1]:.0%} of the life is held against that from {LATE[0]:.0%} on, and may not be more.")
INK, SOFT, LINE, COLOR, OTHER = "#1f2933", "#52606d", "#cbd2d9", "#0f766e", "#b45309"


def judge(frames, source, out, dead, cut):
    """Check the counts of a round. `source` is the input topic's content, in which a sender's retry may have
    duplicated a message."""
    first = int(frames[0].header("n"))
    given = {int(f.header("n")): f for f in frames}
    sent = collections.Counter(int(f.header("n")) for f in source)
    came = collections.Counter(int(f.header("n")) for f in out + dead)
    changed = sum(f.value != given[int(f.header("n"))].value for f in out
                  if f.header("ek-action") != "routed" and int(f.header("n")) in given)
    wrongly_dead = sum(int(f.header("n")) % cut != cut - 1 for f in dead)
    return {"first": first, "sent": len(sent), "in": len(source), "out": len(out), "dead": len(dead),
            "routed": sum(f.header("ek-action") == "routed" for f in out),
            "lost": sum((sent - came).values()) + len(given) - len(sent), "twice": sum((came - sent).values()),
            "changed": changed, "wrongly_dead": wrongly_dead}


def medians(rows, key, share):
    end = rows[-1]["at"]
    found = [r[key] for r in rows if key in r and share[0] * end <= r["at"] <= share[1] * end]
    return statistics.median(found) if len(found) >= LEAST_LOOKS else None


def growth(rows, key):
    """Return (earlier, later) medians of a continuous process; None if it is too short or has too few samples."""
    if not rows or rows[-1]["at"] * EARLY[0] < WARM_SECONDS:
        return None
    early, late = (medians(rows, key, share) for share in (EARLY, LATE))
    return None if early is None or late is None else (early, late)


def slope(points):
    """Return the Theil-Sen slope through (x, y): the median over all pairs."""
    return statistics.median((b[1] - a[1]) / (b[0] - a[0]) for i, a in enumerate(points) for b in points[i + 1:])


def growth_at_rest(rows, key):
    """Return (level, growth) over the second half of a life; None with too few idle samples."""
    if not rows or rows[-1]["at"] / 2 < WARM_SECONDS:
        return None
    end = rows[-1]["at"]
    points = [(r["at"], r[key]) for r in rows if r.get("rest") and r["at"] >= end / 2]
    return (statistics.median(y for _, y in points), slope(points) * end / 2) if len(points) >= LEAST_RESTS else None


def longest_life(rows):
    """Return the samples of the longest-lived process, from its start."""
    lives = collections.defaultdict(list)
    for row in rows:
        lives[row["pid"]].append(row)
    of = max(lives.values(), key=lambda life: life[-1]["at"] - life[0]["at"], default=[])
    return [{**row, "at": row["at"] - of[0]["at"]} for row in of]


def verdicts(rounds, rows):
    """Return (what, held, figure) each."""
    total = {key: sum(r[key] for r in rounds) for key in ("lost", "twice", "changed", "wrongly_dead")}
    found = [(f"{key.replace('_', ' ')} messages", not n, str(n)) for key, n in total.items()]
    errors = [e for r in rounds for e in r["errors"]]
    found.append(("what went wrong besides", not errors, "; ".join(errors) or "nothing"))
    steady = longest_life([r for r in rows if r["name"] == "steady"])
    working, descriptors, threads = (growth([r for r in steady if not r.get("rest")], key) for key in ("anonymous_kib", "descriptors", "threads"))
    memory = growth_at_rest(steady, "anonymous_kib")
    if memory and working:
        for what, (level, grown) in (("memory of the first instance, at rest", memory), ("of it in use", growth_at_rest(steady, "in_use_kib"))):
            found.append((what, grown / level <= GROWTH, f"{level / 1024:.1f} MiB, {100 * grown / level:+.2f}% in {steady[-1]['at'] / 7200:.1f} h"))
        found.append(("the same while it works", True, f"{working[0] / 1024:.1f} to {working[1] / 1024:.1f} MiB; not held to anything"))
        found.append(("its descriptors", descriptors[1] <= descriptors[0], f"{descriptors[0]:.0f} to {descriptors[1]:.0f}"))
        found.append(("its threads", threads[1] <= threads[0], f"{threads[0]:.0f} to {threads[1]:.0f}"))
    else:
        found.append(("growth", False, "too short to say"))
    return found


def curve(rows, key, scale, top, left, width, height, high, end, color):
    points = [(left + width * r["at"] / end, top + height * (1 - min(r[key] * scale / high, 1))) for r in rows if key in r]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.2"/>'


def picture(rows):
    """Plot memory, descriptors, latency and lag of both instances over time, in four panels."""
    panels = (("anonymous memory, MiB", "anonymous_kib", 1 / 1024), ("descriptors", "descriptors", 1),
              ("99th percentile of latency, ms", "p99_ms", 1), ("lag, messages", "lag", 1))
    width, height, end = 860, 150, max((r["at"] for r in rows), default=0) or 1
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 100}" height="{len(panels) * (height + 50) + 30}" font-family="system-ui,sans-serif">',
           f'<rect width="100%" height="100%" fill="#fff"/><text x="70" y="18" font-size="12" fill="{COLOR}">first instance</text>'
           f'<text x="170" y="18" font-size="12" fill="{OTHER}">second, which comes and goes</text>'
           f'<text x="380" y="18" font-size="12" fill="{INK}">● first, at rest</text>']
    for i, (title, key, scale) in enumerate(panels):
        top = 50 + i * (height + 50)
        high = max((r[key] * scale for r in rows if key in r), default=0) or 1
        out.append(f'<text x="70" y="{top - 8}" font-size="12" fill="{INK}">{title}</text>')
        for share in (0, .5, 1):
            y = top + height * (1 - share)
            out.append(f'<line x1="70" x2="{70 + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="{LINE}"/>'
                       f'<text x="64" y="{y + 4:.1f}" font-size="10" text-anchor="end" fill="{SOFT}">{high * share:.3g}</text>')
        for name, color in (("other", OTHER), ("steady", COLOR)):
            out.append(curve([r for r in rows if r["name"] == name], key, scale, top, 70, width, height, high, end, color))
        if key == "anonymous_kib":
            out += [f'<circle cx="{70 + width * r["at"] / end:.1f}" cy="{top + height * (1 - r[key] * scale / high):.1f}" r="3" fill="{INK}"/>'
                    for r in rows if r.get("rest")]
    bottom = 50 + len(panels) * (height + 50) - 34
    out += [f'<text x="{70 + width * s:.1f}" y="{bottom}" font-size="10" text-anchor="middle" fill="{SOFT}">{end * s / 3600:.2f} h</text>'
            for s in (0, .25, .5, .75, 1)]
    return "\n".join(out) + "\n</svg>\n"


def text_of(rounds, rows, about, broken):
    found = verdicts(rounds, rows) if rounds else []
    done = collections.Counter(d for r in rounds for d in r["disturbed"])
    lines = ["# Long hours", "", f"{max((r['at'] for r in rows), default=0) / 3600:.2f} hours, {len(rounds)} rounds, "
             f"{sum(r['in'] for r in rounds):,} messages, {sum(r['routed'] for r in rounds):,} routed, {sum(r['dead'] for r in rounds):,} dead letters; "
             f"Kafka {about['kafka']}, librdkafka {about['librdkafka']}.", "", "| | held | |", "|---|---|---|"]
    lines += [f"| {what} | {'yes' if held else '**no**'} | {figure} |" for what, held, figure in found]
    lines += ["", CRITERION]
    if broken:
        lines += ["", "It broke off: " + broken]
    lines += ["", f"Instances ended by themselves, and were started again, {sum(r['ended'] for r in rounds)} times."]
    lines += ["", "| disturbance | times |", "|---|---|", *(f"| {name.replace('_', ' ')} | {n} |" for name, n in sorted(done.items()))]
    lines += ["", "| fault | rounds | lists routed |", "|---|---|---|"]
    for fault in sorted({r["fault"] or "" for r in rounds}):
        of = [r for r in rounds if (r["fault"] or "") == fault]
        lines.append(f"| {fault or 'none'} | {len(of)} | {sum(r['routed'] for r in of) / max(1, sum(r['out'] for r in of)):.1%} |")
    return bool(rounds) and not broken and all(held for _, held, _ in found), "\n".join(lines) + "\n"


def write(folder, rounds, rows, about, broken):
    """Write the files of a folder. Return (whether all held, the text)."""
    held, text = text_of(rounds, rows, about, broken)
    with open(os.path.join(folder, "report.md"), "w", encoding="utf-8") as out:
        out.write(text)
    with open(os.path.join(folder, "soak.svg"), "w", encoding="utf-8") as out:
        out.write(picture(rows))
    with open(os.path.join(folder, "verdict.json"), "w", encoding="utf-8") as out:
        json.dump({"held": held, **about}, out)
    return held, text
