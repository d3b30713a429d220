#!/usr/bin/env python3
"""Independent decoder of captures and messages, written from docs/dev/formats/capture.md and message.md.

usage: read_capture.py FILE...   one line of JSON per record with its decoded message
"""
import gzip
import json
import math
import struct
import sys


class Damaged(Exception):
    """Invalid or truncated msgpack."""


class Ext(tuple):
    """(type, bytes) of an extension."""


_FIXED = {tag: struct.Struct(form) for tag, form in {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}.items()}
_CONSTANT = {0xC0: None, 0xC2: False, 0xC3: True}
# tag: (type, bytes of the length)
_SIZED = {0xC4: ("bin", 1), 0xC5: ("bin", 2), 0xC6: ("bin", 4), 0xC7: ("ext", 1), 0xC8: ("ext", 2),
          0xC9: ("ext", 4), 0xD9: ("text", 1), 0xDA: ("text", 2), 0xDB: ("text", 4),
          0xDC: ("array", 2), 0xDD: ("array", 4), 0xDE: ("map", 2), 0xDF: ("map", 4)}


def _take(data, at, size):
    if at + size > len(data):
        raise Damaged(f"cut short at byte {at}")
    return data[at:at + size], at + size


def _short(tag):
    if tag < 0x90:
        return "map", tag & 0x0F
    return ("array", tag & 0x0F) if tag < 0xA0 else ("text", tag & 0x1F)


def _elements(data, at, count):
    end = at + 5 * count
    if data[at:end:5] == b"\xca" * count and end <= len(data):  # only float32, as in most messages
        return list(struct.unpack_from(">" + count * "xf", data, at)), end
    values = []
    for _ in range(count):
        value, at = unpack(data, at)
        values.append(value)
    return values, at


def _sized(data, at, what, size):
    if what == "array":
        return _elements(data, at, size)
    if what == "map":
        flat, at = _elements(data, at, 2 * size)
        return list(zip(flat[::2], flat[1::2])), at
    raw, at = _take(data, at, size + (what == "ext"))
    if what == "ext":
        return Ext((raw[0], raw[1:])), at
    return (raw.decode("utf-8", "replace") if what == "text" else raw), at


def unpack(data, at=0):
    """Return (value, next offset). Maps are lists of pairs, bin is bytes."""
    try:
        tag = data[at]
        if tag in _FIXED:  # most values of a message
            form = _FIXED[tag]
            return form.unpack_from(data, at + 1)[0], at + 1 + form.size
    except (IndexError, struct.error):
        raise Damaged(f"cut short at byte {at}") from None
    at += 1
    if tag < 0x80:
        return tag, at
    if tag >= 0xE0:
        return tag - 256, at
    if tag < 0xC0:
        what, size = _short(tag)
        return _sized(data, at, what, size)
    if tag in _CONSTANT:
        return _CONSTANT[tag], at
    if 0xD4 <= tag <= 0xD8:
        return _sized(data, at, "ext", 1 << (tag - 0xD4))
    if tag not in _SIZED:
        raise Damaged(f"tag {tag:#x} at byte {at - 1}")
    what, width = _SIZED[tag]
    raw, at = _take(data, at, width)
    return _sized(data, at, what, int.from_bytes(raw, "big"))


def records(data):
    """Yield (partition, offset, timestamp_ms, key, message bytes) of a capture or a bare stream."""
    at, number = 0, 0
    framed = data[:1] and (data[0] >> 4 == 0x9 or data[0] in (0xDC, 0xDD))
    while at < len(data):
        first, end = unpack(data, at)
        if framed:
            partition, offset, timestamp_ms, key, size = first
            message, at = _take(data, end, size)
            yield partition, offset, timestamp_ms, key, message
        else:
            yield 0, number, -1, None, data[at:end]
            at = end
        number += 1


def row(features, names=None):
    """Return feature values in manifest order; None and NaN are missing. Maps need the names."""
    if isinstance(features, bytes):
        features = struct.unpack(f"<{len(features) // 4}f", features)
    elif names is not None and all(isinstance(pair, tuple) for pair in features):
        found = dict(features)
        features = [found.get(name) for name in names]
    return [None if v is None or math.isnan(v) else v for v in features]


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def messages(path):
    """Return the messages of a capture, or the lines of JSON."""
    data = read(path)
    if data[:1] == b"{":
        return data.splitlines()
    return [message.rstrip(b"\n") for *_, message in records(data)]


def _plain(value):
    """Convert to JSON-compatible values."""
    if isinstance(value, list):
        pairs = value and all(isinstance(v, tuple) and not isinstance(v, Ext) for v in value)
        return {str(k): _plain(v) for k, v in value} if pairs else [_plain(v) for v in value]
    if isinstance(value, Ext):
        return {"ext": value[0], "bytes": value[1].hex()}
    return value.hex() if isinstance(value, bytes) else value


def main(paths):
    for path in paths:
        for partition, offset, timestamp_ms, key, message in records(read(path)):
            value = unpack(message)[0] if message else None
            print(json.dumps([partition, offset, timestamp_ms, _plain(key), _plain(value)]))


if __name__ == "__main__":
    main(sys.argv[1:])
