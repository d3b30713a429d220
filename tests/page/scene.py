"""Instance with a scenario: generated hotel lists, a multiplied price in one arm, and its end."""
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), "kafka"))

from harness import Daemon, evenkeel, eventually, messages_of  # noqa: E402

BROKER = os.path.abspath(os.environ.get("PAGE_BROKER", "build/tests/page/broker"))
TOKEN = "a-token-of-the-page-tests"
HEALTHY, FAULTY, LISTS, PER_SECOND = 1000, 1200, 3600, 20
PAUSE_MS = 1_200_000
RULES = """version: 1
defaults: {mode: observe, stratify_by: market, min_duration: 10m}
segments: [arm]
windows: {length: 6h}
features:
  price: {mode: MODE, units: [cents, "query_feature:stay_nights"]}
"""


class Mock:
    """librdkafka's mock cluster in a separate process."""

    def __init__(self, *topics):
        self.process = subprocess.Popen([BROKER, *topics], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.address = self.process.stdout.readline().decode().strip()

    def send(self, messages):
        for raw in messages:
            self.process.stdin.write(struct.pack("<I", len(raw)) + raw)
        self.process.stdin.write(struct.pack("<I", 0))
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def at_time(raw, ms):
    """Return the message with another time."""
    key = b"\xa7time_ms\xcf"
    at = raw.index(key) + len(key)
    return raw[:at] + struct.pack(">Q", ms) + raw[at + 8:]


def tell(daemon, what, **words):
    """Send a command with the token, as another client. Return the response."""
    request = urllib.request.Request(f"http://{daemon.http}/api/v1/{what}", json.dumps(words).encode(), {
        "Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=180) as answer:
        return json.load(answer)


class Assets:
    """Created once for all instances: manifest, profile, a model, and traffic."""

    def __init__(self, train=True):
        self.folder = tempfile.mkdtemp(prefix="evenkeel-scene-")
        self.model = self.path("model.safetensors") if train else None
        self.make("hotel", 3000, 1, "messages", "train.mp", "--manifest-out", self.path("features.yaml"))
        evenkeel("profile", "--manifest", self.path("features.yaml"), "--messages", self.path("train.mp"), *self.baseline(), "-o", self.path("profile.ekp"))
        self.traffic = self.train() if train else []
        with open(self.path("tokens.txt"), "w") as out:
            out.write(f"ana {TOKEN}\n")
        os.chmod(self.path("tokens.txt"), 0o600)

    def make(self, what, count, seed, form, name, *more):
        evenkeel("generate", what, "-n", count, "-s", seed, "-f", form, "-o", self.path(name), *more)

    def baseline(self):
        return ["--stratify-by", "market"]

    def train(self):
        """Train a model and return traffic with its scores."""
        self.make("hotel", 3000, 1, "letor", "train.txt")
        self.make("hotel", 500, 2, "letor", "vali.txt")
        evenkeel("train", "--manifest", self.path("features.yaml"), "--train", self.path("train.txt"), "--vali", self.path("vali.txt"), "-o", self.model)
        self.make("hotel", LISTS, 3, "messages", "traffic.mp", "--upstream-model", self.model,
                  "--fault", f"price=x100,from={HEALTHY},to={HEALTHY + FAULTY},arm=B")
        return [raw for raw, _ in messages_of(self.path("traffic.mp"))]

    def path(self, name):
        return os.path.join(self.folder, name)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Scene:
    """One instance, as a context manager. The scenario advances list by list at any speed."""

    def __init__(self, assets, mode="enforce", rules=RULES, topics=(), **more):
        self.assets, self.sent = assets, 0
        self.begin_ms = int(time.time() * 1000) - 1000 * LISTS // PER_SECOND - PAUSE_MS
        self.mock = Mock("scored", "ranked", "ranked.dead", *topics)
        self.rules = tempfile.mktemp(suffix=".yaml", dir=assets.folder)
        with open(self.rules, "w") as out:
            out.write(rules.replace("MODE", mode))
        self.daemon = self.instance(**more)
        self.url = f"http://{self.daemon.http}/"

    def instance(self, **more):
        """Start a process of this group. The scene stops sending, and slow tests must not see a silent input."""
        daemon = Daemon(self.assets.folder, self.mock, "scored", "ranked", self.assets.folder, rules=self.rules,
                        model=self.assets.model, http=f"token_file: {self.assets.path('tokens.txt')}",
                        **{"input": "silence_timeout: 1h", **more})
        with open(daemon.config, encoding="utf-8") as file:
            config = file.read()
        with open(daemon.config, "w", encoding="utf-8") as file:
            file.write(config.replace("name: kafka-test", "name: hotels"))
        return daemon

    def __enter__(self):
        self.daemon.start()
        self.daemon.wait_ready()
        return self

    def __exit__(self, *_):
        self.daemon.__exit__()
        self.mock.close()

    def json(self, path):
        return self.daemon.json(path)

    def tell(self, what, **words):
        return tell(self.daemon, what, **words)

    def send(self, count):
        """Send the next lists and wait until they are processed."""
        for _ in range(0, count, 500):
            part = self.assets.traffic[self.sent:self.sent + min(count, 500)]
            self.mock.send(at_time(raw, self.begin_ms + 1000 * (self.sent + i) // PER_SECOND) for i, raw in enumerate(part))
            self.sent, count = self.sent + len(part), count - len(part)
            eventually("the lists were taken", lambda: self.json("/api/v1/status")["observed_lists"] >= self.sent)

    def send_until(self, what, condition, most, step=1):
        for _ in range(0, most, step):
            if condition():
                return
            self.send(step)
        raise AssertionError(f"not within {most} lists: {what}; {json.dumps(self.json('/api/v1/findings'))}")

    def reload(self, rules):
        """Load other rules and wait until they are active."""
        before = self.json("/api/v1/reload").get("reload", 0)
        with open(self.rules, "w", encoding="utf-8") as out:
            out.write(rules)
        self.daemon.process.send_signal(signal.SIGHUP)
        eventually("the rules are in force", lambda: self.json("/api/v1/reload").get("reload", 0) > before and self.json("/api/v1/reload")["state"] == "done")

    def state(self, state):
        return any(f["state"] == state for f in self.json("/api/v1/findings"))

    # The four moments.
    def calm(self):
        self.send(HEALTHY - self.sent)

    def suspected(self):
        self.send_until("suspected", lambda: self.state("suspected"), 400, 10)

    def routed(self):
        self.send_until("routed", lambda: any(c["mode"] != "observe" for c in self.json("/api/v1/plan")["entries"]), 400, 40)

    def deep_in(self):
        self.send(HEALTHY + FAULTY - 200 - self.sent)

    def recovered(self):
        self.send(HEALTHY + FAULTY - self.sent)
        self.send_until("recovered", lambda: not self.json("/api/v1/findings"), 1500, 100)

    def over(self):
        """Advance beyond a minimum duration."""
        self.begin_ms += PAUSE_MS
        self.send(LISTS - self.sent)
