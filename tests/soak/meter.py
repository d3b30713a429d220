"""What is measured of a process while it runs: memory, descriptors, threads, and what it says of itself."""
import json
import os
import re
import threading
import time

EVERY = 5  # seconds


def of_process(pid):
    """Resident and anonymous memory in KiB, descriptors and threads; None when it is gone."""
    try:
        with open(f"/proc/{pid}/status") as file:
            status = dict(re.findall(r"^(\w+):\s+(\d+)", file.read(), re.M))
        return {"rss_kib": int(status["VmRSS"]), "anonymous_kib": int(status["RssAnon"]),
                "descriptors": len(os.listdir(f"/proc/{pid}/fd")), "threads": int(status["Threads"])}
    except (OSError, KeyError):
        return None


def latency(metrics, last):
    """Median and 99th percentile, in ms, of what was added to the histogram since `last`; and the counts as they are. What is
    beyond its last bound counts as that."""
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
    """Looks at instances every few seconds, a line of JSON for each look."""

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
        row.update({k: status[k] for k in ("lag", "passed", "routed", "dead_letters", "open_findings") if k in status})
        self.rows.append(row)
        self.out.write(json.dumps(row) + "\n")
        self.out.flush()

    def run(self):
        while not self.over.wait(EVERY):
            for name, daemon in list(self.watched.items()):
                try:
                    self.look(name, daemon)
                except (OSError, ValueError):
                    pass  # it went meanwhile
