#!/usr/bin/env python3
"""Print sketches (docs/dev/formats/sketch.md), one JSON object each.

usage: read_sketch.py FILE     `-` reads standard input

An independent decoder, written only from the document. Exits with 1 and a message on invalid bytes.
"""

import json
import struct
import sys
import zlib

MAGIC = b"EKS1"
INF, NAN, NEG_ZERO, NEG_INF, KEYS = 16320, 16352, 16384, 32704, 32768
MAX_64 = 2**64 - 1


class Damaged(Exception):
    pass


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data):
            raise Damaged(f"it ends within a number at byte {at}")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
        if shift > 63:
            raise Damaged(f"a number of more than 64 bits before byte {at}")
    if value > MAX_64:
        raise Damaged(f"a number of more than 64 bits before byte {at}")
    if byte == 0 and shift > 7:
        raise Damaged(f"a number that is spelt too long before byte {at}")
    return value, at


def occurs(key):
    return key <= INF or key == NAN or NEG_ZERO <= key <= NEG_INF


def read(data, at=0):
    """Return ({key: count}, offset after the sketch)."""
    start = at
    if data[at : at + 4] != MAGIC:
        raise Damaged(f"no magic at byte {at}")
    entries, at = varint(data, at + 4)
    if entries > KEYS:
        raise Damaged(f"{entries} entries")
    counts, following = {}, 0
    for _ in range(entries):
        gap, at = varint(data, at)
        count, at = varint(data, at)
        key = following + gap
        if not occurs(key):
            raise Damaged(f"key {key} before byte {at}")
        if count == 0:
            raise Damaged(f"a count of 0 before byte {at}")
        counts[key] = count
        following = key + 1
    if sum(counts.values()) > MAX_64:
        raise Damaged("the counts exceed 64 bits")
    checksum = data[at : at + 4]
    if checksum != struct.pack("<I", zlib.crc32(data[start:at])):
        raise Damaged(f"wrong checksum at byte {at}")
    return counts, at + 4


def value(key):
    """Return the middle of a key's range, as a string if JSON has no such number."""
    if key == NAN:
        return "nan"
    if key % NEG_ZERO == INF:
        return "-inf" if key > NEG_ZERO else "inf"
    if key % NEG_ZERO == 0:
        return 0.0
    return struct.unpack("<f", struct.pack("<I", key << 17 | 1 << 16))[0]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with sys.stdin.buffer if sys.argv[1] == "-" else open(sys.argv[1], "rb") as file:
        data = file.read()
    at = 0
    try:
        while at < len(data):
            counts, at = read(data, at)
            entries = [{"key": k, "value": value(k), "count": n} for k, n in counts.items()]
            print(json.dumps({"total": sum(counts.values()), "entries": entries}))
    except Damaged as error:
        sys.exit(f"read_sketch: {error}")


if __name__ == "__main__":
    main()
