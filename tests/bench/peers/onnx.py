#!/usr/bin/env python3
"""Scoring of lists compared with ONNX Runtime, one thread each, in turns: peers/onnx.py BUILD RESULTS

Per network shape: only the layers, on prepared inputs; then a plain and a routable model from raw values to scores,
with the file of `evenkeel export`. `call` is the overhead of an empty ONNX Runtime call (inputs and outputs bound
beforehand), spread over the items; `without its call` is the rest.
"""
import os
import struct
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace

import numpy as np
import onnxruntime

from record import Bench

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(TOP, "docs", "examples"))
import routable  # noqa: E402

FEATURES, ITEMS, ROUTED = 136, 20, 5
# Hidden layers, and few enough lists that a pass ends before a context switch.
SHAPES = {(64, 32): 50, (256, 128, 64): 20, (1024, 512, 256): 2}
ROUNDS, SECONDS = 5, 0.15


def varint(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def field(number, value):
    """Encode a field of Protocol Buffers: a number, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def value_info(name, columns):
    dims = field(1, field(2, "n")) + field(1, field(1, columns))
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))


def bare_network(weights):
    """Return an ONNX file of layers with ReLU between them; without layers, the identity."""
    body, last = b"", "x"
    for i, w in enumerate(weights):
        for name, array in ((f"w{i}", w), (f"b{i}", np.zeros(len(w), np.float32))):
            body += field(5, b"".join(field(1, n) for n in array.shape) + field(2, 1) + field(8, name) + field(9, array.tobytes()))
        transposed = field(5, field(1, "transB") + field(3, 1) + field(20, 2))
        body += field(1, field(1, last) + field(1, f"w{i}") + field(1, f"b{i}") + field(2, f"y{i}") + field(4, "Gemm") + transposed)
        last = f"y{i}"
        if i + 1 < len(weights):
            body += field(1, field(1, last) + field(2, f"r{i}") + field(4, "Relu"))
            last = f"r{i}"
    body += field(1, field(1, last) + field(2, "scores") + field(4, "Identity"))
    columns = len(weights[-1]) if weights else FEATURES
    graph = body + field(2, "g") + field(11, value_info("x", FEATURES)) + field(12, value_info("scores", columns))
    return field(1, 7) + field(7, graph) + field(8, field(2, 13))


class Session:
    """ONNX Runtime with one thread and its inputs and outputs bound."""

    def __init__(self, model, lists):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.bindings = [self.bind(one) for one in lists]

    def bind(self, given):
        binding = self.session.io_binding()
        for one in self.session.get_inputs():
            binding.bind_ortvalue_input(one.name, onnxruntime.OrtValue.ortvalue_from_numpy(given[one.name]))
        columns = self.session.get_outputs()[0].shape[1:]
        room = np.zeros((ITEMS, *columns), np.float32)
        binding.bind_ortvalue_output("scores", onnxruntime.OrtValue.ortvalue_from_numpy(room))
        return binding

    def best(self):
        """Return the seconds of the best pass over all lists."""
        best, until = 1e9, time.perf_counter() + SECONDS
        while time.perf_counter() < until:
            start = time.perf_counter()
            for binding in self.bindings:
                self.session.run_with_iobinding(binding)
            best = min(best, time.perf_counter() - start)
        return best


class Network:
    """A model with arbitrary weights, with all features routable or none, its files, and lists for it."""

    def __init__(self, folder, build, hidden, all_routable):
        count = SHAPES[hidden]
        rng = np.random.default_rng(1)
        k = FEATURES if all_routable else 0
        manifest = SimpleNamespace(item_names=[f"feature_{f}" for f in range(FEATURES)], query_names=["nights"],
                                   routable=list(range(k)))
        stats = {"item_mean": np.full(FEATURES, 3.0), "item_sd": np.ones(FEATURES), "item_median": np.ones(FEATURES),
                 "query_mean": np.zeros(1), "query_sd": np.ones(1), "log_mean": np.full(k, 3.0), "log_sd": np.ones(k)}
        weights = {"gate.weight": rng.normal(0, 0.1, (4, 1)), "gate.bias": np.zeros(4),
                   "slope": rng.normal(0, 0.1, (5, k)), "zero": rng.normal(0, 0.1, (5, k))}
        widths = [FEATURES + 1 + 3 * k, *hidden, 1]
        for i, (below, width) in enumerate(zip(widths, widths[1:])):
            weights[f"deep.{i}.weight"] = rng.normal(0, 0.1, (width, below))
            weights[f"deep.{i}.bias"] = np.zeros(width)
        self.model, self.onnx = os.path.join(folder, "m.safetensors"), os.path.join(folder, "m.onnx")
        routable.write_model(self.model, manifest, {n: x.astype(np.float32) for n, x in stats.items()},
                             {n: x.astype(np.float32) for n, x in weights.items()}, hidden, 4, {"routing": "random"})
        subprocess.run([os.path.join(build, "evenkeel"), "export", "--onnx", self.model, "-o", self.onnx], check=True,
                       stderr=subprocess.DEVNULL)
        mask = np.zeros(k, np.float32)
        mask[:ROUTED * 7:7] = 1
        self.lists = [{"items": rng.lognormal(3, 1.5, (ITEMS, FEATURES)).astype(np.float32),
                       "query": np.ones(1, np.float32), "mask": mask} for _ in range(count)]
        self.sent = b"".join(struct.pack("=i", ITEMS) + x["items"].tobytes() + x["query"].tobytes() + mask.tobytes()
                             for x in self.lists)

    def ours(self, build):
        """Return the seconds of the best pass: from raw values to scores, and only through the layers."""
        told = subprocess.run([os.path.join(build, "tests", "bench", "peers", "time_scores"), self.model, str(SECONDS)],
                              input=self.sent, capture_output=True, check=True).stdout
        return [float(word) for word in told.split()]


def in_turns(runs):
    """Return the best of each over several rounds, so that noise affects all alike."""
    found = [[run() for run in runs] for _ in range(ROUNDS)]
    return [min(column, key=lambda x: x if isinstance(x, float) else x[0]) for column in zip(*found)]


def bench_shape(bench, folder, build, hidden):
    rng = np.random.default_rng(2)
    name = f"136 features, 20 items, {'-'.join(map(str, hidden))}"
    plain, routed = (Network(folder, build, hidden, False), None)
    widths = [FEATURES, *hidden, 1]
    ready = [{"x": rng.normal(size=(ITEMS, FEATURES)).astype(np.float32)} for _ in range(SHAPES[hidden])]
    weights = [rng.normal(0, 0.1, (b, a)).astype(np.float32) for a, b in zip(widths, widths[1:])]
    bare, call = Session(bare_network(weights), ready), Session(bare_network([]), ready)
    whole = Session(plain.onnx, plain.lists)
    ours, layers, theirs, nothing = in_turns([lambda: plain.ours(build), bare.best, whole.best, call.best])

    def per_item(seconds):
        return seconds * 1e9 / (SHAPES[hidden] * ITEMS)

    def case(kind, mine, peer):
        bench.case(f"{name}, {kind}", "ns/item", per_item(mine),
                   {"ONNX Runtime": per_item(peer), "ONNX Runtime without its call": per_item(peer - nothing),
                    "limit: its call": per_item(nothing)})

    case("layers alone", ours[1], layers)
    case("plain model", ours[0], theirs)
    routed = Network(folder, build, hidden, True)
    whole = Session(routed.onnx, routed.lists)
    ours, theirs, nothing = in_turns([lambda: routed.ours(build), whole.best, call.best])
    case(f"all routable, {ROUTED} routed", ours[0], theirs)


def main():
    build, results = sys.argv[1:3]
    bench = Bench("onnx", results)
    for hidden in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            bench_shape(bench, folder, build, hidden)


if __name__ == "__main__":
    main()
