"""The guard in Java: findings, repairs and messages of its Kafka example, and exceptions of the binding."""
import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../kafka"))
from fixtures import World
from harness import KAFKA_LIBS, Frame, Messages, decoded, eventually, evenkeel

JAVA, JAR = os.environ["JAVA"], os.environ["JAR"]
LISTS, START_MS = 900, 1700000000000
RULES = "version: 1\nsegments: [arm]\ndefaults: {mode: enforce, min_duration: 30s}\nfeatures: {price: {units: [cents]}}\n"
JOB = os.path.join(HERE, "../../java/KafkaGuard.java")


def java(*words, options=()):
    return [JAVA, "-Xmx256m", "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED", *options, "-cp",
            os.pathsep.join([JAR, os.path.join(KAFKA_LIBS, "*")]), *map(str, words)]


def rounded(finding):
    """Return a finding of the example with numbers as in JSON events: six digits, null for NaN."""
    numbers = {name: None if value == "NaN" else float(f"{value:.6g}") for name, value in finding.items() if name.startswith(("factor", "fraction"))}
    return {**finding, **numbers}


def shared(event):
    """Return the values of an event that the example prints."""
    names = ("state", "finding_id", "feature", "segment", "class", "factor", "factor_low", "factor_high", "fraction", "since_list", "since_ms",
             "mitigation", "mode")
    return {**{name: event[name] for name in names}, "unit": (event["units"] or [None])[0]}


def features_of(value):
    """Return the features of a message as float32."""
    values = [float("nan") if x is None else x for item in json.loads(value)["items"] for x in item["features"]]
    return struct.pack(f"<{len(values)}f", *values)


def other_fields(value):
    """Return a message without features."""
    message = json.loads(value)
    for item in message["items"]:
        del item["features"]
    return message


def without_ids(value):
    """Return a message whose ids and segment B are null."""
    message = json.loads(value)
    message["query"] = None
    message["segments"] = {name: None if segment == "B" else segment for name, segment in message["segments"].items()}
    for item in message["items"]:
        item["id"] = None
    return json.dumps(message).encode()


def captured(path):
    """Return the messages of a capture file."""
    with open(path, "rb") as file:
        data = Messages(file.read())
    values = []
    while data.at < len(data.data):
        *_, size = data.one()
        values.append(data.data[data.at:data.at + size])
        data.at += size
    return values


class Java(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = World()
        cls.addClassCleanup(cls.world.close)
        cls.world.prepare()
        cls.assets = [cls.world.path(name) for name in ("features.yaml", "profile.ekp", "rules.yaml")]
        with open(cls.assets[2], "w", encoding="utf-8") as out:
            out.write(RULES)

    def lists(self):
        """Return messages in JSON with prices in cents in arm B, the events of their replay, and the features of each list in float32 as a
        replay repairs them, which needs messages with such features."""
        manifest, profile, rules = self.assets
        events, repaired = self.world.path("events.jsonl"), self.world.path("repaired")
        for encoding in ("bin", "json"):
            lists = self.world.path("lists." + encoding)
            evenkeel("generate", "hotel", "-n", LISTS, "--seed", 3, "-f", "messages", "--encoding", encoding, "--fault", "price=x100,from=300,arm=B",
                     "-o", lists)
            evenkeel("replay", "-m", manifest, "-p", profile, "-r", rules, "-i", lists, "--writes", "features", "-e", events, "-o", repaired + encoding)
        with open(lists, "rb") as lists, open(events, encoding="utf-8") as events:
            expected = [b"".join(item["features"] for item in decoded(value)["items"]) for value in captured(repaired + "bin")]
            return lists.read().splitlines(), [json.loads(line) for line in events], expected

    @contextlib.contextmanager
    def job(self, source, target):
        """Run the example, and yield its process and the path of its output."""
        words = [self.world.broker.address, source, target, "group-" + source, *self.assets]
        paths = [self.world.path(f"job-{source}.{name}") for name in ("out", "err")]
        with open(paths[0], "ab") as out, open(paths[1], "ab") as err:
            process = subprocess.Popen(java(JOB, *words, options=["-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]), stdout=out, stderr=err)
        try:
            yield process, *paths
        finally:
            process.kill()
            process.wait()

    def through(self, source, target, frames, count):
        """Send frames through the example until the output has `count`, and stop it. Return its output and log."""
        self.world.send(source, frames)
        with self.job(source, target) as (process, out, err):
            def log():
                with open(err, encoding="utf-8") as file:
                    return file.read()

            def done():
                if process.poll() is not None:
                    raise AssertionError(log())
                return len(self.world.read(target)) >= count
            eventually("the lists are written", done)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(60), 128 + signal.SIGTERM, log())
            with open(out, encoding="utf-8") as file:
                return file.read().splitlines(), log()

    def test_an_invalid_argument_is_an_exception_that_names_it(self):
        with open(self.assets[0], encoding="utf-8") as file:
            text = file.read()
        queries = text.count("role: query")
        for options in ((), (f"-Devenkeel.library={os.environ['BUILD']}/libevenkeel.so",)):
            done = subprocess.run(java(os.path.join(HERE, "Binding.java"), *self.assets[:2], text.count("index:") - queries, queries, options=options),
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.stdout, done.stderr, done.returncode), ("as documented\n", "", 0))

    def test_findings_and_repairs_on_a_broker_are_those_of_a_replay(self):
        self.world.broker.up()
        source, target = self.world.topics()
        messages, events, repaired = self.lists()
        frames = [Frame(value, b"key-%d" % n, START_MS + n, [("tenant", b"t1")] if n % 2 else [], 0) for n, value in enumerate(messages)]
        undecodable = Frame(b"{", b"odd", START_MS, [], 0)
        lines, log = self.through(source, target, frames + [undecodable], LISTS + 1)
        expected = [shared(event) for event in events if event["event"] == "finding"]
        self.assertIn("confirmed", {event["state"] for event in expected})
        self.assertEqual([rounded(json.loads(line)) for line in lines], expected)
        self.assertIn(f"partition 0, offset {LISTS}: forwarded unchanged: ", log)
        out = self.world.read(target)
        self.assertEqual([(f.key, f.timestamp, f.headers) for f in out], [(f.key, f.timestamp, f.headers) for f in frames + [undecodable]])
        self.assertEqual(out[-1].value, b"{")
        self.assertEqual([features_of(f.value) for f in out[:LISTS]], repaired)
        changed = [f.value for f, before in zip(out, messages) if f.value != before]
        self.assertGreater(len(changed), 100)
        self.assertTrue(all(other_fields(after) == other_fields(before) for after, before in zip((f.value for f in out), messages)))
        # Offsets are committed: a second run reads new lists alone.
        again = [Frame(messages[0], b"more", START_MS, [], 0)]
        self.assertEqual(self.through(source, target, again, LISTS + 2)[0], lines)
        self.assertEqual([f.key for f in self.world.read(target)][LISTS + 1:], [b"more"])

    def test_missing_values_ids_and_segments_are_null(self):
        self.world.broker.up()
        source, target = self.world.topics()
        messages = [without_ids(value) for value in self.lists()[0]]
        lists, events, repaired, rules = (self.world.path(name) for name in ("null.json", "null.events", "null.ekc", "blank.yaml"))
        with open(lists, "wb") as out:
            out.write(b"\n".join(messages) + b"\n")
        with open(rules, "w", encoding="utf-8") as out:
            out.write(RULES.replace("mode: enforce", "mode: enforce, actions: {scale: blank}"))
        self.assets = [*self.assets[:2], rules]
        evenkeel("replay", "-m", self.assets[0], "-p", self.assets[1], "-r", rules, "-i", lists, "--writes", "features", "-e", events, "-o", repaired)
        lines, _ = self.through(source, target, [Frame(value, None, START_MS + n, [], 0) for n, value in enumerate(messages)], LISTS)
        with open(events, encoding="utf-8") as file:
            expected = [shared(event) for event in map(json.loads, file) if event["event"] == "finding"]
        self.assertEqual([rounded(json.loads(line)) for line in lines], expected)
        out = [json.loads(frame.value) for frame in self.world.read(target)]
        self.assertGreater(sum(item["features"][0] is None for message in out for item in message["items"]), 100)
        self.assertTrue(all(message == json.loads(value) for message, value in zip(out, captured(repaired))))

    def test_lists_in_another_form_are_forwarded_unchanged(self):
        self.world.broker.up()
        source, target = self.world.topics()
        messages = self.lists()[0]
        last = next(value for value in reversed(messages) if json.loads(value)["segments"]["arm"] == "B")
        message = json.loads(last)
        forms = (lambda x: dict(enumerate(x)), lambda x: [{"name": i, "value": value} for i, value in enumerate(x)], lambda x: [str(value) for value in x],
                 lambda x: [True, *x[1:]], lambda x: None, lambda x: 7)
        odd = [{**message, "items": [{**item, "features": form(item["features"])} for item in message["items"]]} for form in forms]
        odd += [{**message, name: dict(enumerate(message[name]))} for name in ("items", "query_features")] + [[], 7, None]
        odd = [json.dumps(value).encode() for value in odd]
        lines, log = self.through(source, target, [Frame(value, None, START_MS, [], 0) for value in messages + odd + [last]], LISTS + len(odd) + 1)
        self.assertGreater(len(lines), 0)
        out = [frame.value for frame in self.world.read(target)]
        self.assertEqual(out[LISTS:-1], odd)
        self.assertNotEqual(out[-1], last)
        for n in range(len(odd)):
            self.assertIn(f"partition 0, offset {LISTS + n}: forwarded unchanged: ", log)


if __name__ == "__main__":
    unittest.main()
