#!/usr/bin/env python3
"""Training on the hotel set compared with the reference implementation in PyTorch, on the same processors, in turns.

    peers/train.py BUILD RESULTS

EK_DATA and EK_REFERENCE name the folders of both. The time of this project is the whole command, from files to a file;
the reference's starts with the lists in memory. One run of the reference is long enough; this project runs before,
between and after.
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

ROUNDS, LOSS = 2, "listmle"
FOLDER = os.path.join(os.environ["EK_DATA"], "hotel")


def ours(build, scratch):
    words = ["train", "--manifest", os.path.join(FOLDER, "features.yaml"), "--train", os.path.join(FOLDER, "train.txt.zst"),
             "--vali", os.path.join(FOLDER, "vali.txt.zst"), "--loss", LOSS, "--epochs", "15", "-o", os.path.join(scratch, "m.safetensors")]
    start = time.perf_counter()
    subprocess.run([os.path.join(build, "evenkeel"), *words], check=True, capture_output=True)
    return time.perf_counter() - start


def reference(splits, routable, threads):
    torch.set_num_threads(threads)
    start = time.perf_counter()
    stats = routable_sir.Statistics.fit(splits["train"], routable)
    batches = [routable_sir.encode(splits[part], stats) for part in ("train", "vali")]
    routable_sir.train(stats, *batches, 0, routable_sir.TrainOptions(loss=LOSS))
    return time.perf_counter() - start


def main():
    build, results = sys.argv[1:3]
    bench, cores = Bench("train", results), len(os.sched_getaffinity(0))
    manifest = letor.Manifest.load(FOLDER)
    splits = {part: manifest.split(part) for part in ("train", "vali")}
    mine, theirs = [], {}
    with tempfile.TemporaryDirectory() as scratch:
        for threads in sorted({1, cores}):
            mine += [ours(build, scratch) for _ in range(ROUNDS)]
            theirs[f"PyTorch {torch.__version__}, {threads} thread{'s' * (threads > 1)}"] = \
                reference(splits, manifest.routable, threads)
        mine += [ours(build, scratch) for _ in range(ROUNDS)]
    bench.case(f"hotel, 120,498 items, {LOSS}, 15 epochs, {cores} processors", "s", min(mine), theirs)


if __name__ == "__main__":
    main()
