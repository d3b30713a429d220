"""The Python reference, whose folder is EK_REFERENCE, in the data types of this folder."""
import importlib
import os
import sys
import types

import numpy as np

FOLDER = os.path.abspath(os.environ["EK_REFERENCE"]) if os.environ.get("EK_REFERENCE") else None


def _torch():
    """Stub for PyTorch if it is missing: the reference computes statistics with NumPy."""
    identity = types.SimpleNamespace(Module=object)
    return types.SimpleNamespace(nn=identity, Tensor=object, float32=None, no_grad=lambda: lambda f: f)


def _load(name):
    if not FOLDER:
        return None
    sys.path.insert(0, FOLDER)
    stands_in = "torch" not in sys.modules
    if stands_in:
        sys.modules["torch"] = _torch()
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(FOLDER)
        if stands_in:
            del sys.modules["torch"]


golden, metrics, faults, sir = (_load(name) for name in ("check_golden", "metrics", "faults", "routable_sir"))


def scores(scorer, treatment):
    """Return a function (x, query) -> scores; None if the reference has no such model or treatment."""
    if not golden or not treatment or scorer.about.get("transform", "log1p") != "log1p" or not set(treatment) <= {"none", "route"}:
        return None
    routed = np.array([float(a == "route") for a in treatment])

    def of(x, query):
        with np.errstate(all="ignore"):
            return golden.score_list(scorer.t, scorer.about, [[float(v) for v in row] for row in x], list(query), routed)
    return of
