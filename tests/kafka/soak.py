"""Long test of delivery: many messages, many kills, crashes and restarts of brokers.

    EVENKEEL=build/evenkeel EKTOOL=build/tests/kafka/ektool KAFKA_LIBS=build/kafka/libs \\
      python3 tests/kafka/soak.py [MODE]...        run, and append a line of JSON per mode to the results
      python3 tests/kafka/soak.py --table          print all results as a table

A MODE is at_least_once or exactly_once, with +static for a static member (group.instance.id). SOAK_MESSAGES (100000),
SOAK_KILLS (20), SOAK_RATE (500 per second) and SOAK_NODES (3) can shorten it, SOAK_RESULTS (build/soak.jsonl) is the
file of the results. A mode fails if a message is lost or changed, or if the guard or its sketches did not count each
input list once. exactly_once also fails for a duplicate or a message out of order. at_least_once fails if the
duplicates exceed the messages in flight plus those forwarded within two seconds before a kill or since a broker
failure.
"""
import collections
import json
import os
import random
import signal
import statistics
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import fixtures
from fixtures import numbered
from harness import Broker, Daemon, eventually, kafka, librdkafka

MESSAGES = int(os.environ.get("SOAK_MESSAGES", 100000))
KILLS = int(os.environ.get("SOAK_KILLS", 20))
RATE = int(os.environ.get("SOAK_RATE", 500))
NODES = int(os.environ.get("SOAK_NODES", 3))
RESULTS = os.environ.get("SOAK_RESULTS", "build/soak.jsonl")
PARTITIONS, CUT, SHORTEST = 6, 1000, 100
LIFE = 3  # maximum seconds from the first output to a kill
LOG_SHOWN = 8000  # characters of the log, printed if the output stops
UNCOMMITTED = 2  # seconds: input.commit_interval, and as long for the commit itself
COLUMNS = ("kafka", "librdkafka", "mode", "in", "out", "dead", "lost", "twice", "twice_at_most", "changed",
           "misplaced", "observed", "sketched", "kills", "ended", "aborted", "stall_s", "recovery_s", "recovery_max_s", "seconds", "held")


class Watch(threading.Thread):
    """Monitors the output of successive processes."""

    def __init__(self):
        super().__init__(daemon=True)
        self.watched, self.over, self.stall = None, False, 0
        self.seen = []  # (time, messages handled, in flight) of the monitored process

    def follow(self, d):
        self.seen, self.watched = [(time.monotonic(), 0, 0)], d
        return self.seen

    def look(self):
        seen, status = self.seen, self.watched.status()
        if not status:
            return
        handled = status["forwarded"] + status["routed"] + status["dead_letters"]
        last = seen[-1]
        if handled > last[1]:
            if last[1]:
                self.stall = max(self.stall, time.monotonic() - last[0])
            seen.append((time.monotonic(), handled, status["in_flight"]))

    def run(self):
        while not self.over:
            try:
                if self.watched:
                    self.look()
            except (ValueError, KeyError, OSError):
                pass  # it was killed meanwhile
            time.sleep(0.03)


class Sending(threading.Thread):
    def __init__(self, world, topic, frames):
        super().__init__(daemon=True)
        self.world, self.topic, self.frames, self.failure = world, topic, frames, None

    def run(self):
        try:
            self.world.send(self.topic, self.frames, RATE, verb="send-on")
        except AssertionError as failure:
            self.failure = failure

    def wait(self):
        self.join()
        if self.failure:
            raise self.failure


class Soak:
    def __init__(self, world, mode):
        self.world, self.mode = world, mode
        self.delivery, _, self.static = mode.partition("+")
        self.watch, self.recoveries, self.aborted, self.ended, self.at_most = Watch(), [], 0, 0, 0
        self.source, self.target = world.topics(PARTITIONS)
        self.state = world.broker.create(self.target + ".state", PARTITIONS, "cleanup.policy", "compact")
        self.observed = self.sketched = 0
        self.trouble, self.trouble_since = None, None

    def daemon(self):
        w = self.world
        return Daemon(w.folder, w.broker, self.source, self.target, w.folder, delivery=self.delivery,
                      instance="soak", pipeline="workers: 2", state=f"topic: {self.state}, checkpoint_interval: 5s",
                      more="group.instance.id: soak" if self.static else "")

    def supervise(self, d):
        """Restart the daemon if it exited by itself, like a supervisor."""
        if d.process.poll() is not None:
            self.ended += 1
            assert d.process.poll() == 1, d.log()
            print("    ended by itself:", d.last_words(), flush=True)
            self.watch.follow(d.start())
        return d

    def begin(self, d, sending):
        """Start a daemon and wait for its first output, or for the end of the input."""
        began = time.monotonic()
        seen = self.watch.follow(d.start())

        def out_or_through():
            status = self.supervise(d).status()
            return self.watch.seen[-1][1] or not sending.is_alive() and status.get("lag") == 0
        try:
            eventually("a message comes out", out_or_through, 120)
        except AssertionError:
            print(d.log()[-LOG_SHOWN:], d.status(), sep="\n", flush=True)
            raise
        if len(seen) > 1:
            self.recoveries.append(seen[1][0] - began)

    def count_aborts(self, d):
        self.aborted += int(d.metric('evenkeel_transactions_total{result="aborted"}'))

    def count_lists(self, d):
        """Read the list counts of the guard, over all restarts, and of its sketches, which are published in turn."""
        self.observed = d.status()["observed_lists"]
        for _ in range(100):
            self.sketched = d.lists_in_sketches("price")
            if self.sketched == self.observed:
                break
            time.sleep(0.1)

    def kill(self, d, moments):
        time.sleep(moments.uniform(0, LIFE))
        self.count_aborts(d)
        now, seen = time.monotonic(), self.watch.seen
        d.stop(signal.SIGKILL)
        since = min(now - UNCOMMITTED, self.trouble_since or now)
        before = max((handled for at, handled, _ in seen if at < since), default=0)
        lately = RATE  # outputs since the last sample
        self.at_most += seen[-1][1] - before + seen[-1][2] + lately
        if self.trouble and not self.trouble.is_alive():
            self.trouble_since = None

    def crash(self, node):
        self.world.broker.down(crash=True, node=node)
        time.sleep(2)
        self.world.broker.up(node)

    def disturb(self, number):
        """Crash a broker twice and restart all once, spread over the kills; each waits for the previous one."""
        what = {KILLS // 4: (self.crash, 1 + number % NODES), KILLS // 2: (self.crash, 1 + number % NODES),
                3 * KILLS // 4: (self.world.broker.roll,)}.get(number)
        if not what:
            return
        if self.trouble:
            self.trouble.join()
        self.trouble = threading.Thread(target=what[0], args=what[1:])
        self.trouble_since = time.monotonic()
        self.trouble.start()

    def run(self):
        values = sorted(self.world.hotel(500), key=len)[:SHORTEST]
        frames = numbered([values[i % SHORTEST] for i in range(MESSAGES)], PARTITIONS)
        for f in frames[CUT - 1::CUT]:
            f.value = f.value[:-1]
        began, moments, sending = time.monotonic(), random.Random(11), Sending(self.world, self.source, frames)
        self.watch.start()
        sending.start()
        for number in range(KILLS):
            d = self.daemon()
            self.begin(d, sending)
            self.disturb(number)
            self.kill(d, moments)
        self.finish(sending)
        return self.judge(frames, time.monotonic() - began)

    def finish(self, sending):
        with self.daemon() as d:
            self.watch.follow(d)
            sending.wait()
            if self.trouble:
                self.trouble.join()
            eventually("all came out", lambda: self.supervise(d).settled(), 300)
            self.count_aborts(d)
            self.count_lists(d)
            self.watch.over = True
            assert d.stop(seconds=20) == 0, d.log()

    @staticmethod
    def by_partition(frames, without=()):
        numbers = collections.defaultdict(list)
        for f in frames:
            n = int(f.header("n"))
            if n not in without:
                numbers[f.partition].append(n)
        return numbers

    def misplaced(self, source, out, dead):
        """Return the number of outputs that are not in the partition and position of their input."""
        wanted = self.by_partition(source, {int(f.header("n")) for f in dead})
        there, wrong = self.by_partition(out), 0
        for partition in {*wanted, *there}:
            a, b = wanted[partition], there[partition]
            wrong += sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b))
        return wrong

    def judge(self, frames, seconds):
        """Compare the output with the input topic, which may have duplicates from retries of the sender."""
        source = self.world.read(self.source)
        sent = collections.Counter(int(f.header("n")) for f in source)
        out = self.world.read(self.target)
        dead = self.world.read(self.target + ".dead")
        lists = sum((int(f.header("n")) + 1) % CUT != 0 for f in source)  # the others are truncated
        times = collections.Counter(int(f.header("n")) for f in out + dead)
        twice = sum(n - sent[i] for i, n in times.items() if n > sent[i])
        result = {"kafka": kafka(), "librdkafka": ".".join(map(str, librdkafka())), "mode": self.mode,
                  "in": len(frames), "out": len(out), "dead": len(dead), "lost": len(set(sent) - set(times)),
                  "twice": twice, "twice_at_most": self.at_most if self.delivery == "at_least_once" else 0,
                  "changed": sum(f.value != frames[int(f.header("n"))].value for f in out + dead),
                  "misplaced": self.misplaced(source, out, dead) if self.delivery == "exactly_once" else 0,
                  "observed": self.observed, "sketched": self.sketched, "lists": lists, "sent_twice": sum(sent.values()) - len(sent), "kills": KILLS, "ended": self.ended,
                  "aborted": self.aborted, "stall_s": round(self.watch.stall, 1),
                  "recovery_s": round(statistics.median(self.recoveries), 1),
                  "recovery_max_s": round(max(self.recoveries), 1), "seconds": round(seconds)}
        result["held"] = (len(sent) == len(frames) and not result["lost"] and not result["changed"] and
                          not result["misplaced"] and twice <= result["twice_at_most"] and
                          self.observed == self.sketched == lists)
        return result


def table(rows, columns=COLUMNS):
    """Print right-aligned columns."""
    lines = [columns, *([str(row.get(name, "")) for name in columns] for row in rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines)]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths)), flush=True)


def note(result):
    """Append a line to the results, which other long tests share."""
    with open(RESULTS, "a") as out:
        out.write(json.dumps(result) + "\n")
    print(json.dumps(result), flush=True)


def table_of_results():
    with open(RESULTS) as lines:
        rows = [json.loads(line) for line in lines]
    table([row for row in rows if "test" not in row])
    others = [row for row in rows if "test" in row]
    if others:
        table(others, list(others[0]))


def main(modes):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    world = fixtures.World()
    world.broker = Broker(os.path.join(world.folder, "brokers"), nodes=NODES)
    rows = []
    try:
        world.prepare()
        world.broker.up()
        for mode in modes or ("at_least_once", "exactly_once"):
            rows.append(Soak(world, mode).run())
            note(rows[-1])
        table(rows)
    finally:
        world.close()
    return 0 if all(row["held"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(table_of_results() if sys.argv[1:] == ["--table"] else main(sys.argv[1:]))
