#!/usr/bin/env python3
"""Write docs/http.md, the reference of the HTTP API, from its description: http_page.py docs/openapi.json"""
import json
import sys

HEAD = """# HTTP API

This reference is generated from [openapi.json](openapi.json), an OpenAPI 3.1 description, with `make reference`; do not edit it.

"""
REFERENCE = "#/components/schemas/"


def row(*cells):
    return "| " + " | ".join(cells) + " |"


def link(name):
    return f"[{name}](#{name.lower()})"


def type_of(schema):
    """Return a short name of a schema's type, with a link to a named schema."""
    if "$ref" in schema:
        return link(schema["$ref"].removeprefix(REFERENCE))
    if "anyOf" in schema:
        return " or ".join(type_of(one) for one in schema["anyOf"])
    types = schema.get("type", "any")
    types = types if isinstance(types, list) else [types]
    if types == ["array"]:
        return "array of " + type_of(schema["items"])
    return " or ".join(types)


def response_of(call):
    """Return the description of a successful response."""
    found = [f"{code}: {call['responses'][code]['description']}" for code in ("200", "202", "503") if code in call["responses"]]
    return "; ".join(found)


def schema_of(call):
    content = call["responses"]["200"].get("content", {})
    return next((one["schema"] for kind, one in content.items() if kind == "application/json"), None)


def read_row(path, call):
    words = [call["summary"]]
    words += [f"`{p['name']}`: {p['description']}" for p in call.get("parameters", []) if p["in"] == "query"]
    words += [f"{code}: {one['description']}" for code, one in call["responses"].items() if code != "200"]
    schema = schema_of(call)
    return row(f"`{path}`", ". ".join(words), type_of(schema) if schema else "text")


def change_row(path, call):
    body = call["requestBody"]["content"]["application/json"]["schema"]
    keys = [f"`{k}`" + (" (required)" if k in body["required"] else "") for k in body["properties"]]
    return row(f"`{path}`", call["summary"], ", ".join(keys), response_of(call))


def fields(properties, required, prefix=""):
    """Yield a row per field, those of nested objects with their path."""
    for name, schema in properties.items():
        meaning = schema.get("description", "")
        if name not in required:
            meaning = (meaning + " (not always there)").strip()
        yield row(f"`{prefix}{name}`", type_of(schema), meaning)
        inner = schema.get("items", schema)
        if "properties" in inner:
            yield from fields(inner["properties"], inner["required"], f"{prefix}{name}{'[]' if 'items' in schema else ''}.")


def section(name, schema):
    return [f"### {name}", "", schema["description"] + ".", "", row("field", "type", "meaning"), "|---|---|---|",
            *fields(schema["properties"], schema["required"]), ""]


def errors(paths):
    """Return {code: description} of all calls that change something."""
    return {code: one["description"] for calls in paths.values() if "post" in calls
            for code, one in calls["post"]["responses"].items() if code >= "400"}


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        api = json.load(f)
    paths, keys = api["paths"], {}
    for calls in paths.values():
        if "post" in calls:
            keys.update(calls["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"])
    lines = [api["info"]["description"], "", "## Read", "", row("path", "response", "content"), "|---|---|---|"]
    lines += [read_row(path, calls["get"]) for path, calls in paths.items() if "get" in calls]
    described = [calls["get"]["description"] for calls in paths.values() if "description" in calls.get("get", {})]
    lines += ["", *described, "", "## Change", "", row("path", "effect", "keys of the body", "response"), "|---|---|---|---|"]
    lines += [change_row(path, calls["post"]) for path, calls in paths.items() if "post" in calls]
    lines += ["", row("key", "type", "meaning"), "|---|---|---|", *fields(keys, keys)]
    lines += ["", row("status", "meaning"), "|---|---|", *(row(*one) for one in sorted(errors(paths).items()))]
    lines += ["", "## Content", ""]
    for name, schema in api["components"]["schemas"].items():
        lines += section(name, schema)
    print(HEAD + "\n".join(lines).rstrip())


main()
