"""Common code of this folder: this project's program and scores, and adversarial lists."""
import importlib.util
import os
import struct
import subprocess
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES, GOLDEN = os.path.join(TOP, "docs", "examples"), os.path.join(TOP, "tests", "golden")
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
TOLERANCE = 1e-5


def needs(*modules):
    """Skip a test if a module is missing."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"there is no {' and no '.join(missing)} for {sys.executable}")


def evenkeel(*words, folder=None):
    """Run a command that must succeed. Return its standard output and error."""
    result = subprocess.run([os.path.join(BUILD, "evenkeel"), *words], cwd=folder, capture_output=True, text=True,
                            check=False)
    if result.returncode:
        raise AssertionError(f"evenkeel {' '.join(words)}: status {result.returncode}\n{result.stderr}")
    return result.stdout + result.stderr


def scores(model, lists):
    """Return this project's scores of [(items [n, F], query [M], mask [K])], a list of arrays."""
    import numpy as np
    sent = b"".join(struct.pack("=i", len(x)) + b"".join(np.asarray(part, np.float32).tobytes() for part in (x, query, mask))
                    for x, query, mask in lists)
    result = subprocess.run([os.path.join(BUILD, "tests", "exchange", "score"), model], input=sent, capture_output=True,
                            check=False)
    if result.returncode:
        raise AssertionError(result.stderr.decode())
    found = np.frombuffer(result.stdout, np.float64)
    return np.split(found, np.cumsum([len(x) for x, _, _ in lists])[:-1])


def odd_lists(rng, items, queries, routable):
    """Return lists of all sizes with zeros, negatives, missing values, infinities, large and small values, under
    masks."""
    import numpy as np
    found = []
    for n in [1, 1, 2, 3, 20, 20, 65, 200]:
        for kind in ("plain", "mixed", "missing", "zero", "negative", "one missing column"):
            x = np.exp(rng.normal(2, 2, (n, items))).astype(np.float32)
            if kind == "mixed":
                odd = np.array([0, -0.0, np.nan, np.inf, -np.inf, -3, 1e-30, 1e30, -1e-6], np.float32)
                hit = rng.random(x.shape) < 0.3
                x[hit] = rng.choice(odd, hit.sum())
            elif kind == "missing":
                x[:] = np.nan
            elif kind == "zero":
                x[:] = 0
            elif kind == "negative":
                x *= rng.choice([-1, 1], x.shape)
            elif kind == "one missing column":
                x[:, rng.integers(items)] = np.nan
            query = np.exp(rng.normal(0, 1, queries)).astype(np.float32)
            query[rng.random(queries) < 0.1] = np.nan
            for share in (0, 0.3, 1):
                found.append((x, query, (rng.random(routable) < share).astype(np.float32)))
    return found
