"""Detection and mitigation of scale changes in ranking features: the guard of evenkeel in a Python process.

    profile = Profile.fit(train, query="query", features=Manifest("features.yaml"))
    guard = Guard("features.yaml", profile, "rules.yaml")
    events = guard.observe(X, starts, segments={"arm": arms}, time_ms=times)
    guard.plan.apply(X, starts, segments={"arm": arms})
"""
from ._guard import Event, Guard, Plan, Profile, Replay, replay
from ._manifest import Manifest
from ._native import version as _version
from ._ranker import RoutableRanker
from ._report import Report
from ._wide import WideColumns, augment, wide_columns

__version__ = _version()
__all__ = ["Event", "Guard", "Manifest", "Plan", "Profile", "Replay", "Report", "RoutableRanker", "WideColumns", "augment", "replay", "wide_columns"]
