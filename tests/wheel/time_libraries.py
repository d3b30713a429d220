#!/usr/bin/env python3
"""Drift libraries on the same frames: CPU time per pair of frames, and which faults of a price each finds. Prints a table.

    BUILD=build time_libraries.py [SEEDS]

Each library gets a training frame and a current frame with a row per item, whose lists all have the fault or none, and
its defaults. A finding of another feature than the price counts as false.
"""
import os
import statistics
import sys
import tempfile
import time
import warnings

os.environ.setdefault("DO_NOT_TRACK", "1")  # no library reports its use
os.environ.setdefault("WHYLOGS_NO_ANALYTICS", "True")
warnings.filterwarnings("ignore")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/notebooks"))
import evenkeel  # noqa: E402
import numpy as np  # noqa: E402
import whylogs  # noqa: E402
from evidently import Report  # noqa: E402
from evidently.presets import DataDriftPreset  # noqa: E402
from hotel import generate, read  # noqa: E402
from river.drift import ADWIN  # noqa: E402
from whylogs.viz.drift.column_drift_algorithms import calculate_drift_scores  # noqa: E402

LISTS = 3000
FAULTS = {"x100 in one of two arms": "price=x100,arm=B", "x2": "price=x2", "x1.2": "price=x1.2", "x100 in a tenth of the lists": "price=x100,share=0.1",
          "none": None}
RULES = "version: 1\nsegments: [arm]\n"


def by_evenkeel(train, current, manifest):
    profile = evenkeel.Profile.fit(train, query="query", features=manifest, time="time_ms")
    report = evenkeel.Report(current, manifest, profile, RULES, query="query", segments=["arm"], time="time_ms")
    return {finding["feature"] for finding in report.findings}


def by_evidently(train, current, manifest):
    names = list(manifest.item_features)
    result = Report([DataDriftPreset()]).run(current[names], train[names]).dict()
    shifts = [metric for metric in result["metrics"] if metric["config"]["type"].endswith("ValueDrift")]
    return {metric["config"]["column"] for metric in shifts if is_drift(metric)}


def is_drift(metric):
    """Return whether a statistic is beyond its threshold: distances above it, p-values below."""
    config, value = metric["config"], metric["value"]
    return value < config["threshold"] if "p_value" in config["method"] else value >= config["threshold"]


def by_whylogs(train, current, manifest):
    names = list(manifest.item_features)
    views = [whylogs.log(frame[names]).view() for frame in (train, current)]
    scores = calculate_drift_scores(target_view=views[1], reference_view=views[0], with_thresholds=True)
    return {name for name, score in scores.items() if score and score["drift_category"] == "DRIFT"}


def by_river(train, current, manifest):
    found = set()
    for name in manifest.item_features:
        detector = ADWIN()
        for frame in (train, current):
            changed = False
            for level in levels(frame, name):
                detector.update(level)
                changed = changed or detector.drift_detected
        if changed:
            found.add(name)
    return found


def levels(frame, name):
    """Return the mean ln|x| of each list, without lists that have no usable value."""
    with np.errstate(divide="ignore"):
        ln = np.log(np.abs(frame[name].to_numpy(float)))
    own = frame["query"].ne(frame["query"].shift()).cumsum().to_numpy() - 1
    usable = np.isfinite(ln)
    with np.errstate(invalid="ignore"):
        means = np.bincount(own[usable], ln[usable], own[-1] + 1) / np.bincount(own[usable], minlength=own[-1] + 1)
    return means[np.isfinite(means)].tolist()


LIBRARIES = {"evenkeel": by_evenkeel, "Evidently": by_evidently, "whylogs": by_whylogs, "River": by_river}


def frames(seeds):
    """Yield (fault, training frame, current frame, manifest) for each fault and seed."""
    for seed in range(seeds):
        generate("train.jsonl", LISTS, 2 * seed + 1, manifest="features.yaml")
        train, manifest = read("train.jsonl"), evenkeel.Manifest("features.yaml")
        for name, fault in FAULTS.items():
            generate("current.jsonl", LISTS, 2 * seed + 2, fault)
            yield name, train, read("current.jsonl"), manifest


def main():
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    os.environ["PATH"] = os.pathsep.join([os.path.abspath(os.environ.get("BUILD", "build")), os.environ["PATH"]])
    seconds = {name: [] for name in LIBRARIES}
    found = {name: dict.fromkeys(FAULTS, 0) for name in LIBRARIES}
    false = {name: 0 for name in LIBRARIES}
    with tempfile.TemporaryDirectory(prefix="evenkeel-libraries-") as folder:
        os.chdir(folder)
        for fault, train, current, manifest in frames(seeds):
            for name, library in LIBRARIES.items():
                begun = time.process_time()
                features = library(train, current, manifest)
                seconds[name].append(time.process_time() - begun)
                found[name][fault] += "price" in features
                false[name] += len(features - {"price"})
    others = len(manifest.item_features) - 1
    print(f"| library | CPU seconds | {' | '.join(FAULTS)} | false findings |\n|{'---|' * (len(FAULTS) + 3)}")
    for name in LIBRARIES:
        counts = " | ".join(str(found[name][fault]) for fault in FAULTS)
        print(f"| {name} | {statistics.median(seconds[name]):.2f} | {counts} | {false[name]} |")
    print(f"Each fault on {seeds} pairs of frames; {others * seeds * len(FAULTS)} healthy columns of other features.")


main()
