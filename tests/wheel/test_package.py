"""The wheel is small, needs NumPy alone, and has types and licenses."""
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
import unittest
import zipfile

import evenkeel


class Package(unittest.TestCase):
    wheel = os.environ["WHEEL"]

    def test_the_wheel_is_smaller_than_5_MB_and_has_types_and_licenses(self):
        self.assertLess(os.path.getsize(self.wheel), 5_000_000)
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
        self.assertLessEqual({"evenkeel/py.typed", "evenkeel/_native.pyi"}, set(names))
        self.assertTrue(any(name.endswith("licenses/LICENSE") for name in names))

    def test_the_tag_is_that_of_the_portable_programs(self):
        oldest = int(re.search(r"-manylinux_2_(\d+)_", self.wheel).group(1))
        running = int(platform.libc_ver()[1].split(".")[1])
        self.assertLessEqual(oldest, 34 if running == 36 else running)

    def test_numpy_is_the_only_dependency(self):
        self.assertEqual([line.split(">")[0] for line in importlib.metadata.requires("evenkeel")], ["numpy"])

    def test_the_version_is_that_of_the_program(self):
        program = os.path.join(os.environ["BUILD"], "evenkeel")
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertIn(evenkeel.__version__, said)
        self.assertEqual(importlib.metadata.version("evenkeel"), evenkeel.__version__)

    def test_an_import_loads_no_data_frames(self):
        code = "import sys, evenkeel; print([n for n in ('pandas', 'polars', 'pyarrow', 'lightgbm', 'multiprocessing') if n in sys.modules])"
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said.strip(), "[]")


if __name__ == "__main__":
    unittest.main()
