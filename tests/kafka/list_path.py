"""Call coverage of a list: the functions that `run` calls for each message, by module.

    EVENKEEL=... EKTOOL=... KAFKA_LIBS=... python3 tests/kafka/list_path.py BUILD

BUILD holds a build with --coverage. The same stream is sent in two lengths. A function is on the list path if it is
called at least once more per additional message. A module is a source with its headers.
"""
import collections
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import fixtures
from harness import Daemon

LENGTHS = (300, 1300)
CALLED = .9  # calls per additional message; worker threads may hold the last ones
# Headers that only build the sources of their family.
PIECES = re.compile(r"(_body|_inner|_internal|_wire)$")


def run_stream(world, length, counters):
    """Send `length` lists through the program, and store its counters in the folder `counters`."""
    source, target = world.topics(1)
    world.send(source, fixtures.numbered(world.hotel(length)))
    os.environ["GCOV_PREFIX"] = counters
    with Daemon(world.folder, world.broker, source, target, world.folder) as daemon:
        daemon.wait_ready().wait_handled(length)
        if daemon.stop():
            sys.exit(daemon.log())


def read_calls(build, counters):
    """Return the number of calls by (file, function)."""
    calls = collections.Counter()
    for data in pathlib.Path(counters + str(build)).rglob("*.gcda"):
        notes = build / data.relative_to(counters + str(build)).with_suffix(".gcno")
        data.with_suffix(".gcno").symlink_to(notes)
        text = subprocess.run(["gcov", "--json-format", "--stdout", data], capture_output=True, text=True, check=True).stdout
        for unit in filter(None, text.splitlines()):
            for file in json.loads(unit)["files"]:
                calls.update({(file["file"], f["name"]): f["execution_count"] for f in file["functions"]})
    return calls


def exported(build):
    """Return the functions with external linkage."""
    objects = map(str, build.rglob("*.o"))
    text = subprocess.run(["nm", "-P", "--defined-only", *objects], capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in text.splitlines() if " T " in line}


def main(build):
    build = pathlib.Path(build).resolve()
    with contextlib.closing(fixtures.World()) as world, tempfile.TemporaryDirectory() as folder:
        world.prepare()
        world.broker.up()
        short, long = (os.path.join(folder, str(length)) for length in LENGTHS)
        for length, counters in zip(LENGTHS, (short, long)):
            run_stream(world, length, counters)
        before, after = read_calls(build, short), read_calls(build, long)
    least = CALLED * (LENGTHS[1] - LENGTHS[0])
    entries, modules = exported(build), collections.defaultdict(list)
    for (file, function), calls in sorted(after.items()):
        if calls - before[file, function] >= least and file.startswith(("lib/", "daemon/")):
            modules[PIECES.sub("", os.path.splitext(file)[0])].append(function)
    for module, functions in modules.items():
        entered = [f for f in functions if f in entries]
        print(f"{module:36} {len(functions):3} functions, entered by {' '.join(entered) or '-'}")
    arithmetic = [m for m in modules if m.startswith(("lib/num/", "lib/base/"))]
    print(f"modules that a list passes                 {len(modules)}")
    print(f"of them arithmetic (lib/num) and lib/base  {len(arithmetic)}")


if __name__ == "__main__":
    main(sys.argv[1])
