"""The second reader of snapshots against the golden file, which the unit tests hold the library to."""
import os
import struct
import unittest
import zlib

import read_snapshot

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden", "snapshot-1.bin")


class Snapshot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(GOLDEN, "rb") as file:
            cls.data = file.read()
        cls.read = read_snapshot.read(cls.data)

    def test_the_golden_file_is_of_thirty_lists_in_six_cells(self):
        self.assertEqual(self.read["LIST"]["queries"], 30)
        self.assertEqual(self.read["names"], ["arm", "market"])
        cells = self.read["CELL"]["cells"]
        self.assertEqual(cells[0], {"dimension": None, "value": None})
        self.assertEqual([c["dimension"] for c in cells[1:]].count("market"), 4)
        self.assertEqual(sum(c["value"] is None for c in cells[1:]), 2)

    def test_its_rows_are_the_lists_in_their_order(self):
        rows = self.read["HIST"]["rows"]
        self.assertEqual([row["query"] for row in rows], list(range(30)))
        self.assertTrue(all(row["cells"][0] == 0 for row in rows))
        self.assertTrue(all(row["records"][0][-1] >= 10 for row in rows))
        category = self.read["CATE"][0]
        self.assertEqual(category["feature"], 1)
        self.assertEqual(category["rows"][-1], (1, [(99, 1)]))

    def test_its_changes_are_a_price_times_sixty_and_a_new_code(self):
        price, kind = sorted(self.read["EPIS"]["open"], key=lambda change: change["feature"])
        self.assertEqual((price["phase"], price["feature"], price["since_query"]), ("confirmed", 0, 8))
        self.assertAlmostEqual(price["factor"], 60, delta=3)
        self.assertEqual((kind["phase"], kind["feature"], kind["values"][0][0]), ("confirmed", 1, 99))

    def test_its_findings_wait(self):
        found = self.read["FIND"]
        self.assertEqual(len(found["waiting"]), found["ever"] - found["fetched"])
        confirmed = sorted((f for f in found["waiting"] if f["state"] == "confirmed"),
                           key=lambda finding: finding["feature"])
        self.assertEqual([f["feature"] for f in confirmed], [0, 1])
        self.assertIn("minutes_to_seconds", [unit[0] for unit in confirmed[0]["units"]])

    def test_every_cut_and_every_changed_byte_is_noticed(self):
        for cut in range(0, len(self.data), 7):
            with self.assertRaises(read_snapshot.Damaged):
                read_snapshot.read(self.data[:cut])
        for at in range(0, len(self.data), 7):
            damaged = bytearray(self.data)
            damaged[at] ^= 1 << at % 8
            with self.assertRaises(read_snapshot.Damaged):
                read_snapshot.read(bytes(damaged))

    def test_a_section_with_a_byte_too_many_is_noticed(self):
        body = self.data[:-4] + b"\0"
        body = body[:12] + struct.pack("<Q", len(body) + 4) + body[20:]
        with self.assertRaises(read_snapshot.Damaged):
            read_snapshot.read(body + struct.pack("<I", zlib.crc32(body)))
