"""Mechanisms as files: JSON that a person can read and a program need not trust.

    {"format": "infoplane mechanism", "version": 1, "kind": "encoder", "target": [...], "classes": [...], "note": "...",
     "features": [{"name", "columns", "letters": [...], "keys", "rows", "labels" or "encoder", "clusters", "descriptions"}]}

``letters`` has an object for each column: ``{"kind": "categories", "values": [...], "missing": true}``, or ``{"kind": "intervals",
"edges": [...], "missing": false}``; with several columns ``keys`` are the combinations that were met, numbered in row-major order.
``rows`` is the row of a table for every letter,
``labels`` the cluster of every row, the last that of what was never met; a random mechanism has ``encoder``, p(z|x) row
by row. Nothing of a file is used before kinds, sizes, ranges and sums were checked; an error says where the file is wrong.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from ..checks import SUM_TOLERANCE
from ..encoder.letters import CategoryLetters, IntervalLetters, RowLetters
from ..errors import InvalidMechanismError
from ..formatting import shortened
from ..information import IntArray
from ..joint.tables import LARGEST_TABLE
from ..table.mechanism import Mechanism, MechanismFeature
from .files import check_regular, path_of, to_json, whole_file

FORMAT, VERSION = "infoplane mechanism", 1
"""How a file begins; the version rises with every change that an older reader would take for something else."""

KINDS = ("encoder", "release")

MOST_COMBINATIONS = 2**62
"""Numbers of combinations are 64-bit integers, with a bit to spare."""

LARGEST = 2**28
"""Bytes of a file that are read: 256 MB, about five million categories."""


def write_mechanism(mechanism: Mechanism, path: str | os.PathLike[str]) -> None:
    """Write a mechanism, whole or not at all."""
    record = {
        "format": FORMAT,
        "version": VERSION,
        "kind": mechanism.kind,
        "target": list(mechanism.target),
        "classes": list(mechanism.classes),
        "note": mechanism.note,
        "features": [_feature_record(one) for one in mechanism.features],
    }
    text = json.dumps(to_json(record), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    with whole_file(path_of("a mechanism", path)) as file:
        file.write(text.encode("utf-8", "backslashreplace") + b"\n")


def _feature_record(one: MechanismFeature) -> dict[str, Any]:
    met, sizes = one.letters.met, tuple(part.size for part in one.letters.parts)
    if met is not None and math.prod(sizes) >= MOST_COMBINATIONS:
        raise InvalidMechanismError(
            f"a mechanism's file numbers the combinations of its columns' values, fewer than 2**62; found {math.prod(sizes):.2g}. "
            "Put columns into bins, or leave some out."
        )
    return {
        "name": one.name,
        "columns": list(one.columns),
        "letters": [_letters_record(part) for part in one.letters.parts],
        "rows": one.rows,
        "clusters": list(one.clusters),
        "descriptions": list(one.descriptions),
        **({} if met is None else {"keys": np.ravel_multi_index(tuple(met), sizes)}),
        **({"labels": one.encoder.argmax(axis=0)} if one.deterministic else {"encoder": one.encoder.T}),
    }


def _letters_record(part: CategoryLetters | IntervalLetters) -> dict[str, Any]:
    if isinstance(part, IntervalLetters):
        return {"kind": "intervals", "edges": list(part.edges), "missing": part.has_missing}
    return {"kind": "categories", "values": part.values.tolist(), "missing": part.has_missing}


def read_mechanism(path: str | os.PathLike[str]) -> Mechanism:
    """Read a mechanism; an `InvalidMechanismError` says where the file is no such thing."""
    where = path_of("a mechanism", path)
    try:
        check_regular(where)
        with where.open("rb") as file:
            text = file.read(LARGEST + 1)
        record = None if len(text) > LARGEST else json.loads(text.decode("utf-8"), parse_constant=_no_number)
    except OSError as error:
        raise InvalidMechanismError(f"{where} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise InvalidMechanismError(
            f"{where} is no JSON file that could be read: {shortened(str(error), 100)}."
        ) from error
    if len(text) > LARGEST:
        raise InvalidMechanismError(f"{where}: a mechanism has at most {LARGEST:,} bytes; found more.")
    return _mechanism(_Node(str(where), "", record))


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


@dataclass(frozen=True)
class _Node:
    """A value of the file, and where it stands there: what is wrong with it is said with both."""

    file: str
    where: str
    value: Any

    def need(self, holds: bool, expected: str, found: Any = ...) -> None:
        """An error unless it is what is expected; ``found`` stands for the value where that is long."""
        if not holds:
            said = shortened(repr(self.value if found is ... else found), 60)
            raise InvalidMechanismError(f"{self.file}: {self.where} must be {expected}; found {said}.")

    def at(self, key: str, kind: type = object, expected: str = "") -> _Node:
        """What an object has under a key, None if nothing."""
        found = _Node(self.file, f"{self.where}.{key}".lstrip("."), self.value.get(key))
        found.need(isinstance(found.value, kind), expected)
        return found

    def objects(self, key: str) -> list[_Node]:
        """The members of a list."""
        some = self.at(key, list, "a list")
        return [_Node(self.file, f"{some.where}[{at}]", one) for at, one in enumerate(some.value)]

    def items(self, key: str, fits: Callable[[Any], bool], one: str) -> Any:
        """A list of values that are each what ``one`` says."""
        found = self.at(key, list, "a list")
        for at, value in enumerate(found.value):
            if not fits(value):
                _Node(self.file, f"{found.where}[{at}]", value).need(False, one)
        return found.value

    def text(self, key: str) -> str:
        return str(self.at(key, str, "a text").value)

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(self.items(key, lambda one: isinstance(one, str), "a text"))

    def names(self, key: str) -> tuple[str, ...]:
        found = self.texts(key)
        self.at(key).need(0 < len(found) == len(set(found)), "different names, one at least", found)
        return found

    def scalars(self, key: str) -> tuple[Any, ...]:
        said = "a text, a finite number, true or false"
        return tuple(self.items(key, lambda one: isinstance(one, (str, bool)) or _is_number(one), said))

    def whole(self, key: str, below: int) -> IntArray:
        def fits(one: Any) -> bool:
            return isinstance(one, int) and not isinstance(one, bool) and 0 <= one < below

        return np.array(self.items(key, fits, f"a whole number from 0 to {below - 1}"), dtype=np.int64)


def _is_number(value: Any) -> bool:
    """Whether it is a number that a float can hold."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1.7e308


def _mechanism(file: _Node) -> Mechanism:
    if not isinstance(file.value, dict) or file.value.get("format") != FORMAT:
        raise InvalidMechanismError(f'{file.file} is no mechanism: it does not say "format": "{FORMAT}".')
    version, kind, features = file.at("version"), file.at("kind"), file.objects("features")
    version.need(version.value == VERSION, f"{VERSION}, which this infoplane reads")
    kind.need(kind.value in KINDS, " or ".join(map(repr, KINDS)))
    file.at("features").need(bool(features), "a list that is not empty")
    made = tuple(map(_feature, features))
    names = [one.name for one in made]
    file.at("features").need(len(set(names)) == len(names), "of different names", names)
    return Mechanism(kind.value, file.texts("target"), file.scalars("classes"), made, file.text("note"))


def _feature(one: _Node) -> MechanismFeature:
    one.need(isinstance(one.value, dict), "an object")
    columns, parts = one.names("columns"), one.objects("letters")
    one.at("letters").need(len(parts) == len(columns), f"{len(columns)} objects, one for each column", len(parts))
    letters = _letters(one, [_part(part) for part in parts])
    clusters = one.names("clusters")
    encoder = _encoder(one, len(clusters))
    rows = one.whole("rows", encoder.shape[1])
    one.at("rows").need(len(rows) == letters.size, f"{letters.size} numbers, one for each letter", len(rows))
    said = one.texts("descriptions")
    one.at("descriptions").need(len(said) in (0, len(clusters)), f"{len(clusters)} texts, or none", len(said))
    return MechanismFeature(one.text("name"), columns, letters, rows, encoder, clusters, said)


def _part(one: _Node) -> CategoryLetters | IntervalLetters:
    told = isinstance(one.value, dict) and isinstance(one.value.get("missing"), bool)
    one.need(told, "an object that says whether values may be missing")
    missing, kind = one.value["missing"], one.at("kind")
    kind.need(kind.value in ("categories", "intervals"), "'categories' or 'intervals'")
    if kind.value == "intervals":
        edges = one.at("edges", list, "a list")
        edges.need(all(map(_is_number, edges.value)), "finite numbers")
        edges.need(all(low < high for low, high in pairwise(edges.value)), "increasing")
        return IntervalLetters(tuple(map(float, edges.value)), missing)
    values = one.scalars("values")
    one.at("values").need(len(set(values)) == len(values), "different", values)
    return CategoryLetters(pd.Index(values, dtype=None if values else object), missing)


def _letters(one: _Node, parts: list[CategoryLetters | IntervalLetters]) -> RowLetters:
    if len(parts) == 1:
        return RowLetters(tuple(parts))
    sizes = tuple(part.size for part in parts)
    combinations = math.prod(sizes)
    one.at("letters").need(0 < combinations < MOST_COMBINATIONS, "of fewer than 2**62 combinations", combinations)
    keys = one.whole("keys", combinations)
    one.at("keys").need(len(np.unique(keys)) == len(keys), "different")
    return RowLetters(tuple(parts), np.array(np.unravel_index(keys, sizes)))


def _encoder(one: _Node, clusters: int) -> Any:
    """p(z|x), (|Z|, columns)."""
    if "labels" in one.value:
        labels = one.whole("labels", clusters)
        fits = 0 < len(labels) * clusters <= LARGEST_TABLE
        said = f"not empty, and of at most {LARGEST_TABLE:,} cells with the clusters"
        one.at("labels").need(fits, said, len(labels))
        W = np.zeros((clusters, len(labels)))
        W[labels, np.arange(len(labels))] = 1.0
        return W
    rows = one.objects("encoder")
    for row in rows:
        fits = isinstance(row.value, list) and len(row.value) == clusters
        fits = fits and all(_is_number(p) and p >= 0 for p in row.value)
        row.need(fits, f"{clusters} numbers that are not negative")
        total = math.fsum(row.value)
        row.need(abs(total - 1.0) <= SUM_TOLERANCE, "numbers that sum to 1", total)
    one.at("encoder").need(bool(rows), "a list that is not empty")
    W = np.array([row.value for row in rows], dtype=float).T
    return W / W.sum(axis=0)
