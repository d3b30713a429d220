"""Test class with a temporary folder and numpy."""
import importlib.util
import os
import tempfile
import unittest

BUILD = os.environ.get("BUILD", "build")
HAS = {name: importlib.util.find_spec(name) is not None for name in ("numpy", "lightgbm", "xgboost")}


class Folder(unittest.TestCase):
    """Base of the test classes, which are skipped without numpy."""

    @classmethod
    def setUpClass(cls):
        import numpy
        cls.numpy, cls.folder = numpy, tempfile.TemporaryDirectory(prefix="evenkeel-trees-")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    @classmethod
    def write(cls, name, text):
        with open(cls.path(name), "w") as out:
            out.write(text)
