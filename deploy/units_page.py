#!/usr/bin/env python3
"""Write docs/units.md, the list of known conversions, from their catalog: units_page.py rules/units.yaml"""
import re
import sys

HEAD = """# Known conversions

This reference is generated from `rules/units.yaml` with `make reference`; do not edit it.
[Units](format/units.md) explains how evenkeel selects one, and how you add your own.

| id | factor | quantity | the values are |
|---|---|---|---|
"""
_ENTRY = re.compile(r"^  - \{(.*?)\}$", re.M | re.S)
_FIELD = re.compile(r"(\w+): (?:\[[^\]]*\]|\"([^\"]*)\"|([^,\]]+))")


def inverse_of(factor):
    """Return the inverse as a reader would write it: a number stays exact as a ratio."""
    above, _, below = factor.partition("/")
    return f"{below}/{above}" if below and above != "1" else below or f"1/{factor}"


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        text = re.sub(r"^ *#.*\n", "", f.read(), flags=re.M)
    print(HEAD, end="")
    for entry in _ENTRY.findall(text):
        one = {name: (quoted or plain).strip() for name, quoted, plain in _FIELD.findall(re.sub(r"\s*\n\s*", " ", entry))}
        quantity = one.get("quantity", "any")
        print(f"| `{one['id']}` | {one['factor']} | {quantity} | {one['text']} |")
        if "inverse" in one:
            print(f"| `{one['inverse']}` | {inverse_of(one['factor'])} | {quantity} | {one['inverse_text']} |")


main()
