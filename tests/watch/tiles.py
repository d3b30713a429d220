"""Value and color of the tile `Ready` for groups of instances, computed by promtool."""
import json
import subprocess
import tempfile

from panels import DASHBOARDS, expressions

TILE = "Ready"
# (name, `up` of each instance or nothing without scrapes, `evenkeel_ready` of each instance in reach, value, color)
GROUPS = [
    ("all are ready", [1] * 12, [1] * 12, 1, "green"),
    ("one is ready", [1] * 12, [1] + [0] * 11, 1 / 12, "red"),
    ("one is not ready", [1] * 12, [1] * 11 + [0], 11 / 12, "red"),
    ("one is down", [1] * 11 + [0], [1] * 11, 11 / 12, "red"),
    ("all are down", [0] * 12, [], 0, "red"),
    ("all are ready, by OTLP", [], [1, 1], 1, "green"),
    ("one is not ready, by OTLP", [], [1, 0], 1 / 2, "red"),
]


def series(metric, values):
    return [{"series": f'{metric}{{job="ek",instance="{i}:9464"}}', "values": str(value)} for i, value in enumerate(values)]


def value_test(name, up, ready, value):
    expression = next(e for title, e in expressions("5m") if title == TILE)
    return {"name": name, "interval": "1m", "input_series": series("up", up) + series("evenkeel_ready", ready),
            "promql_expr_test": [{"expr": expression, "eval_time": "0m", "exp_samples": [{"labels": "{}", "value": value}]}]}


def color_faults():
    with open(DASHBOARDS[0], encoding="utf-8") as file:
        panel = next(p for p in json.load(file)["panels"] if p["title"] == TILE)
    steps = panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
    for name, _, _, value, color in GROUPS:
        shown = [step["color"] for step in steps if step["value"] is None or step["value"] <= value][-1]
        if shown != color:
            yield f"{TILE}, {name}: {value} is {shown}, not {color}\n"


def faults():
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        json.dump({"tests": [value_test(*group[:4]) for group in GROUPS]}, file)
        file.flush()
        done = subprocess.run(["promtool", "test", "rules", file.name], capture_output=True, text=True, check=False)
    return ("" if done.returncode == 0 else done.stdout + done.stderr) + "".join(color_faults())
