#!/usr/bin/env python3
"""Check deploy/prometheus and deploy/grafana with the tools of Prometheus and Grafana: rules, their tests, the
expressions of the dashboards, a tile and their JSON. Skipped with a message without promtool, node or Grafana's types."""
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import board  # noqa: E402
import tiles  # noqa: E402
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
    tools = os.environ.get("TOOLS", "")
    untold = "" if shutil.which("promtool") else "no promtool (deploy/deps.sh watch)"
    checks = [("the rules", untold, functools.partial(promtool, "check", "rules", "evenkeel.rules.yml")),
              ("the tests of the rules", untold, functools.partial(promtool, "test", "rules", "evenkeel.test.yml")),
              ("the expressions of the dashboards", untold, check_dashboard),
              ("the color of the ready instances", untold, tiles.faults),
              ("the dashboards, by Grafana's types", board.missing(tools), functools.partial(board.faults, tools))]
    failed = skipped = 0
    for what, missing, check in checks:
        fault = "" if missing else check()
        failed += bool(fault)
        skipped += bool(missing)
        print(f"FAILED {what}:\n{fault}" if fault else f"skip   {what}: {missing}" if missing else f"ok     {what}",
              flush=True)
    print(f"{len(checks) - failed - skipped} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
