"""The Python examples of the documents run, with the packages that they need."""
import os
import re
import subprocess
import sys
import unittest

import ours


class Documents(unittest.TestCase):
    def run_document(self, name):
        env = {**os.environ, "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]}
        words = [sys.executable, "-B", os.path.join(ours.TOP, "tests", "docs", "run.py"), "--build",
                 os.path.relpath(ours.BUILD, ours.TOP), name]
        result = subprocess.run(words, cwd=ours.TOP, env=env, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return int(re.search(r"^(\d+) passed, 0 failed", result.stdout, re.M).group(1))

    @ours.needs("torch", "numpy", "yaml")
    def test_the_commands_on_pytorch_work(self):
        self.assertGreaterEqual(self.run_document("docs/pytorch.md"), 3)  # links, lists, PyTorch

    @ours.needs("onnxruntime", "numpy")
    def test_the_commands_on_onnx_work(self):
        self.assertEqual(self.run_document("docs/format/onnx.md"), 3)
