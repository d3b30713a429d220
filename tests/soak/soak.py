#!/usr/bin/env python3
"""Soak test: a fleet of two on a real broker, with faults in the traffic and injected failures.

    soak.py --hours H --report FOLDER [--rate 200] [--round 60] [--seed 1]

Lists are sent in rounds of about a minute, every other round with a fault in its middle. Each round has one to three
disturbances: the second instance joins, leaves, is killed or stopped; the broker restarts or crashes; valid and invalid rules
are reloaded; the wall clock and message times jump; many clients call the API. None of three alert sinks ever responds.

After each round every message must have been forwarded once, or dead-lettered if it was truncated, and unrouted messages
must be unchanged. The first instance is never stopped by the test: its memory and descriptors must not grow. After every
round without a fault it is alone and idle, its free memory is returned to the system, and its memory is compared. An
instance that exits by itself, for example if the broker is unavailable for longer than the transaction timeout, is
restarted like by a supervisor, and counted. Writes rounds.jsonl, meter.jsonl, report.md and soak.svg; exits with 1 if a
check failed.
"""
import argparse
import contextlib
import json
import os
import random
import signal
import socket
import sys
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "kafka")]

import fixtures
import meter
import report
from harness import Daemon, evenkeel, eventually, free_port, kafka, librdkafka, messages_of

PARTITIONS, CUT = 6, 997
REST_EVERY, REST_SECONDS = 2, 20  # rounds; seconds until alerts are dropped and ended routes are removed
# Faults in the middle half of a round, in turn; every second round has none.
FAULTS = ("price=x100,arm=B", "price=x100", "taxes=x0.01,share=0.3", "distance_center,distance_airport=x0.621371", "price=^2", "review_count=zero,items=0.5",
          "price=x100,items=0.5", "price=+1median,arm=A", "review_score=neg")
# Windows shorter than a round: an idle instance, after a round without a fault, has equal contents each time.
GOOD = "version: 1\ndefaults: {{mode: enforce, min_duration: 30s, report_threshold: {}}}\nsegments: [arm]\nwindows: {{length: 10s, retention: 5}}\n"
BAD = "version: 1\ndefaults: {mode: perhaps}\n"


class Deaf:
    """Sink that accepts connections and never responds."""

    def __init__(self):
        self.listener, self.taken = socket.create_server(("127.0.0.1", 0)), []
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self):
        with contextlib.suppress(OSError):
            while True:
                self.taken.append(self.listener.accept()[0])
                if len(self.taken) > 64:
                    self.taken.pop(0).close()


class Clock:
    """Shared file with the offset of the instances' wall clock and their requests to return free memory."""

    def __init__(self, path):
        self.path, self.trims = path, 0
        with open(self.path, "wb") as file:
            file.write(bytes(24))

    def set(self, seconds):
        self._write(0, seconds)

    def trim(self):
        self.trims += 1
        self._write(8, self.trims)

    def in_use(self):
        """Return the bytes in use of the instance that last returned free memory."""
        with open(self.path, "rb") as file:
            return int.from_bytes(file.read()[16:], sys.byteorder)

    def _write(self, place, number):
        with open(self.path, "r+b") as file:
            file.seek(place)
            file.write(number.to_bytes(8, sys.byteorder, signed=True))


class Instance(Daemon):
    """Instance with a wall clock that can jump."""

    def __init__(self, clock, *words, **more):
        super().__init__(*words, **more)
        self.environment = {**os.environ, "LD_PRELOAD": os.environ["SOAK_CLOCK"], "CLOCK_AHEAD": clock.path}

    @property
    def alive(self):
        return self.process is not None and self.process.poll() is None


class Scene:
    """Topics, instances and their disturbances."""

    def __init__(self, world, seed):
        self.world, self.draw, self.errors, self.ended = world, random.Random(seed), [], 0
        broker = world.broker
        self.source, self.target = world.topics(PARTITIONS)
        self.plan = broker.create(self.target + ".plan", 1, "cleanup.policy", "compact")
        broker.create(self.plan + ".evidence", 1, "retention.ms", 3600000)
        self.state = broker.create(self.target + ".state", PARTITIONS, "cleanup.policy", "compact")
        self.rules, self.clock, self.deaf = world.path("rules.yaml"), Clock(world.path("ahead")), Deaf()
        self.write(GOOD.format("1.10"))
        self.model = world.path("model.safetensors")
        evenkeel("train", "--manifest", world.path("features.yaml"), "--train", world.path("train.txt"), "--vali",
                 world.path("train.txt"), "--epochs", 1, "-o", self.model)
        # The first instance survives a broker that is unavailable for up to five minutes.
        self.steady, self.other = self.instance("steady", "transaction_timeout: 5m, "), self.instance("other")

    def instance(self, name, limits=""):
        w = self.world
        sinks = [f"webhook: {{url: \"{url}\"}}" for url in (f"http://127.0.0.1:{self.deaf.port}/", f"http://127.0.0.1:{free_port()}/",
                                                            "http://nowhere.invalid/")]
        return Instance(self.clock, w.folder, w.broker, self.source, self.target, w.folder, rules=self.rules, model=self.model,
                        instance=name, delivery="exactly_once", pipeline="workers: 2", message="time_ms: none",
                        state=f"topic: {self.state}, checkpoint_interval: 10s", sinks=sinks, group="soak",
                        fleet=f"topic: {self.plan}, report_interval: 500ms, leader_timeout: 5s", http="event_history: 256",  # full before growth is measured
                        limits=limits, alerting="group_wait: 100ms, send_timeout: 1s")

    def write(self, text):
        with open(self.rules, "w") as out:
            out.write(text)

    # Disturbances. Any other one can follow each.
    def join(self):
        if not self.other.alive:
            self.other.start()

    def leave(self):
        if self.other.alive and (status := self.other.stop(seconds=60)) != 0:
            self.errors.append(f"the second instance ended with {status}")
        self.other.process = None

    def kill(self):
        if self.other.alive:
            self.other.process.kill()
            self.other.process.wait()
        time.sleep(self.draw.uniform(0, 5))
        self.other.start()

    def stand_still(self):
        if self.other.alive:
            self.other.process.send_signal(signal.SIGSTOP)
            time.sleep(self.draw.uniform(1, 12))
            self.other.process.send_signal(signal.SIGCONT)

    def restart_broker(self):
        self.world.broker.down()
        self.world.broker.up()

    def crash_broker(self):
        self.world.broker.down(crash=True)
        time.sleep(self.draw.uniform(0, 5))
        self.world.broker.up()

    def reload(self):
        self.write(GOOD.format(self.draw.choice(("1.10", "1.12", "1.15"))))
        self._tell_rules()

    def bad_reload(self):
        with open(self.rules) as file:
            before = file.read()
        self.write(BAD)
        self._tell_rules()
        time.sleep(3)
        self.write(before)

    def _tell_rules(self):
        for d in (self.steady, self.other):
            if d.alive:
                d.process.send_signal(signal.SIGHUP)

    def clock_jumps(self):
        self.clock.set(self.draw.choice((3600, -3600, 86400)))
        time.sleep(self.draw.uniform(2, 10))
        self.clock.set(0)

    def many_ask(self):
        def ask():
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://{self.steady.http}{self.draw.choice(('/metrics', '/', '/api/v1/features'))}",
                                       timeout=10).read()
        threads = [threading.Thread(target=ask) for _ in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    DISTURBANCES = (join, leave, kill, stand_still, restart_broker, crash_broker, reload, bad_reload, clock_jumps, many_ask)

    def disturb(self, seconds):
        """Run one to three disturbances, spread over that many seconds. Return their names."""
        done, count = [], self.draw.randint(1, 3)
        for _ in range(count):
            what = self.draw.choice(self.DISTURBANCES)
            done.append(what.__name__)
            time.sleep(self.draw.uniform(0, seconds / count))
            try:
                what(self)
            except Exception as error:  # pylint: disable=broad-except
                self.errors.append(f"{what.__name__}: {error}")
        return done

    def supervise(self):
        """Restart instances that exited by themselves; the exit status must be 1, with a message."""
        for d in (self.steady, self.other):
            if d.process and d.process.poll() is not None:
                if d.process.returncode != 1:
                    self.errors.append(f"an instance ended with {d.process.returncode}")
                print("  ended by itself:", d.last_words()[:200], flush=True)
                self.ended += 1
                d.start()

    def settled(self):
        self.supervise()
        return all(d.settled() for d in (self.steady, self.other))


class Soak:
    def __init__(self, args, world):
        self.args, self.world, self.scene = args, world, Scene(world, args.seed)
        self.meter = meter.Meter(os.path.join(args.report, "meter.jsonl"))
        self.rounds, self.sent, self.judged = [], 0, {}

    def frames(self, number):
        """Return the messages of a round and its fault."""
        count, first = self.args.rate * self.args.round, self.sent
        fault = FAULTS[number // 2 % len(FAULTS)] if number % 2 else None
        path = self.world.path("round.mp")
        words = [f"--fault={fault},from={first + count // 4},to={first + 3 * count // 4}"] if fault else []
        evenkeel("generate", "hotel", "-n", count, f"--from={first}", "--seed", 5, "-f", "messages", *words, "-o", path)
        values = [raw for raw, _ in messages_of(path)]
        now, frames = int(time.time() * 1000) + 500, []
        for i, value in enumerate(values):
            n = first + i
            cut = n % CUT == CUT - 1
            # A few timestamps are wrong by six hours.
            off = (21600000 if n % 2 else -21600000) if n % 4999 == 17 else 0
            frames.append(fixtures.Frame(value[:-1] if cut else value, f"k{n}".encode(), now + i * 1000 // self.args.rate + off,
                                         [("n", str(n).encode())], n % PARTITIONS))
        self.sent += count
        return frames, fault

    def round(self, number):
        frames, fault = self.frames(number)
        began, failures = time.monotonic(), []

        def send():
            try:
                self.world.send(self.scene.source, frames, self.args.rate, verb="send-on")
            except AssertionError as failure:
                failures.append(str(failure))
        sending = threading.Thread(target=send)
        sending.start()
        done = self.scene.disturb(self.args.round * 0.7)
        sending.join()
        self.scene.clock.set(0)
        if not self.scene.other.process:
            self.scene.other.start()
        eventually("all came out", self.scene.settled, 300)
        row = {"round": number, "fault": fault, "disturbed": done, **self.judge(frames), "seconds": round(time.monotonic() - began, 1),
               "ended": self.scene.ended,
               "errors": self.scene.errors + failures}
        self.scene.errors, self.scene.ended = [], 0
        return row

    def judge(self, frames):
        """Check the counts of the round, then empty the topics."""
        topics = (self.scene.source, self.scene.target, self.scene.target + ".dead")
        row = report.judge(frames, *(self.new(topic) for topic in topics), CUT)
        for (topic, partition), offset in self.judged.items():
            self.world.broker.empty(topic, partition, offset)
        return row

    def new(self, topic):
        """Return the messages since the last round; after a crash the broker may have lost the last deletion."""
        came, ends = self.world.read(topic), dict(self.judged)
        for f in came:
            place = (topic, f.partition)
            self.judged[place] = max(self.judged.get(place, 0), f.offset + 1)
        return [f for f in came if f.offset >= ends.get((topic, f.partition), 0)]

    def run(self):
        self.scene.steady.start().wait_ready()
        self.scene.other.start()
        self.meter.follow("steady", self.scene.steady)
        self.meter.follow("other", self.scene.other)
        self.meter.start()
        end, number = time.monotonic() + self.args.hours * 3600, 0
        with open(os.path.join(self.args.report, "rounds.jsonl"), "w") as out:
            while time.monotonic() < end or not number:
                row = self.round(number)
                self.rounds.append(row)
                out.write(json.dumps(row) + "\n")
                out.flush()
                print(f"{row['seconds']:6.1f} s  round {number}: {row['in']} in, {row['out']} out, {row['dead']} dead, {row['lost']} lost, "
                      f"{row['twice']} twice, {row['changed']} changed; {row['fault'] or 'healthy'}; {', '.join(row['disturbed'])}"
                      + "".join(f"\n  {e}" for e in row["errors"]), flush=True)
                number += 1
                if number % REST_EVERY == 1:
                    self.rest()

    def rest(self):
        """Measure the first instance with all partitions, idle and without free memory."""
        self.scene.leave()
        self.scene.supervise()
        eventually("all is done by one", self.scene.steady.settled, 300)
        time.sleep(REST_SECONDS)
        self.scene.clock.trim()
        time.sleep(2)
        with contextlib.suppress(OSError, ValueError):
            self.meter.look("steady", self.scene.steady, rest=True, in_use_kib=self.scene.clock.in_use() // 1024)
        self.scene.other.start()

    def end(self):
        """Stop both instances; each must exit with 0."""
        self.meter.over.set()
        self.meter.join()
        for d in (self.scene.other, self.scene.steady):
            if d.alive and d.stop(seconds=60):
                self.scene.errors.append("an instance did not end well")
        self.rounds[-1]["errors"] += self.scene.errors


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hours", type=float, default=1)
    parser.add_argument("--report", required=True)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--round", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    os.makedirs(args.report, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    world, soak, broken = fixtures.World(), None, None
    try:
        world.prepare()
        world.broker.up()
        soak = Soak(args, world)
        soak.run()
        soak.end()
    except AssertionError as failure:
        broken = str(failure)
    finally:
        if soak:
            for d in (soak.scene.steady, soak.scene.other):
                if d.alive:
                    d.process.kill()
                    d.process.wait()
        world.close()
    held, text = report.write(args.report, soak.rounds if soak else [], soak.meter.rows if soak else [],
                              {"kafka": kafka(), "librdkafka": ".".join(map(str, librdkafka())), "hours": args.hours}, broken)
    print(text)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
