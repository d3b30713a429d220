"""Checks of arguments. An invalid one is a ValueError with its name."""
from __future__ import annotations

import os
from typing import Any, Union

import numpy as np

PathLike = Union[str, "os.PathLike[str]"]


def shown(value: Any) -> str:
    """Return a value for a message."""
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return f"of type {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def text_from(value: Any, argument: str, expected: str = "a string") -> str:
    """Return a string that C can have."""
    if not isinstance(value, str):
        raise ValueError(f"'{argument}' is {type(value).__name__}, expected {expected}")
    try:
        if b"\0" not in value.encode():
            return value
    except UnicodeEncodeError:
        pass
    raise ValueError(f"'{argument}' is {shown(value)}, which contains a null or invalid character")


def path_of(path: Any, argument: str = "path", expected: str = "a path") -> str:
    """Return a path as a string."""
    try:
        name = os.fspath(path)
    except TypeError:
        name = path
    return text_from(name, argument, expected)


def sequence_of(values: Any, argument: str, of: str = "names") -> list[Any]:
    try:
        return list(values)
    except TypeError:
        raise ValueError(f"'{argument}' is {shown(values)}, expected a sequence of {of}") from None


def names_of(values: Any, argument: str) -> list[str]:
    try:
        return [str(name) for name in sequence_of(values, argument)]
    except ValueError:  # an integer of thousands of digits
        raise ValueError(f"'{argument}' must be names") from None


def has_zone(values: Any) -> bool:
    return getattr(getattr(values, "dtype", None), "tz", None) is not None


def check_mask(values: Any, argument: str) -> None:
    """Raise a ValueError for an array with masked values, of which NumPy would read the numbers behind the mask."""
    if isinstance(values, np.ndarray) and np.any(getattr(values, "mask", False)):
        raise ValueError(f"'{argument}' has masked values; fill it with NaN")


def array_from(values: Any, argument: str) -> np.ndarray:
    """Return values as an array of any dtype. Times of pandas with a zone become those in UTC."""
    check_mask(values, argument)
    try:
        return np.asarray(values, "M8[ms]" if has_zone(values) else None)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"'{argument}' is not an array or a sequence of values") from None


def is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64))


def whole_of(value: Any, argument: str, least: int = 0, end: int = 2 ** 64) -> int:
    """Return a whole number of at least `least`, below `end`."""
    if not is_whole(value) or not least <= value < end:
        raise ValueError(f"'{argument}' is {shown(value)}, expected a whole number {'of at least 0' if least == 0 else 'above 0'}")
    return int(value)


def number_of(value: Any, argument: str) -> float:
    """Return a finite number of at least 0."""
    if not (is_whole(value) or isinstance(value, (float, np.floating))) or not 0 <= value < np.inf:
        raise ValueError(f"'{argument}' is {shown(value)}, expected a number of at least 0")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"'{argument}' is {shown(value)}, which is too large") from None
