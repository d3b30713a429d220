"""The notebooks of the documents run, and their text outputs are those in the files (`make notebooks` writes them)."""
import importlib.util
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import notebooks  # noqa: E402

HAS_ALL = all(importlib.util.find_spec(name) for name in ("nbclient", "ipykernel", "pandas", "pyarrow", "lightgbm"))


@unittest.skipUnless(HAS_ALL, "no nbclient, ipykernel, pandas, pyarrow or lightgbm")
class Notebooks(unittest.TestCase):
    def same(self, name):
        kept = notebooks.texts(notebooks.read(name))
        self.assertTrue(any(kept))
        self.assertEqual(notebooks.texts(notebooks.executed(name)), kept)

    def test_a_unit_fault_in_a_parquet_log(self):
        self.same("unit_fault.ipynb")

    def test_a_routable_lightgbm_ranker(self):
        self.same("routable_lightgbm.ipynb")

    def test_the_files_of_a_service(self):
        self.same("to_production.ipynb")

    def test_there_are_no_others(self):
        self.assertEqual(notebooks.names(), ["routable_lightgbm.ipynb", "to_production.ipynb", "unit_fault.ipynb"])


if __name__ == "__main__":
    unittest.main()
