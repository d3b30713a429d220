"""Shared fixtures of a run, created on first use: one browser, the assets, and an instance with a confirmed fault."""
import contextlib
import functools

import watch
from browser import Browser
from scene import Assets, Scene, eventually

ARM_B = {"arm": "B"}
ESTIMATES = 4
FLEET = {"fleet": "topic: plan, report_interval: 100ms, leader_timeout: 2s", "session": 60000}
_OPEN = contextlib.ExitStack()


@functools.cache
def browser():
    made = _OPEN.enter_context(Browser())
    _OPEN.enter_context(made.before(watch.WATCH))
    return made


@functools.cache
def assets():
    made = Assets()
    _OPEN.callback(made.close)
    return made


def cell_of(feature, segment):
    """Return a segment of /api/v1/features/NAME."""
    return next(c for c in feature["segments"] if c["segment"] == segment)


def _estimates(scene):
    """Return the history samples with a factor. One is added each second with lists."""
    track = cell_of(scene.json("/api/v1/features/price"), ARM_B)["history"]
    return sum(factor is not None for factor in track["factor"])


@functools.cache
def found():
    """Return an instance whose price is found and routed in arm B, with several seconds of factor estimates."""
    scene = _OPEN.enter_context(Scene(assets()))
    scene.calm()
    scene.suspected()
    scene.routed()
    while (before := _estimates(scene)) < ESTIMATES:
        scene.send(60)
        eventually("a sample of the track", lambda: _estimates(scene) > before)
    eventually("lists before and after", lambda: scene.json("/api/v1/samples?feature=price")["lists"])
    return scene


def keep(context):
    """Keep a context manager open until the end of the run."""
    return _OPEN.enter_context(context)


@functools.cache
def fleet():
    """Return two running instances of a fleet on one partition. The first plan takes about 15 s."""
    scene = Scene(assets(), topics=("plan", "plan.evidence"), instance="one", **FLEET)
    both = {"one": scene.daemon, "two": scene.instance(instance="two", **FLEET)}
    _OPEN.push(scene.__exit__)
    for instance in both.values():
        _OPEN.push(instance.start().__exit__)
    return scene, both


def close():
    _OPEN.close()
