"""A schema registry on loopback, and capture files. Needs no packages."""
import http.server
import json
import struct
import threading


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
    """A schema registry with answers by path, which requires a password."""
    daemon_threads = True

    def __init__(self, answers):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests, self.answers = [], answers
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
        found = self.server.answers.get(self.path)
        allowed = self.headers.get("Authorization") == "Basic dTpw"
        body = json.dumps(found if found and allowed else {"error_code": 40403}).encode()
        self.send_response(200 if found and allowed else 404 if allowed else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
