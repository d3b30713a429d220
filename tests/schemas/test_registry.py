"""A real registry and a real broker: the official serializers write messages, evenkeel reads and repairs them, and the official
deserializers read these."""
import base64
import copy
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import avro_hotel
import proto_hotel

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kafka"))
from harness import KAFKA_LIBS, Broker, Daemon, evenkeel, eventually, free_port  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
REGISTRY = os.environ.get("REGISTRY", "")
SERDES = os.environ.get("SERDES", "")
JAVA_LINES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "java", "AvroLines.java")
LISTS, FAULT_FROM = 1200, 500
MISSING = ("confluent-kafka is not installed" if importlib.util.find_spec("confluent_kafka") is None
           else f"no registry in '{REGISTRY}', which Maven downloads" if not os.path.exists(REGISTRY)
           else f"no broker in '{KAFKA_LIBS}', which Maven downloads" if not os.path.exists(KAFKA_LIBS + ".stamp") else "")


class Apicurio:
    """Apicurio Registry with the API of Confluent, its data in memory."""

    def __init__(self, folder):
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        self.url = f"{self.address}/apis/ccompat/v7"
        with open(os.path.join(folder, "registry.log"), "wb") as log:
            self.process = subprocess.Popen(
                ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", f"-Dquarkus.http.port={port}",
                 "-Dquarkus.http.host=127.0.0.1", "-jar", REGISTRY], stdout=log, stderr=log, cwd=folder)

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the registry ended with {self.process.returncode}")
        try:
            with urllib.request.urlopen(self.url + "/subjects", timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def stop(self):
        self.process.terminate()
        self.process.wait()


def context(topic):
    from confluent_kafka.serialization import MessageField, SerializationContext
    return SerializationContext(topic, MessageField.VALUE)


class Avro:
    """Serializers of two schemas, and the deserializer."""
    ENCODING = "avro"

    def __init__(self, client):
        from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
        self.serializers = [AvroSerializer(client, json.dumps(avro_hotel.schema(v))) for v in (1, 2)]
        self.deserializer = AvroDeserializer(client)

    def write(self, message, version, topic):
        return self.serializers[version - 1](message, context(topic))

    def read(self, data, topic):
        message = self.deserializer(data, context(topic))
        message.pop("note", None)
        return {**message, "time_ms": round(message["time_ms"].timestamp() * 1000)}


class JavaAvro:
    """The serializer of Apicurio for Java, which writes the wire format of Confluent, and its deserializer."""
    ENCODING, TOPIC = "avro", "avro-java"

    def __init__(self, registry, folder):
        files = []
        for version in (1, 2):
            files.append(os.path.join(folder, f"java-{version}.avsc"))
            with open(files[-1], "wb") as out:
                out.write(avro_hotel.file(version))
        with open(os.path.join(folder, "java.log"), "wb") as log:
            self.process = subprocess.Popen(
                ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", os.path.join(SERDES, "*"), JAVA_LINES,
                 f"{registry.address}/apis/registry/v2", *files], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate()

    def ask(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            raise AssertionError(f"the serializer ended with {self.process.wait()}")
        return answer

    def write(self, message, version, topic):
        datum = avro_hotel.encode(message, version, framed=False)
        return base64.b64decode(self.ask("write", topic, str(version), base64.b64encode(datum).decode())[0])

    def read(self, data, topic):
        import fastavro
        version, datum = self.ask("read", topic, base64.b64encode(data).decode())
        schema = fastavro.parse_schema(avro_hotel.schema(int(version)))
        return fastavro.schemaless_reader(io.BytesIO(base64.b64decode(datum)), schema)


class Protobuf:
    """The second schema has a file of its own for the item, and the list as second message."""
    ENCODING = "protobuf"

    def __init__(self, client):
        from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
        self.classes = [self.load(v) for v in (1, 2)]
        setting = {"use.deprecated.format": False}
        self.serializers = [ProtobufSerializer(c, client, setting) for c in self.classes]
        self.deserializers = [ProtobufDeserializer(c, setting, client) for c in self.classes]

    @staticmethod
    def load(version):
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
        pool = descriptor_pool.DescriptorPool()
        for f in descriptor_pb2.FileDescriptorSet.FromString(proto_hotel.file(version)).file:
            f.name = f"{f.package}.{version}.proto"
            if f.package == "shop" and version == 2:
                f.dependency.append("shop.parts.2.proto")
            pool.Add(f)
        return message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.List"))

    def write(self, message, version, topic):
        from google.protobuf import json_format
        written = json_format.ParseDict(message, self.classes[version - 1](), ignore_unknown_fields=True)  # labels
        return self.serializers[version - 1](written, context(topic))

    def read(self, data, topic):
        from google.protobuf import json_format
        m = self.deserializers[data[5] != 0](data, context(topic))
        return {**json_format.MessageToDict(m, preserving_proto_field_name=True), "time_ms": m.time_ms}


class Json:
    ENCODING = "json"

    def __init__(self, client):
        from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
        schemas = [json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", "title": f"List{v}", "type": "object"})
                   for v in (1, 2)]
        self.serializers = [JSONSerializer(s, client) for s in schemas]
        self.deserializer = JSONDeserializer(None, schema_registry_client=client)

    def write(self, message, version, topic):
        return self.serializers[version - 1](message, context(topic))

    def read(self, data, topic):
        return self.deserializer(data, context(topic))


@unittest.skipIf(MISSING, MISSING)
class RealRegistry(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="evenkeel-registry-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.registry = Apicurio(cls.folder)
        cls.addClassCleanup(cls.registry.stop)
        cls.broker = Broker(os.path.join(cls.folder, "broker"))
        cls.addClassCleanup(cls.broker.wipe)
        cls.broker.up()
        eventually("the registry answers", cls.registry.answers)
        evenkeel("generate", "hotel", "-n", 2000, "--seed", 1, "-f", "letor", "-o", cls.at("train.txt"),
                 f"--manifest-out={cls.at('features.yaml')}")
        evenkeel("profile", "--manifest", cls.at("features.yaml"), "--letor", cls.at("train.txt"), "-o", cls.at("profile.ekp"))
        evenkeel("generate", "hotel", "-n", LISTS, "--seed", 2, "-f", "messages", "--encoding", "json",
                 f"--fault=price=x100,from={FAULT_FROM}", "-o", cls.at("faulty.jsonl"))
        with open(cls.at("faulty.jsonl")) as lines:
            cls.lists = [json.loads(line) for line in lines]
        with open(cls.at("rules.yaml"), "w") as rules:
            rules.write("version: 1\ndefaults: {mode: enforce}\n")
        cls.plain = cls.findings("faulty.jsonl", "-r", cls.at("rules.yaml"), "--writes", "features")

    @classmethod
    def at(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def findings(cls, messages, *words):
        evenkeel("replay", "-m", cls.at("features.yaml"), "-p", cls.at("profile.ekp"), "-i", cls.at(messages), "-e",
                 cls.at("events.jsonl"), *words)
        with open(cls.at("events.jsonl")) as lines:
            return [json.loads(line) for line in lines]

    def check(self, make):
        from confluent_kafka.schema_registry import SchemaRegistryClient
        with SchemaRegistryClient({"url": self.registry.url}) as client:
            self.check_form(make(client))

    def check_form(self, form):
        from confluent_kafka import Producer
        name = getattr(form, "TOPIC", form.ENCODING)
        source, target = self.broker.create(name), self.broker.create(name + "-ranked")
        self.broker.create(target + ".dead")
        sent = [form.write(m, 1 + (i >= LISTS // 2), source) for i, m in enumerate(self.lists)]
        producer = Producer({"bootstrap.servers": self.broker.address})
        for m, value in zip(self.lists, sent):
            producer.produce(source, value, timestamp=m["time_ms"])
        self.assertEqual(producer.flush(60), 0)
        settings = f"encoding: {form.ENCODING}"
        if form.ENCODING != "json":
            settings += f", registry: {{url: \"{self.registry.url}\"}}"
        d = Daemon(self.folder, self.broker, source, target, self.folder, rules=self.at("rules.yaml"), writes="features",
                   message=settings)
        self.check_capture(d, source, len(sent))
        with d:
            d.wait_handled(LISTS)
            self.assertEqual(d.stop(), 0, d.log())
        self.check_output(form, source, sent, self.values(target))

    def check_capture(self, d, source, count):
        path = self.at(source + ".ekc")
        said = evenkeel("capture", "--config", d.config, "--topic", source, "--until-end", "-o", path)[1]
        self.assertIn(f"{count} messages", said)
        self.assertEqual(self.findings(source + ".ekc", "-c", d.config), self.plain)

    def values(self, topic):
        """Return the messages of a topic, read by the official client."""
        from confluent_kafka import Consumer, TopicPartition
        consumer = Consumer({"bootstrap.servers": self.broker.address, "group.id": "test", "enable.auto.commit": False})
        consumer.assign([TopicPartition(topic, 0, 0)])
        values = []
        end = time.monotonic() + 60
        while len(values) < LISTS and time.monotonic() < end:
            message = consumer.poll(1)
            if message and not message.error():
                values.append((dict(message.headers() or []), message.value()))
        consumer.close()
        return values

    def check_output(self, form, source, sent, out):
        """Check that the deserializer finds the first feature repaired, and all else unchanged."""
        self.assertEqual(len(out), LISTS)
        repaired = [0, 0]
        for i, (headers, value) in enumerate(out):
            if headers.get("ek-action") != b"repaired":
                self.assertEqual(value, sent[i])
                continue
            repaired[i >= LISTS // 2] += 1
            wanted = copy.deepcopy(form.read(sent[i], source))
            got = form.read(value, source)
            for a, b in zip(wanted["items"], got["items"]):
                self.assertAlmostEqual(a["features"][0] / 100, b["features"][0], delta=1e-6 * abs(a["features"][0]))
                a["features"][0] = b["features"][0]
            self.assertEqual(got, wanted)
        print(f"\n    {source}: {LISTS} messages, repaired {repaired[0]} with the first schema, {repaired[1]} with the second")
        self.assertGreater(min(repaired), 20)

    def test_avro(self):
        self.check(Avro)

    @unittest.skipIf(not os.path.exists(SERDES), f"no serializers in '{SERDES}', which Maven downloads")
    def test_avro_of_java(self):
        with JavaAvro(self.registry, self.folder) as form:
            self.check_form(form)

    def test_protobuf(self):
        self.check(Protobuf)

    def test_json(self):
        self.check(Json)


if __name__ == "__main__":
    unittest.main()
