"""Lists of `generate hotel` as Protobuf messages of two schemas. Needs no packages."""
import base64
import struct

ENCODING, FILE = "protobuf", "v1.desc"
REQUESTS = ["/schemas/ids/1?format=serialized", "/schemas/ids/2?format=serialized",
            "/subjects/item/versions/3?format=serialized"]
DOUBLE, FLOAT, INT64, STRING, MESSAGE = 1, 2, 3, 9, 11


def _varint(n):
    out = bytearray()
    while n >> 7:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    return bytes(out) + bytes([n])


def _number(field, n):
    return _varint(field << 3) + _varint(n)


def _bytes(field, value):
    value = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _field(name, number, kind, repeated=False, message=None):
    return _bytes(2, _bytes(1, name) + _number(3, number) + _number(4, 3 if repeated else 1) + _number(5, kind) +
                  (_bytes(6, message) if message else b""))


def _file(package, *messages):
    return _bytes(2, package) + b"".join(_bytes(4, m) for m in messages) + _bytes(12, "proto3")


def _numbers(version):
    """Return the numbers of the fields: version 2 has another order, and an item first of all."""
    names = ["query", "time_ms", "segments", "query_features", "items"]
    return {n: i + 1 for i, n in enumerate(names if version == 1 else names[::-1])}


def _item():
    return (_bytes(1, "Item") + _field("id", 1, STRING) + _field("score", 2, DOUBLE) +
            _field("features", 3, FLOAT, True))


def _list(version):
    at, item = _numbers(version), ".shop.Item" if version == 1 else ".shop.parts.Item"
    entry = _bytes(1, "SegmentsEntry") + _field("key", 1, STRING) + _field("value", 2, STRING) + _bytes(7, _number(7, 1))
    return (_bytes(1, "List") + _field("query", at["query"], STRING) + _field("time_ms", at["time_ms"], INT64) +
            _field("segments", at["segments"], MESSAGE, True, ".shop.List.SegmentsEntry") +
            _field("query_features", at["query_features"], FLOAT, True) +
            _field("items", at["items"], MESSAGE, True, item) + _bytes(3, entry))


def _files(version):
    """Return the files of a version: 2 has the item in a file of its own, and the list as second message."""
    if version == 1:
        return [_file("shop", _list(1), _item())]
    return [_file("shop.parts", _item()), _file("shop", _bytes(1, "Other"), _list(2))]


def file(version):
    """Return a schema file, as protoc writes it."""
    return b"".join(_bytes(1, f) for f in _files(version))


NO_ITEMS = _bytes(1, _file("shop", _bytes(1, "L")))


def encode(message, version=1, framed=True):
    """Return a list as a Protobuf message."""
    at, out = _numbers(version), {}
    out["query"] = _bytes(at["query"], message["query"])
    out["time_ms"] = _number(at["time_ms"], message["time_ms"])
    out["segments"] = b"".join(_bytes(at["segments"], _bytes(1, k) + _bytes(2, v))
                               for k, v in message["segments"].items())
    floats = message["query_features"]
    out["query_features"] = _bytes(at["query_features"], struct.pack(f"<{len(floats)}f", *floats))
    out["items"] = b"".join(_bytes(at["items"], _bytes(1, i["id"]) + _varint(2 << 3 | 1) +
                                   struct.pack("<d", i["score"]) +
                                   _bytes(3, struct.pack(f"<{len(i['features'])}f", *i["features"])))
                            for i in message["items"])
    body = b"".join(out[name] for name in sorted(at, key=at.get)) + (_bytes(9, "more") if version == 2 else b"")
    return (b"\0" + struct.pack(">i", version) + (b"\0" if version == 1 else b"\2\2") if framed else b"") + body


def answers():
    """Return the answers of a registry by path."""
    def answer(data, **more):
        return {"schemaType": "PROTOBUF", "schema": base64.b64encode(data).decode(), **more}
    item, second = _files(2)
    references = [{"name": "item.proto", "subject": "item", "version": 3}]
    return dict(zip(REQUESTS, (answer(_files(1)[0]), answer(second, references=references), answer(item))))
