"""Measurements of a running process: memory, descriptors, threads, and its own metrics."""
import json
import os
import re
import threading
import time

EVERY = 5  # seconds


def of_process(pid):
    """Return resident and anonymous memory in KiB, descriptors and threads; None after its end."""
    try:
        with open(f"/proc/{pid}/status") as file:
            status = dict(re.findall(r"^(\w+):\s+(\d+)", file.read(), re.M))
        return {"rss_kib": int(status["VmRSS"]), "anonymous_kib": int(status["RssAnon"]),
                "descriptors": len(os.listdir(f"/proc/{pid}/fd")), "threads": int(status["Threads"])}
    except (OSError, KeyError):
        return None


def latency(metrics, last):
    """Return median and 99th percentile, in ms, of the histogram's increase since `last`, and the current counts.
    Values beyond the last bound count as that bound."""
    counts = {}
    for le, value in re.findall(r'^evenkeel_end_to_end_duration_seconds_bucket\{le="([^"]+)"\} (\S+)$', metrics, re.M):
        counts[float(le)] = float(value)
    steps = sorted(counts)
    new = [counts[s] - last.get(s, 0) for s in steps]
    found = {}
    for name, share in (("p50_ms", .5), ("p99_ms", .99)):
        if new and new[-1] > 0:
            found[name] = 1000 * min(next(s for s, n in zip(steps, new) if n >= share * new[-1]), steps[-2])
    return found, counts


class Meter(threading.Thread):
    """Samples instances every few seconds, one line of JSON per sample."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.out, self.watched, self.over, self.rows = open(path, "w"), {}, threading.Event(), []
        self.began, self.last, self.turn = time.monotonic(), {}, threading.Lock()

    def follow(self, name, daemon):
        self.watched[name], self.last[name] = daemon, {}

    def look(self, name, daemon, **more):
        with self.turn:
            self._look(name, daemon, more)

    def _look(self, name, daemon, more):
        row = of_process(daemon.process.pid) if daemon.process and daemon.process.poll() is None else None
        if not row:
            return
        status = daemon.status()
        found, self.last[name] = latency(daemon.get("/metrics")[1], self.last[name])
        row.update({"name": name, "pid": daemon.process.pid, "at": round(time.monotonic() - self.began, 1), **found, **more})
        row.update({k: status[k] for k in ("lag", "forwarded", "routed", "dead_letters", "open_findings") if k in status})
        self.rows.append(row)
        self.out.write(json.dumps(row) + "\n")
        self.out.flush()

    def run(self):
        while not self.over.wait(EVERY):
            for name, daemon in list(self.watched.items()):
                try:
                    self.look(name, daemon)
                except (OSError, ValueError):
                    pass  # it ended meanwhile
