"""`make broker`: a broker for trials."""
import contextlib
import glob
import os
import signal
import subprocess
import tempfile
import unittest

from harness import WAIT, eventually, evenkeel, free_port, tool

WORLD = None  # set by run.py
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "serve.sh")


def serve(port, folder):
    return subprocess.Popen(["bash", SCRIPT, str(port)], env={**os.environ, "TMPDIR": folder}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def of_folder(folder):
    """Return the processes with this folder in their command line, such as the broker."""
    found = []
    for name in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError), open(name, "rb") as words:
            found += [name] * (folder.encode() in words.read())
    return found


class BrokerToTry(unittest.TestCase):
    def test_it_has_lists_and_gets_more_until_it_is_stopped_and_leaves_nothing_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            port, kept = free_port(2), os.path.join(folder, "kept")
            os.mkdir(kept)
            address = f"127.0.0.1:{port}"
            process = serve(port, kept)
            try:
                self.assertIn("a broker on", process.stdout.readline())
                eventually("4,000 lists and more", lambda: int(tool("count", address, "scored")) > 4000)
                self.assertEqual([tool("count", address, topic) for topic in ("ranked", "ranked.dead")], ["0", "0"])
                lists = os.path.join(folder, "lists.ekc")
                evenkeel("capture", "-b", address, "-t", "scored", "--max", 500, "-o", lists)
                with open(os.path.join(folder, "json.yaml"), "w", encoding="utf-8") as out:
                    out.write("service: {name: try}\nmessage: {encoding: json}\n"
                              "input: {brokers: x, topics: [scored], group: g}\noutput: {topic: ranked, dead_letter_topic: dead}\n"
                              "assets: {manifest: m.yaml, profile: p.ekp}\n")
                manifest, _ = evenkeel("inspect", "--suggest-manifest", "-c", out.name, lists)
                self.assertIn("name: price", manifest)
                taken = serve(port, kept)
                self.assertIn(f"something listens on {address}", taken.communicate(timeout=WAIT)[0])
                self.assertEqual(taken.returncode, 1)
            finally:
                process.send_signal(signal.SIGTERM)
                told = process.communicate(timeout=WAIT)[0]
            self.assertEqual((process.returncode, os.listdir(kept), of_folder(kept)), (0, [], []), told)
