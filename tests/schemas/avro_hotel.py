"""Lists of `generate hotel` as Avro messages of two schemas. Needs no packages."""
import json
import struct

ENCODING, FILE = "avro", "v1.avsc"
REQUESTS = ["/schemas/ids/1", "/schemas/ids/2"]
NO_ITEMS = b'{"type": "record", "name": "L", "fields": []}'


def schema(version):
    """Return the schema of a version: 2 has another order, a field more, and features that may be null."""
    number = "float" if version == 1 else ["null", "float"]
    item = {"type": "record", "name": "Item", "fields": [
        {"name": "id", "type": "string"}, {"name": "score", "type": "double"},
        {"name": "features", "type": {"type": "array", "items": number}}]}
    fields = [{"name": "query", "type": "string"},
              {"name": "time_ms", "type": {"type": "long", "logicalType": "timestamp-millis"}},
              {"name": "segments", "type": {"type": "map", "values": "string"}},
              {"name": "query_features", "type": {"type": "array", "items": "float"}},
              {"name": "items", "type": {"type": "array", "items": item}}]
    if version == 2:
        fields = [{"name": "note", "type": ["null", "string"], "default": None}] + fields[::-1]
    return {"type": "record", "name": "List", "namespace": "shop", "fields": fields}


def _long(n):
    n, out = (n << 1) ^ (n >> 63), bytearray()
    while n >> 7:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    return bytes(out) + bytes([n])


def _text(s):
    return _long(len(s.encode())) + s.encode()


def _array(values):
    return (_long(len(values)) + b"".join(values) if values else b"") + b"\0"


def _float(x):
    return struct.pack("<f", x)


def encode(message, version=1, framed=True):
    """Return a list as an Avro message."""
    def features(values):
        return _array([(b"\2" if version == 2 else b"") + _float(x) for x in values])
    parts = [_text(message["query"]), _long(message["time_ms"]),
             _array([_text(k) + _text(v) for k, v in message["segments"].items()]),
             _array([_float(x) for x in message["query_features"]]),
             _array([_text(i["id"]) + struct.pack("<d", i["score"]) + features(i["features"])
                     for i in message["items"]])]
    body = b"".join([b"\2" + _text("more")] + parts[::-1] if version == 2 else parts)
    return (b"\0" + struct.pack(">i", version) if framed else b"") + body


def file(version):
    """Return a schema file."""
    return json.dumps(schema(version)).encode()


def answers():
    """Return the answers of a registry by path."""
    return {path: {"schema": json.dumps(schema(i + 1))} for i, path in enumerate(REQUESTS)}
