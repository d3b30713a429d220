"""Write tests/golden/repair.json: repaired values by the Python reference (EK_REFERENCE), in hexadecimal floats.

    EK_REFERENCE=FOLDER python3 tests/golden/repair.py [--check]

With --check the file is compared with the reference instead (exit status 1 if they differ).
"""
import json
import os
import pathlib
import sys
from fractions import Fraction

import numpy

sys.path.insert(0, os.path.join(os.environ["EK_REFERENCE"], "anyranker"))
from anyranker import Action, Baseline, Finding, repair  # noqa: E402

FILE = pathlib.Path(__file__).with_name("repair.json")
UNITS = "100 1/100 1000 1/1000 1/60 60 3600 1.609344 0.3048 2.54 12 1/12 0.45359237 7 1/7 24 1/24 10 2 0.5 10.7639".split()
ODD = [numpy.nan, 0.0, -0.0, numpy.inf, -numpy.inf, 1e-44, 3e38, -7.0, 5.0, 1e-300, 1e300]
STARS = (1.0, 2.0, 3.0, 4.0, 5.0)


def hexes(values):
    return [float(v).hex() for v in values]


def case(kind, x, wire, by, finding=None, positive=False, zero_share=0.0, known=(), **keys):
    base = Baseline(1.0, 1.0, 1.0, positive, zero_share, 0.0, known)
    X = numpy.asarray(x, float).astype(wire).astype(float)[:, None]
    action = Action("repair", "", by, keys.pop("number", None))
    y, _ = repair(X, numpy.array([0, len(x)]), finding or Finding(0, "scale"), action, base=base, wire=wire)
    return {"kind": kind, "width": 32 if wire == numpy.float32 else 64, "positive": positive, "has_zeros": zero_share > 0,
            "exact": by in ("unit", "query_feature", "level", "sign"), "known": hexes(known), **{k: float(v).hex() for k, v in keys.items()},
            "x": hexes(X[:, 0]), "y": hexes(y[:, 0])}


def cases():
    draw = numpy.random.default_rng(29)
    prices = numpy.round(numpy.exp(draw.normal(4, 1.5, 24)), 2)
    with numpy.errstate(all="ignore"):
        for wire in (numpy.float32, numpy.float64):
            for unit in UNITS:
                u = Fraction(unit)
                x = numpy.concatenate([prices * float(u), ODD])
                yield case("divide", x, wire, "unit", p=u.numerator, q=u.denominator, number=u)
            yield case("divide", numpy.concatenate([prices * 97.1, ODD]), wire, "estimate", positive=True, p=97.1, q=1, number=97.1)
            yield case("divide", numpy.array(STARS * 3) * 2.04, wire, "estimate", known=STARS, p=2, q=1, number=2.0)
            yield case("divide", [2.5, 2.9, 0, -3.1, 60], wire, "estimate", known=STARS, p=1, q=1, number=1.0)
            for power in (Fraction(1, 3), Fraction(1, 2), Fraction(2), Fraction(3)):
                x = numpy.concatenate([prices ** float(power), ODD])
                yield case("power", x, wire, "power", Finding(0, "power"), factor=1, exponent=power, number=power)
            yield case("power", numpy.concatenate([3 * prices ** 1.7, ODD]), wire, "power", Finding(0, "power", factor=3.0),
                       factor=3, exponent=1.7, number=1.7)
            for zeros in (0.0, 0.3):
                x = numpy.concatenate([prices + 273.15, numpy.full(3, 273.15), [273.16, 273.3], ODD])
                yield case("offset", x, wire, "offset", Finding(0, "offset", offset_error=0.03), zero_share=zeros, offset=273.15,
                           offset_error=0.03, number=273.15)
            yield case("absolute", numpy.concatenate([-prices, ODD]), wire, "sign", positive=True)
            yield case("negate", numpy.concatenate([-prices, ODD]), wire, "sign")


def is_close(kept, now):
    """Return whether two cases are equal; powers, and doubles, of different versions of numpy may differ in the last places."""
    if not isinstance(kept, dict):
        return kept == now
    if kept.keys() != now.keys() or any(kept[k] != now[k] for k in kept if not isinstance(kept[k], list)):
        return False
    ulps = 1e-7 if kept.get("width") == 32 else 1e-15
    lists = [k for k in kept if isinstance(kept[k], list)]
    return all(len(kept[k]) == len(now[k]) for k in lists) and all(
        a == b or ((kept["kind"] == "power" or kept.get("width") == 64) and abs(float.fromhex(a) - float.fromhex(b)) <= ulps * abs(float.fromhex(a)))
        for k in lists for a, b in zip(kept[k], now[k]))


def main():
    text = "[\n" + ",\n".join(json.dumps(c) for c in cases()) + "\n]\n"
    if "--check" in sys.argv[1:]:
        same = all(is_close(a, b) for a, b in zip(json.loads(FILE.read_text()), json.loads(text), strict=True))
        sys.exit(0 if same else "tests/golden/repair.json differs from the reference")
    FILE.write_text(text)


if __name__ == "__main__":
    main()
