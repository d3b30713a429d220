"""Broker for the documents that need one: tests/kafka/broker.sh on free ports, started on first use."""
import contextlib
import os
import random
import socket
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(os.path.dirname(HERE), "kafka", "broker.sh")


def free_port():
    """Return a free port whose neighbor is free too, for the broker's controller. Both are below the ephemeral ports,
    which another test may take at any moment."""
    while True:
        port = random.SystemRandom().randrange(20000, 32000)
        with socket.socket() as broker, socket.socket() as controller, contextlib.suppress(OSError):
            broker.bind(("127.0.0.1", port))
            controller.bind(("127.0.0.1", port + 1))
            return port


class Broker:
    def __init__(self):
        self.address, self.folder = os.environ.get("EK_BROKERS"), None
        self.tool, self.topics = os.environ.get("EKTOOL", ""), set()

    def available(self):
        return bool(self.address) or (os.path.isdir(os.environ.get("KAFKA_LIBS", "")) and os.path.exists(self.tool))

    def start(self):
        if self.address:
            return
        self.folder = tempfile.mkdtemp()
        port = free_port()
        subprocess.run(["bash", SCRIPT, "up", self.folder, str(port)], check=True, stdout=subprocess.DEVNULL)
        self.address = f"127.0.0.1:{port}"

    def make_topics(self, names):
        for name in names:
            subprocess.run([self.tool, "create", self.address, name, "2"], check=True, stdout=subprocess.DEVNULL)
            self.topics.add(name)

    def remove_topics(self):
        """Delete the topics of a document, so that the next one starts with empty ones. A broker of others is left alone."""
        for name in sorted(self.topics) if self.folder else ():
            subprocess.run([self.tool, "delete", self.address, name], check=True, stdout=subprocess.DEVNULL)
        self.topics.clear()

    def fill(self, topic, path):
        """Send the lines of a file as messages of a topic."""
        subprocess.run([self.tool, "lines", self.address, topic, path, "0", "0"], check=True, stdout=subprocess.DEVNULL)

    def stop(self):
        if self.folder:
            subprocess.run(["bash", SCRIPT, "wipe", self.folder], check=False, stdout=subprocess.DEVNULL)
