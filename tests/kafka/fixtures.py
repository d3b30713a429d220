"""Fixtures shared by all tests of a run: one folder, one broker, generated hotel lists and their profile."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time

from harness import EKTOOL, Broker, Frame, evenkeel, messages_of, packed, read_frames, tool, write_frames

START_MS = 1700000000000


class World:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="evenkeel-kafka-")
        self.broker = Broker(os.path.join(self.folder, "broker"))
        self.others = {}
        self.count = 0
        self.lock = threading.Lock()
        self.lists = {}

    def other(self, name, **kind):
        """Return another broker or cluster, started at the first call."""
        if name not in self.others:
            self.others[name] = Broker(os.path.join(self.folder, name), **kind)
            self.others[name].up()
        return self.others[name]

    def close(self):
        for broker in [self.broker, *self.others.values()]:
            broker.wipe()
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def prepare(self):
        """Write the training lists and their profile."""
        evenkeel("generate", "hotel", "-n", 2000, "--seed", 1, "-f", "letor", "-o", self.path("train.txt"),
                 f"--manifest-out={self.path('features.yaml')}")
        evenkeel("profile", "--manifest", self.path("features.yaml"), "--letor",
                 self.path("train.txt"), "-o", self.path("profile.ekp"))

    def hotel(self, count, encoding="array"):
        """Return hotel lists as encoded messages."""
        key = (count, encoding)
        if key not in self.lists:
            path = self.path(f"hotel-{encoding}-{count}.mp")
            evenkeel("generate", "hotel", "-n", count, "--seed", 2, "-f", "messages",
                     f"--encoding={encoding}", "-o", path)
            self.lists[key] = [raw for raw, _ in messages_of(path)]
        return self.lists[key]

    def names(self):
        """Return unused names (input, output)."""
        with self.lock:
            self.count += 1
            return f"scored-{self.count}", f"ranked-{self.count}"

    def topics(self, partitions=1, broker=None, names=None):
        """Create an input, an output and its dead-letter topic. Return (input, output)."""
        broker = broker or self.broker
        source, target = names or self.names()
        broker.create(source, partitions)
        broker.create(target, partitions)
        broker.create(target + ".dead")
        return source, target

    def send(self, topic, frames, rate=0, broker=None, verb="send"):
        """Send frames. The verb send-on continues while no broker is available, but may duplicate or reorder."""
        path = self.path(f"send-{topic}.frames")
        write_frames(path, frames)
        sent = tool(verb, (broker or self.broker).address, topic, path, *([rate] if rate else []))
        assert int(sent) == len(frames), f"{sent} of {len(frames)} were sent"
        return path

    def sender(self, topic, frames, rate):
        """Return a thread that sends frames."""
        return Sender(self.send, topic, frames, rate)

    def endless(self, topic, values, rate, partitions=1, broker=None, timed=False):
        return Endless(topic, values, rate, partitions, broker or self.broker, timed)

    def read(self, topic, broker=None):
        path = self.path(f"read-{topic}.frames")
        tool("read", (broker or self.broker).address, topic, path)
        return read_frames(path)


class Sender(threading.Thread):
    """Thread that calls a function. join() raises what the function raised."""

    def __init__(self, function, *arguments):
        super().__init__()
        self.function, self.arguments, self.failure = function, arguments, None

    def run(self):
        try:
            self.function(*self.arguments)
        except Exception as e:
            self.failure = e

    def join(self, timeout=None):
        super().join(timeout)
        if self.failure:
            raise self.failure


class Endless:
    """Background sender at a fixed rate until the test stops it, so that a slow machine does not run out of messages. A
    context manager, which also stops it. `values` is an iterator, such as itertools.cycle. The messages are those of
    numbered(); with `timed` their timestamps are the send times."""

    def __init__(self, topic, values, rate, partitions=1, broker=None, timed=False):
        self.words = [EKTOOL, "send", broker.address, topic, "-", str(rate)]
        self.rate, self.partitions, self.timed = rate, partitions, timed
        self.values, self.frames = iter(values), []
        self.lock, self.over, self.process = threading.Lock(), threading.Event(), None
        self.writer = threading.Thread(target=self._write)

    def _next(self):
        with self.lock:
            n = len(self.frames)
            frame = nth(next(self.values), n, self.partitions)
            if self.timed:
                frame.timestamp = self.began_ms + n * 1000 // self.rate
            self.frames.append(frame)
            return frame

    def _write(self):
        with contextlib.suppress(BrokenPipeError), self.process.stdin as out:
            while not self.over.is_set():
                out.write(packed(self._next()))

    def start(self):
        self.began_ms = int(time.time() * 1000) + 300
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.writer.start()
        return self

    def turn(self, values):
        """Continue with other values. Return the number of the first one."""
        with self.lock:
            self.values = iter(values)
            return len(self.frames)

    def _end(self):
        """Stop, and return the number of messages sent."""
        self.over.set()
        self.writer.join()
        with self.process.stdout as said:
            sent = int(said.read() or -1)
        self.process.wait()
        return sent

    def enough(self):
        """Stop, and return all messages sent."""
        sent, self.process = self._end(), None
        assert sent == len(self.frames), f"{sent} of {len(self.frames)} were sent"
        return self.frames

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process:
            self._end()


def nth(value, n, partitions=1):
    return Frame(value, f"k{n}".encode(), START_MS + n, [("n", str(n).encode())], n % partitions)


def numbered(values, partitions=1):
    """Return messages with their number in a header, spread over partitions, with distinct timestamps."""
    return [nth(value, n, partitions) for n, value in enumerate(values)]


def numbers(frames):
    return [int(f.header("n")) for f in frames]


def confirmed(events):
    return [e for e in events if e["event"] == "finding" and e["state"] == "confirmed"]


def cloud_event(test, frame):
    """Return the event of an alert. Checks that it is a CloudEvent 1.0 in binary mode, with each attribute once."""
    event, names = json.loads(frame.value), [name for name, _ in frame.headers]
    test.assertEqual(sorted(names), ["ce_id", "ce_source", "ce_specversion", "ce_time", "ce_type", "content-type"])
    test.assertEqual(frame.header("ce_specversion"), "1.0")
    test.assertEqual(frame.header("ce_type"), "evenkeel." + event["event"])
    test.assertEqual(frame.header("content-type"), "application/json")
    test.assertRegex(frame.header("ce_id"), "^[0-9a-f]{16}$")
    test.assertRegex(frame.header("ce_source"), "^/evenkeel/[^/]+$")
    test.assertTrue(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", frame.header("ce_time")))
    return event
