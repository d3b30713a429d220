"""Commands read Avro messages as they read the same lists in MessagePack."""
import json
import os
import subprocess
import tempfile
import unittest

import avro_hotel as hotel

BUILD = os.environ.get("BUILD", "build")
LISTS = 1200


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="evenkeel-avro-")
        cls.run_ok("generate", "hotel", "-n", LISTS, "--seed", 1, "-f", "messages", "--encoding", "json",
                   "-o", cls.at("train.jsonl"), tools=True)
        cls.run_ok("generate", "hotel", "-n", LISTS, "--seed", 1, "-f", "letor", "-o", cls.at("train.txt"),
                   f"--manifest-out={cls.at('features.yaml')}", tools=True)
        cls.run_ok("generate", "hotel", "-n", LISTS, "--seed", 2, "-f", "messages", "--encoding", "json",
                   "--fault=price=x100,from=500", "-o", cls.at("faulty.jsonl"), tools=True)
        for name in ("train", "faulty"):
            with open(cls.at(name + ".jsonl")) as lines:
                lists = [json.loads(line) for line in lines]
            cls.write(name + ".ekc", hotel.capture([hotel.encode(m, framed=False) for m in lists]))
            cls.write(name + "-framed.ekc",
                      hotel.capture([hotel.encode(m, 1 + (i > LISTS // 2)) for i, m in enumerate(lists)]))
        cls.write("v1.avsc", json.dumps(hotel.schema(1)).encode())
        cls.config("file.yaml", f"schema: {cls.at('v1.avsc')}, framing: none")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def at(cls, name):
        return os.path.join(cls.temporary.name, name)

    @classmethod
    def write(cls, name, data):
        with open(cls.at(name), "wb") as out:
            out.write(data)

    @classmethod
    def config(cls, name, message):
        cls.write(name, ("input: {brokers: \"127.0.0.1:1\", topics: [scored], group: g}\noutput: {topic: ranked}\n"
                         "assets: {manifest: features.yaml, profile: profile.ekp}\n"
                         f"message: {{encoding: avro, {message}}}\n").encode())
        return cls.at(name)

    @classmethod
    def run_ok(cls, *words, tools=False, status=0):
        program = os.path.join(BUILD, "evenkeel" + ("-tools" if tools else ""))
        done = subprocess.run([program, *map(str, words)], capture_output=True, check=False)
        if done.returncode != status:
            raise AssertionError(f"{words}: {done.returncode} {done.stderr.decode()}")
        return done.stdout.decode() + done.stderr.decode()

    def findings(self, capture, *words):
        self.run_ok("replay", "-m", self.at("features.yaml"), "-p", self.at("profile.ekp"), "-i", self.at(capture),
                    "-e", self.at("events.jsonl"), *words)
        with open(self.at("events.jsonl")) as lines:
            return [json.loads(line) for line in lines]

    def profile(self, name, *words):
        self.run_ok("profile", "-m", self.at("features.yaml"), "--messages", self.at(name), "-o",
                    self.at("profile.ekp"), *words)
        with open(self.at("profile.ekp"), "rb") as data:
            return data.read()

    def test_a_profile_is_that_of_the_same_lists_in_json(self):
        self.assertEqual(self.profile("train.ekc", "-c", self.at("file.yaml")), self.profile("train.jsonl"))

    def test_findings_are_those_of_the_same_lists_in_json(self):
        self.profile("train.jsonl")
        avro = self.findings("faulty.ekc", "-c", self.at("file.yaml"))
        plain = self.findings("faulty.jsonl")
        self.assertEqual(avro, plain)
        self.assertTrue(any(e.get("feature") == "price" and e.get("state") == "confirmed" for e in avro))

    def test_schemas_change_in_mid_stream(self):
        self.profile("train.jsonl")
        with hotel.Registry() as registry:
            path = self.config("registry.yaml", f"registry: {{url: \"{registry.url}\", user: u, password: p}}")
            self.assertEqual(self.findings("faulty-framed.ekc", "-c", path), self.findings("faulty.jsonl"))
            self.assertEqual(registry.requests, ["/schemas/ids/1", "/schemas/ids/2"])

    def test_a_wrong_password_is_reported_with_the_message(self):
        with hotel.Registry() as registry:
            path = self.config("wrong.yaml", f"registry: {{url: \"{registry.url}\", user: u, password: x}}")
            said = self.run_ok("profile", "-m", self.at("features.yaml"), "--messages", self.at("train-framed.ekc"),
                               "-o", self.at("none.ekp"), "-c", path, status=1)
            self.assertIn("schema id 1: the schema registry answers with status 401 for /schemas/ids/1", said)

    def test_repaired_features_are_written_in_place(self):
        self.profile("train.jsonl")
        self.write("rules.yaml", b"version: 1\ndefaults: {mode: enforce}\n")
        self.run_ok("replay", "-c", self.at("file.yaml"), "-r", self.at("rules.yaml"), "--writes", "features", "-i",
                    self.at("faulty.ekc"), "-o", self.at("out.ekc"))
        with open(self.at("out.ekc"), "rb") as data:
            out = hotel.values_of(data.read())
        with open(self.at("faulty.jsonl")) as lines:
            lists = [json.loads(line) for line in lines]
        repaired = 0
        for message, value in zip(lists, out):
            if value != hotel.encode(message, framed=False):
                repaired += 1
                for item in message["items"]:
                    item["features"][0] /= 100
                self.assertEqual(len(value), len(hotel.encode(message, framed=False)))
        self.assertGreater(repaired, 300)
        self.assertEqual(len(out), LISTS)

    def test_inspect_proposes_a_manifest_by_the_schema(self):
        said = self.run_ok("inspect", "--suggest-manifest", "--schema", self.at("v1.avsc"), self.at("train.ekc"))
        self.assertIn("item_13", said)
        self.assertIn("query_8", said)

    def test_inspect_proposes_a_mapping_by_the_schema(self):
        said = self.run_ok("inspect", "--suggest-mapping", "--schema", self.at("v1.avsc"), self.at("train.ekc"))
        self.assertIn("message:", said)

    def test_check_names_the_key_of_a_wrong_schema(self):
        self.write("bad.avsc", b'{"type": "record", "name": "L", "fields": []}')
        self.profile("train.jsonl")
        said = self.run_ok("check", self.config("bad.yaml", "schema: bad.avsc"), status=78)
        self.assertIn("bad.yaml:4:27: 'message.schema': ", said)
        self.assertIn("'message.items' is 'items', but the schema has no field 'items' there", said)


if __name__ == "__main__":
    unittest.main()
