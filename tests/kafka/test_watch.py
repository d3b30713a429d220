"""Metrics in a real Prometheus during a fault: its checker has no findings, the metrics page lists exactly the
exported families, and each dashboard panel has data."""
import contextlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import unittest
import urllib.parse
import urllib.request

from fixtures import numbered
from harness import HERE, Daemon, Frame, eventually, evenkeel, free_port, messages_of

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "watch"))
from panels import TOP, expressions  # noqa: E402

WORLD = None  # set by run.py
COUNT, FAULTY, BEFORE = 3600, 1800, 2800  # lists; the last of them wait for the plan
DEAF = 'alertmanager: {url: "http://127.0.0.1:1"}'  # no alert receiver
TABLE = re.compile(r"^\| `(\w+)` \| (\w+) \| ([^|]*) \|", re.M)
SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? \S+$', re.M)


def table():
    """Return {family: (type, labels)} of docs/metrics.md."""
    with open(os.path.join(TOP, "docs", "metrics.md")) as file:
        return {name: (kind, set(re.findall(r"\w+", labels))) for name, kind, labels in TABLE.findall(file.read())}


def family_of(series, families):
    short = re.sub(r"_(bucket|sum|count)$", "", series)
    return short if families.get(short, ("",))[0] == "histogram" else series


def shown(page, families):
    """Return {family: labels of its samples}."""
    found = {}
    for series, labels in SAMPLE.findall(page):
        found.setdefault(family_of(series, families), set()).update(re.findall(r'(\w+)="', labels))
    return found


class Prometheus:
    """Real Prometheus with one target, scraped each second; use as a context manager."""

    def __init__(self, folder, target):
        self.port = free_port()
        self.folder = os.path.join(folder, "prometheus")
        os.makedirs(self.folder)
        self.config = os.path.join(self.folder, "prometheus.yml")
        with open(self.config, "w") as out:
            json.dump({"global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                       "rule_files": [os.path.join(TOP, "deploy", "prometheus", "evenkeel.rules.yml")],
                       "scrape_configs": [{"job_name": "evenkeel", "static_configs": [{"targets": [target]}]}]}, out)

    def __enter__(self):
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={self.config}", f"--storage.tsdb.path={self.folder}/data",
                 f"--web.listen-address=127.0.0.1:{self.port}"], stdout=log, stderr=log)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def ask(self, path, **arguments):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(arguments)}"
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return json.load(answer)["data"]
        except OSError:
            return None

    def has(self, expression):
        """Return whether it evaluates to a number."""
        data = self.ask("query", query=expression)
        return data and any(math.isfinite(float(one["value"][1])) for one in data["result"])

    def alerts(self):
        return {one["labels"]["alertname"] for one in (self.ask("alerts") or {"alerts": []})["alerts"]}

    def sick_rules(self):
        groups = (self.ask("rules") or {"groups": []})["groups"]
        return [r["name"] for g in groups for r in g["rules"] if r["health"] == "err"] if groups else ["none at all"]


class Watched(unittest.TestCase):
    def make(self, folder):
        """Create a model distilled from the lists' scorer, and faulty lists."""
        def at(name):
            return os.path.join(folder, name)
        common = ["train", "--manifest", WORLD.path("features.yaml"), "--epochs", 2, "--hidden", 8]
        evenkeel(*common, "--train", WORLD.path("train.txt"), "--vali", WORLD.path("train.txt"), "--routing", "none",
                 "--log-input", "none", "-o", at("upstream.safetensors"))
        lists = ["generate", "hotel", "-f", "messages", f"--upstream-model={at('upstream.safetensors')}"]
        evenkeel(*lists, "-n", 2000, "--seed", 1, "-o", at("train.mp"))
        evenkeel(*common, "--train", at("train.mp"), "--vali", at("train.mp"), "--teacher", "upstream", "-o",
                 at("model.safetensors"))
        evenkeel(*lists, "-n", COUNT, "--seed", 5, f"--fault=price=x100,from={FAULTY},arm=B", "-o", at("faulty.mp"))
        with open(at("rules.yaml"), "w") as out:
            # A model of two epochs is more harmful than the fault; this test ignores the rollback.
            out.write("version: 1\ndefaults: {mode: enforce, canary: {abort_if: {worse_than_unmitigated: false}}}\nsegments: [arm]\n")
        return [raw for raw, _ in messages_of(at("faulty.mp"))]

    def instance(self, folder):
        broker = WORLD.broker
        self.source, target = WORLD.topics()
        plan = broker.create(target + ".plan", 1, "cleanup.policy", "compact")
        broker.create(plan + ".evidence", 1, "retention.ms", 3600000)
        state = broker.create(target + ".state", 1, "cleanup.policy", "compact")
        return Daemon(WORLD.folder, broker, self.source, target, WORLD.folder, instance="watched",
                      rules=os.path.join(folder, "rules.yaml"), model=os.path.join(folder, "model.safetensors"),
                      alerts=broker.create(target + ".alerts"), sinks=[DEAF], state=f"topic: {state}, checkpoint_interval: 1s",
                      pipeline="shadow_scoring_cpu_percent: 100",
                      fleet=f"topic: {plan}, report_interval: 200ms, leader_timeout: 10s")

    def assert_all_is_shown(self, daemon):
        """Check that exactly the families of the page have samples, with their labels."""
        families = table()
        with contextlib.suppress(AssertionError):  # otherwise the missing family is not reported
            eventually("every family is shown", lambda: set(shown(daemon.get("/metrics")[1], families)) == set(families))
        page = daemon.get("/metrics")[1]
        self.assertEqual(set(shown(page, families)), set(families), daemon.get("/api/v1/impact")[1] + daemon.log())
        for name, labels in shown(page, families).items():
            self.assertEqual(labels, families[name][1], name)
        return page

    def assert_clean(self, page):
        if not shutil.which("promtool"):
            self.skipTest("no promtool (deploy/deps.sh watch)")
        done = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_prometheus_takes_all_of_it_and_each_panel_has_data(self):
        folder = WORLD.path("watched")
        os.makedirs(folder)
        lists = self.make(folder)
        with contextlib.ExitStack() as stack:
            d = stack.enter_context(self.instance(folder)).wait_ready()
            real = shutil.which("prometheus") and stack.enter_context(Prometheus(folder, d.http))
            frames = numbered(lists) + [Frame(b"no message", b"k", headers=[("n", b"0")], partition=0)]
            if real:
                eventually("it is scraped", lambda: real.has("evenkeel_build_info"))
            WORLD.send(self.source, frames[:BEFORE])
            eventually("a feature is routed", lambda: d.json("/api/v1/plan")["entries"])
            WORLD.send(self.source, frames[BEFORE:])
            d.wait_handled(COUNT + 1)
            self.assertEqual(d.get("/nowhere")[0], 404)
            page = self.assert_all_is_shown(d)
            self.assertIn('evenkeel_open_findings{class="scale",state="confirmed"} 1\n', page)
            self.assertIn('evenkeel_dead_letters_total{reason="format"} 1\n', page)
            if real:
                for title, expression in expressions("30m"):
                    eventually(f"'{title}' has data: {expression}", lambda e=expression: real.has(e))
                eventually("the finding is an alert", lambda: "EvenkeelDrift" in real.alerts())
                eventually("all rules work", lambda: not real.sick_rules())
            self.assertEqual(d.stop(), 0, d.log())
        self.assert_clean(page)
