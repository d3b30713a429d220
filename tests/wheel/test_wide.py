"""Wide columns and training copies are those of the reference, and no factor changes z."""
import importlib
import os
import sys
import unittest

import evenkeel
import numpy as np

REFERENCE = os.path.join(os.environ.get("EK_REFERENCE", ""), "anyranker")


def lists(seed, dtype=np.float64, count=200):
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 12, count))])
    X = np.exp(rng.normal(3, 1, (starts[-1], 4)))
    X[:, 1] *= rng.choice([1, -1], len(X))
    X[:, 2] *= rng.random(len(X)) < .7
    X[rng.random(X.shape) < .03] = np.nan
    X[rng.random(X.shape) < .01] = np.inf
    return X.astype(dtype), starts


class Wide(unittest.TestCase):
    def test_z_is_the_centered_logarithm_and_flags_mark_zeros_and_signs(self):
        X = np.array([[1, -2], [4, 0], [np.nan, 8], [3, np.inf]])
        wide = evenkeel.wide_columns(X, [0, 3, 4], [0, 1])
        z = np.log([1, 4]).mean()
        self.assertTrue(np.allclose(wide[:, 0], [-z, z, np.nan, 0], atol=2 ** -16, equal_nan=True))
        self.assertTrue(np.allclose(wide[:, 1], [-z, 0, z, np.nan], atol=2 ** -16, equal_nan=True))
        self.assertTrue(np.array_equal(wide[:, 2:], [[0, 0, 0, 1], [0, 1, 0, 0], [np.nan, 0, np.nan, 0], [0, np.nan, 0, np.nan]],
                                       equal_nan=True))

    def test_a_factor_of_a_list_changes_no_z(self):
        for dtype in (np.float32, np.float64):
            X, starts = lists(1, dtype)
            X[~np.isfinite(X)] = np.nan
            factor = np.repeat(np.exp2(np.random.default_rng(2).integers(-9, 9, len(starts) - 1)), np.diff(starts)).astype(dtype)
            before, after = (evenkeel.wide_columns(x, starts, [0, 1, 3]) for x in (X, X * factor[:, None]))
            self.assertEqual(before.dtype, dtype)
            self.assertTrue(np.allclose(before, after, atol=2 ** -15, equal_nan=True))

    def test_a_selection_has_flags_where_training_has_some(self):
        X, starts = lists(3)
        wide = evenkeel.WideColumns.of(X, [0, 1, 2])
        self.assertEqual((wide.routable, wide.zero, wide.negative), ((0, 1, 2), (2,), (1,)))
        self.assertEqual(wide.names("abcd"), ["z:a", "z:b", "z:c", "zero:c", "neg:b"])
        self.assertEqual(evenkeel.wide_columns(X, starts, wide).shape, (len(X), 5))

    def test_copies_follow_the_lists_and_have_the_same_wide_columns(self):
        X, starts = lists(4, np.float32)
        wide = evenkeel.WideColumns.of(X, [0, 2])
        for kind in ("factor", "blank"):
            A, offsets = evenkeel.augment(X, starts, wide, seed=5, kind=kind, copies=2)
            n = len(X)
            self.assertEqual((A.shape, A.dtype, offsets[-1]), ((3 * n, 4 + 3), np.float32, 3 * n))
            self.assertTrue(np.array_equal(np.diff(offsets), np.tile(np.diff(starts), 3)))
            self.assertTrue(np.array_equal(A[:n, :4], X, equal_nan=True))
            for i in (1, 2):
                copy = A[i * n:(i + 1) * n]
                self.assertTrue(np.array_equal(copy[:, 4:], A[:n, 4:], equal_nan=True))
                self.assertTrue(np.array_equal(copy[:, [1, 3]], X[:, [1, 3]], equal_nan=True))
                self.assertEqual(np.isnan(copy[:, [0, 2]]).all(), kind == "blank")
            again, _ = evenkeel.augment(X, starts, wide, seed=5, kind=kind, copies=2)
            self.assertTrue(np.array_equal(A, again, equal_nan=True))

    def test_invalid_arguments_are_named(self):
        X, starts = lists(6)
        for call, word in ((lambda: evenkeel.wide_columns(X, starts, [4]), "'features'"), (lambda: evenkeel.wide_columns(X, [0, 1], [0]), "'starts'"),
                           (lambda: evenkeel.wide_columns(X.tolist(), starts, [0]), "'X'"), (lambda: evenkeel.wide_columns(X, starts, "ab"), "'features'"),
                           (lambda: evenkeel.augment(X, starts, [0], kind="zero"), "'kind'"), (lambda: evenkeel.augment(X, starts, [0], copies=0), "'copies'"),
                           (lambda: evenkeel.wide_columns(X, starts, [0, 0]), "'features'")):
            with self.assertRaisesRegex(ValueError, word):
                call()

    @unittest.skipUnless(os.path.exists(os.path.join(REFERENCE, "anyranker.py")), "EK_REFERENCE has no anyranker")
    def test_all_numbers_are_those_of_the_reference(self):
        sys.path.insert(0, REFERENCE)
        reference = importlib.import_module("anyranker")
        for seed in range(5):
            X, starts = lists(seed)
            theirs, ours = reference.Wide.of(X, [0, 1, 2]), evenkeel.WideColumns.of(X, [0, 1, 2])
            self.assertEqual((theirs.routable, theirs.zero, theirs.negative), (ours.routable, ours.zero, ours.negative))
            expected = reference.wide_columns(X, starts, theirs)
            self.assertTrue(np.array_equal(evenkeel.wide_columns(X, starts, ours), expected, equal_nan=True))
            for dtype in (np.float64, np.float32):
                for kind, options in (("factor", {}), ("blank", {}), ("factor", {"copies": 2, "p_any": .5, "p_each": None}),
                                      ("blank", {"p_any": .7, "p_each": .4})):
                    x = X.astype(dtype)
                    A, offsets, _ = reference.augment(x.astype(np.float64), starts, np.zeros(len(X)), theirs, seed=seed, how=kind, **options)
                    B, ours_offsets = evenkeel.augment(x, starts, ours, seed, kind, **options)
                    self.assertTrue(np.array_equal(offsets, ours_offsets))
                    with np.errstate(over="ignore"):
                        self.assertTrue(np.array_equal(A.astype(dtype), B, equal_nan=True))


if __name__ == "__main__":
    unittest.main()
