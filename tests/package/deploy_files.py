"""Common code of the tests of deploy/: its files, and comparisons."""
import os
import re

import yaml

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEPLOY = os.path.join(TOP, "deploy")


def path(*words):
    return os.path.join(DEPLOY, *words)


def text(*words):
    with open(path(*words), encoding="utf-8") as f:
        return f.read()


def load(*words):
    return yaml.safe_load(text(*words))


def seconds(duration):
    return float(re.fullmatch(r"([0-9.]+)s", duration).group(1))


def same(what, a, b):
    assert a == b, f"{what}: {a!r} and {b!r}"
