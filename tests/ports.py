"""Ports for programs that tests start. `ports.py [COUNT]` prints the first of adjacent ones.

A port is reserved for the process that takes it, until the process ends: the tests of one machine run at once, and
between the choice of a port and the start of its program another test would choose the same.
"""
import contextlib
import fcntl
import os
import random
import socket
import sys
import tempfile
import threading

RANGE = (10000, 32768)  # below the ephemeral ports, which any connection may take
LOCK = threading.Lock()
taken = set()
reservations = None  # file with a locked byte for each port; open for good, because closing it ends the locks


def reserve(port):
    """Reserve a port that is free. Raises OSError if it is not."""
    if port in taken:
        raise OSError(f"port {port} is taken")
    fcntl.lockf(reservations, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    taken.add(port)
    with socket.socket() as free:
        free.bind(("127.0.0.1", port))


def free_port(count=1):
    """Reserve that many adjacent ports and return the first. Ports that could not be used stay reserved."""
    global reservations
    with LOCK:
        if reservations is None:
            reservations = open(os.path.join(tempfile.gettempdir(), f"evenkeel-test-ports-{os.getuid()}"), "ab")
        while True:
            first = random.SystemRandom().randrange(RANGE[0], RANGE[1] - count)
            with contextlib.suppress(OSError):
                for port in range(first, first + count):
                    reserve(port)
                return first


if __name__ == "__main__":
    print(free_port(int(sys.argv[1]) if sys.argv[1:] else 1))
