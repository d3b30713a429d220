"""time_kll.py FILE SEGMENTS SECONDS: DataSketches KLL for Python, with the output of peers/rust/src/main.rs. One
numpy call adds a message of 20 rows."""
import sys
import time

import datasketches
import numpy as np

LIST = 20


def main():
    path, segments, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    rows, features = np.fromfile(path, "<u4", 2, offset=4)
    x = np.fromfile(path, "<f4", offset=12).reshape(rows, features)
    sketches = [datasketches.vector_of_kll_floats_sketches(200, int(features)) for _ in range(segments)]
    best, passes, start = 1e9, 0, time.perf_counter()
    while passes < 2 or time.perf_counter() - start < seconds:
        began = time.perf_counter()
        for i, row in enumerate(range(0, rows, LIST)):
            sketches[i % segments].update(x[row:row + LIST])
        best = min(best, time.perf_counter() - began)
        passes += 1
    held = sum(int(s.get_n().sum()) for s in sketches)
    print(best * 1e9 / x.size, passes, held, float(sketches[0].get_quantiles(0.5, 0).ravel()[0]))


main()
