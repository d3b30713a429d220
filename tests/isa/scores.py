"""Compare the lists of two captures: equal bytes except for scores, and scores equal up to rounding.

    scores.py A.ekc B.ekc
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "format"))
import read_capture  # noqa: E402

ROUNDING = 1e-5


def lists(path):
    """Return the scores of each list, and its remaining content."""
    for record in read_capture.records(read_capture.read(path)):
        message = dict(read_capture.unpack(record[4])[0])
        items = [dict(item) for item in message.pop("items")]
        scores = [item.pop("score") for item in items]
        yield scores, repr((message, items))


def main(one, other):
    worst = changed = count = 0
    for (a, rest_a), (b, rest_b) in zip(lists(one), lists(other), strict=True):
        if rest_a != rest_b:
            sys.exit(f"list {count}: something beside scores differs")
        worst = max([worst, *(abs(s - t) / max(1, abs(s)) for s, t in zip(a, b, strict=True))])
        changed += a != b
        count += 1
    if not count or worst > ROUNDING:
        sys.exit(f"{count} lists, scores differ by up to {worst:g}")
    print(f"{count} lists, {changed} with other bits in scores, at most {worst:.1g} apart")


main(*sys.argv[1:])
