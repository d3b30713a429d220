"""Machine lines measured while idle: number of processors, and their load by other work."""
import json
import os
import time

SECONDS = 3


def ticks():
    """Return (all, idle) ticks since boot."""
    with open("/proc/stat", encoding="ascii") as stream:
        numbers = list(map(int, stream.readline().split()[1:9]))
    return sum(numbers), numbers[3] + numbers[4]


def main():
    before = ticks()
    time.sleep(SECONDS)
    spent, idle = (b - a for a, b in zip(before, ticks()))
    cores = len(os.sched_getaffinity(0))
    for case, value, unit in (("processors", cores, "processors"),
                              ("busy with other work before a run", round(100 * (1 - idle / max(spent, 1)), 1), "%")):
        print(json.dumps({"bench": "machine", "case": case, "value": value, "unit": unit, "peer": None, "ratio": None},
                         separators=(",", ":")))


if __name__ == "__main__":
    main()
