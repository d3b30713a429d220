#!/usr/bin/env python3
"""What `evenkeel run` gets through by partitions and by instances of a group: kafka/scale.py BUILD RESULTS [--messages N]

All instances share the processors of this machine with the broker, so they help only while some are idle.
"""
import argparse
import contextlib
import os
import sys

import place as at
from place import Place, Stage, throughput

sys.path.insert(0, os.path.join(at.TOP, "tests", "bench", "peers"))
from record import Bench  # noqa: E402

SHAPES = ((1, 1), (4, 1), (16, 1), (16, 2), (16, 4))  # partitions, instances


def plural(count, what):
    return f"{count} {what}{'s' if count > 1 else ''}"


def measure(place, command, messages, partitions, instances):
    source, target = place.stream(messages, "bin", partitions=partitions), place.topic(partitions)
    with contextlib.ExitStack() as stack:
        stages = [stack.enter_context(Stage(place, command, source, target, group=f"group-of-{source}"))
                  for _ in range(instances)]
        found = throughput(place, stages[0], messages * 4 // 10, messages * 95 // 100, partitions)
    place.delete(source)
    place.delete(target)
    return found["messages/s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("results")
    parser.add_argument("--messages", type=int, default=30000)
    args = parser.parse_args()
    command = [os.path.join(os.path.abspath(args.build), "evenkeel"), "run", "-c", "{config}"]
    bench = Bench("scale", args.results)
    with Place(args.build) as place:
        for partitions, instances in SHAPES:
            rate = measure(place, command, args.messages, partitions, instances)
            bench.line(f"136 features, 20 items, bin, {plural(partitions, 'partition')}, {plural(instances, 'instance')}",
                       "messages/s", rate, None, None)


if __name__ == "__main__":
    main()
