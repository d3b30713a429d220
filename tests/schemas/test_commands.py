"""Commands read messages with schemas as they read the same lists in JSON."""
import json
import os
import subprocess
import tempfile
import unittest

import avro_hotel
import proto_hotel
from registry import Registry, capture, values_of

BUILD = os.environ.get("BUILD", "build")
LISTS = 1200


class Commands:
    hotel = None  # module of the encoding

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="evenkeel-schemas-")
        cls.run_ok("generate", "hotel", "-n", LISTS, "--seed", 1, "-f", "messages", "--encoding", "json",
                   "-o", cls.at("train.jsonl"), tools=True)
        cls.run_ok("generate", "hotel", "-n", LISTS, "--seed", 1, "-f", "letor", "-o", cls.at("train.txt"),
                   f"--manifest-out={cls.at('features.yaml')}", tools=True)
        cls.run_ok("generate", "hotel", "-n", LISTS, "--seed", 2, "-f", "messages", "--encoding", "json",
                   "--fault=price=x100,from=500", "-o", cls.at("faulty.jsonl"), tools=True)
        for name in ("train", "faulty"):
            with open(cls.at(name + ".jsonl")) as lines:
                lists = [json.loads(line) for line in lines]
            cls.write(name + ".ekc", capture([cls.hotel.encode(m, framed=False) for m in lists]))
            cls.write(name + "-framed.ekc",
                      capture([cls.hotel.encode(m, 1 + (i > LISTS // 2)) for i, m in enumerate(lists)]))
        cls.write(cls.hotel.FILE, cls.hotel.file(1))
        cls.config("file.yaml", f"schema: {cls.at(cls.hotel.FILE)}, framing: none")

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
                         f"message: {{encoding: {cls.hotel.ENCODING}, {message}}}\n").encode())
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
        with Registry(self.hotel.answers()) as registry:
            path = self.config("registry.yaml", f"registry: {{url: \"{registry.url}\", user: u, password: p}}")
            self.assertEqual(self.findings("faulty-framed.ekc", "-c", path), self.findings("faulty.jsonl"))
            self.assertEqual(registry.requests, self.hotel.REQUESTS)

    def test_a_wrong_password_is_reported_with_the_message(self):
        with Registry(self.hotel.answers()) as registry:
            path = self.config("wrong.yaml", f"registry: {{url: \"{registry.url}\", user: u, password: x}}")
            said = self.run_ok("profile", "-m", self.at("features.yaml"), "--messages", self.at("train-framed.ekc"),
                               "-o", self.at("none.ekp"), "-c", path, status=1)
            self.assertIn("schema id 1: the schema registry answers with status 401 for " +
                          self.hotel.REQUESTS[0], said)

    def test_repaired_features_are_written_in_place(self):
        self.profile("train.jsonl")
        self.write("rules.yaml", b"version: 1\ndefaults: {mode: enforce}\n")
        self.run_ok("replay", "-c", self.at("file.yaml"), "-r", self.at("rules.yaml"), "--writes", "features", "-i",
                    self.at("faulty.ekc"), "-o", self.at("out.ekc"))
        with open(self.at("out.ekc"), "rb") as data:
            out = values_of(data.read())
        with open(self.at("faulty.jsonl")) as lines:
            lists = [json.loads(line) for line in lines]
        repaired = 0
        for message, value in zip(lists, out):
            if value != self.hotel.encode(message, framed=False):
                repaired += 1
                for item in message["items"]:
                    item["features"][0] /= 100
                self.assertEqual(len(value), len(self.hotel.encode(message, framed=False)))
        self.assertGreater(repaired, 300)
        self.assertEqual(len(out), LISTS)

    def test_a_repaired_query_feature_is_written_in_place(self):
        with open(self.at("features.yaml")) as plain:
            text = plain.read().replace("name: stay_nights, index: 14, role: query,",
                                        "name: stay_nights, index: 14, role: query, watch: true,")
        self.write("watched.yaml", text.encode())
        self.write("rules.yaml", b"version: 1\ndefaults: {mode: enforce}\n")
        self.run_ok("profile", "-m", self.at("watched.yaml"), "--messages", self.at("train.jsonl"), "-o", self.at("watched.ekp"))
        with open(self.at("train.jsonl")) as lines:
            healthy = [json.loads(line) for line in lines]
        hours = [{**m, "query_features": [24 * m["query_features"][0], *m["query_features"][1:]]} if n >= 500 else m
                 for n, m in enumerate(healthy)]
        self.write("hours.ekc", capture([self.hotel.encode(m, framed=False) for m in hours]))
        self.run_ok("replay", "-c", self.at("file.yaml"), "-m", self.at("watched.yaml"), "-p", self.at("watched.ekp"),
                    "-r", self.at("rules.yaml"), "--writes", "features", "-i", self.at("hours.ekc"), "-o", self.at("out.ekc"))
        with open(self.at("out.ekc"), "rb") as data:
            out = values_of(data.read())
        known = next(n for n, (m, value) in enumerate(zip(hours, out)) if value != self.hotel.encode(m, framed=False))
        self.assertLess(known, 700)
        self.assertEqual(out[known:], [self.hotel.encode(m, framed=False) for m in healthy[known:]])

    def test_inspect_proposes_a_manifest_by_the_schema(self):
        said = self.run_ok("inspect", "--suggest-manifest", "--schema", self.at(self.hotel.FILE), self.at("train.ekc"))
        self.assertIn("item_13", said)
        self.assertIn("query_8", said)

    def test_inspect_proposes_a_mapping_by_the_schema(self):
        said = self.run_ok("inspect", "--suggest-mapping", "--schema", self.at(self.hotel.FILE), self.at("train.ekc"))
        self.assertIn(f"\n  encoding: {self.hotel.ENCODING}   # needs 'schema: FILE', or 'registry: ", said)

    def test_check_names_the_key_of_a_wrong_schema(self):
        self.write("bad.schema", self.hotel.NO_ITEMS)
        self.profile("train.jsonl")
        said = self.run_ok("check", self.config("bad.yaml", "schema: bad.schema"), status=78)
        self.assertIn(f"bad.yaml:4:{23 + len(self.hotel.ENCODING)}: 'message.schema': ", said)
        self.assertIn("'message.items' is 'items', but the schema has no field 'items' there", said)


class Avro(Commands, unittest.TestCase):
    hotel = avro_hotel


class Protobuf(Commands, unittest.TestCase):
    hotel = proto_hotel

    def test_check_names_the_fault_of_a_schema_file(self):
        for data, fault in ((b"syntax = \"proto3\";", "it has no valid descriptors; write it with `protoc "),
                            (b"", "it has no valid descriptors"),
                            (proto_hotel.file(2)[-200:], "it has no valid descriptors")):
            self.write("bad.desc", data)
            said = self.run_ok("check", self.config("bad.yaml", "schema: bad.desc"), status=78)
            self.assertIn("bad.yaml:4:31: 'message.schema': ", said)
            self.assertIn(fault, said)

    def test_check_names_the_messages_of_a_file(self):
        self.write("v2.desc", proto_hotel.file(2))
        said = self.run_ok("check", self.config("bad.yaml", "schema: v2.desc, type: shop.Lists"), status=78)
        self.assertIn("the schema has no message 'shop.Lists'; it has: shop.parts.Item, shop.Other, shop.List", said)

    def test_a_message_is_named_by_its_type(self):
        self.profile("train.jsonl")
        self.write("v2.desc", proto_hotel.file(2))
        with open(self.at("train.jsonl")) as lines:
            lists = [json.loads(line) for line in lines]
        self.write("v2.ekc", capture([proto_hotel.encode(m, 2) for m in lists]))
        config = self.config("v2.yaml", f"schema: {self.at('v2.desc')}, type: shop.List")
        self.assertEqual(self.profile("v2.ekc", "-c", config), self.profile("train.jsonl"))

    def test_a_registry_with_text_is_reported_with_the_remedy(self):
        answers = {path: {"schemaType": "PROTOBUF", "schema": "syntax = \"proto3\";"} for path in proto_hotel.REQUESTS}
        with Registry(answers) as registry:
            path = self.config("text.yaml", f"registry: {{url: \"{registry.url}\", user: u, password: p}}")
            said = self.run_ok("profile", "-m", self.at("features.yaml"), "--messages", self.at("train-framed.ekc"),
                               "-o", self.at("none.ekp"), "-c", path, status=1)
            self.assertIn("schema id 1: the schema registry answers with text in place of descriptors; use a file of "
                          "protoc ('message.schema')", said)


if __name__ == "__main__":
    unittest.main()
