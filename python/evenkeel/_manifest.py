"""Feature manifest."""
from __future__ import annotations

import json
import os
from typing import Iterable, Union

from . import _native
from ._arguments import PathLike, names_of, path_of


class Manifest:
    """Features of a list, in the order of arrays.

    `path_or_text` is the path of a manifest, or its YAML text, which has a line end. ValueError: it is invalid, with the position.
    """

    def __init__(self, path_or_text: PathLike) -> None:
        if isinstance(path_or_text, str) and "\n" in path_or_text:
            self.text, name = path_or_text, "manifest"
        else:
            name = path_of(path_or_text, "path_or_text", "a path or YAML text")
            with open(name, encoding="utf-8") as source:
                try:
                    self.text = source.read()
                except UnicodeDecodeError as why:
                    raise ValueError(f"{name}: {why}") from None
        self.name = name
        try:
            features = _native.read_manifest(self.text.encode(), name)
        except UnicodeEncodeError as why:
            raise ValueError(f"{name}: {why}") from None
        #: Names of the item features: the columns of X.
        self.item_features = tuple(feature for feature, role, _ in features if role == "item")
        #: Names of the query features: the columns of `query_features`.
        self.query_features = tuple(feature for feature, role, _ in features if role == "query")
        #: Names of the item features that can be routed.
        self.routable = tuple(feature for feature, _, routable in features if routable)

    @classmethod
    def of(cls, features: Iterable[str], query_features: Iterable[str] = (), *, routable: Iterable[str] = ()) -> "Manifest":
        """Make a manifest from names of features, and of those item features that can be routed."""
        item, routed = names_of(features, "features"), names_of(routable, "routable")
        for name in routed:
            if name not in item:
                raise ValueError(f"'routable': no item feature {name!r}")
        names = [(name, "item") for name in item] + [(name, "query") for name in names_of(query_features, "query_features")]
        lines = [f"  - {{name: {json.dumps(name)}, index: {i}, role: {role}{', routable: true' if role == 'item' and name in routed else ''}}}"
                 for i, (name, role) in enumerate(names, 1)]
        return cls("features:\n" + "\n".join(lines) + "\n")

    def __repr__(self) -> str:
        return f"Manifest({self.name!r}, {len(self.item_features)} item and {len(self.query_features)} query features)"


def manifest_of(value: Union[Manifest, PathLike], argument: str = "manifest") -> Manifest:
    if isinstance(value, Manifest):
        return value
    if isinstance(value, (str, os.PathLike)):
        return Manifest(value if isinstance(value, str) and "\n" in value else path_of(value, argument))
    raise ValueError(f"'{argument}' is {type(value).__name__}, expected a Manifest, a path or YAML text")
