#!/usr/bin/env python3
"""Write docs/alert-rules.md, the list of Prometheus alerts, from their rules: alert_rules_page.py deploy/prometheus/evenkeel.rules.yml"""
import re
import sys

HEAD = """# Alert rules of Prometheus

This reference is generated from `deploy/prometheus/evenkeel.rules.yml` with `make reference`; do not edit it.
[Monitoring](monitor.md) explains how you install the rules, and each name links to its [runbook](runbooks.md).
evenkeel sends [its own alerts](alerts.md#alert-types) at other times, also under names of this list.

| alert | fires if | for | severity |
|---|---|---|---|
"""
RECORDED = """
The rules record these series first:

| series | expression |
|---|---|
"""
_RULE = re.compile(r"^      - (alert|record): (\S+)\n((?:^        .*\n)*)", re.M)
_EXPRESSION = re.compile(r"^        expr: (?:\|-?\n((?:^          .*\n)+)|(.*)\n)", re.M)
_WAIT = re.compile(r"^        for: (\S+)$", re.M)
_SEVERITY = re.compile(r"severity: (\w+)")
_RUNBOOK = re.compile(r"runbook_url: docs/(\S+)")


def expression_of(body):
    block, line = _EXPRESSION.search(body).groups()
    return "`" + " ".join((block or line).split()).replace("|", "\\|") + "`"


def alert_row(name, body):
    wait = _WAIT.search(body)
    return (f"| [`{name}`]({_RUNBOOK.search(body).group(1)}) | {expression_of(body)} | {wait.group(1) if wait else '0s'} "
            f"| {_SEVERITY.search(body).group(1)} |")


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        rules = _RULE.findall(f.read())
    print(HEAD + "\n".join(alert_row(name, body) for kind, name, body in rules if kind == "alert"))
    print(RECORDED + "\n".join(f"| `{name}` | {expression_of(body)} |" for kind, name, body in rules if kind == "record"))


main()
