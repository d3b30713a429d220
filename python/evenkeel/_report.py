"""Report on the lists of a frame: findings, and the level of each feature over the lists, in one HTML file without scripts."""
from __future__ import annotations

import html
from typing import Any, Iterable, Iterator, Optional, Union

import numpy as np

from ._arguments import PathLike, path_of
from ._guard import CLOSED, Event, Profile, observe_frame
from ._lists import Lists
from ._manifest import Manifest

BINS, WIDTH, HEIGHT, FRAME_HEIGHT = 80, 480, 48, 640
STYLE = """body { font: 14px/1.5 system-ui, sans-serif; margin: 1rem; color: #17202a; background: #fff; }
table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; }
th { border-bottom: 1px solid #d4dae1; } .confirmed { color: #a01c1c; } .recovered { color: #1d6b3f; } .soft { color: #54606d; }
polyline { fill: none; stroke: #0b5a94; stroke-width: 1.5; } line { stroke: #a01c1c; stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) { body { color: #e6ebf0; background: #11161c; } th { border-color: #33404d; }
.confirmed { color: #ff9d94; } .recovered { color: #7fd6a2; } .soft { color: #a3b0bd; } polyline { stroke: #7cc0f5; } line { stroke: #ff9d94; } }
"""


def _number(value: Optional[float]) -> str:
    return "" if value is None or not np.isfinite(value) else f"{value:,.4g}"


def _segment(finding: Event) -> str:
    return "all traffic" if finding["segment"] is None else "=".join(*finding["segment"].items())


def _reported(events: Iterable[Event]) -> list[Event]:
    """Return the last event of each confirmed finding, in the order of their starts."""
    last: dict[str, Event] = {}
    for event in events:
        if event["event"] == "finding" and (event["state"] in ("confirmed", "updated") or event["finding_id"] in last):
            last[event["finding_id"]] = event
    return sorted(last.values(), key=lambda finding: int(finding["since_list"]))


def _level(values: np.ndarray, owner: np.ndarray, lists: int) -> np.ndarray:
    """Return the mean ln|x| of the usable values of each list; NaN without any."""
    with np.errstate(all="ignore"):
        ln = np.log(np.abs(values.astype(np.float64)))
        usable = np.isfinite(ln)
        return np.bincount(owner[usable], ln[usable], lists) / np.bincount(owner[usable], minlength=lists)


def _levels(lists: Lists, manifest: Manifest) -> dict[str, np.ndarray]:
    """Return the levels of each feature. A query feature has one value per list."""
    count = len(lists.starts) - 1
    every = np.arange(count)
    owner = np.repeat(every, np.diff(lists.starts))
    out = {name: _level(lists.X[:, j], owner, count) for j, name in enumerate(manifest.item_features)}
    if lists.query_features is not None:
        out |= {name: _level(lists.query_features[:, j], every, count) for j, name in enumerate(manifest.query_features)}
    return out


def _binned(levels: np.ndarray, lists: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the middle list and the mean level of each bin of consecutive lists with a level."""
    lists = lists[np.isfinite(levels[lists])]
    bins = np.array_split(lists, min(BINS, len(lists))) if len(lists) else []
    return np.array([part.mean() for part in bins]), np.array([levels[part].mean() for part in bins])


class Report:
    """What a new guard finds in the lists of a frame, shown in a notebook, and saved as HTML.

    Arguments are as in `replay`. The report has no rows of the frame: findings, their plan, and the mean level of features. The
    program's `evenkeel report` also has distributions and rank changes, from messages.
    """

    def __init__(self, data: Any, manifest: Union[Manifest, PathLike], profile: Union[Profile, PathLike],
                 rules: Optional[PathLike] = None, *, query: str, segments: Iterable[str] = (), time: Optional[str] = None,
                 item_id: Optional[str] = None) -> None:
        #: Events, findings, plan and guard, as `replay` returns them.
        self.replay, lists = observe_frame(data, manifest, profile, rules, query, segments, time, item_id)
        #: The last event of each confirmed finding, also if it has ended.
        self.findings = _reported(self.replay.events)
        #: The report as one HTML document.
        self.html = "".join(self._document(lists))

    def save(self, path: PathLike) -> None:
        """Write the HTML document."""
        with open(path_of(path), "w", encoding="utf-8") as out:
            out.write(self.html)

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.html)}" sandbox title="evenkeel report" '
                f'style="width: 100%; height: {FRAME_HEIGHT}px; border: 0"></iframe>')

    def __repr__(self) -> str:
        return f"Report({self.replay.guard.list_count} lists, {len(self.findings)} confirmed findings)"

    def _document(self, lists: Lists) -> Iterator[str]:
        yield f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>evenkeel report</title>\n<style>\n{STYLE}</style>\n'
        count, open_ = self.replay.guard.list_count, [f for f in self.findings if f["state"] not in CLOSED]
        yield f"<h1>Open findings: {len(open_)} in {count:,} lists</h1>\n"
        yield f'<p class="soft">Ended findings: {len(self.findings) - len(open_)}. Plan version {self.replay.plan.version}, ' \
              f"{len(self.replay.plan.entries)} entries.</p>\n"
        if self.findings:
            yield from self._findings()
        yield from self._features(lists)
        yield "</html>\n"

    def _findings(self) -> Iterator[str]:
        yield "<h2>Findings</h2>\n<table>\n<tr><th>feature<th>segment<th>class<th>factor<th>95% interval<th>fraction<th>since list" \
              "<th>units<th>action<th>mode<th>state\n"
        for f in self.findings:
            state = "recovered" if f["state"] in CLOSED else "confirmed"
            interval = f"{_number(f['factor_low'])} to {_number(f['factor_high'])}" if f["factor"] is not None else ""
            cells = (f["feature"], _segment(f), f["class"] or "", _number(f["factor"]), interval, _number(f["fraction"]), f"{f['since_list']:,}",
                     ", ".join(f["units"]), f["mitigation"], f["mode"])
            row = "".join(f"<td>{html.escape(cell)}" for cell in cells)
            yield f'<tr>{row}<td class="{state}">{state}\n<tr><td colspan="11" class="soft">{html.escape(f["text"])}\n'
        yield "</table>\n"

    def _features(self, lists: Lists) -> Iterator[str]:
        manifest = self.replay.guard.manifest
        levels = _levels(lists, manifest)
        yield "<h2>Levels</h2>\n<p class=\"soft\">Geometric mean of the values that are not zero, from the first list to the last, on a " \
              "logarithmic scale. A dashed line is the start of a finding.</p>\n" \
              "<table>\n<tr><th>feature<th>segment<th>first<th>last<th>level\n"
        for f in self.findings:
            yield _row(f["feature"], _segment(f), levels[f["feature"]], _lists_of(lists, f["segment"]), f["since_list"])
        found = {f["feature"] for f in self.findings if f["segment"] is None}
        for name in manifest.item_features:
            if name not in found:
                yield _row(name, "all traffic", levels[name], _lists_of(lists, None), None)
        yield "</table>\n"


def _lists_of(lists: Lists, segment: Optional[dict[str, str]]) -> np.ndarray:
    """Return the numbers of the lists in a segment; all lists for values without separate statistics, "(other)"."""
    every = np.arange(len(lists.starts) - 1)
    if segment is None:
        return every
    (dimension, value), = segment.items()
    chosen = every[np.array([x == value for x in lists.segments[dimension]], dtype=bool)]
    return chosen if len(chosen) else every


def _row(feature: str, segment: str, levels: np.ndarray, chosen: np.ndarray, since: Optional[int]) -> str:
    at, level = _binned(levels, chosen)
    first, last = (np.exp(level[0]), np.exp(level[-1])) if len(level) else (None, None)
    cells = "".join(f"<td>{html.escape(cell)}" for cell in (feature, segment, _number(first), _number(last)))
    return f"<tr>{cells}<td>{_curve(at, level, len(levels), since)}\n"


def _curve(at: np.ndarray, level: np.ndarray, lists: int, since: Optional[int]) -> str:
    """Return a picture of levels over lists. Its height is at least a factor of e, so that noise looks small."""
    if not len(level):
        return "no values"
    middle, half = (level.min() + level.max()) / 2, max((level.max() - level.min()) / 2, .5)
    x, y = at / max(lists, 1) * WIDTH, HEIGHT / 2 - (level - middle) / half * (HEIGHT / 2 - 4)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
    mark = "" if since is None else f'<line x1="{since / lists * WIDTH:.1f}" x2="{since / lists * WIDTH:.1f}" y1="0" y2="{HEIGHT}"/>'
    return f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><polyline points="{points}"/>{mark}</svg>'
