"""What all tests of a run share: one folder, one broker, generated hotel lists and their profile."""
import json
import os
import re
import shutil
import tempfile

from harness import Broker, Frame, evenkeel, messages_of, read_frames, tool, write_frames

START_MS = 1700000000000


class World:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="evenkeel-kafka-")
        self.broker = Broker(os.path.join(self.folder, "broker"))
        self.others = {}
        self.count = 0
        self.lists = {}

    def other(self, name, **kind):
        """A further broker or cluster, running; made once."""
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
        """Training lists and their profile."""
        evenkeel("gen", "hotel", "-n", 2000, "--seed", 1, "-f", "letor", "-o", self.path("train.txt"),
                 f"--manifest-out={self.path('features.yaml')}")
        evenkeel("profile", "--manifest", self.path("features.yaml"), "--letor",
                 self.path("train.txt"), "-o", self.path("profile.ekp"))

    def hotel(self, count, encoding="array"):
        """Bytes of hotel lists as messages."""
        key = (count, encoding)
        if key not in self.lists:
            path = self.path(f"hotel-{encoding}-{count}.mp")
            evenkeel("gen", "hotel", "-n", count, "--seed", 2, "-f", "messages",
                     f"--encoding={encoding}", "-o", path)
            self.lists[key] = [raw for raw, _ in messages_of(path)]
        return self.lists[key]

    def topics(self, partitions=1, broker=None):
        """A fresh input and output with their dead letters; (input, output)."""
        self.count += 1
        broker = broker or self.broker
        source, target = f"scored-{self.count}", f"ranked-{self.count}"
        broker.create(source, partitions)
        broker.create(target, partitions)
        broker.create(target + ".dead")
        return source, target

    def send(self, topic, frames, rate=0, broker=None, verb="send"):
        """With send-on it ends for no broker, but may send twice or out of order."""
        path = self.path(f"send-{topic}.frames")
        write_frames(path, frames)
        sent = tool(verb, (broker or self.broker).address, topic, path, *([rate] if rate else []))
        assert int(sent) == len(frames), f"{sent} of {len(frames)} were sent"
        return path

    def read(self, topic, broker=None):
        path = self.path(f"read-{topic}.frames")
        tool("read", (broker or self.broker).address, topic, path)
        return read_frames(path)


def numbered(values, partitions=1):
    """Messages with a number in a header, spread over partitions, each with its own time."""
    return [Frame(value, f"k{i}".encode(), START_MS + i, [("n", str(i).encode())], i % partitions)
            for i, value in enumerate(values)]


def numbers(frames):
    return [int(f.header("n")) for f in frames]


def confirmed(events):
    return [e for e in events if e["event"] == "finding" and e["state"] == "confirmed"]


def cloud_event(test, frame):
    """The event of an alert, which must be a CloudEvent 1.0 in binary mode: each attribute once."""
    event, names = json.loads(frame.value), [name for name, _ in frame.headers]
    test.assertEqual(sorted(names), ["ce_id", "ce_source", "ce_specversion", "ce_time", "ce_type", "content-type"])
    test.assertEqual(frame.header("ce_specversion"), "1.0")
    test.assertEqual(frame.header("ce_type"), "evenkeel." + event["event"])
    test.assertEqual(frame.header("content-type"), "application/json")
    test.assertRegex(frame.header("ce_id"), "^[0-9a-f]{16}$")
    test.assertRegex(frame.header("ce_source"), "^/evenkeel/[^/]+$")
    test.assertTrue(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", frame.header("ce_time")))
    return event
