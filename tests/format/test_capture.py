"""Independent decoder of captures and messages against the golden capture, and against the program: the same lists as
messages and as text."""
import os
import struct
import subprocess
import tempfile
import unittest

import read_capture

HERE = os.path.dirname(os.path.abspath(__file__))
LISTS = 25


def golden():
    return read_capture.read(os.path.join(HERE, "golden", "capture-1.ekc"))


def single(text):
    return struct.unpack(">f", struct.pack(">f", float(text)))[0]


class Capture(unittest.TestCase):
    def test_the_golden_capture_has_three_records(self):
        first, second, third = read_capture.records(golden())
        self.assertEqual(first[:4], (3, 1 << 40, 1790000000000, b"k-1"))
        message, end = read_capture.unpack(first[4])
        self.assertEqual(end, len(first[4]))
        message = dict(message)
        self.assertEqual(message["query"], "q-1")
        self.assertEqual(message["segments"], [("arm", "B")])
        self.assertEqual(read_capture.row(message["query_features"]), [3])
        one, two, three = (dict(item) for item in message["items"])
        self.assertEqual((one["id"], one["score"], two["score"], three["score"]), ("h1", 1.25, -0.5, None))
        self.assertEqual(read_capture.row(one["features"]), [129.0, None])
        self.assertEqual(read_capture.row(two["features"]), [1.5, None])
        self.assertEqual(read_capture.row(three["features"], ["price", "rating"]), [None, 4])
        self.assertEqual(second, (0, -1, -1, None, b""))
        self.assertEqual(third, (2147483647, 2**63 - 1, 0, b"", b"\xc0"))

    def test_every_cut_of_the_golden_capture_is_noticed(self):
        data = golden()
        whole = {0}
        for cut in range(len(data)):
            try:
                count = len(list(read_capture.records(data[:cut])))
            except read_capture.Damaged:
                continue
            whole.add(cut)
            self.assertEqual(count, len(whole) - 1)
        self.assertEqual(len(whole), 3)


class Program(unittest.TestCase):
    def run_gen(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.gz")
            subprocess.run([os.environ["EK"], "generate", "hotel", "--lists", str(LISTS), "-o", path, *options],
                           check=True, stderr=subprocess.DEVNULL)
            return read_capture.read(path)

    def text_lists(self):
        """Return the same lists from LETOR text: {query: [(id, {column: value})]}."""
        lists = {}
        for line in self.run_gen("--format", "letor").decode().splitlines():
            numbers, comment = line.split("#")
            words = numbers.split()
            values = {int(i): float(v) for i, v in (word.split(":") for word in words[2:])}
            lists.setdefault(words[1], []).append((comment.strip(), values))
        return list(lists.values())

    def test_messages_and_text_are_the_same_lists(self):
        expected = self.text_lists()
        for encoding in ("array", "bin"):
            data = self.run_gen("--format", "messages", "--encoding", encoding)
            messages = [dict(read_capture.unpack(record[4])[0]) for record in read_capture.records(data)]
            self.assertEqual(len(messages), LISTS)
            for message, items in zip(messages, expected):
                self.assertEqual([dict(item)["id"] for item in message["items"]], [name for name, _ in items])
                self.compare(message, items)

    def compare(self, message, items):
        of_query = read_capture.row(message["query_features"])
        for item, (_, values) in zip(message["items"], items):
            of_item = read_capture.row(dict(item)["features"])
            width = len(of_item) + len(of_query)
            texts = [single(values.get(i, 0)) for i in range(1, width + 1)]
            self.assertEqual(sorted(of_item + of_query), sorted(texts))


if __name__ == "__main__":
    unittest.main()
