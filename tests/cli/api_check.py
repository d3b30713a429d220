#!/usr/bin/env python3
"""Compare the responses of an instance with the description of the API: api_check.py OPENAPI ADDRESS FEATURE

Every path is read until a finding, a plan and a shadow scored list of the feature are there. Prints differences, and
exits with 1 if there are any. A field that is not described is one.
"""
import json
import sys
import time
import urllib.error
import urllib.request

REFERENCE = "#/components/schemas/"
SECONDS = 120
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float), "null": type(None)}


def is_a(value, kind):
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


class Checker:
    def __init__(self, api):
        self.schemas = api["components"]["schemas"]

    def faults(self, schema, value, place):
        """Yield differences of a value from its schema."""
        if "$ref" in schema:
            schema = self.schemas[schema["$ref"].removeprefix(REFERENCE)]
        if "anyOf" in schema:
            found = [list(self.faults(one, value, place)) for one in schema["anyOf"]]
            if all(found):
                yield from min(found, key=len)
            return
        kinds = schema.get("type", [])
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if kinds and not any(is_a(value, kind) for kind in kinds):
            yield f"{place}: {json.dumps(value)[:60]} is not of type {' or '.join(kinds)}"
        elif "enum" in schema and value not in schema["enum"]:
            yield f"{place}: {json.dumps(value)[:60]} is not among the values"
        elif isinstance(value, list):
            for i, one in enumerate(value):
                yield from self.faults(schema.get("items", {}), one, f"{place}[{i}]")
        elif isinstance(value, dict) and "properties" in schema:
            yield from self.object_faults(schema, value, place)

    def object_faults(self, schema, value, place):
        for name in schema["required"]:
            if name not in value:
                yield f"{place}.{name} is missing"
        for name, one in value.items():
            if name in schema["properties"]:
                yield from self.faults(schema["properties"][name], one, f"{place}.{name}")
            elif not schema.get("additionalProperties"):
                yield f"{place}.{name} is not described"


def read(address, path):
    with urllib.request.urlopen(address + path, timeout=180) as response:
        return json.load(response)


def wait_for_content(address, feature):
    """Wait until a shadow scored list of a route exists."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            if read(address, f"/api/v1/samples?feature={feature}")["lists"] and read(address, "/api/v1/impact")["routes"]:
                return True
        except OSError:
            pass
        time.sleep(0.2)
    return False


def path_faults(checker, address, path, call):
    """Yield differences of a response; a status other than 200 must be described."""
    try:
        yield from checker.faults(schema_of(call), read(address, path), path)
    except urllib.error.HTTPError as why:
        if str(why.code) not in call["responses"]:
            yield f"{path}: status {why.code} is not described"


def schema_of(call):
    return call["responses"]["200"]["content"].get("application/json", {}).get("schema")


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        api = json.load(f)
    address, feature = sys.argv[2:]
    checker, count = Checker(api), 0
    if not wait_for_content(address, feature):
        print(f"no shadow scored list of {feature} within {SECONDS} s")
        return 1
    for path, calls in api["paths"].items():
        if "get" not in calls or not schema_of(calls["get"]):
            continue
        target = path.replace("{feature}", feature) + ("?feature=" + feature if path.endswith("/samples") else "")
        for fault in path_faults(checker, address, target, calls["get"]):
            print(fault)
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
