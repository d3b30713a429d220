#!/usr/bin/env python3
"""Independent decoder of index files (docs/dev/formats/text-index.md) without libraries: read_index.py FILE prints a line of
JSON per document and per term."""
import json
import struct
import sys

from xxh64 import xxh64

FOOTER, SECTIONS, FIELDS, MIB = 352, 8, ("title", "body", "heading", "inlink", "anchor"), 1 << 20


class Damaged(Exception):
    pass


class Bytes:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, count):
        if self.at + count > len(self.data):
            raise Damaged("bytes are missing")
        self.at += count
        return self.data[self.at - count:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7f) << shift
            if byte < 0x80:
                return value
            shift += 7

    def packed(self, count, widths):
        controls = self.take((count + 3) // 4)
        return [int.from_bytes(self.take(widths[controls[i // 4] >> i % 4 * 2 & 3]), "little") for i in range(count)]

    def wide(self, count):
        return self.packed(count, (1, 2, 3, 4))

    def small(self, count):
        return self.packed(count, (0, 1, 2, 4))


def rising(gaps, last=-1):
    out = []
    for gap in gaps:
        last += gap + 1
        out.append(last)
    return out


def hash_of(data):
    value = 0
    for at in range(0, len(data), MIB):
        value = xxh64(data[at:at + MIB], value)
    return value


class Index:
    def __init__(self, data):
        foot = data[-FOOTER:]
        if data[:8] != b"EKINDEX\n" or foot[:8] != b"EKINDEX\n":
            raise Damaged("no index")
        if xxh64(foot[:-8]) != struct.unpack("<Q", foot[-8:])[0]:
            raise Damaged("footer")
        self.version, order, self.documents, self.terms = struct.unpack("<4I", foot[8:24])
        if (self.version, order) != (1, 0x01020304):
            raise Damaged("version")
        self.stemmer = foot[24:56].rstrip(b"\0").decode()
        self.fields = [struct.unpack("<QII", foot[56 + 16 * i:72 + 16 * i]) for i in range(len(FIELDS) + 1)]
        self.section = []
        for i in range(SECTIONS):
            offset, length, told = struct.unpack("<3Q", foot[152 + 24 * i:176 + 24 * i])
            if offset % 64 or offset + length > len(data) - FOOTER or hash_of(data[offset:offset + length]) != told:
                raise Damaged(f"section {i}")
            self.section.append(data[offset:offset + length])
        self.lengths = struct.unpack(f"<{self.documents}I", self.section[2])
        self.ranks = struct.unpack(f"<{self.terms}I", self.section[5])
        self.places = struct.unpack(f"<{self.terms + 1}Q", self.section[7])

    def document(self, number):
        start, *ends = struct.unpack_from("<Q4I", self.section[3], 24 * number)
        record = Bytes(self.section[0], start)
        name, url = (record.take(record.varint()).decode() for _ in range(2))
        terms = [self.ranks[t] for t in record.wide(self.lengths[number])]
        bounds = [0, *ends, len(terms)]
        return {"id": name, "url": url, **{f: terms[a:b] for f, a, b in zip(FIELDS, bounds, bounds[1:])}}

    def term(self, number):
        entry = Bytes(self.section[6], self.places[number])
        text, mask, counts = entry.take(entry.varint()).decode(), entry.take(1)[0], {}
        names = [f for i, f in enumerate(FIELDS) if mask >> i & 1]
        for field in names + ["document"] * (len(names) > 1):
            documents = entry.varint() + 1
            counts[field] = (documents, documents + entry.varint(), entry.varint() + 1)
        counts.setdefault("document", counts[names[0]])
        start, size = entry.varint(), entry.varint()
        if entry.at != self.places[number + 1]:
            raise Damaged("entry")
        return {"term": text, "counts": counts, "postings": self.postings(start, size, counts["document"][0])}

    def postings(self, start, size, left):
        block, last, out = Bytes(self.section[1][start:start + size]), -1, []
        while left:
            head, body, places = block.varint(), block.varint(), block.varint()
            count, summary = head >> 1, [block.varint() for _ in range(3)] if head & 1 else None
            begin = block.at
            documents = rising(block.wide(count), last)
            counts = [c + 1 for c in block.small(count)]
            if block.at != begin + body or bool(summary) == (left == count):
                raise Damaged("block")
            if summary and summary != [documents[-1] - last - 1, max(counts), min(self.lengths[d] for d in documents)]:
                raise Damaged("summary")
            gaps = block.wide(sum(counts))
            if block.at != begin + body + places:
                raise Damaged("positions")
            for document, many in zip(documents, counts):
                out.append((document, rising(gaps[:many])))
                gaps = gaps[many:]
            last, left = documents[-1], left - count
        if block.at != size:
            raise Damaged("postings")
        return out

    def find(self, name):
        slots = struct.unpack(f"<{len(self.section[4]) // 4}I", self.section[4])
        at = xxh64(name.encode()) & 0xffffffff
        while slots[at % len(slots)]:
            number = slots[at % len(slots)] - 1
            if self.document(number)["id"] == name:
                return number
            at += 1
        return None


def main():
    with open(sys.argv[1], "rb") as stream:
        index = Index(stream.read())
    for i in range(index.documents):
        print(json.dumps(index.document(i)))
    for i in range(index.terms):
        print(json.dumps(index.term(i)))


if __name__ == "__main__":
    main()
