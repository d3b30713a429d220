"""Setup of broker benchmarks: the broker of tests/kafka with unlimited retention, streams of lists, and measurements
of a stage. Stops only processes started here, by id."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [os.path.join(TOP, "tests", "kafka"), os.path.join(TOP, "tests", "bench", "peers")]
import harness  # noqa: E402

PARTITIONS, SECONDS, MEMORY = 4, 90, 8 << 30
RULES = "version: 1\nsegments: [arm]\ndefaults: {mode: enforce}\n"
DENSE_RULES = RULES + "windows: {length: 1s}\n"  # live sketches are a sample from the second window on
# Topics keep messages regardless of their times, deleted ones are removed at once; Java options as in Kafka's own
# scripts.
PROPERTIES = "log.segment.delete.delay.ms=500\nfile.delete.delay.ms=500"
JAVA = "-Xms1g -Xmx1g -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -Xshare:auto"


def run_of(build):
    """Return `evenkeel run` as arguments of a stage's command."""
    return [os.path.join(os.path.abspath(build), "evenkeel"), "run", "-c", "{config}"]


def halves():
    """Return the processors for the broker and those for the stage; None on a single processor."""
    cores = sorted(os.sched_getaffinity(0))
    return (cores[:len(cores) // 2], cores[len(cores) // 2:]) if len(cores) > 1 else None


def memory():
    """Return a folder in memory that is large enough for all topics, so that no disk is measured; None if
    unavailable."""
    try:
        place = os.statvfs("/dev/shm")
    except OSError:
        return None
    return "/dev/shm" if place.f_bavail * place.f_frsize >= MEMORY else None


def pin(pid, cores):
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            os.sched_setaffinity(int(thread), cores)
        except ProcessLookupError:
            pass  # it has ended meanwhile


class Place:
    def __init__(self, build):
        self.build, self.count = build, 0
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the broker must end with this process
        self.all_cores = os.sched_getaffinity(0)
        self.folder = tempfile.mkdtemp(prefix="evenkeel-bench-", dir=memory())
        os.environ.update(BROKER_MORE=PROPERTIES, BROKER_JAVA=JAVA)
        self.broker = harness.Broker(os.path.join(self.folder, "broker"))

    def __enter__(self):
        try:
            return self.begin()
        except BaseException:
            self.__exit__()
            raise

    def begin(self):
        self.broker.up()
        with open(os.path.join(self.folder, "broker", "node-1", "pid"), encoding="ascii") as stream:
            self.broker_pid = int(stream.read())
        subprocess.run([self.tool("load"), "assets", self.folder], check=True)
        for name, rules in (("rules.yaml", RULES), ("dense.yaml", DENSE_RULES)):
            with open(os.path.join(self.folder, name), "w", encoding="ascii") as out:
                out.write(rules)
        return self

    def __exit__(self, *_):
        self.broker.wipe()
        shutil.rmtree(self.folder, ignore_errors=True)

    def tool(self, name):
        return os.path.abspath(os.path.join(self.build, "tests", "bench", "kafka", name))

    def topic(self, partitions=PARTITIONS):
        self.count += 1
        return self.broker.create(f"topic-{self.count}", partitions)

    def delete(self, topic):
        subprocess.run([self.tool("meter"), "delete", self.broker.address, topic], check=True)

    def stream(self, messages, encoding, faulty_from=None, partitions=PARTITIONS, per_second=50):
        """Return a topic of lists with five features multiplied by 100 from a given list on, and times of so many lists
        per second."""
        topic = self.topic(partitions)
        start = messages if faulty_from is None else faulty_from
        subprocess.run([self.tool("load"), "send", self.broker.address, topic, str(messages), encoding, str(partitions),
                        str(start), str(per_second)], check=True, timeout=300)
        return topic

    def config(self, source, target, producer="", group=None, http_more="", more="", rules="rules.yaml"):
        """Write a configuration for `evenkeel run` and the forwarder. Return (path, address of the endpoints, group)."""
        self.count += 1
        group = group or f"group-{self.count}"
        path, http = os.path.join(self.folder, f"run-{self.count}.yaml"), f"127.0.0.1:{harness.free_port()}"
        with open(path, "w", encoding="ascii") as out:
            out.write(f"service: {{name: bench}}\n"
                      f"input: {{brokers: \"{self.broker.address}\", topics: [{source}], group: {group}, "
                      f"offset_reset: earliest}}\n"
                      f"output: {{topic: {target}, dead_letter_topic: {self.broker.create('dead')}, "
                      f"librdkafka: {{{producer}}}}}\n"
                      f"assets: {{manifest: features.yaml, profile: profile.ekp, rules: {rules}, "
                      f"model: model.safetensors}}\n"
                      f"http: {{listen: \"{http}\", {http_more}}}\n{more}")
        return path, http, group


class Stage:
    """A running stage, as a context manager. The arguments of `command` may contain {config}, {brokers}, {source},
    {target}, {group}."""

    def __init__(self, place, command, source, target, producer="", cores=None, group=None, **settings):
        self.place, self.target = place, target
        config, self.http, group = place.config(source, target, producer, group, **settings)
        self.log, self.cores = config + ".log", cores or place.all_cores
        self.command = [word.format(config=config, brokers=place.broker.address, source=source, target=target, group=group)
                        for word in command]

    def __enter__(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        os.sched_setaffinity(self.process.pid, self.cores)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def said(self):
        with open(self.log, errors="replace", encoding="utf-8") as stream:
            return stream.read()[-2000:]

    def page(self, path):
        with urllib.request.urlopen(f"http://{self.http}{path}", timeout=10) as answer:
            return answer.read().decode()

    def status(self):
        return json.loads(self.page("/api/v1/status"))


def throughput(place, stage, first, last, partitions=PARTITIONS, others=None):
    """Measure while the output grows from `first` to `last` messages. Return {unit: value}, with "messages" and
    "seconds". `others` are {name: PID or PID/task/TID}, measured in percent of a processor."""
    others = others or {}
    words = [place.broker.address, stage.target, partitions, first, last, SECONDS, stage.process.pid, place.broker_pid,
             *others.values()]
    told = subprocess.run([place.tool("meter"), *map(str, words)], capture_output=True, text=True, check=False)
    if told.returncode:
        raise SystemExit(f"{told.stderr}{stage.said()}")
    messages, seconds, own, broker, *more = map(float, told.stdout.split())
    return {"messages/s": messages / seconds, "us/message": 1e6 * own / messages, "broker": 1e6 * broker / messages,
            "messages": messages, "seconds": seconds, **{name: 100 * s / seconds for name, s in zip(others, more)}}


def latency(place, source, target, rate, count, encoding, faulty_from=None):
    """Return messages per second, and milliseconds from producer to consumer: {quantile: value}."""
    words = [place.broker.address, source, target, PARTITIONS, int(rate), count, encoding,
             count if faulty_from is None else faulty_from]
    told = subprocess.run([place.tool("latency"), *map(str, words)], capture_output=True, text=True, check=False,
                          timeout=count / rate + 120)
    if told.returncode:
        raise SystemExit(told.stderr)
    values = list(map(float, told.stdout.split()))
    return values[0], dict(zip(("p50", "p90", "p99", "p99.9", "longest"), values[1:]))
