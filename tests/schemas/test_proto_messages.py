"""Random messages of random descriptors: written by Google's library, shuffled and split as other writers may do, read,
re-scored and repaired here, and read by the library again. Everything except scores or features stays the same."""
import importlib.util
import math
import os
import random
import struct
import unittest

from test_avro_messages import NAMES, Tool, float32, same

HAS = importlib.util.find_spec("google") is not None and importlib.util.find_spec("google.protobuf") is not None
SCHEMAS, MESSAGES = int(os.environ.get("RANDOM_SCHEMAS", "300")), int(os.environ.get("RANDOM_MESSAGES", "20"))
PATHS = {"query": "inner.query", "time_ms": "inner.at_ms"}
DOUBLE, FLOAT, INT64, UINT64, INT32, FIXED64, FIXED32, BOOL, STRING, GROUP, MESSAGE, BYTES, UINT32, ENUM, SFIXED32, \
    SFIXED64, SINT32, SINT64 = range(1, 19)
NUMBERS = [DOUBLE, FLOAT, INT64, UINT64, INT32, FIXED64, FIXED32, UINT32, SFIXED32, SFIXED64, SINT32, SINT64]
VARINT = {INT64, UINT64, INT32, BOOL, UINT32, ENUM, SINT32, SINT64}
WRAPPERS = {DOUBLE: "DoubleValue", FLOAT: "FloatValue", INT64: "Int64Value", UINT64: "UInt64Value", INT32: "Int32Value",
            UINT32: "UInt32Value", BOOL: "BoolValue", STRING: "StringValue", BYTES: "BytesValue"}


def varint(n):
    out = bytearray()
    while n >> 7:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    return bytes(out) + bytes([n])


def read_varint(data, at):
    n = shift = 0
    while True:
        n |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return n, at


def read_fields(data):
    """Return the fields of a message: number, wire type, bytes of the value without a length."""
    at, out = 0, []
    while at < len(data):
        tag, at = read_varint(data, at)
        number, wire = tag >> 3, tag & 7
        start = at
        if wire == 0:
            _, at = read_varint(data, at)
        elif wire == 2:
            size, start = read_varint(data, at)
            at = start + size
        elif wire == 3:  # the library writes groups without groups inside
            depth = 1
            while depth:
                inner, at = read_varint(data, at)
                if inner & 7 == 0:
                    _, at = read_varint(data, at)
                elif inner & 7 == 2:
                    size, at = read_varint(data, at)
                    at += size
                elif inner & 7 in (1, 5):
                    at += 8 if inner & 7 == 1 else 4
                else:
                    depth += 1 if inner & 7 == 3 else -1
        else:
            at += 8 if wire == 1 else 4
        out.append((number, wire, data[start:at]))
    return out


def write_fields(fields):
    return b"".join(varint(number << 3 | wire) + (varint(len(value)) if wire == 2 else b"") + value
                    for number, wire, value in fields)


class World:
    """Draws descriptors and their messages."""

    def __init__(self, seed):
        from google.protobuf import descriptor_pb2
        self.pb, self.draw, self.names = descriptor_pb2, random.Random(seed), 0
        self.syntax = self.draw.choice(["proto2", "proto3", "editions"])
        self.file = descriptor_pb2.FileDescriptorProto(name="list.proto", package=self.draw.choice(["", "shop.v1"]),
                                                       syntax=self.syntax)
        self.file.dependency.extend(["google/protobuf/timestamp.proto", "google/protobuf/wrappers.proto"])
        if self.syntax == "editions":
            self.file.edition = descriptor_pb2.EDITION_2023
            if self.draw.randrange(2):
                self.file.options.features.field_presence = descriptor_pb2.FeatureSet.IMPLICIT

    def name(self, word):
        self.names += 1
        return f"{word}{self.names}"

    def message(self, parent, name):
        message = (parent.nested_type if parent else self.file.message_type).add(name=name)
        self.used = getattr(self, "used", {})
        self.used[id(message)] = {19000}
        return message

    def full(self, *names):
        return "." + ".".join(([self.file.package] if self.file.package else []) + list(names))

    def field(self, message, name, code, repeated=False, type_name=None):
        field = message.field.add(name=name, type=code, label=3 if repeated else 1)
        used = self.used.setdefault(message.name, set())
        number = len(used) + 1 if self.draw.randrange(3) else self.draw.randrange(1, 3000)
        while number in used:
            number += 1
        used.add(number)
        field.number = number
        if type_name:
            field.type_name = type_name
        scalar = code not in (MESSAGE, GROUP)
        if not repeated and scalar:
            if self.syntax == "proto3" and self.draw.randrange(2):
                field.proto3_optional = True
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name="_" + name)
            elif self.syntax == "editions" and self.draw.randrange(3) == 0:
                field.options.features.field_presence = self.draw.choice([1, 2])
        elif repeated and scalar and code not in (STRING, BYTES):
            packed = bool(self.draw.randrange(2))
            if self.syntax == "editions":
                field.options.features.repeated_field_encoding = 1 if packed else 2
            else:
                field.options.packed = packed
        return field

    def map(self, message, path, name, value, type_name=None):
        entry = message.nested_type.add(name=name.title().replace("_", "") + "Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, type=STRING, label=1)
        entry.field.add(name="value", number=2, type=value, label=1, type_name=type_name)
        self.field(message, name, MESSAGE, True, self.full(*path, entry.name))

    def other(self, message, path, depth=0):
        """Add a field that is not mapped."""
        name, kind = self.name("more"), self.draw.randrange(8)
        if kind < 3:
            self.field(message, name, self.draw.choice(NUMBERS + [BOOL, STRING, BYTES]), self.draw.randrange(2) == 1)
        elif kind == 3:
            self.map(message, path, name, self.draw.choice(NUMBERS + [STRING]))
        elif kind == 4:
            enum = message.enum_type.add(name=self.name("Kind"))
            for i, word in enumerate(("NONE", "SOME")):
                enum.value.add(name=f"{enum.name}_{word}".upper(), number=i)
            self.field(message, name, ENUM, self.draw.randrange(2) == 1, self.full(*path, enum.name))
        elif kind == 5 and self.syntax == "proto2":
            group = self.message(message, self.name("Group"))
            self.field(group, "x", INT32)
            message.field.add(name=group.name.lower(), number=self.free(message), type=GROUP, label=1,
                              type_name=self.full(*path, group.name))
        elif depth < 3:
            inner = self.message(message, self.name("Inner"))
            for _ in range(self.draw.randrange(4)):
                self.other(inner, path + [inner.name], depth + 1)
            self.field(message, name, MESSAGE, self.draw.randrange(2) == 1, self.full(*path, inner.name))

    def free(self, message):
        used = self.used.setdefault(message.name, set())
        number = max(used | {0}) + 1
        used.add(number)
        return number

    def scalar(self, message, name, codes):
        """Add a number or text, also in a wrapper. Return its type."""
        code = self.draw.choice(codes)
        if code in WRAPPERS and self.draw.randrange(4) == 0:
            self.field(message, name, MESSAGE, False, ".google.protobuf." + WRAPPERS[code])
        else:
            self.field(message, name, code)
        return code

    def features(self, item, path):
        self.form = self.draw.choice(["repeated", "repeated", "map", "pairs", "message", "bytes"])
        self.code = self.draw.choice([FLOAT, DOUBLE, FLOAT, DOUBLE] + NUMBERS)
        if self.form == "repeated":
            self.field(item, "features", self.code, True)
        elif self.form == "map":
            self.map(item, path, "features", self.code)
        elif self.form == "bytes":
            self.field(item, "features", BYTES)
        else:
            inner = self.message(item, "Features")
            self.field(item, "features", MESSAGE, self.form == "pairs", self.full(*path, "Features"))
            if self.form == "pairs":
                self.field(inner, "name", STRING)
                self.field(inner, "value", self.code)
            else:
                for name in self.draw.sample(NAMES, len(NAMES)):
                    self.scalar(inner, name, [self.code])
                self.field(inner, "note", STRING)

    def schema(self):
        root = self.message(None, "List")
        item = self.message(None, "Item") if self.draw.randrange(2) else self.message(root, "Item")
        path = ["Item"] if item in list(self.file.message_type) else ["List", "Item"]
        inner = self.message(root, "Inside")
        todo = [lambda: self.field(root, "inner", MESSAGE, False, self.full("List", "Inside")),
                lambda: self.field(root, "items", MESSAGE, True, self.full(*path)),
                lambda: self.field(root, "query_features", self.draw.choice([FLOAT, DOUBLE, INT32]), True),
                lambda: self.map(root, ["List"], "segments", STRING)]
        todo += [lambda: self.other(root, ["List"]) for _ in range(self.draw.randrange(4))]
        self.draw.shuffle(todo)
        for one in todo:
            one()
        self.query = self.scalar(inner, "query", [STRING, INT64, UINT64, FIXED32, BYTES, SINT64])
        self.time = self.draw.choice([INT64, UINT64, MESSAGE])
        if self.time == MESSAGE:
            self.field(inner, "at_ms", MESSAGE, False, ".google.protobuf.Timestamp")
        else:
            self.scalar(inner, "at_ms", [self.time])
        todo = [lambda: self.scalar(item, "id", [STRING, INT64, UINT32]), lambda: self.features(item, path)]
        self.score = self.draw.choice([FLOAT, DOUBLE, FLOAT, DOUBLE, INT32])
        todo += [lambda: self.scalar(item, "score", [self.score])]
        todo += [lambda: self.other(item, path) for _ in range(self.draw.randrange(3))]
        self.draw.shuffle(todo)
        for one in todo:
            one()
        return root

    def build(self):
        """Return the class of the message and the set of descriptors."""
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2, wrappers_pb2
        self.schema()
        pool, out = descriptor_pool.DescriptorPool(), descriptor_pb2.FileDescriptorSet()
        for module in (timestamp_pb2, wrappers_pb2):
            known = descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
            pool.Add(known)
            if self.draw.randrange(2):
                out.file.append(known)
        pool.Add(self.file)
        out.file.append(self.file)
        found = pool.FindMessageTypeByName((self.file.package + "." if self.file.package else "") + "List")
        return message_factory.GetMessageClass(found), out.SerializeToString()

    def number(self, code):
        draw = self.draw
        if code in (FLOAT, DOUBLE):
            value = draw.choice([0.0, 1.5, -2.25, math.nan, math.inf, draw.uniform(-1e6, 1e6)])
            return float32(value) if code == FLOAT else value
        if code == BOOL:
            return bool(draw.randrange(2))
        bits = 32 if code in (INT32, UINT32, FIXED32, SFIXED32, SINT32) else 64
        low = 0 if code in (UINT32, UINT64, FIXED32, FIXED64) else -(1 << (bits - 1))
        high = (1 << bits) - 1 if not low else (1 << (bits - 1)) - 1
        return draw.choice([0, 1, 7, low, high, draw.randint(low, high)])

    def value(self, code):
        if code == STRING:
            return self.draw.choice(["", "a", "zürich", "x" * 40, "y" * 300])
        if code == BYTES:
            return self.draw.randbytes(self.draw.randrange(9))
        return self.number(code)

    def fill(self, message, skip=()):
        """Set random values of all fields but `skip`."""
        for field in message.DESCRIPTOR.fields:
            if field.name in skip or (field.name != "query" and self.draw.randrange(4) == 0):
                continue
            self.fill_field(message, field)
        return message

    def fill_field(self, message, field):
        draw, repeated = self.draw, field.is_repeated
        is_map = field.message_type and field.message_type.GetOptions().map_entry
        if is_map:
            for key in ("", "k", "market"):
                if draw.randrange(2):
                    getattr(message, field.name)[key] = self.value(field.message_type.fields_by_name["value"].type)
        elif field.message_type and repeated:
            for _ in range(draw.randrange(3)):
                self.fill(getattr(message, field.name).add())
        elif field.message_type:
            inner = getattr(message, field.name)
            inner.SetInParent()
            self.fill(inner)
        elif repeated:
            getattr(message, field.name).extend(self.draw_one(field) for _ in range(draw.randrange(4)))
        else:
            setattr(message, field.name, self.draw_one(field))

    def draw_one(self, field):
        if field.enum_type:
            return self.draw.choice(field.enum_type.values).number
        return self.value(field.type)

    def list(self, cls):
        message = self.fill(cls(), ("items", "query_features", "segments", "inner"))
        if self.draw.randrange(5):
            self.fill(message.inner, ("at_ms",))
            message.inner.SetInParent()
            self.set_time(message.inner)
        message.query_features.append(self.draw.choice([2, 5]))
        for key in ("market", "arm"):
            if self.draw.randrange(2):
                message.segments[key] = self.draw.choice(["", "A", "long" * 20])
        for _ in range(self.draw.randrange(1, 5)):
            self.set_features(self.fill(message.items.add(), ("features",)))
        return message

    def set_time(self, inner):
        ms = self.draw.choice([None, 0, 1, 1790000000123, 8000000000000])
        if ms is None:
            return
        if self.time == MESSAGE:
            inner.at_ms.FromNanoseconds(ms * 10 ** 6 + self.draw.randrange(10 ** 6))
        elif inner.DESCRIPTOR.fields_by_name["at_ms"].message_type:
            inner.at_ms.value = ms
        else:
            inner.at_ms = ms

    def set_features(self, item):
        if self.form == "repeated":
            item.features.extend(self.number(self.code) for _ in NAMES)
        elif self.form == "bytes":
            item.features = struct.pack("<3f", *(self.number(FLOAT) for _ in NAMES))
        elif self.form == "message":
            item.features.SetInParent()
            self.fill(item.features)
        else:
            for name in self.draw.sample(NAMES + ["other"], self.draw.randrange(1, 5)):
                if self.form == "map":
                    item.features[name] = self.number(self.code)
                else:
                    pair = item.features.add(name=name)
                    if self.draw.randrange(4):
                        pair.value = self.number(self.code)

    # Other forms of the same bytes.

    def rewrite(self, data, descriptor):
        """Return the bytes with fields in another order, runs of numbers in parts, and unknown fields."""
        fields = []
        for number, wire, value in read_fields(data):
            field = descriptor.fields_by_number[number]
            if field.message_type and wire == 2 and not field.message_type.GetOptions().map_entry:
                value = self.rewrite(value, field.message_type)
            fields += self.split(field, number, wire, value)
        if self.draw.randrange(3) == 0:
            fields.append((20000, 2, b"unknown"))
            fields.append((20001, 3, varint(20001 << 3 | 4)))
        if self.draw.randrange(3) == 0:
            fields = self.interleave(fields)
        return write_fields(fields)

    def split(self, field, number, wire, value):
        is_number = field.type in NUMBERS + [BOOL, ENUM] and field.is_repeated and wire == 2
        if not is_number or self.draw.randrange(3):
            return [(number, wire, value)]
        at, values = 0, []
        while at < len(value):
            size = read_varint(value, at)[1] - at if field.type in VARINT else \
                4 if field.type in (FLOAT, FIXED32, SFIXED32) else 8
            values.append(value[at:at + size])
            at += size
        one = 0 if field.type in VARINT else 5 if values and len(values[0]) == 4 else 1
        cut = self.draw.randrange(len(values) + 1)
        return [(number, 2, b"".join(values[:cut]))] + [(number, one, v) for v in values[cut:]]

    def interleave(self, fields):
        """Shuffle fields, with those of one number in their order."""
        order = self.draw.sample([f[0] for f in fields], len(fields))
        rest = {n: iter([f for f in fields if f[0] == n]) for n in order}
        return [next(rest[n]) for n in order]


def has(message, name):
    return any(f.name == name for f, _ in message.ListFields())


def plain(message, name, absent):
    """Return the value of a field, also in a wrapper; `absent`: a default of explicit presence."""
    field = message.DESCRIPTOR.fields_by_name[name]
    if field.has_presence and not message.HasField(name):
        return absent
    value = getattr(message, name)
    return value.value if field.message_type else value


@unittest.skipUnless(HAS, "protobuf is not installed")
class Messages(unittest.TestCase):
    def check_values(self, world, m, got):
        query = plain(m.inner, "query", b"")
        if not has(m.inner, "query") or query in ("", b""):
            query = b"" if not has(m.inner, "query") or query in ("", b"") else query
        query = query if isinstance(query, bytes) else str(query).encode()
        self.assertEqual(bytes.fromhex(got["query"]), query)
        self.assertEqual(got["time"], self.time(world, m.inner))
        self.assertEqual(got["ids"], [str(plain(i, "id", "")) for i in m.items])
        self.assertTrue(same(got["scores"], [plain(i, "score", math.nan) for i in m.items]), got)
        for i, item in enumerate(m.items):
            self.assertTrue(same(got["x"][3 * i:3 * i + 3], self.row(world, item)), (item, got["x"]))
        for key, segment in m.segments.items():
            self.assertEqual(got["segment_" + key], segment)

    def time(self, world, inner):
        if not has(inner, "at_ms"):
            return -1
        return inner.at_ms.ToMilliseconds() if world.time == MESSAGE else plain(inner, "at_ms", -1)

    def row(self, world, item):
        if world.form == "bytes":
            return list(struct.unpack("<3f", item.features))
        if world.form == "repeated":
            values = list(item.features)
        elif world.form == "map":
            values = [item.features[n] if n in item.features else math.nan for n in NAMES]
        elif world.form == "pairs":
            pairs = {p.name: plain(p, "value", math.nan) for p in item.features}
            values = [pairs.get(n, math.nan) for n in NAMES]
        else:
            values = [plain(item.features, n, math.nan) for n in NAMES]
        return [to_float32(v) for v in values]

    def check_scores(self, world, cls, data, got):
        m = cls.FromString(data)
        fixed = world.score != INT32 and all(self.has_number(i, "score") for i in m.items)
        self.assertEqual("patched" in got, fixed, got)
        if fixed:
            for i, item in enumerate(m.items):
                set_number(item, "score", i / 4 - 1)
            self.check_same(m, got["patched"], cls)
        else:
            self.assertIn("no score to replace", got["unpatched"])

    def has_number(self, message, name):
        """Return whether a number is in the bytes."""
        field = message.DESCRIPTOR.fields_by_name[name]
        if field.message_type:
            return message.HasField(name) and getattr(message, name).value != 0
        return has(message, name)

    def check_same(self, expected, got, cls):
        self.assertEqual(expected.SerializeToString(deterministic=True),
                         cls.FromString(bytes.fromhex(got)).SerializeToString(deterministic=True))

    def check_features(self, world, cls, data, got):
        m = cls.FromString(data)
        for item in m.items:
            self.double(world, item)
        changes = any(not same([x], [y]) for a, b in zip(m.items, cls.FromString(data).items)
                      for x, y in zip(self.row(world, a), self.row(world, b)))
        whole = world.form == "bytes" or world.code in (FLOAT, DOUBLE)
        if world.form == "repeated" and whole:
            whole = all(self.is_run(item) or not any(x and not math.isnan(x) and not math.isinf(x)
                                                     for x in cls.FromString(data).items[i].features)
                        for i, item in enumerate(self.items(cls, data)))
        if whole:
            self.assertIn("repaired", got, data.hex())
            self.check_same(m, got["repaired"], cls)
        elif changes:
            self.assertIn("cannot be repaired in place", got["unrepaired"])

    def items(self, cls, data):
        number = cls.DESCRIPTOR.fields_by_name["items"].number
        descriptor = cls.DESCRIPTOR.fields_by_name["items"].message_type
        features = descriptor.fields_by_name["features"].number
        return [[f for f in read_fields(value) if f[0] == features] for n, _, value in read_fields(data) if n == number]

    def is_run(self, features):
        return len(features) == 1 and features[0][1] == 2

    def double(self, world, item):
        if world.form == "bytes":
            item.features = struct.pack("<3f", *(2 * x for x in struct.unpack("<3f", item.features)))
        elif world.code not in (FLOAT, DOUBLE):
            return
        elif world.form == "repeated":
            values = [2 * v for v in item.features]
            del item.features[:]
            item.features.extend(values)
        elif world.form == "map":
            for n in NAMES:
                if n in item.features:
                    item.features[n] *= 2
        elif world.form == "pairs":
            for p in item.features:
                if p.name in NAMES and self.has_number(p, "value"):
                    p.value *= 2
        else:
            for n in NAMES:
                if self.has_number(item.features, n):
                    set_number(item.features, n, 2 * plain(item.features, n, 0))

    def test_random_messages_of_random_descriptors_are_read_and_patched(self):
        with Tool() as tool:
            for seed in range(SCHEMAS):
                world = World(seed)
                cls, descriptors = world.build()
                frame = b"\0" + world.draw.randbytes(4) + world.draw.choice([b"\0", b"\2\0", b"\4\2\6"]) \
                    if seed % 2 else b""
                tool.send("descriptors", descriptors, frame=bool(frame) + 0, **PATHS)
                for _ in range(MESSAGES):
                    data = world.list(cls).SerializeToString()
                    if world.draw.randrange(2):
                        data = world.rewrite(data, cls.DESCRIPTOR)
                    self.check_one(world, cls, data, frame, tool.message(frame + data))

    def check_one(self, world, cls, data, frame, got):
        self.assertNotIn("error", got, (got, str(world.file), data.hex()))
        for key in ("patched", "repaired"):
            if key in got:
                self.assertEqual(len(got[key]), 2 * len(frame + data))
                self.assertEqual(got[key][:2 * len(frame)], frame.hex())
                got[key] = got[key][2 * len(frame):]
        self.check_values(world, cls.FromString(data), got)
        self.check_scores(world, cls, data, got)
        self.check_features(world, cls, data, got)

    def test_cut_and_changed_messages_are_read_or_refused(self):
        with Tool() as tool:
            for seed in range(SCHEMAS // 10):
                world = World(seed)
                cls, descriptors = world.build()
                tool.send("descriptors", descriptors, frame=0, **PATHS)
                data = world.list(cls).SerializeToString()
                for at in range(len(data)):
                    changed = bytearray(data)
                    changed[at] ^= 1 << world.draw.randrange(8)
                    for damaged in (data[:at] or b"x", bytes(changed)):
                        tool.send("message", damaged)
                        self.assertEqual(tool.process.stdout.readline()[-2:], b"}\n")
                self.assertNotIn("error", tool.message(data))


def to_float32(x):
    try:
        return float32(float(x))
    except OverflowError:
        return math.copysign(math.inf, x)


def set_number(message, name, value):
    if message.DESCRIPTOR.fields_by_name[name].message_type:
        getattr(message, name).value = value
    else:
        setattr(message, name, value)


if __name__ == "__main__":
    unittest.main()
