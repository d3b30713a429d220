"""Independent decoder of index files against the program's index of known texts."""
import json
import os
import random
import subprocess
import tempfile
import unittest

import read_index
from read_index import FIELDS

DOCUMENTS = 400


def texts():
    draw = random.Random(5)
    for i in range(DOCUMENTS):
        yield f"doc-{i}", {f: [f"w{int(60 * draw.random() ** 2)}" for _ in range(draw.randrange(12) if i % 9 else 0)] for f in FIELDS}


def built(lines):
    with tempfile.TemporaryDirectory() as folder:
        collection, index = os.path.join(folder, "docs.jsonl"), os.path.join(folder, "docs.ekx")
        with open(collection, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(line) + "\n" for line in lines)
        subprocess.run([os.environ["EK"], "extract", "--collection", collection, "--index", index], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(index, "rb") as stream:
            return stream.read()


class Index(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.texts = list(texts())
        cls.data = built({"id": i, "url": f"http://{i}", **{f: " ".join(t) for f, t in fields.items()}} for i, fields in cls.texts)
        cls.index = read_index.Index(cls.data)
        cls.terms = [cls.index.term(i) for i in range(cls.index.terms)]

    def test_documents_are_what_was_put_in(self):
        names = [t["term"] for t in self.terms]
        self.assertEqual(names, sorted(names))
        for i, (name, fields) in enumerate(self.texts):
            read = self.index.document(i)
            self.assertEqual((read["id"], read["url"]), (name, f"http://{name}"))
            self.assertEqual({f: [names[t] for t in read[f]] for f in FIELDS}, fields)
            self.assertEqual(self.index.find(name), i)
        self.assertIsNone(self.index.find("doc-400"))

    def test_postings_and_counts_are_those_of_the_texts(self):
        whole = [sum((fields[f] for f in FIELDS), []) for _, fields in self.texts]
        for term in self.terms:
            wanted = [(i, [p for p, w in enumerate(words) if w == term["term"]]) for i, words in enumerate(whole)]
            self.assertEqual(term["postings"], [w for w in wanted if w[1]])
            for field in (*FIELDS, "document"):
                counts = [(words if field == "document" else fields[field]).count(term["term"])
                          for words, (_, fields) in zip(whole, self.texts)]
                many = sum(c > 0 for c in counts)
                self.assertEqual(term["counts"].get(field), (many, sum(counts), max(counts)) if many else None)

    def test_statistics_of_fields_are_sums(self):
        for i, field in enumerate(FIELDS):
            lengths = [len(fields[field]) for _, fields in self.texts]
            self.assertEqual(self.index.fields[i], (sum(lengths), sum(n > 0 for n in lengths), max(lengths)))
        self.assertEqual(self.index.fields[5][0], sum(self.index.lengths))

    def test_damage_is_noticed(self):
        for at in range(0, len(self.data), len(self.data) // 40):
            broken = bytearray(self.data)
            broken[at] ^= 1
            try:
                read_index.Index(bytes(broken))
            except read_index.Damaged:
                continue
            self.assertEqual(self.data[at], 0, "a byte between sections")

    def test_an_empty_collection_has_an_index(self):
        index = read_index.Index(built([]))
        self.assertEqual((index.documents, index.terms, index.stemmer), (0, 0, "none"))


if __name__ == "__main__":
    unittest.main()
