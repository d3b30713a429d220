"""Profile, guard and plan."""
from __future__ import annotations

import contextlib
import json
import os
import threading
from typing import Any, Iterable, Iterator, Mapping, NamedTuple, Optional, Union

import numpy as np

from . import _native
from ._arguments import PathLike, array_from, path_of, sequence_of, text_from, whole_of
from ._lists import Lists, is_frame, lists_from_frame, scores_of, starts_from_ids
from ._manifest import Manifest, manifest_of

Event = dict[str, Any]
CLOSED = ("dismissed", "recovered")


@contextlib.contextmanager
def files(**contents: tuple[str, bytes]) -> Iterator[dict[str, str]]:
    """Write name=(shown name, bytes) to files, and put the shown names into errors."""
    import tempfile  # only here, for a fast import of the package
    with tempfile.TemporaryDirectory(prefix="evenkeel-") as folder:
        paths = {key: os.path.join(folder, key) for key in contents}
        for key, (_, data) in contents.items():
            with open(paths[key], "wb") as out:
                out.write(data)
        try:
            yield paths
        except (ValueError, OSError) as why:
            text = str(why)
            for key, (shown, _) in contents.items():
                text = text.replace(paths[key], shown)
            raise (type(why) if isinstance(why, OSError) else ValueError)(text) from None


class Profile:
    """Training statistics: the contents of a profile file, with the manifest if it is known."""

    def __init__(self, data: bytes, name: str = "profile", manifest: Optional[Manifest] = None) -> None:
        if not isinstance(data, bytes):
            raise ValueError(f"'data' is {type(data).__name__}, expected bytes")
        self._data, self.name, self.manifest = data, name, manifest

    @classmethod
    def load(cls, path: PathLike) -> "Profile":
        """Read a file of `evenkeel profile` or of `save`."""
        name = path_of(path)
        with open(name, "rb") as source:
            data = source.read()
        _native.check_profile(name, None)
        return cls(data, name)

    @classmethod
    def fit(cls, data: Any, starts: Any = None, *, features: Union[Manifest, PathLike, Iterable[str]], query: Any = None,
            stratify_by: Optional[str] = None, segments: Any = None, time: Any = None, query_features: Any = None,
            item_ids: Any = None) -> "Profile":
        """Make the profile of training lists.

        data          a frame with one row per item (pandas, polars, pyarrow, a mapping of columns, or any Arrow stream), or an
                      array of rows x item features, float32 or float64. NaN is a missing value
        starts        arrays: first row of each list, and the number of rows; or `query`
        features      the manifest, or the names of item features
        query         frame: column of list ids; array: list id of each row. Rows of a list are adjacent
        stratify_by   segment dimension or query feature with different normal levels, such as a market
        segments      frame: columns that are segment dimensions; array: {dimension: value per list}
        time          frame: column of the times of lists; array: times per list. Milliseconds since 1970, or datetime64, in
                      pandas of any time zone
        query_features  array: lists x query features
        item_ids      frame: column of item ids; array: one per row
        """
        if isinstance(features, (Manifest, str, os.PathLike)):
            manifest = manifest_of(features, "features")
        else:
            manifest = Manifest.of(features)
        if stratify_by is not None and not isinstance(stratify_by, str):
            raise ValueError("'stratify_by' must be the name of a segment dimension or query feature")
        if is_frame(data):
            if starts is not None or query_features is not None:
                raise ValueError("'starts' and 'query_features' belong to arrays; a frame has 'query' and columns")
            dimensions = [segments] if isinstance(segments, str) else [] if segments is None else sequence_of(segments, "segments")
            if stratify_by is not None and stratify_by not in (*dimensions, *manifest.query_features):
                dimensions.append(stratify_by)
            lists = lists_from_frame(data, manifest, query, dimensions, time, item_ids)
        else:
            if (starts is None) == (query is None):
                raise ValueError("an array needs either 'starts' or 'query', the list id of each row")
            if starts is None:
                ids = array_from(query, "query")
                if ids.shape != array_from(data, "X").shape[:1]:
                    raise ValueError(f"'query' has shape {ids.shape}, expected one id per row of 'X'")
                starts = starts_from_ids(ids, "query")
            lists = Lists.of(data, starts, segments, time, query_features, None, item_ids)
            if stratify_by is not None and stratify_by not in (*lists.segments, *manifest.query_features):
                raise ValueError(f"'stratify_by': no segment dimension or query feature {stratify_by!r}")
        with files(manifest=(manifest.name, manifest.text.encode()), profile=("profile", b"")) as paths:
            builder = _native.ProfileBuilder(paths["manifest"], stratify_by)
            builder.add(*lists.check(manifest).arguments())
            builder.save(paths["profile"])
            with open(paths["profile"], "rb") as source:
                return cls(source.read(), "profile", manifest)

    def save(self, path: PathLike) -> None:
        """Write the file that `evenkeel profile` makes of the same lists. It replaces a file as a whole."""
        import tempfile
        name = os.path.abspath(path_of(path))
        handle, part = tempfile.mkstemp(dir=os.path.dirname(name), prefix=".evenkeel-")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(self._data)
            os.chmod(part, 0o644)
            os.replace(part, name)
        except BaseException:
            os.unlink(part)
            raise

    def __repr__(self) -> str:
        return f"Profile({self.name!r}, {len(self._data)} bytes)"


def _text(source: Union[PathLike, None], argument: str) -> Optional[tuple[str, bytes]]:
    """Return the shown name and the bytes of a path or a YAML text."""
    if source is None:
        return None
    if isinstance(source, str) and "\n" in source:
        try:
            return argument, source.encode()
        except UnicodeEncodeError as why:
            raise ValueError(f"'{argument}': {why}") from None
    name = path_of(source, argument, "a path or YAML text")
    with open(name, "rb") as file:
        return name, file.read()


class Guard:
    """Detector and plan of a stream of lists, as `evenkeel run` with `output.writes: features`.

    Use a guard in one thread at a time: a call from a second thread raises RuntimeError and changes nothing. `observe` releases
    the interpreter lock. The default rules observe.
    """

    def __init__(self, manifest: Union[Manifest, PathLike], profile: Union[Profile, PathLike],
                 rules: Optional[PathLike] = None) -> None:
        self.manifest = manifest_of(manifest)
        if isinstance(profile, (str, os.PathLike)):
            profile = Profile.load(path_of(profile, "profile"))
        if not isinstance(profile, Profile):
            raise ValueError(f"'profile' is {type(profile).__name__}, expected a Profile or a path")
        contents = {"manifest": (self.manifest.name, self.manifest.text.encode()), "profile": (profile.name, profile._data)}
        text = _text(rules, "rules")
        if text:
            contents["rules"] = text
        with files(**contents) as paths:
            self._native = _native.Guard(paths["manifest"], paths["profile"], paths.get("rules"))
        self._open: dict[str, Event] = {}

    def observe(self, X: np.ndarray, starts: Any, segments: Optional[Mapping[str, Any]] = None, time_ms: Any = None,
                query_features: Any = None, *, ids: Any = None, item_ids: Any = None, scores: Any = None) -> list[Event]:
        """Compare lists with training, and return the new events (docs/format/events.md).

        X               rows x item features, float32 or float64, of any strides; NaN is a missing value
        starts          first row of each list, and the number of rows
        segments        {dimension: value per list, or one value}; None: the list lacks it
        time_ms         times of the lists: milliseconds since 1970, or datetime64. Without times minimum durations do not expire
        query_features  lists x query features
        ids, item_ids, scores  list ids, item ids (one per row) and upstream scores, as in messages

        ValueError: an argument is invalid, and no list counts. If the error names a list, the lists before it count, and their
        events are returned by the next call.
        """
        lists = Lists.of(X, starts, segments, time_ms, query_features, ids, item_ids).check(self.manifest)
        return self._read(self._native.observe(*lists.arguments(), scores_of(scores, len(X))))

    def advance(self, now_ms: int) -> list[Event]:
        """Advance event time without lists, so that minimum durations expire. Call about once per second with a monotonic clock,
        which the first call starts."""
        try:
            return self._read(self._native.advance(now_ms))
        except TypeError:
            raise ValueError("'now_ms' must be an integer, in milliseconds") from None

    def _read(self, lines: list[str]) -> list[Event]:
        events = [json.loads(line) for line in lines]
        for event in events:
            if event["event"] == "finding":
                self._open.pop(event["finding_id"], None)
                if event["state"] not in CLOSED:
                    self._open[event["finding_id"]] = event
        return events

    @property
    def findings(self) -> list[Event]:
        """Open findings: the last event of each."""
        return list(self._open.values())

    @property
    def plan(self) -> "Plan":
        """The current plan."""
        return Plan(self._native.plan())

    @property
    def plan_version(self) -> int:
        """Version of the current plan; 0 before the first one."""
        return self._native.plan_version()

    @property
    def list_count(self) -> int:
        """Number of observed lists."""
        return self._native.list_count()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that two parsers would read differently."""
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("the plan has a duplicate key")
    return out


def _columns_needed(query_features: Iterable[dict[str, Any]]) -> int:
    return max((feature["index"] + 1 for feature in query_features if feature["index"] is not None), default=0)


class Plan:
    """Repairs of feature values, for the process that calls the ranker. Immutable, and may be used by several threads."""

    def __init__(self, text: str) -> None:
        #: The plan as JSON, as in the body of `/api/v1/plan`.
        self.json = text_from(text, "text", "JSON")
        self._thread = threading.local()
        self._thread.applier = _native.Applier(text)
        try:
            self._document = json.loads(text, object_pairs_hook=_unique)
        except RecursionError:
            raise ValueError("the plan is nested too deeply") from None
        #: Number of the plan; 0 without one.
        self.version = whole_of(self._document.get("version") or 0, "version")
        #: For each entry of an item feature: the feature, its column of X, and the number of columns of query features that it needs.
        self._needs = [(entry["feature"], entry["index"], _columns_needed(entry.get("query_features") or ())) for entry in self.entries
                       if entry.get("role") != "query"]

    @classmethod
    def load(cls, source: Any) -> "Plan":
        """Read a plan: JSON text (str or bytes), a mapping with `entries`, a path, or an open file. Fetching is up to the caller."""
        is_text = isinstance(source, (bytes, bytearray)) or hasattr(source, "read")
        if hasattr(source, "read"):
            source = source.read()
        if isinstance(source, Mapping):
            try:
                source = json.dumps(source, allow_nan=False)
            except (TypeError, ValueError, RecursionError) as why:
                raise ValueError(f"'source': {why}") from None
        try:
            if isinstance(source, (bytes, bytearray)):
                source = source.decode()
            if not is_text and not (isinstance(source, str) and source.lstrip().startswith("{")):
                with open(path_of(source, "source", "JSON, a mapping, a path or a file"), encoding="utf-8") as file:
                    source = file.read()
            return cls(text_from(source, "source"))
        except UnicodeError as why:
            raise ValueError(f"'source': {why}") from None

    @property
    def entries(self) -> list[dict[str, Any]]:
        return list(self._document["entries"])

    def apply(self, X: np.ndarray, starts: Any, segments: Optional[Mapping[str, Any]] = None, time_ms: Any = None,
              query_features: Any = None, *, ids: Any = None, item_ids: Any = None) -> int:
        """Repair the values of X in place, and return how many changed. Arguments are as in `Guard.observe`.

        Repaired values have float32 precision, those of other items keep their bits. A canary needs `ids`; entries that route are
        not applied. ValueError: X is read-only, lacks a feature of the plan, or another argument is invalid.
        """
        lists = Lists.of(X, starts, segments, time_ms, query_features, ids, item_ids)
        queries = 0 if lists.query_features is None else lists.query_features.shape[1]
        for feature, column, needed in self._needs:
            if column >= X.shape[1]:
                raise ValueError(f"'X' has {X.shape[1]} columns, but feature {feature!r} of the plan is column {column}")
            if needed > queries:
                raise ValueError(f"'query_features' has {queries} columns, but feature {feature!r} of the plan needs {needed}")
        applier = getattr(self._thread, "applier", None)
        if applier is None:
            applier = self._thread.applier = _native.Applier(self.json)
        return applier.apply(*lists.arguments())

    def __repr__(self) -> str:
        return f"Plan(version {self.version}, {len(self.entries)} entries)"


class Replay(NamedTuple):
    """Result of `replay`."""
    events: list[Event]
    findings: list[Event]
    plan: Plan
    guard: Guard


def observe_frame(data: Any, manifest: Union[Manifest, PathLike], profile: Union[Profile, PathLike], rules: Optional[PathLike],
                  query: str, segments: Iterable[str], time: Optional[str], item_id: Optional[str]) -> tuple[Replay, Lists]:
    """Return what a new guard found in the lists of a frame, and the lists."""
    guard = Guard(manifest, profile, rules)
    if not is_frame(data):
        raise ValueError("'data' is not a frame; pass arrays to Guard.observe")
    lists = lists_from_frame(data, guard.manifest, query, segments, time, item_id)
    events = guard._read(guard._native.observe(*lists.arguments(), None))
    return Replay(events, guard.findings, guard.plan, guard), lists


def replay(data: Any, manifest: Union[Manifest, PathLike], profile: Union[Profile, PathLike], rules: Optional[PathLike] = None, *,
           query: str, segments: Iterable[str] = (), time: Optional[str] = None, item_id: Optional[str] = None) -> Replay:
    """Observe the lists of a frame with a new guard, as `evenkeel replay --writes features` does with messages.

    `query`, `segments`, `time` and `item_id` name columns, as in `Profile.fit`; features have the names of the manifest.
    """
    return observe_frame(data, manifest, profile, rules, query, segments, time, item_id)[0]
