#!/usr/bin/env python3
"""Throughput of `evenkeel run` by partitions and by instances of a group: kafka/scale.py BUILD RESULTS [--messages N]

All instances share this machine's processors with the broker, so they help only while some are idle.
"""
import contextlib

import place as at
from place import Place, Stage, throughput

from record import Bench, words

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
    args = words(__doc__, messages=60000)
    command = at.run_of(args.build)
    bench = Bench("scale", args.results)
    with Place(args.build) as place:
        for partitions, instances in SHAPES:
            rate = measure(place, command, args.messages, partitions, instances)
            bench.line(f"136 features, 20 items, bin, {plural(partitions, 'partition')}, {plural(instances, 'instance')}",
                       "messages/s", rate, None, None)


if __name__ == "__main__":
    main()
