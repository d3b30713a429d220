"""Check the JSON of the dashboards against Grafana's own types, with the TypeScript compiler, and their units against
Grafana's list. Their appearance is not tested."""
import json
import os
import re
import shutil
import subprocess

from panels import DASHBOARDS

HERE = os.path.dirname(os.path.abspath(__file__))
UNITS = "package/dist/esm/valueFormats/categories.js"
STRICT = ["--noEmit", "--strict", "--skipLibCheck", "--module", "esnext", "--moduleResolution", "node", "--target", "es2020"]


def missing(tools):
    """Return the missing requirement, or nothing."""
    if not shutil.which("node"):
        return "no node"
    if not tools or not os.path.exists(os.path.join(tools, UNITS)):
        return "Grafana's types could not be fetched (build/watch-tools.log)"
    return ""


def constants(board):
    """Return (type, display name, value): a single panel gets a better message than one of many."""
    board = dict(board)
    for panel in board.pop("panels"):
        yield panel["type"], f"panel '{panel['title']}'", panel
    for variable in board.pop("templating")["list"]:
        yield "variable", f"variable {variable['name']}", variable
    yield "board", "dashboard", board


def source(board):
    """Return the program that compiles if the dashboard is valid, and the subject of each of its lines."""
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
    found = []
    for path in DASHBOARDS:
        with open(path, encoding="utf-8") as file:
            board = json.load(file)
        found += [f"{os.path.basename(path)}: {fault}" for fault in (*type_faults(board, tools), *unit_faults(board, tools))]
    return "\n".join(found)
