"""Independent decoder of sketches against golden files."""
import os
import unittest

import read_sketch

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")


def golden():
    with open(os.path.join(GOLDEN, "sketch-1.bin"), "rb") as file:
        return file.read()


class Sketch(unittest.TestCase):
    def test_the_golden_file_holds_an_empty_sketch_and_one_of_every_kind_of_value(self):
        data = golden()
        empty, at = read_sketch.read(data)
        self.assertEqual((empty, at), ({}, 9))
        counts, at = read_sketch.read(data, at)
        self.assertEqual(at, len(data))
        one = 127 * 64
        self.assertEqual(counts, {0: 1, one: 2, one + 64: 300, 16320: 4, 16352: 70000, 16384: 6,
                                  16384 + one: 7, 32704: 2**40})

    def test_values_are_the_middles_of_their_keys(self):
        self.assertEqual(read_sketch.value(127 * 64), 1 + 1 / 128)
        self.assertEqual(read_sketch.value(16384 + 127 * 64), -1 - 1 / 128)
        self.assertEqual(read_sketch.value(16384), 0)
        self.assertEqual([read_sketch.value(k) for k in (16320, 32704, 16352)], ["inf", "-inf", "nan"])

    def test_every_flipped_bit_and_every_cut_is_noticed(self):
        data = golden()[9:]
        for cut in range(len(data)):
            with self.assertRaises(read_sketch.Damaged):
                read_sketch.read(data[:cut])
        for bit in range(8 * len(data)):
            damaged = bytearray(data)
            damaged[bit // 8] ^= 1 << bit % 8
            with self.assertRaises(read_sketch.Damaged):
                read_sketch.read(bytes(damaged))
