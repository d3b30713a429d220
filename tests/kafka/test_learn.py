"""`evenkeel watch` on a topic: five shapes of messages without a configuration, two populations, a fault after the
baseline, saved files, and a user who may only read."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import test_security
from fixtures import START_MS, numbered
from harness import EVENKEEL, WAIT, Daemon, evenkeel, eventually, messages_of

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "schemas"))
import avro_hotel as avro  # noqa: E402
from registry import Registry  # noqa: E402

WORLD = None  # set by run.py
BEFORE, FAULTY, LEARNED = 440, 400, 420  # lists; the last ones are the smallest baseline
SINCE = "2023-11-01"  # before START_MS
ITEM_FEATURES = {"price", "taxes", "stars", "review_score", "review_count", "distance_center", "distance_airport",
                 "room_size", "popularity", "host_rate", "free_cancellation", "breakfast", "chain"}


def hotel(*fault, seed=3, count=BEFORE + FAULTY, encoding="json-map"):
    """Return lists as encoded messages."""
    path = tempfile.mktemp(dir=WORLD.folder)
    evenkeel("generate", "hotel", "-n", count, "--seed", seed, "-f", "messages", "--encoding", encoding, *fault, "-o", path)
    return [raw for raw, _ in messages_of(path)]


def nested(m):
    return {"searchId": m["query"], "meta": {"at": m["time_ms"]}, "experiment": {"variant": m["segments"]["arm"]},
            "request": m["query_features"],
            "result": {"hotels": [{"hotelId": i["id"], "rank": {"value": i["score"]}, "attrs": i["features"]}
                                  for i in m["items"]]}}


def flat(m):
    return {"q": m["query"], "ts": m["time_ms"], "market": m["segments"]["market"], "arm": m["segments"]["arm"],
            "items": [{"id": i["id"], "score": i["score"], "title": "Inn", **i["features"]} for i in m["items"]]}


def pairs(m):
    return {"hits": {"hits": [{"_id": i["id"], "_score": i["score"], "fields": {"_ltrlog": [{"log_entry1": [
        {"name": name, "value": value} for name, value in i["features"].items()]}]}} for i in m["items"]]}}


def columns(m):
    return {"query": m["query"], "ids": [i["id"] for i in m["items"]], "scores": [i["score"] for i in m["items"]],
            "features": {name: [i["features"].get(name) for i in m["items"]] for name in m["items"][0]["features"]}}


SHAPES = {"nested": nested, "flat": flat, "pairs": pairs, "columns": columns, "msgpack": None}


def shaped(shape, values):
    turn = SHAPES[shape]
    return [json.dumps(turn(json.loads(v))).encode() for v in values] if turn else values


class Watch:
    """`evenkeel watch`, as a context manager, with its output and a temporary folder of its own."""

    def __init__(self, *words, broker=None, environment=None):
        self.temporary = tempfile.mkdtemp(dir=WORLD.folder)
        self.path = os.path.join(self.temporary, "out")
        self.words = [EVENKEEL, "watch", *(["-b", (broker or WORLD.broker).address] if broker != "" else []), *map(str, words)]
        self.environment = {**os.environ, "TMPDIR": self.temporary, **(environment or {})}

    def __enter__(self):
        with open(self.path, "wb") as out:
            self.process = subprocess.Popen(self.words, stdout=out, stderr=out, env=self.environment)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def said(self):
        with open(self.path, errors="replace") as file:
            return file.read()

    def wait_for(self, pattern):
        def look():
            text = self.said()
            found = re.search(pattern, text)
            if not found and self.process.poll() is not None:
                raise AssertionError(f"it ended with {self.process.returncode}:\n{text}")
            return found
        try:
            return eventually(pattern, look)
        except AssertionError as error:
            raise AssertionError(f"{error}:\n{self.said()}") from error

    def wait_ready(self):
        """Wait until it reads its partitions, whose later messages it sees."""
        url = self.wait_for(r"page: (http://127.0.0.1:\d+)/")[1]

        def ready():
            try:
                with urllib.request.urlopen(url + "/ready", timeout=5) as answer:
                    return answer.status == 200
            except OSError:
                return False
        eventually("it is ready", ready)
        return url

    def stop(self, test, status=0):
        self.process.send_signal(signal.SIGINT)
        test.assertEqual(self.process.wait(timeout=WAIT), status, self.said())
        test.assertEqual(os.listdir(self.temporary), ["out"])


class WatchShapes(unittest.TestCase):
    def test_a_shape_needs_no_flag_and_a_fault_after_the_baseline_is_found(self):
        for shape in SHAPES:
            with self.subTest(shape=shape):
                encoding = "array" if shape == "msgpack" else "json-map"
                healthy, faulty = hotel(encoding=encoding), hotel("--fault=price=x100", encoding=encoding)
                source, _ = WORLD.names()
                WORLD.broker.create(source)
                WORLD.send(source, numbered(shaped(shape, healthy[:BEFORE])))
                with Watch("-t", source, "--since", SINCE, "--learn", LEARNED) as w:
                    w.wait_ready()
                    text = w.said()
                    count = re.search(r"features +\S+ +message: \{features: PATH\} +(\d+): ", text)
                    self.assertEqual(int(count[1]), len(ITEM_FEATURES), text)
                    self.assertRegex(text, r"score +\S+ +message: \{score: PATH\} +in 100% of the")
                    WORLD.send(source, numbered(shaped(shape, faulty[BEFORE:])))
                    feature = "item_1" if shape == "msgpack" else "price"
                    found = w.wait_for(rf"Z {feature}\S*: values are multiplied by ([\d.]+)")
                    self.assertAlmostEqual(float(found[1]) / 100, 1, delta=.3)
                    w.stop(self)


class WatchBaseline(unittest.TestCase):
    def test_a_live_baseline_of_two_populations_is_refused_and_the_next_one_is_learned(self):
        healthy, faulty = hotel(), hotel("--fault=price=x100")
        source, _ = WORLD.names()
        WORLD.broker.create(source, 2)
        with Watch("-t", source, "--learn", LEARNED) as w:
            w.wait_for(rf"topic '{source}': learning from new messages, 0 of {LEARNED}")
            w.wait_for(rf"no message on topic '{source}' for 10 s")
            WORLD.send(source, numbered(healthy[:LEARNED // 2] + faulty[LEARNED // 2:LEARNED], 2))
            w.wait_for(r"look like two populations: 'price' changes \(scale x\S+\) since 20\S+Z; those since then are discarded")
            WORLD.send(source, numbered(healthy[:LEARNED], 2))
            w.wait_for(rf"baseline of {LEARNED} lists: x10 ")
            w.stop(self)

    def test_a_fault_in_the_past_is_named_with_its_times_and_the_calm_lists_are_learned(self):
        healthy, faulty = hotel(count=1900), hotel("--fault=price=x100,arm=B", count=1900)
        source, _ = WORLD.names()
        WORLD.broker.create(source)
        WORLD.send(source, numbered(healthy[:1300] + faulty[1300:1600] + healthy[1600:]))
        with Watch("-t", source, "--since", SINCE, "--learn", LEARNED) as w:
            change = r"'price' changes \(scale x\S+\) in arm=B"
            w.wait_for(rf"Z these lists are not learned: {change} since 20\S+Z; learning continues after")
            w.wait_for(rf"Z these lists were not learned: {change} from 20\S+Z to 20\S+Z; learning continues")
            learned = int(w.wait_for(r"baseline of (\d+) lists: x10 ")[1])
            self.assertTrue(1400 < learned <= 1600, w.said())
            w.wait_ready()
            w.stop(self)
        # Of a first batch that ends with a fault, the calm lists suffice.
        faulty, (source, _) = hotel("--fault=price=x100", count=1900), WORLD.names()
        WORLD.broker.create(source)
        WORLD.send(source, numbered(healthy[:700] + faulty[700:850]))
        with Watch("-t", source, "--since", SINCE, "--learn", 2000) as w:
            w.wait_for(r"two populations: 'price' changes .* since 20\S+Z; those since then are discarded")
            self.assertTrue(LEARNED <= int(w.wait_for(r"baseline of (\d+) lists: x10 ")[1]) <= 700, w.said())
            w.wait_ready()
            w.stop(self)

    def test_x100_is_found_in_ten_lists_and_x2_in_thirty_after_five_thousand_and_no_healthy_list_is_one(self):
        count, more = 5200, 4000
        healthy = hotel(count=count + more + 200, seed=4)
        for factor, most in ((100, 10), (2, 30)):
            faulty = hotel(f"--fault=price=x{factor}", count=count + more + 200, seed=4)
            source, _ = WORLD.names()
            WORLD.broker.create(source)
            WORLD.send(source, numbered(healthy[:count]))
            with Watch("-t", source, "--since", SINCE) as w:
                url = w.wait_ready()
                WORLD.send(source, numbered(healthy[count:count + more]))
                self.wait_observed(url, more)
                self.assertNotIn("values are multiplied", w.said())
                WORLD.send(source, numbered(faulty[count + more:]))
                w.wait_for(r"Z price: values are multiplied by")
                with urllib.request.urlopen(url + "/api/v1/events?n=1000") as answer:
                    found = [e for e in json.load(answer) if e.get("event") == "finding" and e["state"] == "confirmed"]
                self.assertEqual([e["feature"] for e in found], ["price"], found)
                self.assertLess(found[0]["list"] - more, most, found)
                w.stop(self)

    def wait_observed(self, url, count):
        def observed():
            with urllib.request.urlopen(url + "/api/v1/status") as answer:
                return json.load(answer)["observed_lists"] >= count
        eventually("the lists are observed", observed)

    def test_saved_files_pass_check_and_run_starts_from_them(self):
        source, _ = WORLD.names()
        WORLD.broker.create(source)
        WORLD.send(source, numbered(shaped("nested", hotel()[:BEFORE])))
        folder = os.path.join(WORLD.folder, f"saved-{source}")
        with Watch("-t", source, "--since", SINCE, "--learn", LEARNED, "--save", folder) as w:
            w.wait_ready()
            w.wait_for(f"saved to '{folder}'")
            w.stop(self)
        self.assertEqual(sorted(os.listdir(folder)), ["evenkeel.yaml", "features.yaml", "profile.ekp", "rules.yaml"])
        config = os.path.join(folder, "evenkeel.yaml")
        evenkeel("check", config, *(os.path.join(folder, name) for name in ("features.yaml", "rules.yaml", "profile.ekp")))
        d = Daemon(WORLD.folder, WORLD.broker, source, None, WORLD.folder, dead=False)
        with open(config) as file:
            text = file.read()
        self.assertIn('items: "result.hotels"', text)
        with open(d.config, "w") as file:  # with a free port
            file.write(re.sub(r'listen: "[^"]*"', f'listen: "{d.http}"', text).replace("features.yaml", f"{folder}/features.yaml")
                       .replace("profile.ekp", f"{folder}/profile.ekp").replace("rules.yaml", f"{folder}/rules.yaml"))
        with d:
            d.wait_ready()
            WORLD.send(source, numbered(shaped("nested", hotel()[BEFORE:])))
            eventually("it observes", lambda: d.status().get("observed_lists") == FAULTY)
            self.assertEqual(d.stop(), 0, d.log())
        # A corrected configuration gives the fields, and the files of its folder are not overwritten.
        with open(config, "w") as file:
            file.write(text.replace('"rank.value"', '"rank.other"'))
        with Watch("-c", config, "--since", SINCE, "--learn", LEARNED) as w:
            w.wait_for(r"score +- +message: \{score: PATH\} +none")
            w.wait_ready()
            w.stop(self)
        evenkeel("watch", "-b", WORLD.broker.address, "-t", source, "--save", folder, status=2)


    def test_avro_messages_need_a_configuration_with_their_schema(self):
        values = [avro.encode(json.loads(v)) for v in hotel(encoding="json")[:BEFORE + 40]]
        source, _ = WORLD.names()
        WORLD.broker.create(source)
        WORLD.send(source, numbered(values))
        with Registry(avro.answers()) as registry:
            d = Daemon(WORLD.folder, WORLD.broker, source, None, WORLD.folder, dead=False, undecodable="forward",
                       message=f"encoding: avro, registry: {{url: \"{registry.url}\", user: u, password: p, timeout: 1s}}")
            with Watch("-c", d.config, "--since", SINCE, "--learn", LEARNED, broker="") as w:
                w.wait_ready()
                self.assertIn("score", w.said())
                w.stop(self)
        with Watch("-t", source, "--since", SINCE) as w:
            self.assertEqual(w.process.wait(timeout=WAIT), 1)
            self.assertIn("the messages are no lists that can be read: most are neither JSON nor a MessagePack map", w.said())
            needed = re.search(r"use --config with '(message: \{encoding: avro, schema: lists.avsc\})', or 'registry: ", w.said())[1]
            self.assertIn("the fields that 'evenkeel inspect CAPTURE --suggest-mapping --schema lists.avsc' prints", w.said())
        # The remedy of the message works.
        folder = tempfile.mkdtemp(dir=WORLD.folder)
        schema, capture, config = (os.path.join(folder, name) for name in ("lists.avsc", "lists.ekc", "avro.yaml"))
        with open(schema, "wb") as file:
            file.write(avro.file(1))
        evenkeel("capture", "-b", WORLD.broker.address, "-t", source, "--until-end", "-o", capture)
        fields, _ = evenkeel("inspect", capture, "--suggest-mapping", "--schema", schema)
        with open(config, "w") as file:
            file.write(re.sub("encoding: avro.*", "encoding: avro\n  schema: lists.avsc", fields))
        with Watch("-c", config, "-b", WORLD.broker.address, "-t", source, "--since", SINCE, "--learn", LEARNED, broker="") as w:
            w.wait_ready()
            w.stop(self)
        with open(config, "w") as file:  # the fields have their default names
            file.write(needed + "\n")
        with Watch("-c", config, "-b", WORLD.broker.address, "-t", source, "--since", SINCE, "--learn", LEARNED, broker="") as w:
            w.wait_ready()
            w.stop(self)


class WatchTopics(unittest.TestCase):
    NEEDS = "topics"

    def test_the_only_topic_with_lists_is_taken_and_of_several_one_must_be_named(self):
        broker = WORLD.other("topics")
        for name, values in (("clicks", [b'{"user": "ana", "hotel": "h-1", "at": 1790000000000}'] * 50),
                             ("blobs", [bytes([0xC1, i]) for i in range(50)]), ("empty", []),
                             ("lists", shaped("flat", hotel()[:BEFORE]))):
            broker.create(name)
            WORLD.send(name, numbered(values), broker=broker)
        with Watch("--since", SINCE, "--learn", LEARNED, broker=broker) as w:
            w.wait_for("topic 'lists' has lists")
            url = w.wait_ready()
            with urllib.request.urlopen(url + "/api/v1/status", timeout=5) as answer:
                self.assertEqual(json.load(answer)["commands"], "read_only")
            w.stop(self)
        broker.create("ranked")
        WORLD.send("ranked", numbered(hotel()[:50]), broker=broker)
        _, error = evenkeel("watch", "-b", broker.address, status=2)
        self.assertIn("2 topics have lists; name one with --topic: lists, ranked", error)
        broker.delete("ranked")
        broker.delete("lists")

        def refused():  # brokers delete later than they answer
            done = subprocess.run([EVENKEEL, "watch", "-b", broker.address], capture_output=True, text=True, check=False)
            return done.returncode == 2 and done.stderr
        error = eventually("the deleted topics are gone", refused)
        self.assertRegex(error, "no topic of '.*' has lists that can be read; name one with --topic: ")


class WatchReadOnly(test_security.Secure):
    def test_a_user_who_may_only_read_can_watch(self):
        secure = test_security.secure
        source, _ = WORLD.names()
        secure().create(source)
        secure().allow("bob", f"Read topic {source}", "Read group *")
        WORLD.send(source, numbered(hotel()[:BEFORE]), broker=secure())
        properties = {**test_security.sasl("PLAIN", user="bob"), "sasl.password": "${BOB}"}
        words = [word for item in properties.items() for word in ("-X", "=".join(item))]
        with Watch("-b", secure().at("sasl_ssl"), "-t", source, "--since", SINCE, "--learn", LEARNED, *words, broker="",
                   environment={"BOB": secure().PASSWORDS["bob"]}) as w:
            w.wait_ready()
            self.assertNotIn("event=kafka_error", w.said())
            self.assertNotIn(secure().PASSWORDS["bob"], w.said())
            w.stop(self)
        secure().revoke("bob", "Read group *")


assert START_MS // 1000 > 1698796800  # SINCE
