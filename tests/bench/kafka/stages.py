#!/usr/bin/env python3
"""Comparison of `evenkeel run` with alternatives on the same broker: kafka/stages.py BUILD RESULTS [--messages N]
[--rounds N]

Kafka Streams with sketches-java, and Python with confluent-kafka and DataSketches: each decodes the lists, keeps a
sketch per feature and arm, and forwards the message. They detect no faults; `run` also tests every list. Measured as
in kafka/run.py; the first 40% of the messages are excluded, so that Java is warm.
"""
import os

import place as at
from place import Place, Stage, throughput

import sketches
from record import Bench, words

STREAMS, PYTHON = "Kafka Streams, sketches-java", "Python, confluent-kafka, DataSketches KLL"


def contenders(build, folder):
    found = {None: at.run_of(build)}
    path, python = sketches.java_classes(build), sketches.python_of(build)
    if path:
        found[STREAMS] = ["java", "-Xmx1g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", path, "StreamsStage",
                          "{brokers}", "{source}", "{target}", "{group}", folder]
    if python:
        found[PYTHON] = [python, "-B", os.path.join(at.HERE, "python_stage.py"), "{brokers}", "{source}", "{target}", "{group}"]
    return found


def main():
    args = words(__doc__, messages=30000, rounds=2)
    n = args.messages
    with Place(args.build) as place:
        commands = contenders(args.build, os.path.join(place.folder, "streams"))
        for encoding, spelt in (("bin", "bin"), ("array", "float32 array")):
            source = place.stream(n, encoding)
            found = {name: [] for name in commands}
            for _ in range(args.rounds):
                for name, command in commands.items():
                    target = place.topic()
                    with Stage(place, command, source, target) as stage:
                        found[name].append(throughput(place, stage, n * 4 // 10, n * 95 // 100))
                    place.delete(target)
            place.delete(source)
            for unit in ("messages/s", "us/message"):
                values = {name: [f[unit] for f in turns] for name, turns in found.items()}
                title = f"136 features, 20 items, {spelt}"
                title += ", processor time of the client" if unit == "us/message" else ""
                Bench("stages", args.results).rounds(title, unit, values.pop(None), values)


if __name__ == "__main__":
    main()
