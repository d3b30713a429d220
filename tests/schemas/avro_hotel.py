"""Lists of `generate hotel` as Avro messages of two schemas, and a schema registry on loopback. Needs no packages."""
import http.server
import json
import struct
import threading


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


def capture(messages):
    """Return a capture file of messages."""
    return b"".join(b"\x95\0" + b"\xd3" + struct.pack(">q", i) + b"\xd3" + struct.pack(">q", 1700000000000 + i) +
                    b"\xc0\xce" + struct.pack(">I", len(m)) + m for i, m in enumerate(messages))


def values_of(data):
    """Return the messages of a capture file."""
    at, out = 0, []
    while at < len(data):
        at += 1 + 1 + (4 if data[at + 1] == 0xd2 else 0)
        at += 18
        at += 1
        size, = struct.unpack_from(">I", data, at + 1)
        out.append(data[at + 5:at + 5 + size])
        at += 5 + size
    return out


class Registry(http.server.ThreadingHTTPServer):
    """A schema registry with both schemas, which requires a password."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests, self.schemas = [], {1: schema(1), 2: schema(2)}
        self.url = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append(self.path)
        found = self.server.schemas.get(int(self.path.rsplit("/", 1)[1]))
        allowed = self.headers.get("Authorization") == "Basic dTpw"
        body = json.dumps({"schema": json.dumps(found)} if found and allowed else {"error_code": 40403}).encode()
        self.send_response(200 if found and allowed else 404 if allowed else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
