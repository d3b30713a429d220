"""The dashboard's Prometheus queries."""
import json
import os
import re

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DASHBOARD = os.path.join(TOP, "deploy", "grafana", "evenkeel.json")
ALL = {"job": ".*", "instance": ".*", "feature": ".*", "segment": ".*"}


def expressions(rate_interval):
    """Return (title, expression) of each target, with the variables filled in."""
    variables = {**ALL, "__rate_interval": rate_interval}
    with open(DASHBOARD, encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    for panel in panels:
        for target in panel.get("targets", []):
            yield panel["title"], re.sub(r"\$(\w+)", lambda m: variables[m[1]], target["expr"])
