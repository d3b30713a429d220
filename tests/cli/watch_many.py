"""watch_many.py: `evenkeel status --watch` on terminals of several sizes, for an instance with few and with many
findings.

The instance is a stub; the API tests cover the real one.
"""
import http.server
import itertools
import json
import re
import threading

from watch_terminal import begin, ends, first_screen, os, read_until


def answers(count):
    places = [{"feature": "price" if i == 0 else f"feature_{i:03d}", "segment": {"arm": "B"} if i % 2 else None,
               "mitigation": "route", "mode": "enforce"} for i in range(count)]
    findings = [{**p, "state": "confirmed", "since_ms": 1790000000000, "class": "scale", "factor": 100.3, "units": ["cents"]}
                for p in places]
    return {"/api/v1/status": {"service": "evenkeel", "ready": True, "lag": 120, "consumed": 1234567, "routed": 3456,
                               "dead_letters": 7, "open_findings": count, "plan_version": 12, "paused": None},
            "/api/v1/impact": {"routes": [{**p, "rolled_back": {"guardrail": "error_rate", "observed": 0.2, "limit": 0.01}} for p in places[:1]]},
            "/api/v1/findings": findings, "/api/v1/plan": {"version": 12, "entries": [{**p, "percent": 100, "source": "rules"} for p in places]}}


class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    known = {}

    def do_GET(self):
        body = json.dumps(self.known[self.path]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def told_of(lines, title, count):
    """Return the rows below a title, and the number of hidden ones."""
    below = list(itertools.takewhile(str.strip, lines[lines.index(title) + 1:]))
    rows = [line for line in below if re.match(r"price |feature_\d{3} ", line)]
    more = re.fullmatch(r"\.\.\. (\d+) more", below[-1])
    assert len(rows) + (int(more.group(1)) if more else 0) == count, (title, below)
    return " ".join(" ".join(below).split())


def look(url, count, columns, rows):
    pid, fd = begin(columns, rows, ["--url", url], TERM="xterm")
    lines = first_screen(read_until(fd, b"\x1b[J"))
    os.write(fd, b"q")
    ends(pid, fd)
    assert len(lines) <= rows and all(len(line) <= columns for line in lines), lines
    assert f"open findings {count}, plan 12" in " ".join(lines), lines
    findings = told_of(lines, "open findings", count)
    assert "scale x100.3, cents" in findings and "2026-09-21 14:13" in findings, findings
    told_of(lines, "active mitigations", count)


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for count in 3, 300:
        Answers.known = answers(count)
        for columns, rows in (40, 24), (60, 30), (80, 24), (80, 60), (200, 24):
            look(f"http://127.0.0.1:{server.server_port}", count, columns, rows)


main()
