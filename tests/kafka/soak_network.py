"""Soak test: a network with all its faults between the stage and the broker."""
import contextlib
import itertools
import random
import socket
import struct
import threading
import time
import unittest

from fixtures import numbers
from harness import Daemon, free_port

WORLD = None  # set by run.py
SECONDS, RATE = 75, 200
PIECE = 16384


class Network:
    """TCP proxy on `port`. Its fault changes every few seconds."""
    FAULTS = ("none", "reset", "half", "lost answers", "slow", "late", "hole", "hole to the broker", "hole from the broker", "refused")

    def __init__(self, port, target, seed):
        self.port, self.target, self.fault, self.over = port, target, "none", threading.Event()
        self.random, self.links = random.Random(seed), []
        self.listener = socket.create_server(("127.0.0.1", port), backlog=64)
        threading.Thread(target=self._accept, daemon=True).start()

    def tear(self):
        self.over.clear()
        self.changes = threading.Thread(target=self._change, daemon=True)
        self.changes.start()

    def _change(self):
        for n in itertools.count(1):
            self.over.wait(self.random.uniform(1, 4))
            if self.over.is_set():
                self.fault = "none"
                return
            self.fault = self.FAULTS[n % len(self.FAULTS)]
            if self.fault in ("reset", "refused"):
                for link in self.links[:]:
                    self._reset(link)

    def _reset(self, link):
        with contextlib.suppress(OSError):
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with contextlib.suppress(OSError, ValueError):
            self.links.remove(link)
        with contextlib.suppress(OSError):
            link.shutdown(socket.SHUT_RDWR)
        link.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if self.fault == "refused":
                self._reset(client)
                continue
            broker = socket.create_connection(self.target)
            self.links += [client, broker]
            for source, sink, way in ((client, broker, "to the broker"), (broker, client, "from the broker")):
                threading.Thread(target=self._pump, args=(source, sink, way), daemon=True).start()

    def _pump(self, source, sink, way):
        with contextlib.suppress(OSError):
            while data := source.recv(PIECE):
                while self.fault in ("hole", "hole " + way):
                    time.sleep(.05)
                if self.fault == "late":
                    time.sleep(self.random.uniform(.2, 1))
                if self.fault == "slow":
                    time.sleep(len(data) / 40000)
                if self.fault == "lost answers" and way == "from the broker":
                    break
                if self.fault == "half":
                    sink.sendall(data[:len(data) // 2])
                    break
                sink.sendall(data)
        for link in (source, sink):
            self._reset(link)

    def heal(self):
        self.over.set()
        self.changes.join()

    def close(self):
        self.over.set()
        self.listener.close()


class ATornNetwork(unittest.TestCase):
    """Resets, cut frames, lost answers, delays, black holes and refused connections."""

    def test_loses_and_doubles_nothing(self):
        port = free_port()
        broker = WORLD.other("torn", proxied=port)
        with contextlib.closing(Network(port, ("127.0.0.1", broker.port + broker.PROXIED), 7)) as network:
            for delivery in ("at_least_once", "exactly_once"):
                with self.subTest(delivery):
                    self.go(broker, network, delivery)

    def go(self, broker, network, delivery):
        source, target = WORLD.topics(2, broker)
        broker.create(target + ".state", 2, "cleanup.policy", "compact")
        with Daemon(WORLD.folder, broker, source, target, WORLD.folder, brokers=f"127.0.0.1:{network.port}", delivery=delivery, instance="one",
                       state=f"topic: {target}.state, checkpoint_interval: 1s", limits="transaction_timeout: 60s") as d, \
                WORLD.endless(source, itertools.cycle(WORLD.hotel(100)), RATE, 2, broker) as stream:
            stream.start()
            network.tear()
            ended, end = 0, time.monotonic() + SECONDS
            while time.monotonic() < end:
                if d.process.poll() is not None:  # as a supervisor
                    self.assertEqual(d.process.returncode, 1, d.log())
                    ended += 1
                    d.start()
                time.sleep(.2)
            network.heal()
            sent = len(stream.enough())
            d.wait_drained()
            observed = d.status()["observed_lists"]
            self.assertEqual(observed, sent, d.log())
            self.assertEqual(d.stop(), 0, d.log())
        out = numbers(WORLD.read(target, broker))
        missing, twice = len(set(range(sent)) - set(out)), len(out) - len(set(out))
        print(f"\n    {delivery}: {sent} sent, {len(out)} out, {missing} missing, {twice} twice; ended {ended} times", end="")
        self.assertEqual(missing, 0)
        if delivery == "exactly_once":
            self.assertEqual(twice, 0)
            for partition in range(2):
                mine = [int(f.header("n")) for f in WORLD.read(target, broker) if f.partition == partition]
                self.assertEqual(mine, sorted(mine))
