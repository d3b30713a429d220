"""Broker for the documents that need one: tests/kafka/broker.sh on free ports, started on first use."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(os.path.dirname(HERE), "kafka", "broker.sh")
sys.path.append(os.path.dirname(HERE))

from ports import free_port  # noqa: E402


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
        port = free_port(2)  # and of its controller
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
