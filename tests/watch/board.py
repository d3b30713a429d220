"""Whether Grafana would take the dashboard: its JSON is held against Grafana's own types, by the TypeScript compiler, and
the units in it against Grafana's list. That it is drawn as it is meant is not shown by this."""
import json
import os
import re
import shutil
import subprocess

from panels import DASHBOARD

HERE = os.path.dirname(os.path.abspath(__file__))
UNITS = "package/dist/esm/valueFormats/categories.js"
STRICT = ["--noEmit", "--strict", "--skipLibCheck", "--module", "esnext", "--moduleResolution", "node", "--target", "es2020"]


def missing(tools):
    """What it takes and is not there, or nothing."""
    if not shutil.which("node"):
        return "no node"
    if not tools or not os.path.exists(os.path.join(tools, UNITS)):
        return "Grafana's types could not be fetched (build/watch-tools.log)"
    return ""


def constants(board):
    """(type, what it is called for people, value): a panel alone gets a better message than one among others."""
    board = dict(board)
    for panel in board.pop("panels"):
        yield panel["type"], f"panel '{panel['title']}'", panel
    for variable in board.pop("templating")["list"]:
        yield "variable", f"variable {variable['name']}", variable
    yield "board", "dashboard", board


def source(board):
    """The program that is sound if the dashboard is, and for each of its lines what that is of."""
    lines, of = ['import type * as grafana from "./board_types";'], ["dashboard"]
    for number, (kind, name, value) in enumerate(constants(board)):
        more = f"export const c{number}: grafana.{kind}_ = {json.dumps(value, indent=1)};".splitlines()
        lines += more
        of += [name] * len(more)
    return lines, of


def type_faults(board, tools):
    lines, of = source(board)
    shutil.copy(os.path.join(HERE, "board_types.ts"), tools)
    with open(os.path.join(tools, "board.ts"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    done = subprocess.run(["node", "node_modules/typescript/bin/tsc", *STRICT, "board.ts"], cwd=tools,
                          capture_output=True, text=True, check=False)
    said = [re.match(r"board\.ts\((\d+),\d+\): (.*)", line) for line in done.stdout.splitlines()]
    faults = [f"{of[int(m[1]) - 1]}: {lines[int(m[1]) - 1].strip()}: {m[2]}" for m in said if m]
    return faults if faults or done.returncode == 0 else [done.stdout + done.stderr]


def unit_faults(board, tools):
    with open(os.path.join(tools, UNITS), encoding="utf-8") as file:
        known = set(re.findall(r'\bid: "([^"]+)"', file.read()))
    for panel in board["panels"]:
        unit = panel.get("fieldConfig", {}).get("defaults", {}).get("unit")
        if unit is not None and unit not in known:
            yield f"panel '{panel['title']}': Grafana has no unit '{unit}'"


def faults(tools):
    with open(DASHBOARD, encoding="utf-8") as file:
        board = json.load(file)
    return "\n".join([*type_faults(board, tools), *unit_faults(board, tools)])
