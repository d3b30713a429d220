"""Prometheus queries of the dashboards."""
import json
import os
import re

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DASHBOARDS = [os.path.join(TOP, "deploy", "grafana", name) for name in ("evenkeel.json", "evenkeel-internals.json")]
ALL = {"job": ".*", "instance": ".*", "feature": ".*", "segment": ".*"}


def expressions(rate_interval):
    """Return (title, expression) of each target, with the variables filled in."""
    variables = {**ALL, "__rate_interval": rate_interval}
    for path in DASHBOARDS:
        with open(path, encoding="utf-8") as file:
            panels = json.load(file)["panels"]
        for panel in panels:
            for target in panel.get("targets", []):
                yield panel["title"], re.sub(r"\$(\w+)", lambda m: variables[m[1]], target["expr"])
