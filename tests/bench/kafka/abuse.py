#!/usr/bin/env python3
"""Throughput of `evenkeel run` under abuse: kafka/abuse.py BUILD RESULTS [--messages N] [--rounds N] [--only WORD]

The same full topic is processed unloaded, with dead alert sinks, and with slow, many or impatient HTTP clients. An
unloaded pass separates the variants; each variant is compared with its two neighbors. Five features of the topic
become faulty, so that alerts are sent. The stage has one half of the processors; broker, clients and meter have the
other.
"""
import contextlib
import os
import re
import socket
import statistics
import subprocess
import threading
import time

import place as at
from place import Place, Stage, throughput

import harness
from record import Bench, words

FIRST, LAST, LEAST = 30, 95, 40  # percent of the messages: from, to, and the required minimum
ONE, TWO = "127.0.0.2", "127.0.0.3"  # addresses of clients; the benchmark itself uses another one
ALONE = "alone"
BROKEN = "alerting: {group_wait: 100ms, send_timeout: 1s}\nalerts:\n"


class Deaf:
    """A sink that accepts connections and never responds."""

    def __init__(self):
        self.listener, self.taken = socket.create_server(("127.0.0.1", 0)), []
        threading.Thread(target=self.take, daemon=True).start()

    def take(self):
        with contextlib.suppress(OSError):
            while True:
                self.taken.append(self.listener.accept()[0])

    def close(self):
        self.listener.close()
        for link in self.taken:
            link.close()


def dead_sinks(port):
    """Return the maximum number of dead sinks: silent, refusing connections, or with an unresolvable name."""
    urls = [f"http://127.0.0.1:{port}/", f"http://127.0.0.1:{harness.free_port()}/", "http://nowhere.invalid/"]
    return BROKEN + "".join(f"  - {{webhook: {{url: \"{urls[i % 3]}{i}\"}}}}\n" for i in range(16))


def group(address, kind, count, pause_ms=0, again_ms=0):
    return [address, kind, count, pause_ms, again_ms]


class Variant:
    """Load on the stage. `clients`: groups as arguments; `http`: its configuration; `held`: required open
    connections; `answers`: some must have arrived."""

    def __init__(self, name, clients=(), http="", held=0, answers=False, sinks=False):
        self.name, self.http, self.held, self.answers, self.sinks = name, http, held, answers, sinks
        self.clients = [str(word) for words in clients for word in words]


ROOM = "max_connections: 1000, max_connections_per_ip: 1000"
VARIANTS = [
    Variant("16 dead alert sinks", sinks=True),
    Variant("64 slow clients", [group(ONE, "head", 24, 100), group(ONE, "body", 24, 100), group(TWO, "body", 16, 100)],
            held=60),
    Variant("1,000 connections held", [group(ONE, "min_duration", 500), group(ONE, "head", 500, 1000)], ROOM, held=900),
    Variant("1,000 clients with room for 48, back after 1 s", [group(ONE, "min_duration", 1000, 0, 1000)], held=40),
    Variant("1,000 clients with room for 48, back at once", [group(ONE, "min_duration", 1000)], held=40),
    Variant("16 streams and 32 pollers of /metrics, each second",
            [group(ONE, "follow:/api/v1/events?stream", 16), group(ONE, "get:/metrics", 32, 1000)], held=45, answers=True),
    Variant("16 streams and 32 pollers of /metrics, without a pause",
            [group(ONE, "follow:/api/v1/events?stream", 16), group(ONE, "get:/metrics", 32)], held=45, answers=True),
]


class Clients:
    """Clients of a variant, as a context manager entered when all are connected."""

    def __init__(self, place, stage, variant):
        self.command = [place.tool("clients"), stage.http.split(":")[1], *variant.clients]

    def __enter__(self):
        # A separate session: schedulers that share processors by session would give them part of the stage's share.
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        start_new_session=True)
        if self.process.stdout.readline() != "all there\n":
            raise SystemExit("abuse: the clients did not come")
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def done(self):
        """Return [connections dialed, closed by the server, responses, bytes] so far."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return list(map(int, self.process.stdout.readline().split()))


class Held:
    """Median number of additional open connections of the stage, sampled twice a second, as a context manager.
    Clients are disconnected at times and reconnect."""

    def __init__(self, stage):
        self.folder, self.seen, self.over = f"/proc/{stage.process.pid}/fd", [], threading.Event()
        self.first = len(os.listdir(self.folder))
        self.thread = threading.Thread(target=self.look, daemon=True)

    def look(self):
        while not self.over.wait(0.5):
            self.seen.append(len(os.listdir(self.folder)) - self.first)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def usual(self):
        return statistics.median(self.seen) if self.seen else 0


def wait_answering(stage):
    end = time.monotonic() + 20
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            return stage.page("/ping")
        time.sleep(0.01)
    raise SystemExit(f"abuse: the stage does not answer\n{stage.said()}")


def http_thread(stage):
    """Return the HTTP thread, as arguments of the meter."""
    pid = stage.process.pid
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/comm", encoding="ascii") as stream:
            if stream.read().startswith("MHD"):
                return f"{pid}/task/{thread}"
    raise SystemExit("abuse: no thread answers HTTP")


class Abuse:
    def __init__(self, place, args):
        self.place, self.count = place, args.messages
        self.variants = [v for v in VARIANTS if args.only in v.name]
        self.command = at.run_of(args.build)
        self.cores = at.halves()[1] if at.halves() else None
        self.source = place.stream(self.count, "bin", self.count // 10)

    def measure(self, stage, others):
        n = self.count
        found = throughput(self.place, stage, n * FIRST // 100, n * LAST // 100, others=others)
        if found["messages"] < n * LEAST / 100:
            raise SystemExit("abuse: too little was left when the clients were there; more --messages")
        return found

    def with_clients(self, stage, variant):
        held, others = Held(stage), {"http": http_thread(stage)}
        with Clients(self.place, stage, variant) as clients, held:
            begun, first = time.monotonic(), clients.done()
            found = self.measure(stage, {**others, "clients": clients.process.pid})
            seconds, last, held = time.monotonic() - begun, clients.done(), held.usual()
        rates = [(b - a) / seconds for a, b in zip(first, last)]
        if held < variant.held or (variant.answers and not rates[2]):
            raise SystemExit(f"abuse: {variant.name}: {held} connections, {rates[2]:.0f} answers/s")
        return {**found, "held": held, "connections/s": rates[0], "answers/s": rates[2]}

    def with_sinks(self, stage, deaf):
        found = self.measure(stage, {"http": http_thread(stage)})
        failed = sum(map(int, re.findall(r'^evenkeel_alerts_sent_total.*result="failed"} (\d+)$', stage.page("/metrics"), re.M)))
        if not failed or not deaf.taken:
            raise SystemExit(f"abuse: {failed} alerts failed, {len(deaf.taken)} were not answered: nothing was alerted")
        return found

    def once(self, variant=None):
        """Run one pass over the topic."""
        target = self.place.topic()
        with contextlib.ExitStack() as stack:
            deaf = stack.enter_context(contextlib.closing(Deaf())) if variant and variant.sinks else None
            stage = stack.enter_context(Stage(
                self.place, self.command, self.source, target, cores=self.cores, http_more=variant.http if variant else "",
                more=dead_sinks(deaf.listener.getsockname()[1]) if deaf else ""))
            wait_answering(stage)
            if deaf:
                found = self.with_sinks(stage, deaf)
            elif variant:
                found = self.with_clients(stage, variant)
            else:
                found = self.measure(stage, {"http": http_thread(stage)})
            if not stage.status()["routed"]:
                raise SystemExit("abuse: nothing was routed, so there was nothing to alert of")
        self.place.delete(target)
        return found

    def round(self, found):
        """Run each variant between two unloaded passes; found: {name: [(its results, those of the neighbors)]}."""
        before = self.once()
        found.setdefault(ALONE, []).append((before, []))
        for variant in self.variants:
            mine, after = self.once(variant), self.once()
            found.setdefault(variant.name, []).append((mine, [before, after]))
            found[ALONE].append((after, []))
            before = after


UNITS = (("messages/s", ""), ("us/message", ", processor time of the stage"))
MORE = (("http", "%", "processor time of the thread that answers"), ("clients", "%", "processor time of the clients"),
        ("held", "connections", "held"), ("connections/s", "connections/s", "dialled"),
        ("answers/s", "answers/s", "answered"))


def tell_alone(bench, passes):
    """Print the spread of the unloaded passes: the noise."""
    for unit, what in UNITS:
        values = [p[unit] for p in passes]
        middle = statistics.median(values)
        bench.line(ALONE + what, unit, middle, None, None)
        bench.case(f"{ALONE}{what}, lowest pass", unit, min(values), {ALONE: middle})
        bench.case(f"{ALONE}{what}, highest pass", unit, max(values), {ALONE: middle})


def tell(bench, name, passes):
    for unit, what in UNITS:
        bench.rounds(name + what, unit, [mine[unit] for mine, _ in passes],
                     {ALONE: [statistics.mean(p[unit] for p in beside) for _, beside in passes]})
    for key, unit, what in MORE:
        values = [mine[key] for mine, _ in passes if key in mine]
        if values:
            bench.line(f"{name}, {what}", unit, statistics.median(values), None, None)


def main():
    args = words(__doc__, messages=160000, rounds=3, only="")
    bench, found = Bench("abuse", args.results), {}
    with Place(args.build) as place:
        if at.halves():
            at.pin(place.broker_pid, at.halves()[0])
            os.sched_setaffinity(0, at.halves()[0])
        else:
            print("abuse: one processor only, so what the clients take is taken from the stage")
        abuse = Abuse(place, args)
        abuse.once()  # a fresh broker is slower at first
        for _ in range(args.rounds):
            abuse.round(found)
    tell_alone(bench, [mine for mine, _ in found.pop(ALONE)])
    for name, passes in found.items():
        tell(bench, name, passes)


if __name__ == "__main__":
    main()
