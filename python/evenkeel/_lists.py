"""Lists in arrays and data frames, checked and converted for the native module."""
from __future__ import annotations

import collections
import dataclasses
from typing import Any, Iterable, Mapping, Optional, Sequence

import numpy as np

from ._arguments import array_from, check_mask, has_zone, is_whole, sequence_of, shown
from ._manifest import Manifest

ITEMS_MAX = 10_000  # per list, as in messages


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, or the missing value of pandas."""
    return value is None or isinstance(value, (float, np.floating)) and bool(value != value) or type(value).__name__ in ("NAType", "NaTType")


def text_of(value: Any, argument: str) -> Optional[str]:
    """Return a segment value or an id as messages have it: integers as digits, booleans in lower case, missing as None."""
    if isinstance(value, str):
        return value
    if is_missing(value):
        return None
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if is_whole(value) and abs(int(value)) < 10 ** 4000:
        return str(int(value))
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    raise ValueError(f"'{argument}': {shown(value)} is not a string, integer or boolean")


def texts_of(values: Any, count: int, argument: str, of: str = "list") -> tuple[Optional[str], ...]:
    """Return one text per list or row; a single string or integer stands for all of them."""
    if values is None or isinstance(values, (str, bool)) or is_whole(values):
        return (text_of(values, argument),) * count
    values = values.tolist() if hasattr(values, "tolist") else values
    try:
        out = tuple(text_of(value, argument) for value in values)
    except TypeError:
        raise ValueError(f"'{argument}' must be a string or a sequence of {count}") from None
    if len(out) != count:
        raise ValueError(f"'{argument}' has {len(out)} values, expected one per {of}, {count}")
    return out


def segments_of(segments: Optional[Mapping[str, Any]], lists: int) -> dict[str, tuple[Optional[str], ...]]:
    if segments is None:
        return {}
    if not isinstance(segments, Mapping):
        raise ValueError("'segments' must map dimensions to values")
    for name in segments:
        if not isinstance(name, str):
            raise ValueError(f"'segments': dimension {shown(name)} is not a string")
    return {name: texts_of(values, lists, f"segments[{name}]") for name, values in segments.items()}


def starts_of(starts: Any, rows: int) -> np.ndarray:
    """Return offsets of lists that cover the rows of X, as int64."""
    array = array_from(starts, "starts")
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError("'starts' must be a sequence of integers: the first row of each list, and the number of rows")
    if not array.size or array[0] != 0 or array[-1] != rows or np.any(array[1:] < array[:-1]):
        raise ValueError(f"'starts' must rise from 0 to the number of rows of 'X', {rows}")
    return np.require(array, np.int64, ["C", "A"])


def times_of(time_ms: Any, lists: int) -> Optional[np.ndarray]:
    """Return milliseconds since 1970 per list; datetime64 is converted, NaT and None are unknown."""
    if time_ms is None:
        return None
    array = array_from(time_ms, "time_ms")
    if array.dtype.kind == "M":
        unknown = np.isnat(array)
        array = np.where(unknown, 0, array.astype("datetime64[ms]").astype(np.int64))
    if array.dtype.kind not in "iu":
        raise ValueError("'time_ms' must be integers (milliseconds since 1970) or datetime64")
    if array.ndim == 0:
        array = np.full(lists, array)
    if array.shape != (lists,):
        raise ValueError(f"'time_ms' has shape {array.shape}, expected one value per list, {lists}")
    if array.size and (int(array.min()) < 0 or int(array.max()) > 9_000_000_000_000_000):
        raise ValueError("'time_ms' must be milliseconds since 1970")
    return np.require(array, np.int64, ["C", "A"])


def array_of(values: Any, dtype: type, argument: str) -> np.ndarray:
    """Return numbers as an array; None is NaN."""
    check_mask(values, argument)
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiubO":
            raise TypeError
        with np.errstate(over="ignore"):
            return array.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"'{argument}' must be numbers") from None


def queries_of(query_features: Any, lists: int) -> Optional[np.ndarray]:
    if query_features is None:
        return None
    array = array_of(query_features, np.float32, "query_features")
    if array.ndim == 1 and lists == 1:
        array = array[None, :]
    if array.ndim != 2 or len(array) != lists:
        raise ValueError(f"'query_features' has shape {array.shape}, expected one row per list, {lists}")
    return np.ascontiguousarray(array)


def scores_of(scores: Any, rows: int) -> Optional[np.ndarray]:
    if scores is None:
        return None
    array = array_of(scores, np.float64, "scores")
    if array.shape != (rows,):
        raise ValueError(f"'scores' has shape {array.shape}, expected one value per row of 'X', {rows}")
    return np.ascontiguousarray(array)


@dataclasses.dataclass
class Lists:
    """Arguments of the native calls: a batch of lists.

    X is float32 or float64 [rows, item features], of any strides. List i is the rows starts[i] to starts[i + 1].
    """
    X: np.ndarray
    starts: np.ndarray
    segments: dict[str, tuple[Optional[str], ...]]
    time_ms: Optional[np.ndarray]
    query_features: Optional[np.ndarray]
    ids: Optional[tuple[Optional[str], ...]]
    item_ids: Optional[tuple[Optional[str], ...]]

    @staticmethod
    def of(X: Any, starts: Any, segments: Optional[Mapping[str, Any]] = None, time_ms: Any = None,
           query_features: Any = None, ids: Any = None, item_ids: Any = None) -> "Lists":
        if not isinstance(X, np.ndarray):
            raise ValueError(f"'X' is {type(X).__name__}, not a NumPy array")
        if X.ndim != 2 or X.dtype not in (np.float32, np.float64) or not X.dtype.isnative:
            raise ValueError(f"'X' has shape {X.shape} and dtype {X.dtype}; expected rows x features of float32 or float64")
        check_mask(X, "X")
        X = np.asarray(X)  # of a subclass the array
        starts, rows = starts_of(starts, len(X)), len(X)
        lists = len(starts) - 1
        return Lists(X, starts, segments_of(segments, lists), times_of(time_ms, lists), queries_of(query_features, lists),
                     None if ids is None else texts_of(ids, lists, "ids"),
                     None if item_ids is None else texts_of(item_ids, rows, "item_ids", "row"))

    def check(self, manifest: Manifest) -> "Lists":
        """Raise a ValueError if the lists are not those of a manifest."""
        if self.X.shape[1] != len(manifest.item_features):
            raise ValueError(f"'X' has {self.X.shape[1]} columns, the manifest has {len(manifest.item_features)} item features")
        columns, expected = 0 if self.query_features is None else self.query_features.shape[1], len(manifest.query_features)
        if columns != expected:
            raise ValueError(f"'query_features' has {columns} columns, the manifest has {expected} query features")
        sizes = np.diff(self.starts)
        if sizes.size and sizes.max() > ITEMS_MAX:
            raise ValueError(f"'starts': list {int(sizes.argmax())} has {int(sizes.max())} items, at most {ITEMS_MAX}")
        return self

    def arguments(self) -> tuple[Any, Any, dict[str, Any], Any, Any, Any, Any]:
        return (self.X, self.starts, self.segments, self.time_ms, self.query_features, self.ids, self.item_ids)


def columns_of(frame: Any) -> list[str]:
    names = getattr(frame, "column_names", None)
    if names is None:
        names = frame.keys() if isinstance(frame, Mapping) else frame.columns
    return [name for name in names if isinstance(name, str)]


def is_frame(data: Any) -> bool:
    if isinstance(data, np.ndarray):
        return False
    return isinstance(data, Mapping) or hasattr(data, "column_names") or hasattr(data, "columns") or \
        hasattr(data, "__arrow_c_stream__")


def frame_of(data: Any) -> Any:
    """Return an object with named columns. Others with the Arrow PyCapsule interface become tables of pyarrow or polars."""
    if isinstance(data, Mapping) or hasattr(data, "__getitem__") and (hasattr(data, "column_names") or hasattr(data, "columns")):
        return data
    try:
        import pyarrow  # type: ignore[import-not-found,import-untyped,unused-ignore]
        return pyarrow.table(data)
    except ImportError:
        pass
    try:
        import polars  # type: ignore[import-not-found,unused-ignore]
        return polars.DataFrame(data)
    except ImportError:
        raise ValueError(f"{type(data).__name__}: install pyarrow or polars to read Arrow streams") from None


def _values(column: Any, argument: str) -> np.ndarray:
    if hasattr(column, "to_numpy") and not has_zone(column):
        try:
            return np.asarray(column.to_numpy(zero_copy_only=False))  # pyarrow
        except TypeError:
            return np.asarray(column.to_numpy())
    return array_from(column, argument)


def column(frame: Any, name: str, argument: str, rows: Optional[int] = None) -> np.ndarray:
    """Return a column as an array, of `rows` values if they are known."""
    if not isinstance(name, str):
        raise ValueError(f"'{argument}' is {shown(name)}, expected the name of a column")
    if name not in columns_of(frame):
        raise ValueError(f"'{argument}': no column {shown(name)}")
    values = _values(frame[name], argument)
    if values.ndim != 1 or rows is not None and len(values) != rows:
        raise ValueError(f"'{argument}': column '{name}' has shape {values.shape}, expected a value per row")
    return values


def _number(value: Any) -> float:
    return float("nan") if is_missing(value) else float(value)


def numbers(frame: Any, name: str, argument: str, rows: Optional[int] = None) -> np.ndarray:
    """Return a column as float32; a missing value is NaN."""
    values = column(frame, name, argument, rows)
    try:
        with np.errstate(over="ignore"):
            if values.dtype == object:
                return np.array([_number(value) for value in values], dtype=np.float64).astype(np.float32)
            if values.dtype.kind not in "fiub":
                raise TypeError
            return values.astype(np.float32)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"'{argument}': column '{name}' has values that are not numbers") from None


def starts_from_ids(ids: np.ndarray, argument: str) -> np.ndarray:
    """Return the offsets of runs of equal ids. Each row must have an id, and each id one run."""
    if ids.ndim != 1:
        raise ValueError(f"'{argument}' has shape {ids.shape}, expected one id per row")
    if not len(ids):
        return np.zeros(1, np.int64)
    if ids.dtype.kind in "fmMO":
        missing = np.array([is_missing(value) for value in ids]) if ids.dtype.kind == "O" else np.isnan(ids)
        if missing.any():
            raise ValueError(f"'{argument}': row {missing.argmax()} has no list id")
    try:
        changed = np.asarray(ids[1:] != ids[:-1], dtype=bool)
        first = np.concatenate([[0], np.flatnonzero(changed) + 1])
        counts = collections.Counter(ids[first].tolist())
    except (TypeError, ValueError):
        raise ValueError(f"'{argument}' must be strings or integers") from None
    value, runs = counts.most_common(1)[0]
    if runs > 1:
        raise ValueError(f"'{argument}': the rows of list {shown(value)} are not adjacent; sort by it")
    return np.concatenate([first, [len(ids)]]).astype(np.int64)


def lists_from_frame(data: Any, manifest: Manifest, query: str, segments: Iterable[str] = (), time: Optional[str] = None,
                     item_id: Optional[str] = None) -> Lists:
    """Read lists from a frame with one row per item. Values of a list are those of its first row."""
    if not isinstance(query, str):
        raise ValueError("'query' must be the name of the column of list ids")
    frame = frame_of(data)
    ids = column(frame, query, "query")
    starts, rows = starts_from_ids(ids, "query"), len(ids)
    first = starts[:-1]
    items = [numbers(frame, name, "features", rows) for name in manifest.item_features]
    X = np.stack(items, axis=1) if items else np.empty((len(ids), 0), np.float32)
    queries = [numbers(frame, name, "features", rows)[first] for name in manifest.query_features]
    dimensions: Sequence[str] = (segments,) if isinstance(segments, str) else sequence_of(segments, "segments")
    return Lists.of(X, starts, {name: column(frame, name, "segments", rows)[first] for name in dimensions},
                    None if time is None else column(frame, time, "time", rows)[first],
                    np.stack(queries, axis=1) if queries else None, texts_of(ids[first], len(first), "query"),
                    None if item_id is None else column(frame, item_id, "item_id", rows))
