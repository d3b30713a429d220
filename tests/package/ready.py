#!/usr/bin/env python3
"""ready.py PROGRAM: sd_notify messages of `run`: ready when it accepts requests, and none before a failed start."""
import os
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request

sys.dont_write_bytecode = True
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from ports import free_port  # noqa: E402

SECONDS = 60
RUN = """input: {{brokers: "127.0.0.1:1", topics: [scored], group: g}}
output: {{topic: ranked, dead_letter_topic: ranked.dead}}
assets: {{manifest: features.yaml, profile: {profile}}}
http: {{listen: "127.0.0.1:{port}"}}
"""


def start(program, profile, port):
    with open("run.yaml", "w", encoding="utf-8") as f:
        f.write(RUN.format(profile=profile, port=port))
    return subprocess.Popen([program, "run", "-c", "run.yaml"], stderr=subprocess.DEVNULL)


def prepare(program):
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([program, "generate", "hotel", "--lists", "100", "--manifest-out", "features.yaml", "-o", "train.txt"], **quiet)
    subprocess.run([program, "profile", "--manifest", "features.yaml", "--letor", "train.txt", "-o", "profile.ekp"], **quiet)


def main():
    program = os.path.realpath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        os.chdir(folder)
        prepare(program)
        address = os.path.join(folder, "notify")
        heard.bind(address)
        heard.settimeout(SECONDS)
        os.environ["NOTIFY_SOCKET"] = address
        port = free_port()
        process = start(program, "profile.ekp", port)
        try:
            assert heard.recv(100) == b"READY=1"
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/ping", timeout=SECONDS) as answer:
                assert answer.status == 200
        finally:
            process.send_signal(signal.SIGTERM)
            status = process.wait(SECONDS)
        assert status == 0, status
        assert start(program, "gone.ekp", port).wait(SECONDS) == 78
        heard.setblocking(False)
        try:
            raise AssertionError(heard.recv(100))
        except BlockingIOError:
            pass
        os.chdir("/")


main()
