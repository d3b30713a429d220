"""The long form: many messages, many kills, brokers that crash and restart. Prints a table.

    EVENKEEL=build/evenkeel EKTOOL=build/tests/kafka/ektool KAFKA_LIBS=build/kafka/libs \\
      python3 tests/kafka/soak.py [at_least_once|exactly_once]...

SOAK_MESSAGES (100000), SOAK_KILLS (20), SOAK_RATE (2000 a second) and SOAK_NODES (3) make it shorter.
A mode fails when a message is lost, comes out changed, or, with exactly_once, comes out twice.
"""
import collections
import os
import random
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import fixtures
from fixtures import numbered
from harness import Broker, Daemon, eventually

MESSAGES = int(os.environ.get("SOAK_MESSAGES", 100000))
KILLS = int(os.environ.get("SOAK_KILLS", 20))
RATE = int(os.environ.get("SOAK_RATE", 2000))
NODES = int(os.environ.get("SOAK_NODES", 3))
PARTITIONS, CUT, SHORTEST = 6, 1000, 100
COLUMNS = ("mode", "in", "out", "dead", "lost", "twice", "changed", "kills", "ended", "aborted", "stall_s",
           "recovery_s")


class Watch(threading.Thread):
    """Looks at what has come out, and keeps the longest time in which nothing did."""

    def __init__(self):
        super().__init__(daemon=True)
        self.daemon_now, self.ended = None, False
        self.moved, self.stall, self.handled, self.aborted = time.monotonic(), 0, 0, 0

    def look(self):
        d = self.daemon_now
        if not d or d.get("/ping")[0] != 200:
            return
        status = d.json("/api/v1/status")
        handled = status["passed"] + status["routed"] + status["dead_letters"]
        if handled != self.handled:
            self.stall = max(self.stall, time.monotonic() - self.moved)
            self.moved = time.monotonic()
        self.handled = handled

    def run(self):
        while not self.ended:
            try:
                self.look()
            except (ValueError, OSError):
                pass  # the daemon was killed meanwhile
            time.sleep(0.05)


class Soak:
    def __init__(self, world, mode):
        self.world, self.mode = world, mode
        self.watch, self.recoveries, self.aborted, self.ended = Watch(), [], 0, 0
        self.source, self.target = world.topics(PARTITIONS)

    def daemon(self):
        w = self.world
        return Daemon(w.folder, w.broker, self.source, self.target, w.folder,
                      group="group-" + self.source, delivery=self.mode, instance="soak",
                      pipeline="workers: 2")

    def supervise(self, d):
        """Starts it again when it has ended by itself, as a supervisor does."""
        if d.process.poll() is not None:
            self.ended += 1
            print("ended by itself:", d.log().splitlines()[-1], flush=True)
            d.start()
        return d

    def begin(self, d):
        """Starts a daemon; the time until its first message came out."""
        began = time.monotonic()
        self.watch.handled, self.watch.daemon_now = 0, d
        d.start()
        eventually("a message comes out",
                   lambda: self.supervise(d) and self.watch.handled > 0, 120)
        self.recoveries.append(time.monotonic() - began)

    def kill(self, d, moments):
        time.sleep(moments.uniform(0, 1.5 * MESSAGES / RATE / KILLS))
        self.aborted += d.metric('evenkeel_transactions_total{result="aborted"}')
        d.process.send_signal(signal.SIGKILL)
        d.process.wait()

    def disturb(self, number):
        """Two crashes of a broker, and one restart of them all, at a third each."""
        broker = self.world.broker
        if number in (KILLS // 4, KILLS // 2):
            node = 1 + number % NODES
            broker.down(crash=True, node=node)
            time.sleep(2)
            broker.up(node)
        elif number == 3 * KILLS // 4 and NODES > 1:
            broker.roll()

    def run(self):
        values = sorted(self.world.hotel(500), key=len)[:SHORTEST]
        frames = numbered([values[i % SHORTEST] for i in range(MESSAGES)], PARTITIONS)
        for i in range(CUT - 1, MESSAGES, CUT):
            frames[i].value = frames[i].value[:-1]
        sender = threading.Thread(target=self.world.send, args=(self.source, frames, RATE))
        self.watch.start()
        sender.start()
        moments = random.Random(11)
        for number in range(KILLS):
            d = self.daemon()
            self.begin(d)
            disturbance = threading.Thread(target=self.disturb, args=(number,))
            disturbance.start()
            self.kill(d, moments)
            disturbance.join()
        self.finish(sender)
        return self.judge(frames)

    def drained(self, d):
        if d.get("/ready")[0] != 200:
            return False
        status = d.json("/api/v1/status")
        return status["lag"] == 0 and status["in_flight"] == 0

    def finish(self, sender):
        with self.daemon() as d:
            self.watch.daemon_now = d
            sender.join()
            eventually("all came out", lambda: self.drained(self.supervise(d)), 300)
            self.aborted += d.metric('evenkeel_transactions_total{result="aborted"}')
            self.watch.ended = True
            status = d.stop(seconds=20)
            assert status == 0, d.log()

    def judge(self, frames):
        out = self.world.read(self.target)
        dead = self.world.read(self.target + ".dead")
        times = collections.Counter(int(f.header("n")) for f in out + dead)
        changed = sum(f.value != frames[int(f.header("n"))].value for f in out + dead)
        twice = sum(n - 1 for n in times.values())
        lost = len(frames) - len(times)
        recoveries = sorted(self.recoveries)
        row = (self.mode, len(frames), len(out), len(dead), lost, twice, changed, KILLS,
               self.ended, int(self.aborted), f"{self.watch.stall:.1f}",
               f"{recoveries[len(recoveries) // 2]:.1f}..{recoveries[-1]:.1f}")
        return row, not lost and not changed and (self.mode == "at_least_once" or not twice)


def main(modes):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    world = fixtures.World()
    world.broker = Broker(os.path.join(world.folder, "brokers"), nodes=NODES)
    good = True
    try:
        world.prepare()
        world.broker.up()
        print("  ".join(COLUMNS), flush=True)
        for mode in modes or ("at_least_once", "exactly_once"):
            row, held = Soak(world, mode).run()
            good &= held
            print("  ".join(map(str, row)), "" if held else " FAILED", flush=True)
    finally:
        world.close()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
