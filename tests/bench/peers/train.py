#!/usr/bin/env python3
"""Training on the hotel set beside the reference implementation in PyTorch, on the same processors, in turns.

    peers/train.py BUILD RESULTS

EK_DATA and EK_REFERENCE name the folders of both. Ours is the whole command, from files to a file; the reference's time begins with
the lists in memory, and is the best of one thread and as many as there are processors.
"""
import os
import subprocess
import sys
import tempfile
import time

import torch

from record import Bench

sys.path.insert(0, os.environ["EK_REFERENCE"])
import letor  # noqa: E402
import routable_sir  # noqa: E402

ROUNDS = 3
FOLDER = os.path.join(os.environ["EK_DATA"], "hotel")


def ours(build, loss, scratch):
    words = ["train", "--manifest", os.path.join(FOLDER, "features.yaml"), "--train", os.path.join(FOLDER, "train.txt.zst"),
             "--vali", os.path.join(FOLDER, "vali.txt.zst"), "--loss", loss, "--epochs", "15", "-o", os.path.join(scratch, "m.safetensors")]
    start = time.perf_counter()
    subprocess.run([os.path.join(build, "evenkeel"), *words], check=True, capture_output=True)
    return time.perf_counter() - start


def reference(splits, routable, loss, threads):
    torch.set_num_threads(threads)
    start = time.perf_counter()
    stats = routable_sir.Statistics.fit(splits["train"], routable)
    batches = [routable_sir.encode(splits[part], stats) for part in ("train", "vali")]
    routable_sir.train(stats, *batches, 0, routable_sir.TrainOptions(loss=loss))
    return time.perf_counter() - start


def main():
    build, results = sys.argv[1:3]
    bench, cores = Bench("train", results), len(os.sched_getaffinity(0))
    manifest = letor.Manifest.load(FOLDER)
    splits = {part: manifest.split(part) for part in ("train", "vali")}
    with tempfile.TemporaryDirectory() as scratch:
        for loss in ("listmle", "listnet"):
            rounds = [(ours(build, loss, scratch), reference(splits, manifest.routable, loss, 1),
                       reference(splits, manifest.routable, loss, cores)) for _ in range(ROUNDS)]
            mine, one, many = (min(column) for column in zip(*rounds))
            bench.case(f"hotel, {loss}, 15 epochs, {cores} processors", "s", mine,
                       {f"PyTorch {torch.__version__}, 1 thread": one, f"PyTorch {torch.__version__}, {cores} threads": many})


if __name__ == "__main__":
    main()
