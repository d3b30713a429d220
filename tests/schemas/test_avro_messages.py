"""Random messages of random schemas: written by an Avro library, read, re-scored and repaired here, and read by the
library again. Everything except scores or features stays the same."""
import importlib.util
import io
import json
import math
import os
import random
import struct
import subprocess
import unittest

BUILD = os.environ.get("BUILD", "build")
TOOL = os.path.join(BUILD, "tests", "schemas", "messages")
HAS = {name: importlib.util.find_spec(name) is not None for name in ("fastavro", "avro")}
SCHEMAS, MESSAGES = int(os.environ.get("RANDOM_SCHEMAS", "300")), int(os.environ.get("RANDOM_MESSAGES", "20"))
NAMES = ["price", "rating", "stars"]
MANIFEST = ("version: 1\nfeatures:\n" + "".join(f"  - {{name: {n}, index: {i + 1}, role: item}}\n"
                                                for i, n in enumerate(NAMES)) +
            "  - {name: nights, index: 4, role: query}\n")


class Tool:
    """The program of messages.c."""

    def __enter__(self):
        self.process = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.send("manifest", MANIFEST.encode())
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def send(self, word, data, **paths):
        mapping = "".join(f" {key}={path}" for key, path in paths.items())
        self.process.stdin.write(f"{word} {data.hex()}{mapping}\n".encode())
        self.process.stdin.flush()

    def schema(self, schema, **paths):
        self.send("schema", json.dumps(schema).encode(), **paths)

    def message(self, data):
        self.send("message", data)
        return json.loads(self.process.stdout.readline())


def float32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


class World:
    """Draws schemas and their values."""

    def __init__(self, seed):
        self.draw, self.names = random.Random(seed), 0

    def name(self, word):
        self.names += 1
        return f"{word}{self.names}"

    def nullable(self, schema):
        null = self.draw.randrange(4)
        return ["null", schema] if null == 0 else [schema, "null"] if null == 1 else schema

    def number(self):
        return self.draw.choice(["float", "double", "int", "long"])

    def other(self, depth=0):
        """Return the schema of a field that is not mapped."""
        kind = self.draw.randrange(14 if depth < 3 else 8)
        if kind < 8:
            return ["null", "boolean", "int", "long", "float", "double", "bytes", "string"][kind]
        if kind == 8:
            return {"type": "fixed", "name": self.name("Fixed"), "size": self.draw.randrange(1, 20)}
        if kind == 9:
            return {"type": "enum", "name": self.name("Enum"), "symbols": ["A", "B", "C"]}
        if kind == 10:
            return {"type": "array", "items": self.other(depth + 1)}
        if kind == 11:
            return {"type": "map", "values": self.other(depth + 1)}
        if kind == 12:
            return {"type": "record", "name": self.name("Record"), "fields": [
                {"name": f"f{i}", "type": self.other(depth + 1)} for i in range(self.draw.randrange(4))]}
        return ["null", {"type": "array", "items": self.other(depth + 1)}, "string"]

    def features(self):
        form = self.draw.randrange(6)
        number = self.number()
        if form == 0:
            return {"type": "array", "items": number}
        if form == 1:
            return {"type": "array", "items": self.draw.choice([["null", number], [number, "null"],
                                                                ["null", "float", "double", "long"]])}
        if form == 2:
            return {"type": "map", "values": self.nullable(number)}
        if form == 3:
            return {"type": "record", "name": self.name("Features"), "fields": [
                {"name": n, "type": self.nullable(self.number())} for n in self.shuffled(NAMES)] +
                [{"name": "note", "type": "string"}]}
        if form == 4:
            return "bytes"
        return {"type": "fixed", "name": self.name("Packed"), "size": 4 * len(NAMES)}

    def shuffled(self, things):
        return self.draw.sample(things, len(things))

    def record(self, word, mapped):
        fields = mapped + [{"name": self.name("more"), "type": self.other()} for _ in range(self.draw.randrange(3))]
        return {"type": "record", "name": self.name(word), "namespace": self.draw.choice(["", "a.b"]),
                "fields": self.shuffled(fields)}

    def schema(self):
        time = self.draw.choice(["long", {"type": "long", "logicalType": "timestamp-millis"},
                                 {"type": "long", "logicalType": "timestamp-micros"},
                                 {"type": "int", "logicalType": "date"}])
        item = self.record("Item", [
            {"name": "id", "type": self.draw.choice(["string", "long", "int", ["null", "string"]])},
            {"name": "score", "type": self.draw.choice(["float", "double", ["null", "double"], "int"])},
            {"name": "features", "type": self.features()}])
        inner = self.record("Inner", [
            {"name": "query", "type": self.draw.choice(["string", "long", "bytes"])},
            {"name": "at_ms", "type": self.nullable(time)}])
        return self.record("Message", [
            {"name": "inner", "type": self.draw.choice([inner, ["null", inner]])},
            {"name": "segments", "type": self.draw.choice([
                {"type": "map", "values": "string"},
                {"type": "record", "name": self.name("Segments"), "fields": [
                    {"name": "arm", "type": {"type": "enum", "name": self.name("Arm"), "symbols": ["A", "B"]}},
                    {"name": "app", "type": "int"}]}])},
            {"name": "query_features", "type": {"type": "array", "items": "float"}},
            {"name": "items", "type": {"type": "array", "items": item}}])

    def value(self, schema, name=""):
        if isinstance(schema, list):
            return self.value(self.draw.choice(schema), name)
        kind = schema["type"] if isinstance(schema, dict) else schema
        if isinstance(schema, dict) and schema.get("logicalType"):
            return self.draw.randrange(20000 if kind == "int" else 1 << 50)
        if name == "features" and kind in ("bytes", "fixed"):
            return struct.pack("<3f", *(self.draw.gauss(0, 9) for _ in NAMES))
        if name == "features" and kind == "array":
            return [self.value(schema["items"]) for _ in NAMES]
        if name == "features" and kind == "map":
            return {n: self.value(schema["values"]) for n in self.shuffled(NAMES)[:self.draw.randrange(4)]}
        if name == "query_features":
            return [3.0]
        simple = {"null": lambda: None, "boolean": lambda: self.draw.random() < .5,
                  "int": lambda: self.draw.randrange(-2**31, 2**31) >> self.draw.randrange(31),
                  "long": lambda: self.draw.randrange(-2**63, 2**63) >> self.draw.randrange(63),
                  "float": lambda: float32(self.draw.gauss(0, 1e3)), "double": lambda: self.draw.gauss(0, 1e3),
                  "bytes": lambda: self.draw.randbytes(self.draw.randrange(40)),
                  "string": lambda: "é" * self.draw.randrange(3) + "x" * self.draw.randrange(60)}
        if kind in simple:
            return simple[kind]()
        if kind == "fixed":
            return self.draw.randbytes(schema["size"])
        if kind == "enum":
            return self.draw.choice(schema["symbols"])
        if kind == "array":
            return [self.value(schema["items"]) for _ in range(self.draw.randrange(name == "items", 5))]
        if kind == "map":
            return {self.name("k"): self.value(schema["values"]) for _ in range(self.draw.randrange(4))}
        return {f["name"]: self.value(f["type"], f["name"]) for f in schema["fields"]}


PATHS = {"query": "inner.query", "time_ms": "inner.at_ms"}


def plain(schema):
    """Return a schema without logical types, whose values are numbers."""
    if isinstance(schema, dict):
        return {k: plain(v) for k, v in schema.items() if k != "logicalType"}
    return [plain(s) for s in schema] if isinstance(schema, list) else schema


def member(schema, name):
    branch = next(s for s in schema if s != "null") if isinstance(schema, list) else schema
    return next(f["type"] for f in branch["fields"] if f["name"] == name)


def milliseconds(schema, value):
    logical = next((s.get("logicalType") for s in (schema if isinstance(schema, list) else [schema])
                    if isinstance(s, dict)), None)
    return (-1 if value is None else value // 1000 if logical == "timestamp-micros"
            else value * 86400000 if logical == "date" else value)


def row(features):
    """Return the expected values of an item."""
    if isinstance(features, bytes):
        return list(struct.unpack("<3f", features))
    values = features if isinstance(features, list) else [features.get(n) for n in NAMES]
    return [math.nan if v is None else float32(float(v)) for v in values]


def same(a, b):
    return len(a) == len(b) and all(x == y or (x != x and y != y) for x, y in zip(a, b))


def doubled(features, schema):
    """Return the expected features after repair: twice each, except nulls."""
    if isinstance(features, bytes):
        return struct.pack("<3f", *(2 * x for x in struct.unpack("<3f", features)))
    if isinstance(features, list):
        return [None if v is None else 2 * v for v in features]
    return {n: v if v is None or n not in NAMES else 2 * v for n, v in features.items()}


def text(value):
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


@unittest.skipUnless(HAS["fastavro"], "fastavro is not installed")
class Messages(unittest.TestCase):
    def encode(self, schema, value):
        import fastavro
        out = io.BytesIO()
        fastavro.schemaless_writer(out, schema, value)
        return out.getvalue()

    def decode(self, schema, data):
        import fastavro
        return fastavro.schemaless_reader(io.BytesIO(data), schema, None)

    def check_values(self, schema, value, got):
        inner = value["inner"]
        self.assertEqual(bytes.fromhex(got["query"]) if got["query"] else b"", self.query(inner))
        at = member(member(schema, "inner"), "at_ms")
        time = milliseconds(at, inner["at_ms"]) if inner else -1
        self.assertEqual(got["time"], time if 0 <= time <= 9e15 else -1)
        self.assertEqual(got["ids"], ["" if i["id"] is None else str(i["id"]) for i in value["items"]])
        self.assertTrue(same(got["scores"], [math.nan if i["score"] is None else i["score"] for i in value["items"]]))
        for i, item in enumerate(value["items"]):
            self.assertTrue(same(got["x"][3 * i:3 * i + 3], row(item["features"])), (item, got["x"]))
        for key, segment in value["segments"].items():
            self.assertEqual(got["segment_" + key], str(segment))

    def query(self, inner):
        query = inner["query"] if inner else b""
        return query if isinstance(query, bytes) else str(query).encode()

    def check_scores(self, schema, value, got):
        fixed = all(isinstance(i["score"], float) for i in value["items"])
        self.assertEqual("patched" in got, fixed)
        if fixed:
            for i, item in enumerate(value["items"]):
                item["score"] = i / 4 - 1
            self.assertEqual(self.decode(schema, bytes.fromhex(got["patched"])), value)

    def check_features(self, schema, value, got):
        numbers = [v for i in value["items"] if not isinstance(i["features"], bytes)
                   for v in (i["features"] if isinstance(i["features"], list)
                             else [v for n, v in i["features"].items() if n in NAMES])]
        has_integer = any(isinstance(v, int) and v for v in numbers)
        self.assertEqual("repaired" in got, not has_integer)
        if not has_integer:
            for item in value["items"]:
                item["features"] = doubled(item["features"], None)
            self.assertEqual(self.decode(schema, bytes.fromhex(got["repaired"])), value)

    def test_random_messages_of_random_schemas_are_read_and_patched(self):
        import copy
        import fastavro
        with Tool() as tool:
            for seed in range(SCHEMAS):
                world = World(seed)
                original = world.schema()
                schema = fastavro.parse_schema(plain(original))
                frame = b"\0" + world.draw.randbytes(4) if seed % 2 else b""
                tool.schema(original, frame=len(frame) // 5, **PATHS)
                for _ in range(MESSAGES):
                    value = world.value(original)
                    data = frame + self.encode(schema, value)
                    got = tool.message(data)
                    value = self.decode(schema, self.encode(schema, value))
                    self.check_one(original, schema, value, got, data, copy)

    def check_one(self, original, schema, value, got, data, copy):
        self.assertNotIn("error", got, (got, json.dumps(original), data.hex()))
        framed = len(data) - len(self.encode(schema, value))
        for key in ("patched", "repaired"):
            if key in got:
                self.assertEqual(got[key][:2 * framed], data[:framed].hex())
                got[key] = got[key][2 * framed:]
        self.check_values(original, value, got)
        self.check_scores(schema, copy.deepcopy(value), got)
        self.check_features(schema, copy.deepcopy(value), got)

    def test_cut_and_changed_messages_are_read_or_refused(self):
        import fastavro
        with Tool() as tool:
            for seed in range(SCHEMAS // 10):
                world = World(seed)
                original = world.schema()
                schema = fastavro.parse_schema(plain(original))
                tool.schema(original, frame=0, **PATHS)
                data = self.encode(schema, world.value(original))
                for at in range(len(data)):
                    changed = bytearray(data)
                    changed[at] ^= 1 << world.draw.randrange(8)
                    for damaged in (data[:at] or b"x", bytes(changed)):
                        tool.send("message", damaged)
                        self.assertEqual(tool.process.stdout.readline()[-2:], b"}\n")
                self.assertNotIn("error", tool.message(data))


@unittest.skipUnless(HAS["avro"], "avro is not installed")
class OfficialLibrary(unittest.TestCase):
    """The Apache library, which writes arrays and maps in other blocks."""

    def test_its_messages_are_read(self):
        import avro.io
        import avro.schema
        with Tool() as tool:
            for seed in range(SCHEMAS // 3):
                world = World(seed)
                original = plain(world.schema())
                value = world.value(original)
                out = io.BytesIO()
                avro.io.DatumWriter(avro.schema.parse(json.dumps(original))).write(value, avro.io.BinaryEncoder(out))
                tool.schema(original, frame=0, **PATHS)
                got = tool.message(out.getvalue())
                self.assertNotIn("error", got, (got, original))
                self.assertEqual(len(got["ids"]), len(value["items"]))
                for i, item in enumerate(value["items"]):
                    self.assertTrue(same(got["x"][3 * i:3 * i + 3], row(item["features"])))


if __name__ == "__main__":
    unittest.main()
