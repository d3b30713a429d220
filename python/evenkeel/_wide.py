"""Columns that no factor of a list changes, and training copies with faults.

Arithmetic is double. A value is usable if it is finite and not zero.
"""
from __future__ import annotations

import dataclasses
import operator
from typing import Any, Callable, Iterable, Optional, Union

import numpy as np

from ._arguments import check_mask, names_of, number_of, shown, whole_of
from ._lists import starts_of

GRID = 2.0 ** -16  # z is a multiple, so that the rounding of a product crosses no threshold of a tree


@dataclasses.dataclass(frozen=True)
class WideColumns:
    """Selection of columns, fixed in training and kept with the ranker: column numbers of X."""
    routable: tuple[int, ...]
    zero: tuple[int, ...]
    negative: tuple[int, ...]

    @classmethod
    def of(cls, X: np.ndarray, routable: Iterable[int]) -> "WideColumns":
        """Select z for all `routable` columns, and flags for those that training has zeros or negative values of, but not only."""
        X, columns = _matrix(X), _columns(X, routable, "routable")

        def some(test: Callable[[np.ndarray], np.ndarray]) -> tuple[int, ...]:
            return tuple(j for j in columns if len(X) and 0 < np.mean(test(X[:, j])) < 1)

        return cls(columns, some(lambda x: x == 0), some(lambda x: x < 0))

    def names(self, features: Any) -> list[str]:
        """Return names of the columns, from the names of the features of X."""
        features = names_of(features, "features")
        if max((*self.routable, *self.zero, *self.negative), default=-1) >= len(features):
            raise ValueError(f"'features' has {len(features)} names, too few for the columns")
        return [f"z:{features[j]}" for j in self.routable] + [f"zero:{features[j]}" for j in self.zero] + \
            [f"neg:{features[j]}" for j in self.negative]


def _matrix(X: Any) -> np.ndarray:
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype not in (np.float32, np.float64):
        raise ValueError("'X' must be an array of rows x features, float32 or float64")
    check_mask(X, "X")
    return np.asarray(X)  # of a subclass the array


def _columns(X: Any, features: Iterable[int], argument: str = "features") -> tuple[int, ...]:
    width = _matrix(X).shape[1]
    try:
        columns = tuple(operator.index(j) for j in features)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"'{argument}' must be column numbers or WideColumns") from None
    if any(not 0 <= j < width for j in columns) or len(set(columns)) != len(columns):
        raise ValueError(f"'{argument}': {shown(columns)} are not different columns of {width}")
    return columns


def _selection(X: Any, features: Union[WideColumns, Iterable[int]]) -> WideColumns:
    if isinstance(features, WideColumns):
        return WideColumns(*(_columns(X, columns) for columns in (features.routable, features.zero, features.negative)))
    columns = _columns(X, features)
    return WideColumns(columns, columns, columns)


def _list_of_row(X: np.ndarray, starts: Any) -> tuple[np.ndarray, np.ndarray]:
    array = starts_of(starts, len(X))
    return array, np.repeat(np.arange(len(array) - 1), np.diff(array))


def _centered(x: np.ndarray, owner: np.ndarray, lists: int) -> np.ndarray:
    """Return ln|x| less its mean over the usable values of the list, on the grid."""
    with np.errstate(all="ignore"):
        ln = np.log(np.abs(x))
        usable = np.isfinite(ln)
        count = np.bincount(owner[usable], minlength=lists)
        mean = np.bincount(owner[usable], ln[usable], minlength=lists) / count
        z = np.round((ln - mean[owner]) / GRID) * GRID
    return np.where(x == 0, 0.0, np.where(np.isfinite(x), z, np.nan))


def wide_columns(X: np.ndarray, starts: Any, features: Union[WideColumns, Iterable[int]]) -> np.ndarray:
    """Return z, zero and sign columns, rows x columns, in the dtype of X.

    z     ln|x| less its mean over the list, a multiple of 2^-16; 0 for zeros. A factor of the whole list changes no z
    zero  1 for a zero, else 0
    neg   1 for a negative value, else 0

    All are NaN for a missing or infinite value. `features`: column numbers, each with all three columns, or `WideColumns`.
    """
    X, select = _matrix(X), _selection(X, features)
    array, owner = _list_of_row(X, starts)
    double = {j: X[:, j].astype(np.float64) for j in {*select.routable, *select.zero, *select.negative}}

    def flag(j: int, test: np.ndarray) -> np.ndarray:
        return np.where(np.isfinite(double[j]), test.astype(np.float64), np.nan)

    out = [_centered(double[j], owner, len(array) - 1) for j in select.routable]
    out += [flag(j, double[j] == 0) for j in select.zero] + [flag(j, double[j] < 0) for j in select.negative]
    return np.stack(out, axis=1).astype(X.dtype) if out else np.empty((len(X), 0), X.dtype)


def augment(X: np.ndarray, starts: Any, features: Union[WideColumns, Iterable[int]], seed: int = 0, kind: str = "factor", *,
            copies: int = 1, p_any: float = 1.0, p_each: Optional[float] = 1.0, sd: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
    """Return (A, starts): the lists with their wide columns, followed by `copies` with faults. Labels are np.tile(y, 1 + copies).

    kind    "factor": raw columns times exp(N(0, sd)), one factor per list and column: hardens a ranker. "blank": raw columns are
            NaN: makes a ranker routable that accepts missing values
    p_any   probability that a list of a copy has faults
    p_each  probability of each routable column in such a list; None: drawn per list, uniform in 0 to 1
    """
    if not isinstance(kind, str) or kind not in ("factor", "blank"):
        raise ValueError(f"'kind' is {shown(kind)}, expected 'factor' or 'blank'")
    copies, seed = whole_of(copies, "copies", 1), whole_of(seed, "seed")
    p_any, p_each, sd = number_of(p_any, "p_any"), None if p_each is None else number_of(p_each, "p_each"), number_of(sd, "sd")
    X, select = _matrix(X), _selection(X, features)
    array, owner = _list_of_row(X, starts)
    lists, routable = len(array) - 1, list(select.routable)
    base = np.hstack([X, wide_columns(X, array, select)])
    rng, parts = np.random.default_rng(seed), [base]
    for _ in range(copies):
        each = rng.random((lists, 1)) if p_each is None else p_each
        hit = (rng.random((lists, 1)) < p_any) & (rng.random((lists, len(routable))) < each)
        copy = base.copy()
        if kind == "blank":
            copy[:, routable] = np.where(hit[owner], np.nan, copy[:, routable])
        else:
            factor = np.where(hit, np.exp(rng.normal(0, sd, (lists, len(routable)))), 1.0)
            with np.errstate(over="ignore"):
                copy[:, routable] = copy[:, routable].astype(np.float64) * factor[owner]
        parts.append(copy)
    return np.vstack(parts), np.concatenate([[0], np.cumsum(np.tile(np.diff(array), 1 + copies))])
