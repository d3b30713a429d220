#!/usr/bin/env python3
"""Prometheus' own opinion of deploy/prometheus and deploy/grafana: rules, their tests, the expressions of the
dashboard. Skipped visibly where promtool is missing."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from panels import TOP, expressions  # noqa: E402

PROMETHEUS = os.path.join(TOP, "deploy", "prometheus")


def promtool(*words):
    done = subprocess.run(["promtool", *words], cwd=PROMETHEUS, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def check_dashboard():
    """promtool reads expressions in rules only; JSON is YAML."""
    rules = [{"record": f"panel:{i}", "expr": e} for i, (_, e) in enumerate(expressions("5m"))]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
        file.flush()
        return promtool("check", "rules", file.name)


def main():
    checks = {"the rules": lambda: promtool("check", "rules", "evenkeel.rules.yml"),
              "the tests of the rules": lambda: promtool("test", "rules", "evenkeel.test.yml"),
              "the expressions of the dashboard": check_dashboard}
    if not shutil.which("promtool"):
        print(f"skip   no promtool (deploy/deps.sh watch)\n0 passed, 0 failed, {len(checks)} skipped")
        return 0
    failed = 0
    for what, check in checks.items():
        fault = check()
        failed += bool(fault)
        print(f"FAILED {what}:\n{fault}" if fault else f"ok     {what}", flush=True)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
