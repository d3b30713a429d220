"""Harness of the tests against a real broker: broker, topics, daemon, messages.

Uses only the standard library. An independent msgpack decoder reads messages.
"""
import contextlib
import http.server
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))

from ports import free_port  # noqa: E402

EVENKEEL = os.path.abspath(os.environ.get("EVENKEEL", "build/evenkeel"))
EKTOOL = os.path.abspath(os.environ.get("EKTOOL", "build/tests/kafka/ektool"))
SLOW = os.path.join(os.path.dirname(EKTOOL), "slow.so")
KAFKA_LIBS = os.environ.get("KAFKA_LIBS", "build/kafka/libs")
PROTOCOL = os.environ.get("GROUP_PROTOCOL", "classic")  # of all groups
SLOWER = 8 if os.environ.get("SANITIZED") else 1  # timeout factor of a build with sanitizers
# Timeouts in seconds, generous for a slow machine, because only a failing test waits for them. `promised` returns the
# documented times.
WAIT = 180
RACE = "WARNING: ThreadSanitizer"


def tool(*words, check=True):
    done = subprocess.run([EKTOOL, *map(str, words)], capture_output=True, text=True, timeout=600)
    if check and done.returncode:
        raise AssertionError(f"ektool {words}: {done.stderr}")
    return done.stdout.strip()


def librdkafka():
    """Return its version as numbers."""
    return tuple(int(part) for part in re.findall(r"\d+", tool("version"))[:3])


def kafka():
    """Return the version of the broker."""
    return re.search(r"kafka_[\d.]+-([\d.]+)\.jar", " ".join(os.listdir(KAFKA_LIBS))).group(1)


def evenkeel(*words, status=0):
    """Run a command of the program to its end."""
    done = subprocess.run([EVENKEEL, *map(str, words)], capture_output=True, timeout=promised(WAIT))
    if done.returncode != status:
        raise AssertionError(f"evenkeel {words}: {done.returncode} {done.stderr.decode()}")
    return done.stdout.decode(), done.stderr.decode()


def promised(seconds):
    """Return the documented maximum time of an operation for this build."""
    return SLOWER * seconds


class HttpSink:
    """HTTP server that keeps the JSON documents posted to it, and responds with a status that can change."""

    def __init__(self, path="/"):
        self.status, self.got = 200, []  # got: path, content type and document of each request
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.got.append((self.path, self.headers["Content-Type"], document))
                self.send_response(outer.status)
                self.end_headers()

            def log_message(self, *_):
                pass
        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}{path}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def documents(self):
        return [document for _, _, document in self.got]


def eventually(what, condition, seconds=WAIT):
    """Return the first true result of the condition."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.05)


class Broker:
    """Broker with one or more nodes. A secure one adds listeners with passwords and certificates and checks ACLs;
    plain-text clients are administrators."""

    PORTS = 10  # of a node, as in broker.sh
    PROXIED = 7  # listener that tells clients the port of a proxy, with `proxied`
    LISTENERS = {"plain": 0, "sasl_plaintext": 2, "sasl_ssl": 3, "ssl": 4, "elsewhere": 5, "expired": 6}
    PASSWORDS = {"alice": "alice-Pw.7391", "bob": "bob-Pw.5512"}

    def __init__(self, folder, nodes=1, secure=False, proxied=None):
        self.folder, self.nodes = folder, nodes
        self.port = free_port(self.PORTS * nodes)
        self.address = self.at("plain")
        self.tls = os.path.join(folder, "tls")
        self.transactional = set()  # users with a right on all transactional ids
        self.environment = {**os.environ, "BROKER_NODES": str(nodes), "BROKER_SECURE": "1" if secure else "0"}
        if proxied:
            here, there = f"PROXIED://127.0.0.1:{self.port + self.PROXIED}", f"PROXIED://127.0.0.1:{proxied}"
            plain = f"PLAINTEXT://127.0.0.1:{self.port}"
            self.environment["BROKER_MORE"] = (f"listeners={plain},{here},CONTROLLER://127.0.0.1:{self.port + 1}\n"
                                               f"advertised.listeners={plain},{there}\n"
                                               "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT")
        for name, password in self.PASSWORDS.items():
            self.environment[name.upper() + "_PASSWORD"] = password

    def at(self, listener):
        """Return the bootstrap servers of a listener type."""
        return ",".join(f"127.0.0.1:{self.port + self.PORTS * i + self.LISTENERS[listener]}"
                        for i in range(self.nodes))

    def _run(self, *words):
        subprocess.run([os.path.join(HERE, "broker.sh"), *map(str, words)], check=True, timeout=WAIT,
                       env=self.environment)

    def up(self, node=""):
        self._run("up", self.folder, self.port, node)

    def down(self, crash=False, node=""):
        self._run("down", self.folder, *(["-9"] if crash else []), *([node] if node else []))

    def wipe(self):
        self._run("wipe", self.folder)

    def signal(self, number, node=1):
        """Send SIGSTOP or SIGCONT to a node."""
        with open(os.path.join(self.folder, f"node-{node}", "pid")) as file:
            os.kill(int(file.read()), number)

    def roll(self):
        """Restart one node after the other, gracefully."""
        for node in range(1, self.nodes + 1):
            self.down(node=node)
            self.up(node)

    def create(self, topic, partitions=1, *setting):
        tool("create", self.address, topic, partitions, *setting)
        return topic

    def delete(self, topic):
        tool("delete", self.address, topic)

    def grow(self, topic, partitions):
        tool("grow", self.address, topic, partitions)

    def empty(self, topic, partition, offset):
        """Delete the records of a partition before an offset."""
        tool("empty", self.address, topic, partition, offset)

    def commit(self, group, topic, offset, metadata):
        """Commit an offset of partition 0 for a group."""
        tool("commit", self.address, group, topic, offset, metadata)

    def fence(self, transactional_id):
        """Take a transactional id away from its producer."""
        tool("fence", self.address, transactional_id)

    def hold(self, group, topic, partition, transactional_id):
        """Leave an offset of a partition in an open transaction until its id is fenced."""
        tool("hold", self.address, group, topic, partition, transactional_id)

    def hold_output(self, topic, transactional_id):
        """Leave a message in an open transaction, which hides later messages, until its id is fenced."""
        tool("hold-output", self.address, topic, transactional_id)

    def set(self, topic, *settings):
        """Set settings, names and values in turn, and all others of the topic to their defaults."""
        tool("set", self.address, topic, *settings)

    def allow(self, user, *rights):
        """Grant rights such as "Read topic scored"."""
        for right in rights:
            tool("allow", self.address, f"User:{user}", *right.split())

    def allow_transactions(self, user):
        """Grant all transactional ids, which the admin client of librdkafka 2.0 cannot."""
        if user not in self.transactional:
            self.transactional.add(user)
            subprocess.run(["java", "-cp", os.path.join(KAFKA_LIBS, "*"), "kafka.admin.AclCommand", "--bootstrap-server", self.address,
                            "--add", "--allow-principal", f"User:{user}", "--operation", "Write", "--operation", "Describe",
                            "--transactional-id", "*"], check=True, capture_output=True, timeout=WAIT)

    def revoke(self, user, *rights):
        for right in rights:
            tool("revoke", self.address, f"User:{user}", *right.split())


class Frame:
    """One message. When sent, `partition` -1 selects by key."""

    def __init__(self, value, key=None, timestamp=0, headers=(), partition=-1, offset=-1):
        self.value, self.key, self.timestamp = value, key, timestamp
        self.headers, self.partition, self.offset = list(headers), partition, offset

    def header(self, name):
        values = [v for n, v in self.headers if n == name]
        return values[-1].decode() if values else None


def _pack(value):
    return struct.pack("<i", -1) if value is None else struct.pack("<i", len(value)) + value


def packed(f):
    """Encode a frame for ektool."""
    headers = b"".join(_pack(name.encode()) + _pack(value) for name, value in f.headers)
    return (struct.pack("<iqq", f.partition, f.offset, f.timestamp) + _pack(f.key) + _pack(f.value) +
            struct.pack("<I", len(f.headers)) + headers)


def write_frames(path, frames):
    with open(path, "wb") as out:
        for f in frames:
            out.write(packed(f))


def read_frames(path):
    frames, at = [], 0
    with open(path, "rb") as file:
        data = file.read()

    def number(form):
        nonlocal at
        values = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
        return values

    def octets():
        nonlocal at
        (size,) = number("<i")
        if size < 0:
            return None
        at += size
        return data[at - size:at]

    while at < len(data):
        partition, offset, timestamp = number("<iqq")
        key, value = octets(), octets()
        (count,) = number("<I")
        headers = [(octets().decode(), octets()) for _ in range(count)]
        frames.append(Frame(value, key, timestamp, headers, partition, offset))
    return frames


class Messages:
    """Decoder of msgpack: `messages` yields (bytes, object) for concatenated values."""

    FIXED = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
             0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
    SIZED = {0xC4: ("bin", ">B"), 0xC5: ("bin", ">H"), 0xC6: ("bin", ">I"),
             0xD9: ("str", ">B"), 0xDA: ("str", ">H"), 0xDB: ("str", ">I"),
             0xDC: ("array", ">H"), 0xDD: ("array", ">I"), 0xDE: ("map", ">H"), 0xDF: ("map", ">I")}

    def __init__(self, data):
        self.data, self.at = data, 0

    def _take(self, form):
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def _floats(self, size):
        """Return elements that are all float32, as features are, or None."""
        end = self.at + 5 * size
        if self.data[self.at:end:5] != b"\xca" * size or end > len(self.data):
            return None
        values = struct.unpack_from(">" + size * "xf", self.data, self.at)
        self.at = end
        return list(values)

    def _sized(self, kind, size):
        if kind == "array":
            return self._floats(size) or [self.one() for _ in range(size)]
        if kind == "map":
            return {self.one(): self.one() for _ in range(size)}
        raw = self.data[self.at:self.at + size]
        self.at += size
        return raw.decode() if kind == "str" else raw

    def one(self):
        tag = self.data[self.at]
        self.at += 1
        if tag < 0x80:
            return tag
        if tag >= 0xE0:
            return tag - 256
        if tag < 0xC0:
            kind = "map" if tag < 0x90 else "array" if tag < 0xA0 else "str"
            return self._sized(kind, tag & (0x1F if kind == "str" else 0x0F))
        if tag in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[tag]
        if tag in self.FIXED:
            return self._take(self.FIXED[tag])
        kind, form = self.SIZED[tag]
        return self._sized(kind, self._take(form))

    def messages(self):
        found = []
        while self.at < len(self.data):
            start = self.at
            value = self.one()
            found.append((self.data[start:self.at], value))
        return found


def messages_of(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:1] == b"{":  # JSON, one a line
        return [(line, None) for line in data.splitlines()]
    return Messages(data).messages()


def decoded(raw):
    """Decode one message."""
    (_, message), = Messages(raw).messages()
    return message


def group_settings(session, more):
    """Return properties with the protocol of groups. With that of KIP-848 the broker decides about sessions and assignments."""
    if PROTOCOL == "classic" or "group.protocol" in more:
        return (f"session.timeout.ms: {session}, " if session else "") + more
    return f"group.protocol: {PROTOCOL}, " + re.sub(r"(heartbeat\.interval\.ms|partition\.assignment\.strategy): [\w-]+,? ?", "", more)


class Daemon:
    """`evenkeel run` with its configuration, as a context manager. Unlike by default, messages that cannot be read are
    only dead-lettered unless `undecodable` is "forward"; target=None: without an output topic; dead: the dead-letter
    topic, True: that of the output, False: none; session=None: the default session."""
    LAG_SECONDS = 1.2

    def __init__(self, folder, broker, source, target, assets, rules=None, model=None, more="",
                 alerts=None, group=None, limits="", message="", pipeline="", brokers=None, output="", log="",
                 delivery="at_least_once", instance=None, state=None, fleet="", http="", session=6000, slow_ms=0, sinks=(), input="", service="", assembly="",
                 alerting="", writes="scores", undecodable="dead_letter", dead=True, plan="", wide="none"):
        self.http = f"127.0.0.1:{free_port()}"
        self.config = tempfile.mktemp(suffix=".yaml", dir=folder)
        self.log_path = self.config + ".log"
        self.process, self.group, self.words = None, group or "group-" + source, []
        self.environment = {**os.environ, "SLOW_MS": str(slow_ms), "LD_PRELOAD": SLOW} if slow_ms else None
        extra = f", model: {model}" if model else ""
        extra += f", rules: {rules}" if rules else ""
        sinks = ([f"kafka: {{topic: {alerts}}}"] if alerts else []) + list(sinks)
        alert = "".join(["alerts:\n"] + [f"  - {{{sink}}}\n" for sink in sinks]) if sinks else ""
        letters = f"dead_letter_topic: {dead if isinstance(dead, str) else target + '.dead'}, " if dead else ""
        with open(self.config, "w") as out:
            named = f", instance: {instance}" if instance else ""
            out.write(f"service: {{name: kafka-test{named}, {service}}}\n"
                      f"input: {{brokers: \"{brokers or broker.address}\", topics: [{source}], "
                      f"group: {self.group}, delivery: {delivery}, {input}{', ' if input else ''}"
                      f"librdkafka: {{{group_settings(session, more)}}}}}\n"
                      f"output: {{{f'topic: {target}, ' if target else ''}undecodable: {undecodable}, writes: {writes}, wide_columns: {wide}, {letters}"
                      f"librdkafka: {{{output}}}}}\n"
                      f"assets: {{manifest: {assets}/features.yaml, "
                      f"profile: {assets}/profile.ekp{extra}}}\n"
                      f"{alert}state: {{{state or ''}}}\n"
                      f"http: {{listen: \"{self.http}\", {http}}}\n"
                      f"message: {{{message}}}\n"
                      f"log: {{{log}}}\n"
                      f"limits: {{{limits}}}\n"
                      f"assembly: {{{assembly}}}\n"
                      f"alerting: {{{alerting}}}\n"
                      f"pipeline: {{{pipeline}}}\n" + (f"fleet: {{{fleet}}}\n" if fleet else "") +
                      (f"plan: {{{plan}}}\n" if plan else ""))

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen([EVENKEEL, "run", "-c", self.config, *self.words], stderr=log,
                                            env=self.environment)
        return self

    def __enter__(self):
        return self.start()

    def __exit__(self, failure=None, *_):
        status = self.process.poll()
        if status is None:
            self.process.kill()
        self.process.wait()
        if failure:
            end = "was running" if status is None else f"ended with {status}"
            print(f"\n    {self.group} {end}; the end of its log:", *self.log().splitlines()[-30:], sep="\n    ")
        if RACE in self.log():
            raise AssertionError(self.log())

    def log(self):
        with open(self.log_path, errors="replace") as file:
            return file.read()

    def last_words(self):
        """Return its final error; librdkafka may log more after it."""
        words = [line for line in self.log().splitlines() if line.startswith("evenkeel: ")]
        if not words:
            raise AssertionError(f"it ended with {self.process.poll()}, without a word:\n{self.log()}")
        return words[-1]

    def lists_in_sketches(self, feature):
        """Return the lists in the sketches of all traffic since the start."""
        cells = [c for c in self.json("/api/v1/features/" + feature)["segments"] if c["segment"] is None]
        return cells[0]["lifetime"]["lists"] if cells else 0

    def get(self, path, seconds=WAIT):
        """Return (status, body); (0, "") without a response within that many seconds."""
        try:
            with urllib.request.urlopen(f"http://{self.http}{path}", timeout=promised(seconds)) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def json(self, path):
        """Return a page as JSON; waits for a daemon that is starting."""
        return json.loads(eventually(f"{path} answers", lambda: self.get(path)[1]))

    def status(self):
        """Return the current status; empty if the daemon does not respond."""
        return json.loads(self.get("/api/v1/status")[1] or "{}")

    def assert_running(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the daemon ended with {self.process.returncode}:\n{self.log()}")

    def ready(self):
        self.assert_running()
        return self.get("/ready")[0] == 200

    def wait_ready(self):
        eventually("the daemon is ready", self.ready)
        return self

    def drained(self):
        """Return whether all input is read and its output acknowledged or committed; False without a response."""
        ready, status = self.get("/ready")[0], self.status()
        return ready == 200 and status.get("lag") == 0 and status["in_flight"] == 0

    def settled(self):
        """Wait until everything sent before the call is processed. The reported lag is up to a second old, so a lag
        of 0 counts only if reported again without reads in between."""
        before = self.status()
        if not self.drained():
            return False
        time.sleep(self.LAG_SECONDS)
        after = self.status()
        return self.drained() and all(after.get(k) == before.get(k) for k in ("forwarded", "routed", "dead_letters"))

    def wait_drained(self):
        def look():
            self.assert_running()
            return self.settled()
        eventually("all came out", look)
        return self

    def metric(self, series):
        """Return the value of a series of /metrics; 0 if absent. Waits for an answer; fails if the daemon ended."""
        def page():
            self.assert_running()
            return self.get("/metrics")[1]
        for line in eventually("/metrics answers", page).splitlines():
            if line.startswith(series + " "):
                return float(line.split()[-1])
        return 0

    def wait_handled(self, count):
        """Wait until that many messages are forwarded or dead-lettered."""
        def handled():
            self.assert_running()
            status = self.json("/api/v1/status")
            return status["forwarded"] + status["routed"] + status["dead_letters"] >= count
        eventually(f"{count} messages are handled", handled)
        return self

    def wait_end(self):
        """Wait for its own exit. Return the exit status."""
        return self.process.wait(timeout=WAIT)

    def stop(self, number=signal.SIGTERM, seconds=WAIT):
        """Stop it within that many seconds. Return the exit status."""
        self.process.send_signal(number)
        return self.process.wait(timeout=seconds)
