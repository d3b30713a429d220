"""Routable ranker."""
from __future__ import annotations

import threading
import warnings
from typing import Any, Iterable, Optional, Sequence, Union

import numpy as np

from . import _native
from ._arguments import PathLike, array_from, number_of, path_of, sequence_of, shown, text_from, whole_of
from ._guard import files
from ._lists import Lists, array_of, column, frame_of, is_frame, numbers, starts_from_ids
from ._manifest import Manifest, manifest_of


class RoutableRanker:
    """Ranking network whose routable features can be routed: a routed feature enters through a path that no factor changes.

    An estimator as those of scikit-learn, which it does not need. `fit` gives the weights of `evenkeel train` for the same lists and
    seed, and `evenkeel run` reads the file of `save`.

    X is an array with a row per item, and the item features of the manifest followed by its query features as columns; or a frame
    with columns of these names. NaN is a missing value. `groups` has the list id of each row, or is the name of a column. The rows
    of a list are adjacent, and have the same query features.

    manifest    the manifest, or its path
    loss        "listmle" (default), "listnet" or "approxndcg"
    routing     "random": any features can be routed later; "none"; or names of features that are always routed
    hidden, epochs, lr, decay, batch  None: those of the manifest, or the defaults of `evenkeel train`
    log_input   centered logarithms as inputs: "always" (default), "routed" or "none"
    list_free   True: score each item alone
    """

    _PARAMETERS = ("manifest", "loss", "routing", "hidden", "epochs", "lr", "decay", "batch", "log_input", "list_free", "seed")

    def __init__(self, manifest: Union[Manifest, PathLike], *, loss: Optional[str] = None, routing: Union[str, Sequence[str]] = "random",
                 hidden: Optional[Sequence[int]] = None, epochs: Optional[int] = None, lr: Optional[float] = None,
                 decay: Optional[float] = None, batch: Optional[int] = None, log_input: Optional[str] = None, list_free: bool = False,
                 seed: int = 0) -> None:
        self.manifest, self.loss, self.routing, self.hidden, self.epochs, self.lr = manifest, loss, routing, hidden, epochs, lr
        self.decay, self.batch, self.log_input, self.list_free, self.seed = decay, batch, log_input, list_free, seed

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {name: getattr(self, name) for name in self._PARAMETERS}

    def set_params(self, **params: Any) -> "RoutableRanker":
        """Set arguments of the constructor."""
        for name in params:
            if name not in self._PARAMETERS:
                raise ValueError(f"unknown parameter '{name}' ({', '.join(self._PARAMETERS)})")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any, groups: Any, *, eval_set: Optional[tuple[Any, Any, Any]] = None) -> "RoutableRanker":
        """Train on lists with labels y, one per row.

        `eval_set` is (X, y, groups) of other lists that select the best epoch; default: a fifth of the lists, chosen by their ids, as
        the program does. Afterwards `model_` has the bytes of the model file, `best_epoch_` and `validation_ndcg10_` the result.
        """
        manifest = manifest_of(self.manifest)
        routing, routed = (self.routing, []) if isinstance(self.routing, str) else ("static", _routable(manifest, self.routing, "routing"))
        if routing == "static" and not routed:
            raise ValueError("'routing' must be random, none or names of features")
        if groups is None:
            raise ValueError("'groups' is needed: the list id of each row")
        if not isinstance(self.list_free, bool):
            raise ValueError(f"'list_free' is {shown(self.list_free)}, expected True or False")
        with files(manifest=(manifest.name, manifest.text.encode()), model=("model", b"")) as paths:
            data = _data(paths["manifest"], manifest, X, y, groups)
            other = None if eval_set is None else _data(paths["manifest"], manifest, *_three(eval_set))
            epochs, best, loss, ndcg, notes = _native.train(
                data, other, _word(self.loss, "loss"), text_from(routing, "routing"), routed, _word(self.log_input, "log_input"), self.list_free, _hidden(self.hidden),
                _whole(self.epochs, "epochs"), _whole(self.batch, "batch"), _rate(self.lr, "lr"), _rate(self.decay, "decay"),
                whole_of(self.seed, "seed"), paths["model"])
            with open(paths["model"], "rb") as source:
                self._set(source.read(), manifest)
        for note in notes:
            warnings.warn(note, stacklevel=2)
        self.best_epoch_, self.validation_ndcg10_ = best, ndcg
        return self

    def predict(self, X: Any, groups: Any = None, *, route: Optional[Iterable[str]] = None) -> np.ndarray:
        """Return a score per row, higher is better.

        groups  None: the rows are one list
        route   names of the features to route; None: those that were always routed in training
        """
        manifest = self._fitted()
        lists = _lists(manifest, X, groups)
        routed = None if route is None else _routable(manifest, route, "route")
        scores = np.empty(len(lists.X))
        self._scorer().score(lists.X, lists.starts, lists.query_features, lists.ids, routed, scores)
        return scores

    def save(self, path: PathLike) -> None:
        """Write the model (safetensors), for `evenkeel run`, `eval` and `export`."""
        self._fitted()
        with open(path_of(path), "wb") as out:
            out.write(self.model_)

    @classmethod
    def load(cls, path: PathLike, manifest: Union[Manifest, PathLike]) -> "RoutableRanker":
        """Read a model of `save`, of `evenkeel train` or of another tool (docs/format/model.md)."""
        out, name = cls(manifest), path_of(path)
        with open(name, "rb") as source:
            out._set(source.read(), manifest_of(manifest), name)
        out._scorer()
        return out

    def _set(self, model: bytes, manifest: Manifest, name: str = "model") -> None:
        self.model_, self.manifest_, self._name = model, manifest, name
        self.n_features_in_ = len(manifest.item_features) + len(manifest.query_features)
        self._thread = threading.local()

    def _fitted(self) -> Manifest:
        if not hasattr(self, "model_"):
            raise ValueError("this RoutableRanker is not fitted; call 'fit' or 'load'")
        return self.manifest_

    def _scorer(self) -> Any:
        """Return the native object of this thread."""
        if not hasattr(self._thread, "ranker"):
            manifest = self.manifest_
            with files(manifest=(manifest.name, manifest.text.encode()), model=(self._name, self.model_)) as paths:
                self._thread.ranker = _native.Ranker(paths["manifest"], paths["model"])
        return self._thread.ranker

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_thread"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._thread = threading.local()

    def __repr__(self) -> str:
        return f"RoutableRanker({self.manifest!r}{', fitted' if hasattr(self, 'model_') else ''})"


def _three(eval_set: Any) -> tuple[Any, Any, Any]:
    if not isinstance(eval_set, (tuple, list)) or len(eval_set) != 3:
        raise ValueError("'eval_set' must be (X, y, groups)")
    return eval_set[0], eval_set[1], eval_set[2]


def _routable(manifest: Manifest, names: Iterable[str], argument: str) -> list[int]:
    """Return the numbers of features among the routable ones."""
    names = [names] if isinstance(names, str) else sequence_of(names, argument)
    for name in names:
        if not isinstance(name, str) or name not in manifest.routable:
            raise ValueError(f"'{argument}': {shown(name)} is not a routable feature of the manifest")
    if len(set(names)) != len(names):
        raise ValueError(f"'{argument}': duplicate features")
    return [manifest.routable.index(name) for name in names]


def _word(value: Optional[str], argument: str) -> Optional[str]:
    return None if value is None else text_from(value, argument)


def _whole(value: Optional[int], argument: str) -> int:
    """Return a number above 0; None is 0."""
    return 0 if value is None else whole_of(value, argument, 1, 2 ** 31)


def _rate(value: Optional[float], argument: str) -> float:
    """Return a number of at least 0; None is -1."""
    return -1.0 if value is None else number_of(value, argument)


def _hidden(value: Optional[Sequence[int]]) -> list[int]:
    if value is None:
        return []
    units = [_whole(unit, "hidden") for unit in sequence_of(value, "hidden", "numbers of units")]
    if not units or 0 in units:
        raise ValueError(f"'hidden' is {shown(value)}, expected a sequence of numbers of units")
    return units


def _matrix(manifest: Manifest, X: Any, names: Sequence[str]) -> np.ndarray:
    """Return item and query features of each row as float32."""
    if is_frame(X):
        return np.stack([numbers(X, name, "X") for name in names], axis=1) if names else np.empty((0, 0), np.float32)
    array = array_of(X, np.float32, "X")
    if array.ndim != 2 or array.shape[1] != len(names):
        raise ValueError(f"'X' has shape {array.shape}; the manifest has {len(manifest.item_features)} item and "
                         f"{len(manifest.query_features)} query features, {len(names)} columns")
    return np.ascontiguousarray(array)


def _lists(manifest: Manifest, X: Any, groups: Any) -> Lists:
    names, count = (*manifest.item_features, *manifest.query_features), len(manifest.item_features)
    X = frame_of(X) if is_frame(X) else X
    rows = _matrix(manifest, X, names)
    if groups is None:
        ids = np.zeros(len(rows), int)
    else:
        ids = column(X, groups, "groups") if isinstance(groups, str) and is_frame(X) else array_from(groups, "groups")
    if ids.shape != (len(rows),):
        raise ValueError(f"'groups' has shape {ids.shape}, expected one list id per row of 'X', {len(rows)}")
    starts = starts_from_ids(ids, "groups")
    own = np.repeat(starts[:-1], np.diff(starts))
    for j in range(count, len(names)):
        differs = (rows[:, j] != rows[own, j]) & ~(np.isnan(rows[:, j]) & np.isnan(rows[own, j]))
        if differs.any():
            raise ValueError(f"'X': query feature {names[j]!r} differs within list {shown(ids[differs.argmax()])}")
    queries = rows[starts[:-1], count:] if len(names) > count else None
    return Lists.of(rows[:, :count], starts, query_features=queries, ids=ids[starts[:-1]]).check(manifest)


def _data(path: str, manifest: Manifest, X: Any, y: Any, groups: Any) -> Any:
    lists = _lists(manifest, X, groups)
    labels = array_of(y, np.float32, "y")
    if labels.shape != (len(lists.X),):
        raise ValueError(f"'y' has shape {labels.shape}, expected one label per row of 'X', {len(lists.X)}")
    data = _native.RankerData(path)
    data.add(lists.X, lists.starts, lists.query_features, lists.ids, np.ascontiguousarray(labels))
    return data
