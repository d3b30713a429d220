#!/usr/bin/env python3
"""Print the features of a profile (docs/dev/formats/profile.md) as one JSON object.

usage: read_profile.py FILE

An independent decoder, written only from the document. Exits with 1 and a message on invalid bytes.
"""
import json
import struct
import sys

import read_sketch

CODES = {"F32": ("f", 4), "U8": ("B", 1), "U64": ("Q", 8)}
SHAPES = {"level": ("F32", "F", "S"), "feature_level": ("F32", "F"), "sd": ("F32", "F"),
          "inv_sd": ("F32", "F", 64), "queries": ("U64", "F"), "log_mean": ("F32", "F"),
          "log_sd": ("F32", "F"), "spread_mean": ("F32", "F", 3), "spread_sd": ("F32", "F", 3),
          "spread_hi": ("F32", "F", 3), "share": ("F32", "F", 4), "season": ("F32", "F", 6),
          "design_effect": ("F32", "F", 6), "band": ("F32", "F"), "range": ("F32", "F"),
          "share_wander": ("F32", "F", 4), "stratum_band": ("F32", "F", "S"),
          "z_rank": ("U8", "F", 2, 257), "spread_rank": ("U8", "F", 3, 2, 129),
          "density": ("F32", "F", 1600), "calibration": ("F32", "F", "24 S")}
CATEGORY = ("category_offset", "category_value", "category_share", "category_unknown")


class Damaged(Exception):
    pass


def arrays(data):
    """Return ({name: (dtype, shape, flat values)}, the description)."""
    if len(data) < 8:
        raise Damaged("shorter than its length field")
    (size,) = struct.unpack("<Q", data[:8])
    if size > len(data) - 8:
        raise Damaged("the header is longer than the file")
    header = json.loads(data[8:8 + size])
    description = json.loads(header.pop("__metadata__")["evenkeel_profile"])
    found = {}
    for name, entry in header.items():
        code, width = CODES[entry["dtype"]]
        low, high = entry["data_offsets"]
        raw = data[8 + size + low:8 + size + high]
        if len(raw) != high - low:
            raise Damaged(f"array '{name}' ends behind the file")
        found[name] = (entry["dtype"], entry["shape"], struct.unpack(f"<{len(raw) // width}{code}", raw))
    return found, description


def check_shapes(found, features, strata, prefix=""):
    sizes = {"F": features, "S": strata, "24 S": 24 * strata}
    for name, (dtype, *shape) in SHAPES.items():
        wanted = [sizes.get(side, side) for side in shape]
        name = prefix + name
        if name not in found or list(found[name][:2]) != [dtype, wanted]:
            raise Damaged(f"array '{name}' is not {dtype} {wanted}")


def category(found, names, strata, f):
    """Return {value: its fraction in all lists}, the fraction of unknown ones; None for a number."""
    if "category_offset" not in found or found["category_unknown"][2][f * strata] == -1:
        return None
    if [found[name][0] for name in CATEGORY] != ["U64", "F32", "F32", "F32"]:
        raise Damaged("the types of the categories' arrays")
    offset, value, share, unknown = (found[name][2] for name in CATEGORY)
    if len(offset) != len(names) + 1 or len(share) != strata * len(value) or offset[-1] != len(value):
        raise Damaged("the shapes of the categories' arrays")
    return {"values": {value[v]: share[v * strata] for v in range(offset[f], offset[f + 1])},
            "unknown": unknown[f * strata]}


def segments(found, description):
    """Return {feature: {dimension: {value: level}}}."""
    dimensions, names = description.get("segments", []), description["features"]
    if not dimensions:
        return {}
    check_shapes(found, len(names), len(description["strata"]), "by_segment_")
    rows = [(d["dimension"], value) for d in dimensions for value in d["values"]]
    of = [names[f] for f in found["segment_level_feature"][2]]
    if list(found["segment_level"][:2]) != ["F32", [len(rows), len(of)]]:
        raise Damaged("the shape of the segments' levels")
    levels = {name: {} for name in of}
    for i, level in enumerate(found["segment_level"][2]):
        (dimension, value), name = rows[i // len(of)], of[i % len(of)]
        if level == level:
            levels[name].setdefault(dimension, {})[value] = level
    return levels


def read(data):
    """Return a dict: version, manifest, queries, features by name with level, fraction, density sum, counts."""
    found, description = arrays(data)
    if description["version"] != 3:
        raise Damaged(f"version {description['version']}")
    names, strata = description["features"], description["strata"]
    check_shapes(found, len(names), len(strata))
    offset, sketches = found["sketch_offset"][2], bytes(found["sketch"][2])
    by_segment = segments(found, description)
    features = {}
    for f, name in enumerate(names):
        counts, end = read_sketch.read(sketches, offset[f])
        if end != offset[f + 1]:
            raise Damaged(f"the sketch of '{name}' is not as long as it says")
        features[name] = {
            "levels": dict(zip(strata, found["level"][2][f * len(strata):(f + 1) * len(strata)])),
            "share": found["share"][2][4 * f:4 * f + 4],
            "density": .02 * sum(found["density"][2][1600 * f:1600 * (f + 1)]),
            "values": sum(counts.values()),
            "queries": found["queries"][2][f],
            "design_effect": found["design_effect"][2][6 * f:6 * f + 6],
            "band": found["band"][2][f],
            "range": found["range"][2][f],
            "segments": by_segment.get(name, {}),
            "category": category(found, names, len(strata), f),
        }
    return {**description, "features": features}


def main():
    try:
        with open(sys.argv[1], "rb") as file:
            json.dump(read(file.read()), sys.stdout)
        print()
    except (OSError, ValueError, KeyError, IndexError, struct.error, Damaged,
            read_sketch.Damaged) as error:
        sys.exit(f"read_profile.py: {error}")


if __name__ == "__main__":
    main()
