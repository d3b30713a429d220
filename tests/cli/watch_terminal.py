"""watch_terminal.py CONFIG: output of `evenkeel status --watch` on a pseudo-terminal."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios

SECONDS = 60


def begin(columns, rows, where, **env):
    """Start the program on a new terminal. Return its id and the master side."""
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
        os.execve(os.environ["EK"], ["evenkeel", "status", *where, "--watch=1"], {**clean, **env})
    return pid, fd


def read_until(fd, what, so_far=b""):
    while what not in so_far:
        ready, _, _ = select.select([fd], [], [], SECONDS)
        assert ready, f"no {what!r} in {so_far!r}"
        try:
            so_far += os.read(fd, 4096)
        except OSError:
            break
    assert what in so_far, so_far
    return so_far


def ends(pid, fd):
    told = b""
    while True:
        try:
            got = os.read(fd, 4096)
        except OSError:
            got = b""
        told += got
        if not got:
            break
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, status
    return told


def first_screen(told):
    """Return its lines, without cursor movements and colors."""
    drawn = told.split(b"\x1b[H", 1)[1].split(b"\x1b[J", 1)[0]
    return re.sub(rb"\x1b\[[0-9?]*[a-zA-Z]", b"", drawn).decode().split("\r\n")


def main():
    where = ["-c", sys.argv[1]]
    # Wide: complete, the title bold; q ends it and restores the screen.
    pid, fd = begin(100, 30, where, TERM="xterm")
    told = read_until(fd, b"\x1b[J")
    lines = first_screen(told)
    assert lines[0].startswith("evenkeel  http://127.0.0.1:") and "no active mitigations" in lines, lines
    assert b"\x1b[1m" in told and b"\x1b[?1049h" in told, told
    told = read_until(fd, b"\x1b[J", told.split(b"\x1b[J", 1)[1])  # the periodic redraw
    os.write(fd, b"q")
    assert b"\x1b[?1049l" in ends(pid, fd)

    # Small: clipped with a note. A resize redraws at once. Ctrl-C ends it.
    pid, fd = begin(30, 4, where, TERM="xterm", NO_COLOR="1")
    told = read_until(fd, b"\x1b[J")
    lines = first_screen(told)
    assert len(lines) == 4 and all(len(line) <= 30 for line in lines), lines
    assert re.fullmatch(r"\.\.\. \d more lines", lines[-1]), lines
    assert b"\x1b[1m" not in told, told
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 90, 0, 0))
    read_until(fd, b"no active mitigations", told.split(b"\x1b[J", 1)[1])
    # Without this flag the kernel discards output on Ctrl-C, in a few of 10,000 runs the restored screen.
    assert termios.tcgetattr(fd)[3] & termios.NOFLSH
    os.write(fd, b"\x03")
    assert b"\x1b[?1049l" in ends(pid, fd)

    # A terminal without cursor control gets lines.
    pid, fd = begin(100, 30, where, TERM="dumb")
    told = read_until(fd, b"plan 0\r\n")
    assert b"\x1b" not in told, told
    os.kill(pid, signal.SIGTERM)
    assert b"\x1b" not in ends(pid, fd)


if __name__ == "__main__":
    main()
