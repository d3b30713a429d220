#!/usr/bin/env python3
"""Writes compile_commands.json: compile_commands.py OUT SOURCE... -- COMPILER FLAG..."""
import json
import os
import sys

split = sys.argv.index("--")
out, sources, command = sys.argv[1], sys.argv[2:split], sys.argv[split + 1:]
entries = [{"directory": os.getcwd(), "file": s, "arguments": command + ["-c", s]} for s in sources]
with open(out, "w", encoding="utf-8") as f:
    json.dump(entries, f, indent=1)
