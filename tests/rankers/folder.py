"""Test class with a temporary folder and numpy."""
import atexit
import glob
import importlib.util
import os
import tempfile
import unittest

BUILD = os.environ.get("BUILD", "build")
HAS = {name: importlib.util.find_spec(name) is not None for name in ("numpy", "lightgbm", "xgboost", "onnx", "onnxruntime", "skl2onnx")}


def link_runtime():
    """Return a folder with the library of ONNX Runtime from its Python package, under its usual name."""
    folder = tempfile.TemporaryDirectory(prefix="evenkeel-onnx-")
    atexit.register(folder.cleanup)
    if HAS["onnxruntime"]:
        package = os.path.dirname(importlib.util.find_spec("onnxruntime").origin)
        for library in glob.glob(os.path.join(package, "capi", "libonnxruntime.so*")):
            os.symlink(library, os.path.join(folder.name, "libonnxruntime.so.1"))
    return folder.name


os.environ["LD_LIBRARY_PATH"] = link_runtime()


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
